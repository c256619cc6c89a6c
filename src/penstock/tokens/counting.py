"""Tokens of a text, of messages and of a whole request, counted here and before sending.

The engine paces and budgets by these numbers; what was really used comes back with the answer
and replaces them. So a count must be quick and must never fail, and an estimate is good enough:

* A model is mapped to a bundled vocabulary by its name; nothing is downloaded. Where its maker
  publishes none (Claude, Gemini) or none is bundled, a near one is used and `is_exact` says so.
* What a text spells like a special token (`<|endoftext|>`) is counted as the text it is.
* Text in broken UTF-16 is read as tiktoken reads it: pairs are joined, lone halves replaced.
* A long text is counted in pieces cut between words, so memory stays flat; where a piece has no
  such place, the sum may be a few tokens off.
* Images, sound and files follow flat rules (see the constants), not their real dimensions.
* The shape around messages is OpenAI's; other providers wrap theirs at a similar price.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, Final, TypeAlias

__all__ = [
    "DEFAULT_VOCABULARY",
    "count",
    "count_messages",
    "count_request",
    "is_exact",
    "vocabulary",
]

DEFAULT_VOCABULARY: Final = "o200k_base"

# OpenAI's published rule for chat: these many around each message, before the answer, for a name.
PER_MESSAGE: Final = 3
PRIMING: Final = 3
PER_NAME: Final = 1

IMAGE: Final = 765
"""OpenAI's published count for 1024 x 1024 in high detail; other providers come near it."""
IMAGE_LOW: Final = 85
"""The same, in low detail."""
FILE: Final = 1500
"""A file of unknown size: about a page, by Anthropic's published 1,500 to 3,000 for one."""
TEXT_BYTES: Final = 4
"""Bytes of a text file for one token."""
DOCUMENT_BYTES: Final = 25
"""Bytes of a PDF or another document for one token, at 50 KB and 2,000 tokens a page."""
AUDIO_BYTES: Final = 1000
"""Bytes of sound for one token: 16 kHz speech at Gemini's published 32 tokens a second."""

_PIECE: Final = 1 << 16
_WINDOW: Final = 1 << 10
_BETWEEN_WORDS = re.compile(r"[A-Za-z](?= [A-Za-z])")
_TEXT_TYPES = re.compile(r"(?i)^(text/|application/(.*[+-])?(json|xml|yaml|csv|javascript)$)")

_Encode: TypeAlias = Callable[[str], list[int]]

# The first pattern found in the name decides; True where the model really has this vocabulary.
_VOCABULARIES: Final = tuple(
    (re.compile(pattern), name, exact)
    for pattern, name, exact in (
        (r"^gpt-oss", "o200k_harmony", True),
        (r"^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o[134](-|$))", "o200k_base", True),
        (r"^(gpt-4(-|$)|gpt-3\.5|gpt-35|text-embedding-(3|ada-002))", "cl100k_base", True),
        (r"^(davinci|babbage)-002", "cl100k_base", True),
        (r"gemini", "gemma4", False),
        (r"code-?llama", "codellama", True),
        (r"llama-?3(?![0-9b])|distill-llama", "llama3", True),
        (r"llama-?2(?![0-9])|tinyllama|vicuna", "llama2", True),
        (r"distill-qwen", "qwen3", True),
        (r"deepseek-(v3|r1)(?![0-9])", "deepseek_v3", True),
        (r"deepseek", "deepseek_v3", False),
        (r"qwen-?(2|2\.5|3)(?![.0-9])|qwq-32b", "qwen3", True),
        (r"qwen|qwq|qvq", "qwen3", False),
        (r"glm-?4(?![0-9])", "glm4", True),
        (r"glm", "glm4", False),
        (r"kimi-?k3", "kimi_k3", True),
        (r"kimi-?k2", "kimi_k2", True),
        (r"kimi|moonshot", "kimi_k2", False),
        (r"phi-?4-(mini|multimodal)", "o200k_base", False),
        (r"phi-?4", "phi4", True),
        (r"phi-?3", "llama2", False),
        (r"olmo-?2", "olmo2", True),
        (r"gemma-?4", "gemma4", True),
        (r"gemma-?3|embeddinggemma", "gemma3", True),
        (r"gemma-?2(?![0-9]*b)", "gemma2", True),
        (r"gemma", "gemma2", False),
        (r"mixtral-8x22b|mistral-7b.*v0\.3|codestral-22b", "mistral_v2", True),
        (r"mixtral-8x7b|mistral-7b.*v0\.[12]", "mistral_v1", True),
        (r"mistral-nemo|mistral-large-(2407|2411)|pixtral-12b", "mistral_v3", True),
        (r"mistral|ministral|codestral|pixtral|devstral|magistral", "mistral_v3", False),
    )
)

_encoders: dict[str, _Encode] = {}
_loading = Lock()


def vocabulary(model: str | None) -> str:
    """The bundled vocabulary that counts for this model; the default one for unknown names."""
    return _choice(model or "")[0]


def is_exact(model: str | None) -> bool:
    """Whether texts are counted with the model's own vocabulary, or only estimated."""
    return _choice(model or "")[1]


def count(text: str, model: str | None = None) -> int:
    """The tokens of a text as this model counts them."""
    return _count(_encoder(vocabulary(model)), text)


def count_messages(messages: Sequence[Mapping[str, Any]], model: str | None = None) -> int:
    """The tokens of a conversation as it is sent, with what a provider puts around it."""
    encode = _encoder(vocabulary(model))
    return PRIMING + sum(_message(encode, message) for message in messages)


def count_request(
    messages: Sequence[Mapping[str, Any]],
    model: str | None = None,
    schema: Mapping[str, Any] | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> int:
    """The tokens of a question with its answer schema and tools, both as compact JSON."""
    encode = _encoder(vocabulary(model))
    return (
        count_messages(messages, model)
        + (_count(encode, _compact(schema)) if schema else 0)
        + sum(_count(encode, _compact(tool)) for tool in tools or ())
    )


@lru_cache(maxsize=1024)
def _choice(model: str) -> tuple[str, bool]:
    name = model.lower().rpartition("/")[2].removeprefix("ft:").replace("_", "-")
    for pattern, found, exact in _VOCABULARIES:
        if pattern.search(name):
            return found, exact
    return DEFAULT_VOCABULARY, False


def _encoder(name: str) -> _Encode:
    found = _encoders.get(name)
    if found is None:
        with _loading:
            found = _encoders.get(name)
            if found is None:
                from splintr import Tokenizer

                # `encode` would read special tokens out of the text.
                found = _encoders[name] = Tokenizer.from_pretrained(name).encode_ordinary
    return found


def _count(encode: _Encode, text: str) -> int:
    if len(text) > _PIECE:
        return sum(_count(encode, piece) for piece in _pieces(text))
    try:
        return len(encode(text))
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return len(encode(joined))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            cuts = [cut.end() for cut in _BETWEEN_WORDS.finditer(text, end - _WINDOW, end)]
            end = cuts[-1] if cuts else end
        yield text[start:end]
        start = end


def _message(encode: _Encode, message: Mapping[str, Any]) -> int:
    total = PER_MESSAGE
    for key, value in message.items():
        if value is None:
            continue
        if isinstance(value, str):
            total += _count(encode, value)
        elif key == "content" and isinstance(value, Sequence):
            total += sum(_part(encode, part) for part in value)
        else:
            total += _count(encode, _compact(value))
        if key == "name":
            total += PER_NAME
    return total


def _part(encode: _Encode, part: Any) -> int:
    if isinstance(part, str):
        return _count(encode, part)
    kind = str(part.get("type", "")) if isinstance(part, Mapping) else ""
    if kind == "text":
        return _count(encode, str(part.get("text", "")))
    if "image" in kind:
        return _image(part)
    if "audio" in kind:
        return _size(_inner(part, "input_audio").get("data", ""))[0] // AUDIO_BYTES + 1
    if "file" in kind:
        return _file(_inner(part, "file"))
    return _count(encode, _compact(part))


def _image(part: Mapping[str, Any]) -> int:
    detail = part.get("detail") or _inner(part, "image_url").get("detail")
    return IMAGE_LOW if detail == "low" else IMAGE


def _file(part: Mapping[str, Any]) -> int:
    size, media_type = _size(part.get("data") or part.get("file_data") or "")
    if not size:
        return FILE
    media_type = media_type or str(part.get("media_type", ""))
    return size // (TEXT_BYTES if _TEXT_TYPES.match(media_type) else DOCUMENT_BYTES) + 1


def _size(data: Any) -> tuple[int, str]:
    """How many bytes base64 stands for, and of which type where it says so."""
    if isinstance(data, bytes):
        return len(data), ""
    text = data if isinstance(data, str) else ""
    if text.startswith("data:"):
        comma = text.find(",", 0, 1024) + 1
        return (len(text) - comma) * 3 // 4, text[5:comma].partition(";")[0]
    return len(text) * 3 // 4, ""


def _inner(part: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = part.get(key)
    return inner if isinstance(inner, Mapping) else part


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
