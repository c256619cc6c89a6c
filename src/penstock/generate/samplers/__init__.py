"""`sample`: values by chance for the columns of a schema.

    {"topic": sample.choice(["sea", "sky"]), "stars": sample.range(1, 5), "id": sample.uuid()}

Each call checks what it is given and returns a `Sampler`. With a seed, a cell depends on the seed,
its column and its row number alone; see `draw`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date as _date
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, check_groups, listed, number
from penstock.generate.samplers.choices import Choice, Subcategory, Weighted
from penstock.generate.samplers.dataset import FromDataset, Source
from penstock.generate.samplers.numbers import Bernoulli, Normal, Poisson, Steps, Uniform
from penstock.generate.samplers.person import Person
from penstock.generate.samplers.texts import Regex, Sequence, Uuid
from penstock.generate.samplers.times import Dates, Moments

__all__ = ["Sample", "Sampler", "check_groups", "sample"]


class Sample:
    """The samplers, by name."""

    __slots__ = ()

    def choice(self, items: Iterable[Any]) -> Sampler:
        """One of the items, each equally likely."""
        return Choice(listed(items, "the list of choices"))

    def weighted(
        self, items: Mapping[Any, float] | Iterable[Any], weights: Iterable[float] | None = None
    ) -> Sampler:
        """One of the items, by weight: `{"easy": 0.7, "hard": 0.3}`, or a list and `weights=`.

        Only the proportions count. What weighs 0 never comes.
        """
        return Weighted.of(items, weights)

    def subcategory(self, of: str, items: Mapping[Any, Any]) -> Sampler:
        """One of the items that belong to the value of the column `of`.

        `subcategory("kind", {"fruit": ["apple", "pear"], "tree": ["oak"]})`; in the place of a
        list there may be a dict of weights.
        """
        return Subcategory.over(of, items)

    def uuid(self) -> Sampler:
        """A random UUID as text."""
        return Uuid()

    def datetime(
        self,
        start: str | _date,
        end: str | _date,
        *,
        format: str | None = None,  # noqa: A002
    ) -> Sampler:
        """A moment from `start` to `end`, both included; an end without a time, its whole day.

        Ends are ISO text, dates or datetimes. Whole seconds, unless an end is finer. A datetime,
        or text where there is a `format`: as of `strftime`, or "iso".
        """
        return Moments.over(start, end, format)

    def date(
        self,
        start: str | _date,
        end: str | _date,
        *,
        format: str | None = None,  # noqa: A002
    ) -> Sampler:
        """A day from `start` to `end`, both included: a date, or text where there is a `format`."""
        return Dates.over(start, end, format)

    def range(self, low: float, high: float, step: float | None = None) -> Sampler:
        """A number from `low` to `high`, both included: a float if any of the three is one.

        With `step`: low, low + step, ... never above high.
        """
        if step is not None:
            return Steps.over(low, high, step)
        if isinstance(number(low, "low"), int) and isinstance(number(high, "high"), int):
            return Steps.over(low, high, 1)
        return Uniform.over(low, high, None)

    def uniform(self, low: float, high: float, decimals: int | None = None) -> Sampler:
        """A float from `low` to `high`, rounded to `decimals`; with 0 a whole number."""
        return Uniform.over(low, high, decimals)

    def normal(
        self,
        mean: float,
        std: float,
        low: float | None = None,
        high: float | None = None,
        decimals: int | None = None,
    ) -> Sampler:
        """A float of the normal distribution, cut off at `low` and `high`, not piled up there."""
        return Normal.of(mean, std, low, high, decimals)

    def poisson(self, rate: float) -> Sampler:
        """A count: how often something happens that happens `rate` times on average."""
        return Poisson.of(rate)

    def bernoulli(self, p: float) -> Sampler:
        """True in the share `p` of rows, else False."""
        return Bernoulli.of(p)

    def sequence(
        self,
        start: int = 0,
        step: int = 1,
        template: str | None = None,
        *,
        prefix: str = "",
        width: int = 0,
    ) -> Sampler:
        """A number that counts with the rows.

        `width` pads it with zeros and makes it text, as do `prefix="ID-"` and, with the number as
        {n}, `template="ID-{n}-x"`.
        """
        return Sequence.of(start, step, template, prefix, width)

    def regex(self, pattern: str) -> Sampler:
        """A text that matches the pattern as a whole."""
        return Regex.of(pattern)

    def person(
        self, field: str | None = None, /, *, group: str | None = None, **fixed: Any
    ) -> Person:
        """An invented person: a dict, or one `field` of it.

        Fields: name, first_name, last_name, sex, age, email, phone, city, country, job. Those
        given by name are fixed: `person(country="Kenya", age=(20, 30))`. For several columns of
        one person: `p = person(group="author")`, then `p["name"]`, `p["email"]`.
        """
        return Person.of(field, group, fixed)

    def from_dataset(
        self,
        data: Any,
        column: str | None = None,
        *,
        replace: bool = True,
        split: str | None = None,
        name: str = "",
    ) -> FromDataset:
        """A row of other data, or one `column` of it.

        `data`: a Table, a file, a DataFrame, a Hugging Face dataset (`split=` of several), a list
        of dicts, a dict of lists. Columns of the same data stem from the same row:
        `s = from_dataset(df)`, then `s["question"]` and `s["answer"]`; `name=` keeps two draws
        from the same data apart. `replace=False`: each row at most once.
        """
        if not isinstance(name, str):
            raise InputError(f"name={name!r} must be text")
        return FromDataset.of(Source(data, split, name), column, replace)

    def __repr__(self) -> str:
        return "penstock.sample"


sample = Sample()
