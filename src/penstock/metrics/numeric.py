"""Numbers in answers: GSM8K's two rules, and a number within a tolerance.

Numbers are compared by what they are worth, exactly: 42, 42.0 and $42 are one, and 123456 is not
123457. How they are read is told in `figures.py`. The published scripts of GSM8K compare texts
instead: where they take "42.0" for wrong against "42", it is right here. An answer without a number
is wrong by GSM8K's rules, and so is 0 there; `missing="no_answer"` counts it apart.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from penstock.errors import InputError
from penstock.metrics.checks import check_choice
from penstock.metrics.figures import Figure, figures, plain
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.score import Sample, Score
from penstock.metrics.unread import Missing, shortened, unread

__all__ = ["Gsm8kFlexible", "Gsm8kStrict", "NumberMatch"]

_MARK = "####"
_BETWEEN = frozenset(" \t\n\r\u00a0:=*_`~\"'($€£¥₹\\[{≈")


@dataclass(frozen=True, kw_only=True)
class _Numbers(Metric):
    """What all share: the target's number, and what becomes of an answer without one."""

    missing: Missing = "wrong"

    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_choice(self, "missing", "no_answer", "wrong")

    def measure(self, answer: str, sample: Sample) -> Measured:
        wanted = [_wanted(target) for target in sample.targets]
        found = self.found(answer)
        if found is None:
            return unread(self.missing, self.nothing)
        right = any(self.same(found, each) for each in wanted)
        return Score(float(right), extracted=shortened(found.text))

    @abstractmethod
    def found(self, answer: str) -> Figure | None:
        """The number that an answer gives."""

    @property
    def nothing(self) -> str:
        """What is said of an answer without a number."""
        return "the answer holds no number"

    def same(self, found: Figure, wanted: Figure) -> bool:
        """Whether two numbers count as one."""
        return found.value == wanted.value


@dataclass(frozen=True, kw_only=True)
class Gsm8kStrict(_Numbers):
    """1 where the number behind the first `####` is the target's, which may be a whole solution."""

    name = "gsm8k_strict"
    summary = "GSM8K: whether the number behind #### is right."

    def found(self, answer: str) -> Figure | None:
        return _behind(answer, _MARK, last=False)

    @property
    def nothing(self) -> str:
        return f"no number follows {_MARK}"


@dataclass(frozen=True, kw_only=True)
class Gsm8kFlexible(_Numbers):
    """1 where the last number of the answer is the target's."""

    name = "gsm8k_flexible"
    summary = "GSM8K: whether the last number of the answer is right."

    def found(self, answer: str) -> Figure | None:
        numbers = figures(answer)
        return numbers[-1] if numbers else None


@dataclass(frozen=True, kw_only=True)
class NumberMatch(_Numbers):
    """1 where the answer's number is the target's, or near enough.

    `take`: the `last` number of the answer, the `first`, or the `only` one, where several different
    ones are none. `after`: a text, such as "The answer is", right behind which the number must
    stand; of several such places the last counts. `absolute` and `relative`: how far off it may be,
    the second as a share of the target; the wider one holds. `percent`: whether a per cent sign is
    a mere `sign` (50 % is 50) or makes a `hundredth` of it (50 % is 0.5).
    """

    missing: Missing = "no_answer"
    take: Literal["last", "first", "only"] = "last"
    after: str = ""
    absolute: float | str = 0
    relative: float | str = 0
    percent: Literal["sign", "hundredth"] = "sign"

    name = "number_match"
    summary = "Whether the answer's number is the target's, within a tolerance."

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self, "take", "last", "first", "only")
        check_choice(self, "percent", "sign", "hundredth")
        if not isinstance(self.after, str):
            raise InputError(f"after of {self.name} is {self.after!r}; a text is wanted")
        _tolerance(self, "absolute")
        _tolerance(self, "relative")

    def found(self, answer: str) -> Figure | None:
        if self.after:
            return _behind(answer, self.after, last=True)
        numbers = figures(answer)
        if not numbers or (self.take == "only" and len({self._worth(n) for n in numbers}) > 1):
            return None
        return numbers[0 if self.take == "first" else -1]

    @property
    def nothing(self) -> str:
        if self.after:
            return f"no number stands right behind {self.after!r}"
        return "the answer holds no single number" if self.take == "only" else super().nothing

    def same(self, found: Figure, wanted: Figure) -> bool:
        one, other = self._worth(found), self._worth(wanted)
        relative = _tolerance(self, "relative") * abs(other)
        return abs(one - other) <= max(_tolerance(self, "absolute"), relative)

    def _worth(self, figure: Figure) -> Fraction:
        return (
            figure.value / 100 if figure.percent and self.percent == "hundredth" else figure.value
        )


def _tolerance(metric: NumberMatch, name: str) -> Fraction:
    """As it is written, so that 0.1 is a tenth and not the float beside it."""
    given = getattr(metric, name)
    try:
        made = None if isinstance(given, bool) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        made = None
    if made is None or made < 0:
        raise InputError(
            f"{name} of {metric.name} is {given!r}; a number of 0 or more is wanted",
            remedy=f"For a hundredth, write {name}=0.01.",
        )
    return made


def _behind(answer: str, mark: str, *, last: bool) -> Figure | None:
    """The number right behind a mark, with at most blanks and signs of layout between them."""
    text, mark = plain(answer), plain(mark)
    at = text.lower().rfind(mark.lower()) if last else text.find(mark)
    if at < 0:
        return None
    rest = text[at + len(mark) :]
    number = next(iter(figures(rest[:10_000])), None)
    if number is None or not _BETWEEN.issuperset(rest[: number.start]):
        return None
    return number


def _wanted(target: str) -> Figure:
    """The one number of a target."""
    marked = _behind(target, _MARK, last=True)
    if marked is not None:
        return marked
    numbers = figures(target)
    if len({number.value for number in numbers}) != 1:
        held = "several numbers" if numbers else "no number"
        raise InputError(f"the target {shortened(target, 80)!r} holds {held}; one is wanted")
    return numbers[0]
