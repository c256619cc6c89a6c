"""Multiple choice: which option an answer chooses, read from free text, and never guessed.

The rules, in this order; the first that finds a claim decides:

1. The whole answer is an option: "B", "**(b)**", "B) Paris", "Paris".
2. A final answer: "Final answer: B", "#### B", "\\boxed{B}".
3. A claim: "the answer is (B)", "the correct option is B", "I choose B", "B is correct",
   "Option B because ...", "Die Antwort ist B", "答案是B".
4. A line that begins with an option's letter and a mark, or holds a letter alone: "B) since ...";
   or the answer begins with a letter and its reason: "B because ...".
5. One letter in brackets in the whole answer, "Paris (B).", or one option's own text in it.

Two different claims under a rule are no choice, and neither are "B or C", "not B", a letter that is
no option, or a letter with another option's text behind it. Capital letters alone count, but for an
answer that is nothing else. What a model thinks, up to the last </think> tag, is not read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.errors import InputError
from penstock.metrics.checks import check_choice
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.options import LETTERS, Options, folded, options_of
from penstock.metrics.score import Sample, Score
from penstock.metrics.unread import Missing, shortened, unread

__all__ = ["Choice"]

LARGEST_TEXT = 200_000
_SEVERAL = "*"

_THOUGHT = re.compile(r"(?i)</(?:think|thinking|reasoning)>")
_LAYOUT = re.compile(
    r"\*\*|__|`|\$(?!\d)|\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}|\\\(|\\\)|\\\[|\\\]"
)
_BOXED = re.compile(r"\\boxed\s*\{\s*([^{}]*?)\s*\}")

_LETTER = r"[(\[\"'“‘]?\s?([A-J])\b(?!['’]\w)\s?[)\]\"'”’]?"
_ALONE = re.compile(r"^\W*([A-Ja-j])\W*$")
_HEADED = re.compile(r"^\W*([A-J])\s*[).:\]\-–—]+\s*(\S.*)$", re.S)
_FINAL = re.compile(
    rf"(?:(?i:final\s+(?:answer|choice)\b\s*(?:is|:)*)|####)[\s:]*(?:(?i:option|choice)\s+)?{_LETTER}"
)
_CLAIMS = tuple(
    re.compile(form)
    for form in (
        rf"(?i:\b(?:answer|choice|option|solution|letter)[\"'>]?\s*(?:is|would\s+be|must\s+be|should\s+be|:|=)+"
        rf"\s*:?\s*(?:the\s+)?(?:(?:option|choice|letter|answer)\s+)?){_LETTER}",
        rf"(?i:\b(?:i(?:'d|\s+would|\s+will|'ll)?|we)\s+(?:choose|chose|pick|select|go\s+with|say)"
        rf"\s+(?:(?:option|choice|answer|letter)\s+)?){_LETTER}",
        rf"(?i:\b(?:option|choice|answer)\s+|<answer>\s*|\bgoing\s+with\s+){_LETTER}",
        rf"(?i:\b(?:therefore|thus|hence|so)\b,?\s+){_LETTER}(?=\s*(?:[.!]|$))",
        rf"(?i:\bit(?:'s|\s+is|\s+must\s+be)\s+(?:(?:option|choice)\s+)?){_LETTER}(?=\s*(?:[.!,;]|$))",
        rf"(?<![\w'’]){_LETTER}(?i:\s+is\s+(?:the\s+)?(?:\w+\s+)?(?:correct|right|best)\b)",
        rf"(?i:\b(?:antwort|lösung)\s*(?:ist|lautet|:)+\s*){_LETTER}",
        rf"(?i:\br[ée]ponse\s*(?:correcte\s*)?(?:est|:)+\s*(?:la\s+)?){_LETTER}",
        rf"(?i:\b(?:respuesta|risposta|resposta)\s*(?:\w+\s+)?(?:es|è|é|:)+\s*(?:la\s+)?){_LETTER}",
        r"(?:答案|正解|答え|정답)\s*(?:应该|應該)?\s*(?:是|为|為|は|은|:)?\s*[(\[]?\s?([A-J])(?![A-Za-z])",
    )
)
_LINE = re.compile(r"(?m)^[\s>*#\-•]*[(\[]?([A-J])(?:[)\].:]|\s?[-–—]\s|\s*$)")
_WITHIN = re.compile(r"(?<![\w(\[])([A-J])\)")
_REASONED = re.compile(r"^\W*([A-J])(?:,|;)?\s+(?i:because|since|as|is|due|given|for the reason)\b")
_BRACKETED = re.compile(r"[(\[]([A-J])[)\]]")
_ANOTHER = re.compile(r"\s*(?:,|/|&|(?i:\b(?:or|and|oder|und|ou|et|o|y|e)\b)|或|和)\s*")
_NEXT = re.compile(r"(?:(?i:option|choice)\s+)?[(\[]?([A-J])\b(?!['’]\w)(?!\s+[a-z])")
_NOT = re.compile(
    r"(?i)\b(?:not|isn'?t|aren'?t|wasn'?t|cannot be|can'?t be|neither|nor|incorrect|wrong|false|"
    r"rule[sd]? out|eliminate[ds]?|exclude[ds]?|nicht|pas|no es|instead of|rather than|unlike)\b"
    r"|不是|错"
)


@dataclass(frozen=True, kw_only=True)
class Choice(Metric):
    """1 where the option that the answer chooses is the target's.

    The target is a letter, an option's text, or both ("B) Paris"). With `first` it may be a number:
    that of the first option, 0 or 1. `columns` are looked through for the options in turn.
    `missing` says what an answer without a choice is worth.
    """

    columns: Sequence[str] = ("choices", "options")
    first: int | None = None
    missing: Missing = "no_answer"

    name = "choice"
    summary = "Whether the answer chooses the right option."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_choice(self, "missing", "no_answer", "wrong")
        given: object = self.columns
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"columns of {self.name} is {given!r}; a list of names is wanted")
        object.__setattr__(self, "columns", tuple(self.columns))
        if self.first not in (None, 0, 1) or isinstance(self.first, bool):
            raise InputError(f"first of {self.name} is {self.first!r}; 0, 1 or None is wanted")

    def measure(self, answer: str, sample: Sample) -> Measured:
        if len(answer) > LARGEST_TEXT:
            return Score.error(f"the answer is longer than {LARGEST_TEXT:,} characters")
        options = options_of(sample, self.columns)
        wanted = {self._wanted(target, options) for target in sample.targets}
        chosen = chosen_option(answer, options)
        if chosen == _SEVERAL:
            return unread(self.missing, "the answer claims several options, or contradicts itself")
        if not chosen:
            return unread(self.missing, "the answer chooses no option")
        return Score(float(chosen in wanted), extracted=chosen)

    def _wanted(self, target: str, options: Options) -> str:
        """The letter of a target."""
        if self.first is not None and target.strip().isdecimal():
            at = int(target) - self.first
            if 0 <= at < len(options):
                return LETTERS[at]
        found = _whole(target, options)
        if found not in options:
            shown = ", ".join(f"{k}) {v}" if v else k for k, v in options.items())
            raise InputError(
                f"the target {shortened(target, 80)!r} is none of {shortened(shown, 200)}"
            )
        return found


def chosen_option(answer: str, options: Options) -> str:
    """The letter that an answer chooses; "" for none, and "*" for several."""
    text = _plain(answer)
    for rule in (_whole, _final, _claimed, _lined, _mentioned):
        found = rule(text, options)
        if found:
            return found if found in options else _SEVERAL
    return ""


def _plain(answer: str) -> str:
    """Without thoughts and layout; what is boxed becomes a final answer."""
    text = unicodedata.normalize("NFKC", _THOUGHT.split(answer)[-1])
    text = _LAYOUT.sub(lambda match: match[1] or "", text)
    return _BOXED.sub(r"#### \1 ", text).strip()


def _one(letters: Iterable[str]) -> str:
    """The one letter among them; "*" where there are several different ones."""
    found = set(letters)
    return _SEVERAL if len(found) > 1 else next(iter(found), "")


def _whole(text: str, options: Options) -> str:
    """The answer is an option and nothing else."""
    alone = _ALONE.match(text)
    if alone:
        return alone[1].upper()
    said = folded(text)
    by_text = [letter for letter, option in options.items() if option and folded(option) == said]
    if by_text:
        return _one(by_text)
    headed = _HEADED.match(text)
    if headed is None:
        return ""
    rest = folded(headed[2])
    if rest == folded(options.get(headed[1], "")):
        return headed[1]
    others = {folded(option) for letter, option in options.items() if letter != headed[1]} - {""}
    if rest in others:
        return _SEVERAL
    known = any(options.values())
    return "" if known or "\n" in headed[2] or not _short(headed[2]) else headed[1]


def _short(text: str) -> bool:
    """So short that it is an option's text, not a reasoning that may turn round."""
    return len(text) <= 100 and not _LINE.search(text)


def _final(text: str, options: Options) -> str:
    return _one(_followed(text, _FINAL))


def _claimed(text: str, options: Options) -> str:
    return _one(letter for claim in _CLAIMS for letter in _followed(text, claim))


def _followed(text: str, claim: re.Pattern[str]) -> Iterable[str]:
    """The letters of a claim, with those that are claimed in the same breath."""
    for match in claim.finditer(text):
        if _denied(text, match.start()) or _denied(match[0], len(match[0])):
            continue
        yield match[1]
        at = match.end()
        another = _ANOTHER.match(text, at)
        if another and (more := _NEXT.match(text, another.end())):
            yield more[1]


def _denied(text: str, at: int) -> bool:
    """Whether a denial stands before a place, in its own clause."""
    clause = re.split(r"[.!?;:\n,]", text[max(0, at - 80) : at])[-1]
    return _NOT.search(clause) is not None


def _lined(text: str, options: Options) -> str:
    letters = [match[1] for match in _LINE.finditer(text)]
    if letters:  # then others in the midst of a line count against them
        letters += [match[1] for match in _WITHIN.finditer(text)]
    reasoned = _REASONED.match(text)
    if reasoned and not _NOT.search(text[: reasoned.end() + 20]):
        letters.append(reasoned[1])
    headed = _HEADED.match(text)
    if headed and headed[1] in options:
        rest = folded(headed[2])
        for letter, option in options.items():
            own = folded(options[headed[1]])
            if option and letter != headed[1] and _begins(rest, folded(option), own):
                return _SEVERAL
    return _one(letters)


def _begins(rest: str, other: str, own: str) -> bool:
    """Whether another option's text stands where a letter's own should."""
    return rest.startswith(other) and not (own and rest.startswith(own))


def _mentioned(text: str, options: Options) -> str:
    """The one option that is named at all, unless anything is denied near it."""
    named = {match[1]: match.start() for match in _BRACKETED.finditer(text)}
    said = " ".join(text.casefold().split())
    spans = _spans(said, options)
    found = named.keys() | spans.keys()
    if len(found) != 1:
        return _SEVERAL if found else ""
    [letter] = found
    if letter in named and _denied_around(text, named[letter]):
        return ""
    return "" if letter in spans and _denied_around(said, spans[letter]) else letter


def _spans(said: str, options: Options) -> dict[str, int]:
    """Where options' own texts stand as words; of two within each other the longer one."""
    found: dict[str, int] = {}
    taken: list[tuple[int, int]] = []
    for letter, option in sorted(options.items(), key=lambda each: -len(each[1])):
        words = folded(option)
        if not words:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", said):
            if not any(start <= match.start() < end for start, end in taken):
                taken.append(match.span())
                found.setdefault(letter, match.start())
    return found


def _denied_around(text: str, at: int) -> bool:
    """Whether the sentence around a place denies anything."""
    begin = max((text.rfind(mark, 0, at) for mark in ".!?\n"), default=-1) + 1
    ends = [end for mark in ".!?\n" if (end := text.find(mark, at)) >= 0]
    return _NOT.search(text[begin : min(ends, default=len(text))]) is not None
