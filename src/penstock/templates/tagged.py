"""Texts that are data, shown to a model between tags that they cannot forge.

The tags end in a code made of all the texts that are shown, so that none of them can hold it: what
a text says to the model stays within the text. It stops forged borders, not persuasion.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

__all__ = ["code_of", "tagged"]

_SIZE = 16


def code_of(texts: Iterable[str]) -> str:
    """The same for the same texts, and in none of them."""
    held = "\0".join(texts)
    code = sha256(held.encode("utf-8", "surrogatepass")).hexdigest()[:_SIZE]
    while code in held.lower():
        code = sha256(code.encode()).hexdigest()[:_SIZE]
    return code


def tagged(name: str, text: str, code: str) -> str:
    """A text between its tags. Of a name, which may come from a file, only plain letters are
    used."""
    plain = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name)
    return f"<{plain}-{code}>\n{text}\n</{plain}-{code}>"
