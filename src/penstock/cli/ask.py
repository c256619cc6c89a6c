"""`penstock ask`: one question, its answer streamed, and recorded like all others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from cyclopts import Parameter

from penstock.cli import complain
from penstock.cli.show import dollars, print_json, safe, say_stopping
from penstock.errors import Exit, InputError
from penstock.outcome import Answer, Failure, FailureKind

__all__ = ["ask", "read_schema"]

_EXITS = {
    FailureKind.INPUT: Exit.INPUT,
    FailureKind.STORAGE: Exit.HOST,
    FailureKind.CANCELLED: Exit.CANCELLED,
    FailureKind.TRUNCATED: Exit.PROCESSING,
    FailureKind.INVALID_ANSWER: Exit.PROCESSING,
    FailureKind.NOT_RECORDED: Exit.PROCESSING,
    FailureKind.INTERNAL: Exit.FAULT,
    FailureKind.BUDGET: Exit.STOPPED,
}


def ask(
    prompt: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    model: Annotated[str | None, Parameter(name=["--model", "-m"])] = None,
    system: str | None = None,
    schema: Path | None = None,
    image: Annotated[list[Path] | None, Parameter(negative=())] = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    sample: int = 0,
    cache: Literal["use", "off", "refresh", "read"] = "use",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Ask a model one question.

    The answer streams on a terminal. The same question asked again is answered
    from the journal: nothing is sent, nothing paid.

    For example:

        penstock ask "What is a penstock?" --model simulated
        penstock ask "Name a river" --model gpt-4o-mini --temperature 0
        penstock ask "Who is this?" --image face.png --model gpt-4o
        penstock ask "A person" --schema person.json --model simulated --json
        cat letter.txt | penstock ask - --model http://localhost:8000/v1#llama

    Parameters
    ----------
    prompt
        The question, or `-` to read it from standard input.
    model
        The model: a name, provider/model, http://host/v1#model, or a saved endpoint.
    system
        A system prompt.
    schema
        A file with the JSON schema that the answer must fit.
    image
        An image to go along; may be given several times.
    temperature
        How freely it chooses its words, 0 to 2.
    max_tokens
        The most tokens of the answer.
    sample
        The number of this independent draw; another number asks anew.
    cache
        use, off, refresh or read.
    as_json
        Print the whole outcome as JSON, for a program.
    """
    from penstock.engine.asking import ask as ask_engine
    from penstock.engine.workbench import Workbench

    live = sys.stdout.isatty() and not as_json and schema is None
    with Workbench() as bench:
        outcome = ask_engine(
            _prompt(prompt, image),
            model=model,
            system=system,
            schema=None if schema is None else read_schema(schema),
            sample=sample,
            cache=cache,
            on_text=_write if live else None,
            on_interrupt=say_stopping,
            workbench=bench,
            temperature=temperature,
            max_tokens=max_tokens,
        )
    if isinstance(outcome, Failure):
        if as_json:
            print_json({"failure": _as_dict(outcome)})
        complain(f"no answer ({outcome.kind}): {outcome.message}", _remedy(outcome))
        return _EXITS.get(outcome.kind, Exit.API)
    answer, value = outcome if isinstance(outcome, tuple) else (outcome, None)
    _print(answer, value, live=live, as_json=as_json)
    return Exit.OK


def _prompt(prompt: str, images: list[Path] | None) -> Any:
    from penstock.messages import image

    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise InputError("the question is empty")
    if not images:
        return text
    parts = [{"type": "text", "text": text}, *(image(path) for path in images)]
    return [{"role": "user", "content": parts}]


def read_schema(path: Path) -> Any:
    """A JSON schema from a file."""
    try:
        found = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"the schema {path} cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"the schema {path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"the schema {path} is no JSON schema: it holds no object")
    return found


def _print(answer: Answer, value: Any, *, live: bool, as_json: bool) -> None:
    if as_json:
        print_json({"answer": _as_dict(answer), **({} if value is None else {"value": value})})
        return
    if value is not None:
        print_json(value)
    elif live:
        sys.stdout.write("\n")
    else:
        sys.stdout.write(answer.text + "\n")
    if sys.stderr.isatty():
        sys.stderr.write(_facts(answer) + "\n")


def _facts(answer: Answer) -> str:
    usage = answer.usage
    spent = "from the journal, nothing paid" if answer.recorded else dollars(answer.cost)
    finish = "" if answer.finish == "stop" else f", ended by {answer.finish}"
    facts = f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {spent}{finish}"
    return safe(f"[{answer.model or 'model'}: {facts}]")


def _write(text: str) -> None:
    sys.stdout.write(safe(text))
    sys.stdout.flush()


def _as_dict(outcome: Answer | Failure) -> dict[str, Any]:
    import msgspec

    made: dict[str, Any] = msgspec.to_builtins(outcome)
    return made


def _remedy(failure: Failure) -> str:
    if failure.kind.stops and failure.status is not None:
        return "Check the key, the model's name and the account of this endpoint."
    if failure.kind is FailureKind.CONNECTION:
        return "Is the address right, and the server running?"
    return ""
