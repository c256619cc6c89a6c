"""Secrets: where keys come from, and how they never leave.

A key is written as a reference (`env:NAME`, `file:PATH`, `command:...`) and becomes a `Secret`
when it is used. A Secret shows itself as `****`, cannot be pickled, and is remembered by
`mask()`, which takes it out of any text on its way to a log, a terminal or the disk. What looks
like a key (`sk-...`, `Bearer ...`) is masked too, known or not: providers echo parts of keys in
their error messages.

Traded away: a Secret is an ordinary Python string inside; a memory dump of the process shows it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from penstock.errors import InputError, KeyMissingError

__all__ = [
    "SHOWN",
    "Masking",
    "Secret",
    "holds_known",
    "is_reference",
    "mask",
    "mask_bytes",
    "resolve",
]

SHOWN = "****"

# Every secret this process has seen, as it is, as JSON and as an address may spell it; longest
# first, so that a key that contains another one is masked whole. Shorter ones would mask ordinary
# words.
_known: list[str] = []
_SHORTEST = 8
_TELLING = 4
_ENDS = r"[^\s\"',*]*?(?:\*{3,}|\.{3,}|…)[^\s\"',]*"
_LARGEST_FILE = 64 * 1024

_LOOKS_SECRET = re.compile(
    r"""(?ix)
    (\bBearer\s+)[A-Za-z0-9._~+/=-]{6,}
    | (\b(?:x-api-key|api-?key|x-goog-api-key|authorization)["']?\s*[:=]\s*["']?)
      (?:(?:Bearer|Basic|Token)\s+)?[^\s"',}]{6,}
    | \b(?:sk|pk|rk|gsk|xai|hf|key)[-_][A-Za-z0-9_*-]{8,}
    | \bAIza[A-Za-z0-9_-]{20,}
    | (://)[^/?\#\s"']+(?=@)
    """
)


class Secret:
    """A value that shows itself only to `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value
        if len(value) >= _SHORTEST and value not in _known:
            _known.extend({value, value.replace("/", "\\/"), quote(value, safe="")})
            _known.sort(key=len, reverse=True)

    def reveal(self) -> str:
        """The value itself; for the header of a request and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return SHOWN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return SHOWN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never stored; give the key as a reference, env:NAME")


def mask(text: str) -> str:
    """The text without any secret this process knows, nor anything that looks like one."""
    text = _without_known(text)
    if "***" in text or "..." in text or "…" in text:
        for value in _known:  # servers show the two ends of a key
            if value[:_TELLING] in text:
                text = re.sub(re.escape(value[:_TELLING]) + _ENDS, SHOWN, text)
    return _LOOKS_SECRET.sub(lambda m: (m[1] or m[2] or m[3] or "") + SHOWN, text)


def _without_known(text: str) -> str:
    """The text without any secret this process knows."""
    for value in _known:
        if value in text:
            text = text.replace(value, SHOWN)
    return text


def holds_known(text: str) -> bool:
    """Whether a secret that this process knows is in a text."""
    return any(value in text for value in _known)


def mask_bytes(body: bytes) -> bytes:
    """The body without any secret this process knows (answers are otherwise left as they came)."""
    for value in _known:
        encoded = value.encode()
        if encoded in body:
            body = body.replace(encoded, SHOWN.encode())
    return body


class Masking:
    """Masks a text that comes in pieces; what may be the beginning of a secret waits for more."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown by now."""
        text = _without_known(self._held + piece)
        held = max((_begun(value, text) for value in _known), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def end(self) -> str:
        """What was held back, and is no secret."""
        held, self._held = self._held, ""
        return held


def _begun(value: str, text: str) -> int:
    """How many characters at the end of a text are the beginning of a value."""
    longest = min(len(value) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(value[:size])), 0)


def is_reference(text: str) -> bool:
    """Whether a text names a secret instead of being one."""
    return text.startswith(("env:", "file:", "command:"))


def resolve(reference: str | Secret, *, trusted: bool = True) -> Secret:
    """The secret behind a reference, read now.

    `trusted` is False for whatever came from an imported file or over HTTP: there a `command:`
    is refused, because data never runs anything.
    """
    if isinstance(reference, Secret):
        return reference
    kind, _, rest = reference.partition(":")
    if kind == "env":
        return _from_environment(rest)
    if kind == "file":
        return _from_file(rest)
    if kind == "command":
        if not trusted:
            raise InputError(
                "a key reference of the form command:... is allowed only in your own settings "
                "and flags, not in an imported file",
                remedy="Use env:NAME or file:PATH instead.",
            )
        return _from_command(rest)
    raise InputError(
        "a key must be a reference: env:NAME, file:PATH or command:...",
        remedy="Put the key into an environment variable and write env:NAME.",
    )


def _from_environment(name: str) -> Secret:
    value = os.environ.get(name, "").strip()
    if not value:
        raise KeyMissingError(
            f"the environment variable {name} is not set", remedy=f"Run: export {name}=..."
        )
    return Secret(value)


def _from_file(name: str) -> Secret:
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - Path's own raises for an unknown user
    try:
        with path.open("rb") as file:
            secret = Secret(file.read(_LARGEST_FILE + 1).decode().strip())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise KeyMissingError(f"the key file {path} cannot be read: {reason}") from None
    if not secret.reveal():
        raise KeyMissingError(f"the key file {path} is empty")
    if len(secret.reveal()) > _LARGEST_FILE:
        raise KeyMissingError(f"the key file {path} is too large to be a key")
    return secret


def _from_command(line: str) -> Secret:
    name = (line.split() or ["(nothing)"])[0]
    try:
        done = subprocess.run(shlex.split(line), capture_output=True, timeout=30, check=False)
        # Into a Secret at once: a traceback that shows local variables must not show the key.
        code, secret = done.returncode, Secret(done.stdout.decode().strip())
        del done
    except (OSError, subprocess.TimeoutExpired, IndexError, ValueError) as error:
        raise KeyMissingError(f"the key command {name!r} failed: {type(error).__name__}") from None
    if code or not secret.reveal():
        raise KeyMissingError(f"the key command {name!r} gave no key (exit code {code})")
    return secret
