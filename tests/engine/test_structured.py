"""Structured answers: validated every time, asked again when they do not fit, never recorded so."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, field_validator

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.engine.structured import Structured, ask_structured
from penstock.outcome import Failure, FailureKind
from penstock.request import Request
from penstock.simulator import Simulator


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, le=120)


async def structured(engine: Engine, request: Request, **more: Any) -> Structured:
    found = await ask_structured(engine, request, **more)
    assert isinstance(found, Structured), found
    return found


async def test_a_schema_gives_an_object_of_the_model(station: Station, endpoint: Endpoint) -> None:
    found = await structured(Engine(station), Request.of(endpoint, "A person", schema=Person))
    assert isinstance(found.value, Person)
    assert found.value.name in found.answer.text


async def test_a_json_schema_gives_plain_json(station: Station, endpoint: Endpoint) -> None:
    schema = Person.model_json_schema()
    found = await structured(Engine(station), Request.of(endpoint, "A person", schema=schema))
    assert set(found.value) == {"name", "age"}


async def test_an_answer_that_does_not_fit_is_asked_again_with_the_error(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    stubborn = endpoint.with_(model="simulated-invalid")
    request = Request.of(stubborn, "A person", schema=Person)
    found = await structured(Engine(station), request)
    assert isinstance(found.value, Person)
    assert simulator.summary()["requests"] == 2
    again = await structured(Engine(station), request)
    assert again.value == found.value
    assert simulator.summary()["requests"] == 2, "both answers were in the journal"


async def test_asking_again_is_bounded(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    class Impossible(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def never(cls, value: str) -> str:
            raise ValueError("no name will do")

    request = Request.of(endpoint, "A person", schema=Impossible)
    found = await ask_structured(Engine(station), request, reasks=2)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.INVALID_ANSWER
    assert "no name will do" in found.message
    assert simulator.summary()["requests"] == 3


async def test_an_answer_cut_off_by_length_is_not_asked_again(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "A person", schema=Person, max_tokens=3)
    found = await ask_structured(Engine(station), request)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.TRUNCATED
    assert simulator.summary()["requests"] == 1


async def test_a_refusal_is_an_answer_without_a_value(station: Station, endpoint: Endpoint) -> None:
    refusing = endpoint.with_(model="simulated-refuse")
    found = await structured(Engine(station), Request.of(refusing, "A person", schema=Person))
    assert found.value is None
    assert found.answer.refused


async def test_a_stricter_validator_costs_no_request_for_what_still_fits(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    found = await structured(Engine(station), Request.of(endpoint, "A person", schema=Person))

    class Checked(Person):
        model_config = {"title": "Person"}

        @field_validator("name")
        @classmethod
        def named(cls, value: str) -> str:
            return value.upper()

    Checked.__name__ = "Person"
    again = await structured(Engine(station), Request.of(endpoint, "A person", schema=Checked))
    assert again.value.name == found.value.name.upper()
    assert simulator.summary()["requests"] == 1
