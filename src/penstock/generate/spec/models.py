"""The models that a file names: `model:`, `models:`, and what a column says for itself.

    model: gpt-4o-mini
    models:
      writer: {model: gpt-4o, temperature: 0.8}
      local: {model: llama-3, base_url: "http://localhost:8000/v1", key: env:LAB_KEY}

A model is one of `models`, or whatever names an endpoint elsewhere: a model's name,
provider/model, http://host/v1#model, a saved endpoint. With `base_url` and no `provider` it is a
server that speaks OpenAI's protocol. Keys are references; a key itself is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from penstock.documents.problems import Path as Place
from penstock.documents.problems import Problems
from penstock.engine.workbench import Workbench
from penstock.errors import EndpointError, InputError
from penstock.generate.generator import Generator, generator
from penstock.generate.spec.mistakes import Part
from penstock.generate.spec.values import a_key, a_mapping, a_params, a_text, refuse_key

__all__ = ["ModelBook"]

_PARAMS = (
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "stop", "seed",
    "frequency_penalty", "presence_penalty", "reasoning_effort",
)  # fmt: skip
_KEYS = ("model", "provider", "base_url", "key", "params", *_PARAMS)
_HINTS = {
    "url": "Did you mean 'base_url'?",
    "api_base": "Did you mean 'base_url'?",
}


class ModelBook:
    """Generators by the names that columns give them.

    `instead`: what is asked in the place of a model of `models`, or, under "", of all others.
    """

    def __init__(
        self,
        problems: Problems,
        bench: Workbench,
        data: Mapping[str, Any],
        instead: Mapping[str, str],
    ) -> None:
        self._problems = problems
        self._bench = bench
        self._instead = {name: self._checked(generator(m)) for name, m in instead.items()}
        self._named: dict[str, Generator | None] = {}
        self._others: dict[str, Generator] = {}
        self._default: Generator | None = None
        self._says_default = "model" in data
        if self._says_default:
            self._default = self._entry(("model",), data["model"], "")
        named: Mapping[str, Any] = Part(problems, (), data).get("models", a_mapping, {})
        for name, entry in named.items():
            self._named[name] = self._entry(("models", name), entry, name)

    def of(self, given: Any = None) -> Generator:
        """The generator that a column names, or the usual one."""
        if given is None:
            return self._usual()
        name = a_text(given)
        if name in self._named:
            return self._named[name] or _BROKEN
        if "" in self._instead:
            return self._instead[""]
        if name not in self._others:
            self._others[name] = self._found(name)
        return self._others[name]

    def _usual(self) -> Generator:
        if self._says_default:
            return self._default or _BROKEN
        if "" in self._instead:
            return self._instead[""]
        made = self._others.get("")
        if made is None:
            made = self._others[""] = Generator("")
            try:
                made.endpoint(self._bench)
            except EndpointError as error:
                remedy = "Write model: gpt-4o-mini at the top, or give --model."
                raise InputError(error.message, remedy=remedy) from None
        return made

    def _found(self, name: str) -> Generator:
        try:
            return self._checked(generator(name))
        except EndpointError as error:
            close = get_close_matches(name, self._named, n=1)
            if not close:
                raise
            raise InputError(
                f"there is no model {name!r}", remedy=f"Did you mean {close[0]!r}, of models?"
            ) from error

    def _entry(self, path: Place, given: Any, name: str) -> Generator | None:
        """A model that is written out; None where something is wrong with it."""
        before = len(self._problems)
        made: Generator | None = None
        with self._problems.at(*path):
            if isinstance(given, Mapping):
                made = self._written(Part(self._problems, path, given), name)
            else:
                made = self._instead_of(name) or Generator(a_text(given))
            if len(self._problems) == before:
                made.endpoint(self._bench)
        return made if len(self._problems) == before else None

    def _instead_of(self, name: str) -> Generator | None:
        return self._instead.get(name) or self._instead.get("")

    def _written(self, part: Part, name: str) -> Generator:
        part.only((*_KEYS, "api_key") if "api_key" in part.data else _KEYS, _HINTS)
        part.get("api_key", refuse_key)
        more: Mapping[str, Any] = part.get("params", a_params, {})
        params = dict(more)
        params |= {each: part.data[each] for each in _PARAMS if each in part.data}
        if part.missing("model"):
            return _BROKEN
        instead = self._instead_of(name)
        model = part.get("model", a_text, "")
        provider = part.get("provider", a_text, "")
        url = part.get("base_url", a_text, "")
        key = part.get("key", a_key)
        if instead is not None:
            return Generator(instead.source, params=params)
        if url and not provider:
            return Generator(f"{url}#{model}", key, params=params)
        if provider:
            return Generator(provider, key, model, url or None, params)
        return Generator(model, key, params=params)

    def _checked(self, made: Generator) -> Generator:
        made.endpoint(self._bench)
        return made


_BROKEN = Generator("a model that is wrong, which has been said")
