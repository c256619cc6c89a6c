"""Generators: columns that a model writes.

    gen = generator("openai", model="gpt-4o-mini", temperature=0.8)
    question = gen("A {difficulty} question about {language}")
    question({"difficulty": "hard", "language": "Rust"})     # one, now

Making one sends nothing. In a schema its names are columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock import plugins
from penstock.endpoint import Endpoint
from penstock.engine.structured import Structured, ask_structured
from penstock.engine.users import is_awaitable
from penstock.engine.workbench import Workbench
from penstock.errors import EndpointError, InputError
from penstock.generate.arguments import Needs, wanted
from penstock.generate.columns import Attempt, Column, Make, Row, Scene, blamed
from penstock.generate.models import Models
from penstock.generate.prompts import Kind, Prompt
from penstock.generate.rules import Check, Condition
from penstock.messages import normalise
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers import provider_of
from penstock.request import Request, merged_params
from penstock.schema import AnswerSchema
from penstock.secret import Secret
from penstock.tables.plain import text_of

if TYPE_CHECKING:
    from penstock.generate.conversation import Conversation
    from penstock.generate.single import AnswerStream

__all__ = ["Generator", "GeneratorFunction", "async_generator", "generator", "sample_of"]

_TWIN = 1 << 32
_ATTEMPT = 1 << 40
_LONGEST_QUOTE = 20_000


def generator(
    provider: str | Endpoint = "",
    api_key: str | Secret | None = None,
    model: str | None = None,
    *,
    base_url: str | None = None,
    workbench: Workbench | None = None,
    **params: Any,
) -> Generator:
    """A model that writes columns.

    `provider` is a provider (`openai`, with `model=`), a model, a saved endpoint, an Endpoint, or
    left out for the setting `llm.model`. Without `api_key` the provider's usual variable is read
    when it is needed. `params` are the model's, such as `temperature`.
    """
    merged_params({}, params)  # a name that cannot be a parameter is said here
    key = api_key if api_key is None or isinstance(api_key, Secret) else _key(api_key)
    return Generator(provider, key, model, base_url, params, workbench)


async_generator = generator


def _key(given: str) -> str | Secret:
    if not isinstance(given, str):
        raise InputError(f"api_key is a {type(given).__name__}; a text is wanted")
    if not given.strip():
        raise InputError(
            "api_key is empty", remedy="Leave it out to read the provider's usual variable."
        )
    return given if given.startswith(("env:", "file:")) else Secret(given)


@dataclass(frozen=True)
class Generator:
    """Makes columns: call it with a prompt."""

    source: str | Endpoint
    key: str | Secret | None = field(default=None, repr=False)
    model: str | None = None
    url: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    workbench: Workbench | None = field(default=None, repr=False)

    def __call__(
        self,
        prompt: Any,
        /,
        *,
        response_format: Any = None,
        system_prompt: str | None = None,
        template: Kind = "bare",
        params: Mapping[str, Any] | None = None,
        expand: bool = False,
        when: Any = None,
        check: Any = None,
        tries: int = 3,
        feedback: bool = False,
        **variables: Any,
    ) -> GeneratorFunction:
        """A column that asks `prompt` of every row; columns, and `variables`, stand in its braces.

        `response_format`: a Pydantic model or a JSON schema that every answer fits; with `expand`
        its fields become columns. `when`: only some rows have it. `check`: what an answer must be;
        it is asked again up to `tries` times in all, with `feedback` told what was wrong.
        """
        schema = None if response_format is None else AnswerSchema.of(response_format)
        if expand:
            fields_of(schema)
        merged_params({}, params or {})
        return GeneratorFunction(
            generator=self,
            prompt=Prompt.of(prompt, system_prompt, template, variables),
            schema=schema,
            params=dict(params or {}),
            expand=expand,
            when=Condition.of(when),
            check=Check.of(check),
            tries=tries,
            feedback=feedback,
        )

    def conversation(self, turns: Any, /, **options: Any) -> Conversation:
        """A column of several turns; see `Conversation`."""
        from penstock.generate.conversation import conversation

        return conversation(self, turns, **options)

    def endpoint(self, bench: Workbench) -> Endpoint:
        """Whom it asks."""
        found = bench.endpoint(self._named())
        changes: dict[str, Any] = {}
        if self.key is not None:
            changes["key"] = self.key
        if self.url is not None:
            changes["url"] = self.url
        if self.params:
            changes["params"] = merged_params(found.params, self.params)
        return replace(found, **changes) if changes else found

    def _named(self) -> str | Endpoint | None:
        source = self.source
        if isinstance(source, Endpoint):
            return source if self.model is None else source.with_(model=self.model)
        if source in plugins.names("provider"):
            return f"{source}/{self.model or _usual(source)}"
        if self.model is not None:
            raise EndpointError(
                f"there is no provider {source!r}",
                remedy=f"Known: {', '.join(sorted(plugins.names('provider')))}.",
            )
        return source or None


def _usual(provider: str) -> str:
    found: str = provider_of(Endpoint(provider, "any")).usual_model
    if not found:
        raise EndpointError(f"{provider} has no usual model", remedy="Give model='...'.")
    return found


@dataclass(frozen=True, kw_only=True)
class GeneratorFunction(Column):
    """A column that a model writes; called with a row it asks at once."""

    generator: Generator
    prompt: Prompt
    schema: AnswerSchema | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    expand: bool = False

    def __call__(self, row: Mapping[str, Any] | None = None, /, **values: Any) -> Any:
        """The answer for one row; to be awaited inside a running loop. Raises what went wrong."""
        from penstock.generate.single import answered

        if row is not None and not isinstance(row, Mapping):
            raise InputError(
                f"a row is a dictionary, not a {type(row).__name__}",
                remedy="Write fn({'topic': 'Python'}) or fn(topic='Python').",
            )
        return answered(self, {**(row or {}), **values}, self.generator.workbench)

    def stream(self, rows: Any) -> AnswerStream:
        """The answers for many rows, in their order, a bounded number at a time; `for` or
        `async for`. Raises at the first that failed."""
        from penstock.generate.single import AnswerStream

        return AnswerStream(self, rows, self.generator.workbench)

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        return self.prompt.needs(name, columns)

    @property
    def fields(self) -> tuple[str, ...] | None:
        return fields_of(self.schema) if self.expand else None

    @property
    def repeats(self) -> bool:
        return True

    @property
    def question(self) -> Any:
        schema = None if self.schema is None else self.schema.canonical
        return self.generator, self.prompt.identity, schema, tuple(map(str, self.params.items()))

    def endpoints(self, models: Models) -> tuple[Endpoint, ...]:
        return (models.of(self.generator),)

    def maker(self, scene: Scene) -> Make:
        asking = Asking.of(self.generator, self.params, scene, self.schema)
        prompt, asked = self.prompt, _asked(self.prompt, scene)

        async def make(number: int, row: Row, attempt: Attempt) -> Any:
            messages = prompt.messages(row) if asked is None else await asked(number, row)
            if isinstance(messages, Failure):
                return messages
            messages += [turn for pair in attempt.refused for turn in _corrections(*pair)]
            return await asking.value(messages, sample_of(number, scene.twin, attempt.number))

        return make


class Asking(NamedTuple):
    """How a column asks in a run."""

    scene: Scene
    endpoint: Endpoint
    params: Mapping[str, Any]
    schema: AnswerSchema | None
    reasks: int

    @classmethod
    def of(
        cls,
        generator: Generator,
        params: Mapping[str, Any],
        scene: Scene,
        schema: AnswerSchema | None = None,
    ) -> Asking:
        endpoint = scene.models.of(generator)
        merged = merged_params(endpoint.params, params)
        return cls(scene, endpoint, merged, schema, scene.models.reasks)

    async def value(self, messages: list[dict[str, Any]], sample: int) -> Any:
        """The text, the fields, or a Failure."""
        request = Request(self.endpoint, messages, self.params, self.schema, None, sample)
        if self.schema is None:
            outcome = await self.scene.engine.ask(request)
            return outcome.text if isinstance(outcome, Answer) else outcome
        found = await ask_structured(self.scene.engine, request, reasks=self.reasks)
        return plain(found)


def plain(found: Structured | Failure) -> Any:
    """The value of a structured answer, as plain data."""
    if isinstance(found, Failure):
        return found
    if found.answer.refused:
        said = found.answer.text[:300] or found.answer.finish
        return Failure(FailureKind.INVALID_ANSWER, f"the model refused: {said}")
    dump = getattr(found.value, "model_dump", None)
    return found.value if dump is None else dump(mode="json")


def sample_of(number: int, twin: int = 0, attempt: int = 0) -> int:
    """The draw of a cell: its row, its place among columns that ask the same, its attempt."""
    return number + twin * _TWIN + attempt * _ATTEMPT


def fields_of(schema: AnswerSchema | None) -> tuple[str, ...]:
    """The fields of answers, which become columns."""
    names = () if schema is None else tuple(schema.schema.get("properties", {}))
    if schema is not None and schema.model is not None and names:
        names = tuple(schema.model.model_fields)  # by their own names, not their aliases
    if not names:
        raise InputError(
            "expand=True wants a response_format with fields",
            remedy="Give a Pydantic model, or a JSON schema with properties.",
        )
    return names


def _asked(prompt: Prompt, scene: Scene) -> Any:
    """A function of the user's that gives the messages; None where templates do."""
    if prompt.function is None:
        return None
    function = prompt.function
    others = [column for column in scene.columns if column != scene.name]
    how = wanted(function, others, scene.name)

    def messages(number: int, row: Row) -> Any:
        places, named = how.arguments(row, lambda: scene.rng(number, "/prompt"))
        given = function(*places, **named)
        return later(given, row) if is_awaitable(given) else finished(given, row)

    async def later(given: Any, row: Row) -> list[dict[str, Any]]:
        return finished(await given, row)

    def finished(given: Any, row: Row) -> list[dict[str, Any]]:
        return prompt.with_system(normalise(given), row)

    async def asked(number: int, row: Row) -> Any:
        return blamed(await scene.calls.call(messages, number, row), row, "prompt function")

    return asked


def _corrections(said: Any, why: str) -> list[dict[str, Any]]:
    """What goes along when a refused answer is asked for again."""
    text = said if isinstance(said, str) else text_of(said) or ""
    return [
        {"role": "assistant", "content": text[:_LONGEST_QUOTE]},
        {"role": "user", "content": f"That is refused: {why}\nAnswer again, with that put right."},
    ]
