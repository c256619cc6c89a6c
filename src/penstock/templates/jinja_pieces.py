"""The expressions of a Jinja template as small functions of the frame.

Jinja only reads the text. What it means is said here and in `jinja_code`, piece by piece, so that
what is not said does not exist: no attribute of an object, no method, no import, no macro. Each
piece becomes a function once, when the template is made.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any, TypeAlias

from penstock.errors import InputError
from penstock.templates.jinja_filters import FILTERS, TESTS
from penstock.templates.jinja_values import (
    BINARY,
    MISSING,
    FillError,
    Frame,
    absent,
    compare,
    field,
    item,
    plain,
    scalar,
    text_of,
)

__all__ = ["DEEPEST", "REMEDY", "Piece", "Pieces", "refused"]

Piece: TypeAlias = Callable[[Frame], Any]

REMEDY = (
    "There are: {{ name }}, {{ name.field }}, {{ name|filter }}, {% if %}, {% for %}, {% set %}, "
    "{% with %}, {% filter %}, range() and loop."
)
DEEPEST = 60
_MOST_PIECES = 20_000
_LONGEST_RANGE = 100_000
_TAGS = {
    "Import": "import", "FromImport": "from", "Include": "include", "Extends": "extends",
    "Block": "block", "Macro": "macro", "CallBlock": "call", "Scope": "autoescape",
    "ScopedEvalContextModifier": "autoescape",
}  # fmt: skip


def refused(node: Any, message: str, remedy: str = "") -> InputError:
    """What is wrong with a template, with its line."""
    return InputError(f"the template, line {node.lineno}: {message}", remedy=remedy)


class Pieces:
    """Makes the functions. `names`: the columns read, and whether each must be there."""

    def __init__(self) -> None:
        self.names: dict[str, bool] = {}
        self.known: set[str] = set()  # variables of the template's own, at this point of it
        self.uses_loop = False
        self.count = 0
        self._depth = 0

    def piece(self, node: Any) -> Piece:
        """The value of an expression."""
        made: Piece = self.made(node, _PIECES)
        return made

    def made(self, node: Any, table: dict[str, Callable[[Any, Any], Any]]) -> Any:
        """The function of a node, if the table knows its kind."""
        kind = type(node).__name__
        make = table.get(kind)
        if make is None:
            what = f"{{% {_TAGS[kind]} %}}" if kind in _TAGS else kind
            raise refused(node, f"{what} is not allowed", REMEDY)
        self.count += 1
        self._depth += 1
        if self.count > _MOST_PIECES:
            raise refused(node, f"the template has more than {_MOST_PIECES:,} pieces")
        if self._depth > DEEPEST:
            raise refused(node, f"it is nested more than {DEEPEST} deep")
        made = make(self, node)
        self._depth -= 1
        return made

    def applied(self, node: Any, value: Piece, table: dict[str, Any], kind: str) -> Piece:
        """A filter or test on a value; its arguments are checked now."""
        work = table.get(node.name)
        if work is None:
            close = get_close_matches(node.name, table, n=1)
            hint = f"Did you mean {close[0]}? " if close else ""
            remedy = f"{hint}There are: {', '.join(table)}."
            raise refused(node, f"there is no {kind} {node.name!r}", remedy)
        given = self._given(node)
        named = {each.key: self.piece(each.value) for each in node.kwargs}
        try:
            signature(work).bind(None, None, *given, **named)
        except TypeError as error:
            raise refused(node, f"the {kind} {node.name}: {error}") from None
        line = node.lineno

        def run(frame: Frame) -> Any:
            found = value(frame)
            values = [each(frame) for each in given]
            options = {key: each(frame) for key, each in named.items()}
            frame.line = line
            return work(frame, found, *values, **options)

        return run

    def _lenient(self, node: Any) -> Piece:
        """As `piece`, but what is not there is MISSING, for `is defined` and `default`."""
        lenient = type(node).__name__ in _LENIENT
        made: Piece = self.made(node, _LENIENT if lenient else _PIECES)
        return made

    def _given(self, node: Any) -> list[Piece]:
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            raise refused(node, "* and ** are not allowed", REMEDY)
        return [self.piece(each) for each in node.args]

    def _const(self, node: Any) -> Piece:
        value = node.value
        return lambda frame: value

    def _text(self, node: Any) -> Piece:
        value = node.data
        return lambda frame: value

    def _maybe(self, node: Any) -> Piece:
        name = node.name
        if name == "loop":
            self.uses_loop = True
        if name not in self.known:
            self.names.setdefault(name, False)

        def run(frame: Frame) -> Any:
            if name in frame.variables:
                return frame.variables[name]
            return plain(frame.row[name]) if name in frame.row else MISSING

        return run

    def _name(self, node: Any) -> Piece:
        name, line, find = node.name, node.lineno, self._maybe(node)
        if name not in self.known:
            self.names[name] = True

        def run(frame: Frame) -> Any:
            if (found := find(frame)) is MISSING:
                frame.line = line
                close = get_close_matches(name, [*frame.row, *frame.variables], n=1)
                hint = f"Did you mean {close[0]}? " if close else ""
                there = ", ".join(map(str, frame.row)) or "no columns"
                raise FillError(f"the row has no column {name!r}", f"{hint}There are: {there}.")
            return found

        return run

    def _maybe_inside(self, node: Any) -> Piece:
        value, look, key = self._lenient(node.node), *self._way(node)

        def run(frame: Frame) -> Any:
            whole = value(frame)
            return MISSING if whole is MISSING else look(whole, key(frame))

        return run

    def _inside(self, node: Any) -> Piece:
        if type(node).__name__ == "Getitem" and type(node.arg).__name__ == "Slice":
            return self._slice(node)
        value, look, key = self.piece(node.node), *self._way(node)
        line = node.lineno

        def run(frame: Frame) -> Any:
            whole, at = value(frame), key(frame)
            frame.line = line
            if (found := look(whole, at)) is MISSING:
                raise absent(whole, at)
            return found

        return run

    def _way(self, node: Any) -> tuple[Callable[[Any, Any], Any], Piece]:
        if type(node).__name__ == "Getitem":
            return item, self.piece(node.arg)
        name = node.attr
        return field, lambda frame: name

    def _slice(self, node: Any) -> Piece:
        value, cut = self.piece(node.node), node.arg
        ends = [
            None if each is None else self.piece(each) for each in (cut.start, cut.stop, cut.step)
        ]
        line = node.lineno

        def run(frame: Frame) -> Any:
            found = value(frame)
            places = [None if end is None else end(frame) for end in ends]
            frame.line = line
            if not isinstance(found, (str, list, tuple)):
                raise FillError("only a text or a list can be cut into a slice")
            frame.spend(1 + (len(found) // 8 if isinstance(found, str) else len(found)))
            return found[slice(*places)]

        return run

    def _list(self, node: Any) -> Piece:
        items = [self.piece(each) for each in node.items]
        return lambda frame: [each(frame) for each in items]

    def _dict(self, node: Any) -> Piece:
        pairs = [(self.piece(each.key), self.piece(each.value)) for each in node.items]
        return lambda frame: {scalar(key(frame)): value(frame) for key, value in pairs}

    def _choice(self, node: Any) -> Piece:
        test, yes = self.piece(node.test), self.piece(node.expr1)
        no: Piece = (lambda frame: "") if node.expr2 is None else self.piece(node.expr2)
        return lambda frame: yes(frame) if test(frame) else no(frame)

    def _and(self, node: Any) -> Piece:
        left, right = self.piece(node.left), self.piece(node.right)
        return lambda frame: left(frame) and right(frame)

    def _or(self, node: Any) -> Piece:
        left, right = self.piece(node.left), self.piece(node.right)
        return lambda frame: left(frame) or right(frame)

    def _not(self, node: Any) -> Piece:
        value = self.piece(node.node)
        return lambda frame: not value(frame)

    def _sign(self, node: Any) -> Piece:
        value, line = self.piece(node.node), node.lineno
        minus = type(node).__name__ == "Neg"

        def run(frame: Frame) -> Any:
            found = value(frame)
            frame.line = line
            if not isinstance(found, (int, float)):
                raise FillError("a sign belongs before a number")
            return -found if minus else found

        return run

    def _binary(self, node: Any) -> Piece:
        work, line = BINARY[type(node).__name__], node.lineno
        left, right = self.piece(node.left), self.piece(node.right)

        def run(frame: Frame) -> Any:
            one, other = left(frame), right(frame)
            frame.line = line
            return work(frame, one, other)

        return run

    def _concat(self, node: Any) -> Piece:
        parts = [self.piece(each) for each in node.nodes]

        def run(frame: Frame) -> str:
            texts = [text_of(frame, part(frame)) for part in parts]
            frame.made(sum(map(len, texts)))
            return "".join(texts)

        return run

    def _compare(self, node: Any) -> Piece:
        first, line = self.piece(node.expr), node.lineno
        rest = [(each.op, self.piece(each.expr)) for each in node.ops]

        def run(frame: Frame) -> bool:
            left = first(frame)
            for sign, piece in rest:
                right = piece(frame)
                frame.line = line
                if not compare(frame, sign, left, right):
                    return False
                left = right
            return True

        return run

    def _filter(self, node: Any) -> Piece:
        forgiving = node.name in ("default", "d")
        value = self._lenient(node.node) if forgiving else self.piece(node.node)
        return self.applied(node, value, FILTERS, "filter")

    def _test(self, node: Any) -> Piece:
        forgiving = node.name in ("defined", "undefined")
        value = self._lenient(node.node) if forgiving else self.piece(node.node)
        return self.applied(node, value, TESTS, "test")

    def _call(self, node: Any) -> Piece:
        called, line = node.node, node.lineno
        given = [] if node.kwargs else self._given(node)
        kind = type(called).__name__
        if kind == "Name" and called.name == "range" and 1 <= len(given) <= 3:
            return lambda frame: _range(frame, line, [each(frame) for each in given])
        if kind == "Getattr" and called.attr == "cycle" and given:
            owner = called.node
            if type(owner).__name__ == "Name" and owner.name == "loop" and "loop" in self.known:
                turn = self.piece(owner)
                return lambda frame: given[turn(frame)["index0"] % len(given)](frame)
        if kind == "Getattr":
            hint = f"Write value|{called.attr}." if called.attr in FILTERS else REMEDY
            raise refused(node, f"the method {called.attr}() cannot be called", hint)
        name = f"{called.name}()" if kind == "Name" else "this"
        raise refused(node, f"{name} cannot be called like this", REMEDY)


def _range(frame: Frame, line: int, ends: list[Any]) -> list[int]:
    frame.line = line
    if not all(type(end) is int for end in ends) or (len(ends) == 3 and ends[2] == 0):
        raise FillError("range() takes whole numbers, and a step that is not 0")
    numbers = range(*ends)
    # Compared by its ends: the length of a huge range has no room in a machine word.
    size = max(0, -(-(numbers.stop - numbers.start) // numbers.step))
    if size > _LONGEST_RANGE:
        raise FillError(f"a range is longer than {_LONGEST_RANGE:,}")
    frame.spend(1 + size)
    return list(numbers)


_PIECES: dict[str, Callable[[Any, Any], Piece]] = {
    **dict.fromkeys(BINARY, Pieces._binary),
    "And": Pieces._and,
    "Call": Pieces._call,
    "Compare": Pieces._compare,
    "Concat": Pieces._concat,
    "CondExpr": Pieces._choice,
    "Const": Pieces._const,
    "Dict": Pieces._dict,
    "Filter": Pieces._filter,
    "Getattr": Pieces._inside,
    "Getitem": Pieces._inside,
    "List": Pieces._list,
    "Name": Pieces._name,
    "Neg": Pieces._sign,
    "Not": Pieces._not,
    "Or": Pieces._or,
    "Pos": Pieces._sign,
    "TemplateData": Pieces._text,
    "Test": Pieces._test,
    "Tuple": Pieces._list,
}
_LENIENT: dict[str, Callable[[Any, Any], Piece]] = {
    "Getattr": Pieces._maybe_inside,
    "Getitem": Pieces._maybe_inside,
    "Name": Pieces._maybe,
}
