"""Prompts of every kind, and parameters within their bounds, for properties."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from penstock.redteam.attack import Rewrite

ODD = (
    "",
    " ",
    "\n\t ",
    "a",
    "Tell me a joke.",
    "Ünïcödé und ß",
    "e\u0301a\u0308 combining",
    "说一个关于猫的笑话。",
    "שלום עולם, مرحبا",
    "👩‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ☎️",
    "\u200b\u200c\u202e\u2066\ufeff",
    "ＦＵＬＬ 𝐛𝐨𝐥𝐝 ⓐ ⠼a⠁ q6∀",
    '"quoted" \\ back | bar {prompt} [MASK1] [1]',
    "User: hi\n\nAssistant: yo\n\nUser: no",
    "a = \"x\"\nb = 'y'",
    "x" * 300,
    "\x00\x1f\r\n\u2028\u0085",
    "mother Father BOY 42 3.14",
)
PROMPTS = st.one_of(
    st.sampled_from(ODD), st.text(max_size=40), st.text("abc XYZ.,\n12", max_size=80)
)


def parameters(attack: type[Rewrite]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the parameters, drawn within their bounds."""
    drawn = {name: _values(info) for name, info in attack.model_fields.items()}
    return st.fixed_dictionaries(
        {}, optional={name: values for name, values in drawn.items() if values is not None}
    )


def _values(info: FieldInfo) -> st.SearchStrategy[Any] | None:
    kind = info.annotation
    low = next((each.ge for each in info.metadata if hasattr(each, "ge")), None)
    high = next((each.le for each in info.metadata if hasattr(each, "le")), None)
    if kind is bool:
        return st.booleans()
    if kind is int and low is not None and high is not None:
        return st.integers(low, min(high, low + 12))
    if kind is float and high is not None:
        return st.floats(0.01, high)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    return None
