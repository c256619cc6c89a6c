"""The columns of a file: what stands behind each name.

    note: plain text is a value                  a value; {value: ...} for lists and mappings
    level: {weighted: {easy: 2, hard: 1}}        a sampler
    question: {prompt: "About {level}", ...}     what a model writes
    chat: {conversation: ["...", "..."]}         several turns
    score: {judge: {answer: question, ...}}      what a model thinks of it
    likeness: {edit_similarity: [a, b]}          a metric over columns
    right: {metric: choice, answer: a, ...}      one that has the name of a sampler

Any but a plain value may have `when`, `check` and `tries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from penstock import plugins
from penstock.documents.problems import Problems, unknown
from penstock.engine.wishes import whole
from penstock.errors import InputError
from penstock.generate.columns import Column, Sampled, Static
from penstock.generate.conversation import Conversation, conversation
from penstock.generate.generator import Generator, GeneratorFunction
from penstock.generate.measures import Measure
from penstock.generate.measures import eval as measures
from penstock.generate.prompts import Kind
from penstock.generate.spec.files import Files
from penstock.generate.spec.mistakes import Part
from penstock.generate.spec.models import ModelBook
from penstock.generate.spec.samplers import SAMPLERS, Samplers
from penstock.generate.spec.values import (
    a_check,
    a_condition,
    a_flag,
    a_kind,
    a_list_of_texts,
    a_mapping,
    a_pair,
    a_params,
    a_text,
)
from penstock.metrics import metric_names
from penstock.schema import AnswerSchema

__all__ = ["Columns"]

_COMMON = ("when", "check", "tries")
_KEYS: dict[str, tuple[str, ...]] = {
    "prompt": ("model", "system", "template", "params", "schema", "expand", "feedback"),
    "conversation": ("model", "system", "template", "params", "user", "rounds"),
    "metric": ("answer", "target", "params"),
}
_JUDGE = (
    "answer", "question", "target", "rubric", "criteria", "scale", "whole", "template", "params",
    "model", "reason",
)  # fmt: skip
_HINTS = {
    "response_format": "Did you mean 'schema'?",
    "temperature": "Write params: {temperature: ...}.",
    "max_tokens": "Write params: {max_tokens: ...}.",
    "api_key": "Name a model of models: with key: env:NAME.",
}


class Columns:
    """Makes the columns; what is wrong with one does not hide what is wrong with the next."""

    def __init__(self, problems: Problems, models: ModelBook, files: Files) -> None:
        self._problems = problems
        self._models = models
        self._files = files
        self._samplers = Samplers(files)
        self._kinds: dict[str, Callable[[Part], Column | None]] = {
            **{name: self._metric_named(name) for name in metric_names()},
            **{name: self._sampled(name) for name in SAMPLERS},
            "value": lambda part: Static(value=part.data["value"]),
            "prompt": self._prompt,
            "conversation": self._conversation,
            "judge": self._judge,
            "metric": self._metric,
        }

    def made(self, name: str, given: Any) -> Column | None:
        """A column; None where something is wrong with it."""
        path = ("columns", name)
        before = len(self._problems)
        column: Column | None = None
        with self._problems.at(*path):
            if isinstance(given, str | int | float):  # and true and false
                return Static(value=given)
            part = Part(self._problems, path, _as_mapping(given))
            if not (kind := self._kind(part)):
                return None
            part.only((kind, *_KEYS.get(kind, ()), *_COMMON), _HINTS)
            rules = _rules(part)
            with self._problems.at(*path, kind):
                column = self._kinds[kind](part)
            if column is not None and len(self._problems) == before:
                column = replace(column, **rules)
        return column if len(self._problems) == before else None

    def kind(self, given: Any) -> str:
        """The key that says what a column is; "" for a plain value."""
        keys = given if isinstance(given, Mapping) else ()
        return next((key for key in keys if key in self._kinds), "")

    def _kind(self, part: Part) -> str:
        """What a column is; "" where that is wrong and has been said."""
        found = [str(key) for key in part.data if key in self._kinds]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"it is {' and '.join(found)} at once", remedy="A column is one of them."
            )
        # Judges stand among the metrics: which they are is not known before they are loaded.
        metrics = [name for name in metric_names() if name not in ("llm_judge", *SAMPLERS)]
        kinds = ("value", "prompt", "conversation", "judge", *SAMPLERS, "metric", *metrics)
        for key in part.data:
            if key not in (*_COMMON, *_KEYS["prompt"], *_KEYS["conversation"]):
                error = unknown(key, kinds, {"static": "Did you mean 'value'?"})
                self._problems.add((*part.path, key), error)
                return ""
        raise InputError(
            "it does not say what it is", remedy=f"One of these is wanted: {', '.join(kinds)}."
        )

    def _model(self, part: Part) -> Generator | None:
        """Whom a part names, or the usual one; None where that is wrong."""
        named = "model" in part.data
        return part.get("model", self._models.of) if named else self._models.of()

    # The kinds --------------------------------------------------------------------------------

    def _sampled(self, name: str) -> Callable[[Part], Column | None]:
        def made(part: Part) -> Column | None:
            sampler = self._samplers.made(part, name)
            return None if sampler is None else Sampled(sampler=sampler)

        return made

    def _prompt(self, part: Part) -> Column | None:
        model = self._model(part)
        schema = part.get("schema", self._schema)
        expand = part.get("expand", a_flag, False)
        options: Any = {
            "system_prompt": part.get("system", a_text),
            "template": part.get("template", a_kind, "bare"),
            "params": part.get("params", a_params),
        }
        if model is None:
            return None
        if expand and "schema" not in part.data:
            with part.problems.at(*part.path, "expand"):
                raise InputError("expand wants a schema whose fields become columns")
        return model(part.data["prompt"], response_format=schema, expand=expand, **options)

    def _schema(self, given: Any) -> AnswerSchema:
        if isinstance(given, str) and given.strip():
            given = self._files.schema(given)
        if not isinstance(given, Mapping):
            raise InputError("a JSON schema is wanted, or the name of a file with one")
        return AnswerSchema.of(given)

    def _conversation(self, part: Part) -> Conversation | None:
        model = self._model(part)
        options: Any = {
            "system_prompt": part.get("system", a_text),
            "template": part.get("template", a_kind, "bare"),
            "params": part.get("params", a_params),
            "user": part.get("user", lambda given: self._user(part, given)),
            "rounds": part.get("rounds", lambda given: whole("rounds", given)),
        }
        return None if model is None else conversation(model, _turns(part), **options)

    def _user(self, part: Part, given: Any) -> GeneratorFunction | None:
        """Who says what the written turns leave open: a prompt, or one with a model of its own."""
        if isinstance(given, str):
            given = {"prompt": given}
        inside = Part(part.problems, (*part.path, "user"), a_mapping(given))
        inside.only(("prompt", "model", "template", "params"))
        if inside.missing("prompt"):
            return None
        model = self._model(inside if "model" in inside.data else part)
        text = inside.get("prompt", a_text, "")
        kind: Kind = inside.get("template", a_kind, "bare")
        params = inside.get("params", a_params)
        return None if model is None else model(text, template=kind, params=params)

    def _judge(self, part: Part) -> Measure | None:
        given = Part(part.problems, (*part.path, "judge"), a_mapping(part.data["judge"]))
        given.only(_JUDGE)
        if given.missing("answer"):
            return None
        model = self._model(given)
        answer = given.get("answer", a_text, "")
        wishes: Any = {
            "question": given.get("question", a_text),
            "target": given.get("target", a_text),
            "reason": given.get("reason", a_flag, False),
            "whole": given.get("whole", a_flag, True),
            "template": given.get("template", a_text),
            "params": given.get("params", a_params),
            "criteria": given.get("criteria", a_list_of_texts, ()),
        }
        if "scale" in given.data:
            wishes["scale"] = given.get("scale", a_pair, (1, 5))
        rubric = given.get("rubric", a_text, "")
        return measures.llm_judge(answer, rubric, model=model, **wishes)

    def _metric(self, part: Part) -> Measure | None:
        name = a_text(part.data["metric"])
        if part.missing("answer"):
            return None
        answer, target = part.get("answer", a_text, ""), part.get("target", a_text)
        return _measured(name, answer, target, part.get("params", a_mapping))

    def _metric_named(self, name: str) -> Callable[[Part], Column | None]:
        def made(part: Part) -> Column | None:
            given = part.data[name]
            if isinstance(given, Mapping):
                inside = Part(part.problems, (*part.path, name), given)
                if inside.missing("answer"):
                    return None
                answer = inside.get("answer", a_text, "")
                target = inside.get("target", a_text)
                more = {k: v for k, v in given.items() if k not in ("answer", "target")}
                return _measured(name, answer, target, more)
            columns = given if isinstance(given, list) else [given]
            if not 1 <= len(columns) <= 2:
                raise InputError("columns are wanted: [what is measured, what it is held to]")
            names = [a_text(column) for column in columns]
            return _measured(name, names[0], names[1] if len(names) > 1 else None)

        return made


def _measured(
    name: str,
    answer: str,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Measure:
    if said := _not_of_columns(name):
        raise InputError(said)
    clash = {"metric", "answer", "target"} & (parameters or {}).keys()
    if clash:
        raise InputError(f"{sorted(clash)[0]} is no parameter of a metric")
    return measures.metric(name, answer, target, **(parameters or {}))


def _not_of_columns(name: str) -> str:
    """Why a metric cannot measure columns; "" where it can."""
    needs = getattr(plugins.find("metric", name), "needs", ())
    if "judge" in needs:
        return "a judge is written as judge: {answer: ..., rubric: ...}"
    if "facts" in needs:
        return f"{name} is of how an answer was made, which no column holds"
    return ""


def _as_mapping(given: Any) -> Mapping[str, Any]:
    if isinstance(given, list):
        raise InputError(
            "it is a list", remedy="Write {choice: [...]} to draw from it, or {value: [...]}."
        )
    if given is None:
        raise InputError("it is empty", remedy="Write a value behind it, or {value: null}.")
    return a_mapping(given)


def _rules(part: Part) -> dict[str, Any]:
    """Condition, check and tries, which any column may have."""
    found: dict[str, Any] = {
        "when": part.get("when", a_condition),
        "check": part.get("check", a_check),
        "tries": part.get("tries", lambda given: whole("tries", given), 3),
    }
    if "feedback" in part.data:
        found["feedback"] = part.get("feedback", a_flag, False)
    return found


def _turns(part: Part) -> Any:
    given = part.data["conversation"]
    if not isinstance(given, str | list):
        raise InputError("what the user says is wanted: a text, or a list of texts")
    return given
