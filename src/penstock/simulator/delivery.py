"""An answer made ready, and its way to the client: at once, later, in pieces, or cut off."""

from __future__ import annotations

from typing import NamedTuple

from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.http import http_response, status_line
from penstock.simulator.question import Reply

__all__ = [
    "Delivery",
    "answer_delivery",
    "errand_delivery",
    "problem_delivery",
    "stream_delivery",
]

_PIECES = 10
_CUT_EXTRA = 512
_SSE = b"content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"


class Delivery(NamedTuple):
    """Bytes to write, a pause between the pieces, and what the ledger shall say."""

    pieces: tuple[bytes, ...]
    status: int
    gap: float = 0.0
    close: bool = False
    prompt: int = 0
    completion: int = 0


def problem_delivery(api: Api, problem: Problem, headers: bytes) -> Delivery:
    """An error, with the hints when to try again."""
    problem = api.own(problem)
    if problem.wait is not None:
        seconds = int(-(-problem.wait // 1))
        millis = int(-(-problem.wait * 1000 // 1))
        headers += b"retry-after: %d\r\nretry-after-ms: %d\r\n" % (seconds, millis)
    if problem.status in (502, 504):
        page = f"<html><body><h1>{problem.status} {problem.message}</h1></body></html>".encode()
        whole = http_response(problem.status, page, headers, b"text/html")
    else:
        whole = http_response(problem.status, api.problem(problem), headers)
    return Delivery((whole,), problem.status)


def answer_delivery(
    api: Api,
    asked: Asked,
    replies: list[Reply],
    number: int,
    headers: bytes,
    fault: str,
    gap: float,
) -> Delivery:
    """A whole answer, spoiled where a fault wants it."""
    body = api.render(asked, replies, number)
    if fault == "malformed":
        body = body[: len(body) * 2 // 3] + b'"\\u12'
    elif fault == "empty_choices":
        body = api.empty(asked, number)
    elif fault == "error_in_200":
        body = api.problem(Problem(500, "server_error", "The model failed."))
    return _whole_delivery(body, headers, fault, gap, *_tokens(replies))


def errand_delivery(api: Api, body: bytes, headers: bytes, fault: str, gap: float) -> Delivery:
    """An answer that is no model's, spoiled where a fault wants it; `lost` sends nothing."""
    if fault == "lost":
        return Delivery((b"",), 0, 0.0, True)
    if fault == "malformed":
        body = body[: len(body) * 2 // 3] + b'"\\u12'
    elif fault == "error_in_200":
        body = api.problem(Problem(500, "server_error", "The server failed."))
    return _whole_delivery(body, headers, fault, gap)


def _whole_delivery(
    body: bytes, headers: bytes, fault: str, gap: float, prompt: int = 0, completion: int = 0
) -> Delivery:
    if fault == "cut":
        sent = http_response(200, body[: len(body) // 2], headers, length=len(body) + _CUT_EXTRA)
        return Delivery((sent,), 200, 0.0, True, prompt, completion)
    whole = http_response(200, body, headers)
    if fault == "slow_body":
        start = len(whole) - len(body)
        pieces = (whole[:start], *_split(whole[start:]))
        return Delivery(pieces, 200, gap, False, prompt, completion)
    return Delivery((whole,), 200, 0.0, False, prompt, completion)


def stream_delivery(
    api: Api,
    asked: Asked,
    replies: list[Reply],
    number: int,
    headers: bytes,
    fault: str,
    gap: float,
) -> Delivery:
    """A streamed answer as chunked server-sent events, spoiled where a fault wants it."""
    events = api.events(asked, replies, number)
    middle = min(max(1, len(events) // 2), len(events) - 1)
    name = events[middle].partition(b"data: ")[0]  # of protocols that name their events
    if fault == "malformed":
        events.insert(middle, name + b'data: {"id": "chatcmpl-\n\n')
    elif fault == "empty_choices":
        events = api.events(asked, [], number)
    elif fault == "error_in_200":
        error = api.problem(Problem(500, "server_error", "The model failed."))
        name = b"event: error\n" if name else b""
        events = [*events[:middle], name + b"data: " + error + b"\n\n"]
    head = status_line(200) + _SSE + headers + b"\r\n"
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    prompt, completion = _tokens(replies)
    if fault == "cut":
        sent = head + b"".join(chunks[:middle]) + chunks[middle][:-9]
        return Delivery((sent,), 200, 0.0, True, prompt, completion)
    body = b"".join(chunks) + b"0\r\n\r\n"
    if fault == "slow_body":
        return Delivery((head, *_split(body)), 200, gap, False, prompt, completion)
    return Delivery((head + body,), 200, 0.0, False, prompt, completion)


def _split(body: bytes) -> list[bytes]:
    size = max(1, -(-len(body) // _PIECES))
    return [body[start : start + size] for start in range(0, len(body), size)]


def _tokens(replies: list[Reply]) -> tuple[int, int]:
    if not replies:
        return 0, 0
    return replies[0].prompt_tokens, sum(reply.completion_tokens for reply in replies)
