"""The form of a rubric as a JSON schema: for editors, for the HTTP door, for the documentation.

It says what may stand where. What a schema cannot say, such as that an example's score is on its
criterion's scale, is checked when a rubric is read, which also tells the lines.
"""

from __future__ import annotations

from typing import Any

from penstock.grade.criterion import LONGEST_TEXT, REASONS
from penstock.grade.rubric_file import MOST_CRITERIA, MOST_EXAMPLES, MOST_FIELDS
from penstock.grade.scale import LISTED, LONGEST_NAME

__all__ = ["RUBRIC_SCHEMA"]

_NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
_TEXT = {"type": "string", "maxLength": LONGEST_TEXT}


def _open(properties: dict[str, Any], required: list[str], about: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_LABELS = {
    "description": "Words to choose from: a list, or words with what they count.",
    "anyOf": [
        {"type": "array", "items": _NAME, "minItems": 2, "maxItems": LISTED, "uniqueItems": True},
        {
            "type": "object",
            "additionalProperties": {"type": ["number", "null"]},
            "propertyNames": _NAME,
            "minProperties": 2,
            "maxProperties": LISTED,
        },
    ],
}

_CRITERION_KEYS: dict[str, Any] = {
    "name": {**_NAME, "description": "Also the column that its grades come back in."},
    "description": {**_TEXT, "description": "What the grader is to look at."},
    "weight": {
        "type": "number",
        "minimum": 0,
        "default": 1,
        "description": "Its share in the total.",
    },
    "scale": {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
        "description": "The lowest and the highest score.",
    },
    "step": {
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 1,
        "description": "What lies between two scores; 1 means whole numbers.",
    },
    "labels": _LABELS,
    "anchors": {
        "type": "object",
        "additionalProperties": _TEXT,
        "description": "What a score or label looks like.",
    },
}


def _criterion(required: list[str], about: str) -> dict[str, Any]:
    return {
        **_open(_CRITERION_KEYS, required, about),
        "oneOf": [{"required": ["scale"]}, {"required": ["labels"]}],
        "dependentRequired": {"step": ["scale"]},
    }


_SCORE: dict[str, Any] = {"type": ["number", "string"]}
_GRADE = {
    "anyOf": [
        _SCORE,
        _open({"score": _SCORE, "reason": _TEXT}, ["score"], "A score or label, and why."),
    ]
}

_EXAMPLE = _open(
    {
        "text": {**_TEXT, "minLength": 1},
        "grades": {
            "type": "object",
            "additionalProperties": _GRADE,
            "minProperties": 1,
            "description": "By the names of the criteria.",
        },
        "note": {**_TEXT, "description": "What the grader is to learn from it."},
    },
    ["text", "grades"],
    "A text with its grades, which is shown to the grader.",
)

RUBRIC_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "rubric",
    **_open(
        {
            "name": {**_NAME, "description": "How people call the rubric."},
            "instructions": {**_TEXT, "description": "What the grader is told about the task."},
            "criteria": {
                "description": "What is graded: a list, or names with criteria.",
                "anyOf": [
                    {
                        "type": "array",
                        "items": _criterion(["name"], "One thing that is graded."),
                        "minItems": 1,
                        "maxItems": MOST_CRITERIA,
                    },
                    {
                        "type": "object",
                        "additionalProperties": _criterion([], "One thing that is graded."),
                        "propertyNames": _NAME,
                        "minProperties": 1,
                        "maxProperties": MOST_CRITERIA,
                    },
                ],
            },
            "examples": {"type": "array", "items": _EXAMPLE, "maxItems": MOST_EXAMPLES},
            "fields": {
                "type": "object",
                "additionalProperties": {"type": "object"},
                "propertyNames": _NAME,
                "maxProperties": MOST_FIELDS,
                "description": "Further columns: names with JSON schemas.",
            },
            "reasons": {
                "enum": list(REASONS),
                "default": "each",
                "description": "A reason for each grade, one for all of them, or none.",
            },
        },
        ["criteria"],
        "What texts are graded by.",
    ),
}
