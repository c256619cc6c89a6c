"""Pydantic models that use everything Pydantic can write into a schema."""

from __future__ import annotations

import datetime as dt
import ipaddress
import uuid
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AnyUrl, Base64Bytes, BaseModel, ByteSize, ConfigDict, Field, Json, SecretStr

__all__ = ["MODELS"]


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Person(BaseModel):
    name: str
    age: Annotated[int, Field(ge=0, le=120)]
    email: str | None = None
    nickname: str | None
    tags: list[str] = []


class Numbers(BaseModel):
    share: Annotated[float, Field(gt=0, lt=1)]
    even: Annotated[int, Field(multiple_of=2, ge=10)]
    cents: Annotated[float, Field(multiple_of=0.01, ge=0, le=5)]
    below: Annotated[int, Field(lt=-5)]
    money: Decimal
    price: Annotated[Decimal, Field(max_digits=8, decimal_places=2, ge=0)]
    size: ByteSize


class Strings(BaseModel):
    short: Annotated[str, Field(max_length=3)]
    long: Annotated[str, Field(min_length=200, max_length=210)]
    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d{3,5}(-[a-f]+)?$")]
    either: Annotated[str, Field(pattern=r"^(yes|no|maybe)$", max_length=4)]
    loose: Annotated[str, Field(pattern=r"cat|dog")]
    secret: SecretStr


class Formats(BaseModel):
    day: dt.date
    clock: dt.time
    moment: dt.datetime
    span: dt.timedelta
    key: uuid.UUID
    url: AnyUrl
    four: ipaddress.IPv4Address
    six: ipaddress.IPv6Address
    net: ipaddress.IPv4Network
    raw: bytes
    coded: Base64Bytes
    where: Path
    inner: Json[list[int]]


class Shapes(BaseModel):
    pair: tuple[int, str]
    many: tuple[float, ...]
    colours: set[Colour]
    all_levels: Annotated[set[Level], Field(min_length=2)]
    exact: Annotated[list[Person], Field(min_length=2, max_length=2)]
    by_name: dict[str, Person]
    by_code: dict[Annotated[str, Field(pattern="^[a-z]{3}$")], int]
    flags: dict[Colour, bool]
    anything: Any
    free: dict[str, Any]
    numbers: Annotated[frozenset[int], Field(min_length=3)]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Unions(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    loose: Cat | Dog | None
    scalar: int | str | bool | None
    colour: Colour = Colour.RED
    mode: Literal["fast", "slow", 3, None]
    level: Level
    nested: list[Cat | list[Dog]]


class Tree(BaseModel):
    value: int
    children: list[Tree]


class Chain(BaseModel):
    name: str
    rest: Chain | None


class Expression(BaseModel):
    left: Expression | int
    operator: Literal["+", "-"]
    right: Expression | int


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    count: int
    ratio: float
    words: list[str]
    inside: Cat


class Described(BaseModel):
    topic: str = Field(description="What it is about", examples=["weather", "trade"])
    reasoning: str
    city: str
    score: int = Field(default=3, ge=1, le=5)


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: int


class Empty(BaseModel):
    pass


MODELS: list[type[BaseModel]] = [
    Person,
    Numbers,
    Strings,
    Formats,
    Shapes,
    Unions,
    Tree,
    Chain,
    Expression,
    Strict,
    Described,
    Extra,
    Empty,
]
