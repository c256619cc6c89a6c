"""The statements of a Jinja template as small functions of the frame; see `jinja_pieces`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from penstock.templates.jinja_filters import FILTERS
from penstock.templates.jinja_pieces import DEEPEST, REMEDY, Piece, Pieces, refused
from penstock.templates.jinja_values import FillError, Frame, items_of, said, text_of

__all__ = ["Code"]

Step: TypeAlias = Callable[[Frame], None]
Assign: TypeAlias = Callable[[Frame, Any], None]


class Code(Pieces):
    """A parsed template, made into one function."""

    def __init__(self, tree: Any) -> None:
        super().__init__()
        self.run = self._body(tree.body)

    def _body(self, nodes: Iterable[Any]) -> Step:
        steps: list[Step] = [self.made(node, _STEPS) for node in nodes]
        if len(steps) == 1:
            return steps[0]

        def run(frame: Frame) -> None:
            for step in steps:
                step(frame)

        return run

    def _output(self, node: Any) -> Step:
        parts = [
            each.data if type(each).__name__ == "TemplateData" else self.piece(each)
            for each in node.nodes
        ]

        def run(frame: Frame) -> None:
            for part in parts:
                frame.write(part if isinstance(part, str) else text_of(frame, part(frame)))

        return run

    def _if(self, node: Any) -> Step:
        ways = [(self.piece(node.test), self._body(node.body))]
        ways += [(self.piece(each.test), self._body(each.body)) for each in node.elif_]
        otherwise = self._body(node.else_)

        def run(frame: Frame) -> None:
            for test, body in ways:
                if test(frame):
                    body(frame)
                    return
            otherwise(frame)

        return run

    def _for(self, node: Any) -> Step:
        if node.recursive:
            raise refused(node, "a recursive loop is not allowed", REMEDY)
        before, line = self.count, node.lineno
        source = self.piece(node.iter)
        outer, outer_loop = set(self.known), self.uses_loop
        assign = self._target(node.target)
        test = None if node.test is None else self.piece(node.test)
        self.known.add("loop")
        self.uses_loop = False
        body = self._body(node.body)
        loop = self.uses_loop
        self.known, self.uses_loop = outer, outer_loop
        otherwise = self._body(node.else_)
        cost = 1 + self.count - before

        def run(frame: Frame) -> None:
            found = source(frame)
            frame.line = line
            items = items_of(frame, found)
            variables = frame.variables

            def enter(each: Any) -> Frame:
                frame.spend(cost + len(variables))
                frame.variables, frame.line = dict(variables), line
                assign(frame, each)
                return frame

            if test is not None:
                items = [each for each in items if test(enter(each))]
            for number, each in enumerate(items):
                enter(each)
                if loop:
                    frame.variables["loop"] = _loop(number, items)
                body(frame)
            frame.variables = variables
            if not items:
                otherwise(frame)

        return run

    def _assign(self, node: Any) -> Step:
        value, line = self.piece(node.node), node.lineno
        assign = self._target(node.target)

        def run(frame: Frame) -> None:
            found = value(frame)
            frame.line = line
            assign(frame, found)

        return run

    def _assign_block(self, node: Any) -> Step:
        piece = self._chain(node.filter, self._captured(node.body))
        assign = self._target(node.target)
        return lambda frame: assign(frame, piece(frame))

    def _filter_block(self, node: Any) -> Step:
        piece = self._chain(node.filter, self._captured(node.body))
        return lambda frame: frame.write(text_of(frame, piece(frame)))

    def _chain(self, node: Any, value: Piece) -> Piece:
        """The filters of a block, the first of which has nothing before it."""
        waiting = []
        while node is not None:
            waiting.append(node)
            if len(waiting) > DEEPEST:
                raise refused(node, f"there are more than {DEEPEST} filters in a row")
            node = node.node
        for each in reversed(waiting):
            value = self.applied(each, value, FILTERS, "filter")
        return value

    def _with(self, node: Any) -> Step:
        values = [self.piece(each) for each in node.values]
        outer = set(self.known)
        assigns = [self._target(each) for each in node.targets]
        body = self._body(node.body)
        self.known = outer

        def run(frame: Frame) -> None:
            variables = frame.variables
            found = [value(frame) for value in values]
            frame.variables = dict(variables)
            for assign, each in zip(assigns, found, strict=True):
                assign(frame, each)
            body(frame)
            frame.variables = variables

        return run

    def _captured(self, nodes: Iterable[Any]) -> Piece:
        """What a part of the template would write, as a text."""
        known = set(self.known)
        body = self._body(nodes)
        self.known = known

        def run(frame: Frame) -> str:
            outer = frame.out, frame.size, frame.variables
            frame.out, frame.size, frame.variables = [], 0, dict(frame.variables)
            body(frame)
            text = "".join(frame.out)
            frame.out, frame.size, frame.variables = outer
            frame.made(len(text))
            return text

        return run

    def _target(self, node: Any) -> Assign:
        kind = type(node).__name__
        names: list[Any] = [node] if kind == "Name" else node.items if kind == "Tuple" else []
        if not names or any(type(each).__name__ != "Name" for each in names):
            raise refused(node, "only a name or names can be set", REMEDY)
        wanted = [each.name for each in names]
        self.known |= set(wanted)
        if kind == "Name":
            return lambda frame, value: frame.variables.__setitem__(wanted[0], value)

        def unpack(frame: Frame, value: Any) -> None:
            if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
                raise FillError(f"{said(value)} cannot be taken apart into {', '.join(wanted)}")
            frame.variables.update(zip(wanted, value, strict=True))

        return unpack


def _loop(number: int, items: list[Any]) -> dict[str, Any]:
    last = len(items) - 1
    loop = {
        "index": number + 1,
        "index0": number,
        "revindex": last - number + 1,
        "revindex0": last - number,
        "first": number == 0,
        "last": number == last,
        "length": len(items),
    }
    if number:
        loop["previtem"] = items[number - 1]
    if number < last:
        loop["nextitem"] = items[number + 1]
    return loop


_STEPS: dict[str, Callable[[Any, Any], Step]] = {
    "Assign": Code._assign,
    "AssignBlock": Code._assign_block,
    "FilterBlock": Code._filter_block,
    "For": Code._for,
    "If": Code._if,
    "Output": Code._output,
    "With": Code._with,
}
