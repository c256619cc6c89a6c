"""Red-team sessions by Moonshot's names: thin, over `penstock.redteam.session`.

A session belongs to a runner and has its id. Strategies, attacks and metrics may be named by
Moonshot's ids. What Moonshot only stores is applied here: the system prompt, the template and the
context really go along.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from penstock.bench.importing.metricmap import METRICS
from penstock.bench.shelves import Shelves
from penstock.endpoint import Endpoint
from penstock.engine.bridge import Handle
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.files import private_folder, slug
from penstock.moonshot.calling import api, check_names
from penstock.moonshot.endpoints import endpoint_of, has_token
from penstock.redteam import bookmarks
from penstock.redteam.notation import notation, parsed
from penstock.redteam.session import Session
from penstock.redteam.sessions import all_sessions, delete_session
from penstock.redteam.strategy import parse_strategy
from penstock.redteam.turn import Setup, Turn, TurnStatus

__all__ = [
    "ChatHandle",
    "api_create_session",
    "api_delete_bookmark",
    "api_delete_session",
    "api_export_bookmarks",
    "api_get_all_bookmarks",
    "api_get_all_chats_from_session",
    "api_get_all_session_metadata",
    "api_get_all_session_names",
    "api_get_bookmark",
    "api_insert_bookmark",
    "api_load_session",
    "api_update_attack_module",
    "api_update_context_strategy",
    "api_update_cs_num_of_prev_prompts",
    "api_update_metric",
    "api_update_prompt_template",
    "api_update_system_prompt",
    "send_chat_message",
]

T = TypeVar("T")
Chats = dict[str, list[dict[str, Any]]]
_DEFAULT_PROMPTS = 5
_ARGUMENTS = (
    "context_strategy", "cs_num_of_prev_prompts", "prompt_template", "attack_module", "metric",
    "system_prompt", "description", "attacker", "judge", "seed", "max_turns", "stop_on_success",
)  # fmt: skip
_OWN = ("system_prompt", *_ARGUMENTS[6:])
"""What goes to the session as it is; the last six are Penstock's."""


# Sessions ---------------------------------------------------------------------------------------


@api
def api_create_session(
    runner_id: str,
    endpoints: str | Sequence[str] = (),
    args: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Begin the session of a runner, over these endpoints or else the runner's own.

    `args`: context_strategy, cs_num_of_prev_prompts, prompt_template, attack_module, metric,
    system_prompt; and Penstock's description, attacker, judge, seed, max_turns, stop_on_success.
    """
    bench = default_workbench()
    runner = Shelves(bench).runners.get(runner_id)
    given = dict(args or {})
    check_names("api_create_session", given, _ARGUMENTS)
    names = [endpoints] if isinstance(endpoints, str) else list(endpoints)
    strategy = given.get("context_strategy") or "none"
    count = given.get("cs_num_of_prev_prompts")
    session = Session.create(
        runner.id,
        names or list(runner.value.endpoints),
        strategy=strategy if count is None else _counted(strategy, count),
        template=given.get("prompt_template") or "",
        attack=given.get("attack_module") or "",
        metric=_metric(given.get("metric") or ""),
        workbench=bench,
        **{name: given[name] for name in _OWN if name in given},
    )
    return _metadata(session)


@api
def api_load_session(runner_id: str) -> dict[str, Any]:
    """What the session of a runner is set to."""
    return _metadata(_opened(runner_id))


@api
def api_get_all_session_names() -> list[str]:
    """The ids of all sessions."""
    return sorted(each.id for each in all_sessions(default_workbench()))


@api
def api_get_all_session_metadata() -> list[dict[str, Any]]:
    """Every session, as `api_load_session` gives it; that last used first."""
    return [_metadata(_opened(each.id)) for each in all_sessions(default_workbench())]


@api
def api_delete_session(runner_id: str) -> bool:
    """Forget a session and its chats; the runner, bookmarks and recorded answers stay."""
    delete_session(runner_id, default_workbench())
    return True


@api
def send_chat_message(runner_id: str, prompt: str) -> Any:
    """Send a prompt to every endpoint of a session: the new chats by endpoint, each recorded.

    Inside a running event loop, a handle to `await` comes back instead.
    """
    return _then(_opened(runner_id).send(prompt), _chats)


@api
def api_get_all_chats_from_session(runner_id: str) -> Chats:
    """Every chat of a session, by endpoint."""
    session = _opened(runner_id)
    made: Chats = {label: [] for label in session.endpoints}
    for sent in session.sends():
        for turn in sent.turns:
            made.setdefault(turn.endpoint, []).append(_chat(turn))
    return made


# Settings ---------------------------------------------------------------------------------------


@api
def api_update_context_strategy(runner_id: str, context_strategy: str) -> bool:
    """What goes along of earlier prompts: `add_previous_prompt`, or one of Penstock's."""
    _opened(runner_id).set(strategy=context_strategy)
    return True


@api
def api_update_cs_num_of_prev_prompts(runner_id: str, num_of_prev_prompts: int) -> bool:
    """How many of them, for a strategy that counts."""
    session = _opened(runner_id)
    session.set(strategy=_counted(session.setup.strategy, num_of_prev_prompts))
    return True


@api
def api_update_prompt_template(runner_id: str, prompt_template: str) -> bool:
    """The template that every prompt is put into; empty for none."""
    _opened(runner_id).set(template=prompt_template)
    return True


@api
def api_update_attack_module(runner_id: str, attack_module: str) -> bool:
    """What is done to every prompt: one of Moonshot's ids or of Penstock's attacks."""
    _opened(runner_id).set(attack=attack_module)
    return True


@api
def api_update_metric(runner_id: str, metric_id: str) -> bool:
    """What every answer is scored by; empty for nothing."""
    _opened(runner_id).set(metric=_metric(metric_id))
    return True


@api
def api_update_system_prompt(runner_id: str, system_prompt: str) -> bool:
    """Sent with every prompt."""
    _opened(runner_id).set(system_prompt=system_prompt)
    return True


# Bookmarks --------------------------------------------------------------------------------------


@api
def api_insert_bookmark(
    name: str,
    prompt: str,
    prepared_prompt: str,
    response: str,
    context_strategy: str = "",
    prompt_template: str = "",
    attack_module: str = "",
    metric: str = "",
) -> dict[str, Any]:
    """Keep a prompt and its answer under a name that is not taken."""
    setup = Setup(
        strategy=context_strategy or "none",
        attack=attack_module,
        template=prompt_template,
        metric=metric,
    )
    turn = Turn(
        number=0,
        endpoint="",
        prompt=prompt,
        prepared=prepared_prompt,
        answer=response,
        setup=setup,
        status=TurnStatus.ANSWERED,
    )
    made = bookmarks.add_bookmark(name, turn, workbench=default_workbench())
    return {"success": True, "message": f"the bookmark {made.name!r} is kept"}


@api
def api_get_all_bookmarks() -> list[dict[str, Any]]:
    """Every bookmark, by name."""
    return [_bookmark(each) for each in bookmarks.all_bookmarks(default_workbench())]


@api
def api_get_bookmark(bookmark_name: str) -> dict[str, Any]:
    """One bookmark."""
    return _bookmark(bookmarks.find_bookmark(bookmark_name, default_workbench()))


@api
def api_delete_bookmark(bookmark_name: str) -> dict[str, Any]:
    """Forget a bookmark."""
    bookmarks.delete_bookmark(bookmark_name, default_workbench())
    return {"success": True, "message": f"the bookmark {bookmark_name!r} is deleted"}


@api
def api_export_bookmarks(export_file_name: str = "bookmarks") -> str:
    """Write all bookmarks as JSON into the workspace, under a name and never a path; its place."""
    import orjson

    from penstock.tables.atomic import draft

    bench = default_workbench()
    folder = bench.workspace.prepare().path / "exports"
    private_folder(folder)
    path = folder / f"{slug(export_file_name.removesuffix('.json'))}.json"
    with draft(path, overwrite=True) as new:
        new.write_bytes(orjson.dumps(api_get_all_bookmarks(), option=orjson.OPT_INDENT_2))
    return str(path)


# Inside -----------------------------------------------------------------------------------------


class ChatHandle(Generic[T]):
    """Prompts that are being sent: `await` it, or ask for its `result()`."""

    def __init__(self, handle: Handle[Any], then: Callable[[Any], T]) -> None:
        self._handle = handle
        self._then = then

    def __await__(self) -> Generator[Any, None, T]:
        return self._then((yield from self._handle.__await__()))

    def cancel(self) -> None:
        """Send nothing more; what is sent already is recorded."""
        self._handle.cancel()

    def result(self, timeout: float | None = None) -> T:
        """The chats; waits for them. Never call it in a loop that must go on."""
        return self._then(self._handle.result(timeout))


def _then(sent: Any, then: Callable[[Any], T]) -> ChatHandle[T] | T:
    return ChatHandle(sent, then) if isinstance(sent, Handle) else then(sent)


def _opened(runner_id: str) -> Session:
    """The session, with the tokens that this process holds."""
    bench = default_workbench()
    session = Session.open(runner_id, workbench=bench)
    names = {label: label for label in session.endpoints}
    names |= {role: name for role in ("attacker", "judge") if (name := session.settings[role])}
    return Session.open(runner_id, workbench=bench, given=_tokens(bench, names))


def _tokens(bench: Workbench, names: Mapping[str, str]) -> dict[str, Endpoint]:
    return {key: endpoint_of(bench, name) for key, name in names.items() if has_token(bench, name)}


def _counted(strategy: str, count: int) -> str:
    """A strategy that takes so many earlier prompts along; one that does not count stays."""
    made = parse_strategy(strategy)
    if "count" not in type(made).model_fields:
        return strategy
    [called] = parsed(strategy)
    return notation(called.name, {**called.parameters, "count": count})


def _metric(name: str) -> str:
    """Penstock's name for what Moonshot calls so."""
    if name in ("refusal", "gpt4annotator"):
        return "refusal"
    known = METRICS.get(name)
    if known is None:
        return name
    if not known.uses or known.uses[0].params:
        why = known.why or "it has parameters, which the metric of a session has not"
        raise InputError(f"the metric {name!r} cannot be had in a session: {why}")
    return known.uses[0].metric


def _metadata(session: Session) -> dict[str, Any]:
    setup = session.setup
    return {
        "session_id": session.id,
        "endpoints": list(session.endpoints),
        "created_epoch": session.created,
        "created_datetime": datetime.fromtimestamp(session.created).strftime("%Y%m%d-%H%M%S"),
        "prompt_template": setup.template,
        "context_strategy": _strategy(setup),
        "cs_num_of_prev_prompts": getattr(
            parse_strategy(setup.strategy), "count", _DEFAULT_PROMPTS
        ),
        "attack_module": setup.attack,
        "metric": setup.metric,
        "system_prompt": setup.system_prompt,
    }


def _strategy(setup: Setup) -> str:
    """By its name alone, as it was written; nothing for none."""
    return "" if setup.strategy == "none" else setup.strategy.partition("(")[0].strip()


def _chats(turns: Sequence[Turn]) -> Chats:
    made: Chats = {}
    for turn in turns:
        made.setdefault(turn.endpoint, []).append(_chat(turn))
    return made


def _chat(turn: Turn) -> dict[str, Any]:
    return {
        "conn_id": turn.endpoint,
        "context_strategy": _strategy(turn.setup),
        "prompt_template": turn.setup.template,
        "attack_module": turn.setup.attack,
        "metric": turn.setup.metric,
        "prompt": turn.prompt,
        "prepared_prompt": turn.prepared,
        "system_prompt": turn.setup.system_prompt,
        "predicted_result": turn.answer,
        "duration": turn.latency,
        "prompt_time": datetime.fromtimestamp(turn.time).strftime("%Y-%m-%d %H:%M:%S"),
    }


def _bookmark(mark: bookmarks.Bookmark) -> dict[str, Any]:
    return {
        "name": mark.name,
        "prompt": mark.prompt,
        "prepared_prompt": mark.prepared,
        "response": mark.answer,
        "context_strategy": _strategy(mark.setup),
        "prompt_template": mark.setup.template,
        "attack_module": mark.setup.attack,
        "metric": mark.setup.metric,
        "bookmark_time": datetime.fromtimestamp(mark.created).strftime("%Y-%m-%d %H:%M:%S"),
    }
