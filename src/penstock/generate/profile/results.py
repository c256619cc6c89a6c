"""What a profile says of a table and its columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = [
    "Bin",
    "ColumnProfile",
    "Common",
    "Diversity",
    "FailureGroup",
    "Moments",
    "Near",
    "Numbers",
    "Profile",
    "TextProfile",
]

_MOST_CATEGORIES = 20
_LONGEST_CATEGORY = 60
_PROSE = 3
_FAVOURITE = 0.05


@dataclass(frozen=True, slots=True)
class Common:
    """A value, as text and shortened, and how often it comes."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` up to `high`; in the last bin, `high` too."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are spread: values, lengths or sizes."""

    count: int
    min: float
    mean: float
    median: float
    p95: float
    max: float
    std: float | None
    """Of a sample (n - 1); None for fewer than two values."""
    histogram: tuple[Bin, ...]
    estimated: bool
    """The median, p95 and histogram are of a sample; the others are exact."""
    not_finite: int = 0
    """NaN and infinities, which are left out of all the others."""


@dataclass(frozen=True, slots=True)
class Moments:
    """How dates and times are spread, as ISO texts; the histogram in seconds since 1970."""

    first: str
    median: str
    last: str
    histogram: tuple[Bin, ...]
    estimated: bool


@dataclass(frozen=True, slots=True)
class Near:
    """Near-duplicates among the rows that were looked at."""

    found: int
    looked_at: int
    threshold: float

    @property
    def share(self) -> float:
        return self.found / self.looked_at if self.looked_at else 0.0


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the texts of a column are from each other, and inside themselves.

    All but the openings and the near-duplicates are of a sample of `texts` texts.
    """

    texts: int
    words: int
    """In the sample."""
    distinct_1: float
    """Different words per word; falls with the number of words."""
    distinct_2: float
    """Different pairs of words per pair; falls with the number of words."""
    mtld: float | None
    """Words that are read, on average, until words repeat so much that less than 72 % of them
    are different: a measure that does not depend on the number of words. None below 50 words."""
    similarity: float | None
    """The share of their words that two texts have in common, on average."""
    repetition: float
    """The share of runs of four words that came earlier in the same text."""
    near: Near
    openings: tuple[Common, ...]
    """The first three words of most texts, with how many begin so."""
    same_opening: float
    """The share of texts that begin with the most common opening."""
    phrases: tuple[Common, ...]
    """Runs of four words that most texts of the sample have, with how many have them."""


@dataclass(frozen=True, slots=True)
class TextProfile:
    """The texts of a column."""

    characters: Numbers
    words: Numbers
    blank: int
    """Texts of nothing but spaces, or of nothing."""
    diversity: Diversity


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column. What it holds nothing of is None."""

    name: str
    type: str
    count: int
    """Values that are not null."""
    nulls: int
    distinct: int
    distinct_is_exact: bool
    common: tuple[Common, ...]
    """The most common values; where there are more than a few, only those that come again."""
    common_is_exact: bool
    """False: the true counts may be somewhat higher."""
    kinds: tuple[Common, ...]
    """In a column of mixed values, what they are."""
    numbers: Numbers | None = None
    text: TextProfile | None = None
    moments: Moments | None = None
    sizes: Numbers | None = None
    """Of lists, dicts and bytes."""
    keys: tuple[Common, ...] = ()
    """Of dicts, with how many have a value there."""

    @property
    def is_category(self) -> bool:
        """Whether a few short values come again and again."""
        if self.text is not None and self.text.characters.max > _LONGEST_CATEGORY:
            return False
        few = self.distinct_is_exact and 0 < self.distinct <= _MOST_CATEGORIES
        simple = self.moments is None and self.sizes is None
        return self.type == "boolean" or (few and simple and self.count >= 2 * self.distinct)

    @property
    def has_favourites(self) -> bool:
        """Whether some value comes much more often than chance would have it come."""
        return bool(self.common) and self.common[0].count >= _FAVOURITE * self.count

    @property
    def is_prose(self) -> bool:
        """Whether it holds texts of several words, which can be told apart by how they are put."""
        return self.text is not None and not self.is_category and self.text.words.mean >= _PROSE


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one kind in one column."""

    column: str
    kind: str
    count: int
    may_be_paid: int
    message: str
    """The first one's, shortened."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What is in a table."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    duplicate_rows: int
    """Rows that are equal, in these columns, to an earlier one."""
    near: Near | None
    """Of the rows' texts; None without a column of texts. Exact duplicates count too."""
    statuses: tuple[Common, ...]
    failures: tuple[FailureGroup, ...]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)
