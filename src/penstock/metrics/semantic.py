"""Semantic similarity: whether two texts mean the same, by the angle between their embeddings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from penstock.errors import InputError
from penstock.metrics.metric import Measured, Metric
from penstock.metrics.minilm import check_installed, minilm
from penstock.metrics.score import Sample, Score

__all__ = ["Embedding", "SemanticSimilarity"]

Embedding: TypeAlias = Callable[[list[str]], Iterable[Sequence[float]]]
"""Texts in, one vector a text out, in order."""

_BLOCK = 256


class SemanticSimilarity(Metric):
    """The cosine of the angle between the embeddings of answer and target: 1 means the same.

    Without `embedding` it is MiniLM on this machine (English; the first 256 tokens of each text),
    which needs the extra `semantic`. Of several targets the nearest one counts. Of a text without
    a word there is no embedding: an empty answer is `no_answer`.
    """

    name = "semantic_similarity"
    summary = "How near answer and target are in meaning, by their embeddings."
    low = -1.0
    needs = frozenset({"target", "embedding"})

    def __init__(self, embedding: Embedding | None = None) -> None:
        if embedding is None:
            check_installed()
        elif not callable(embedding):
            raise InputError(
                f"embedding is of type {type(embedding).__name__}",
                remedy="Give a function that turns a list of texts into a list of vectors.",
            )
        self._embedding = embedding

    @property
    def parameters(self) -> dict[str, Any]:
        if self._embedding is None:
            return {"embedding": "all-MiniLM-L6-v2, int8, 256 tokens"}
        named = getattr(self._embedding, "__name__", type(self._embedding).__name__)
        return {"embedding": named}

    def prepare(self) -> None:
        if self._embedding is None:
            minilm()

    def measure(self, answer: str, sample: Sample) -> Measured:
        [made] = self.measure_many([sample])
        return made

    def measure_many(self, samples: Sequence[Sample]) -> Sequence[Measured]:
        """Each text is embedded once, however often it stands among the samples of a block."""
        made: list[Measured] = []
        for at in range(0, len(samples), _BLOCK):
            made += self._block(samples[at : at + _BLOCK])
        return made

    def _block(self, samples: Sequence[Sample]) -> list[Measured]:
        texts = dict.fromkeys(
            text
            for sample in samples
            if sample.answer and sample.answer.strip()
            for text in (sample.answer, *sample.targets)
            if text.strip()
        )
        vectors = self._vectors(list(texts))
        return [self._similarity(sample, vectors) for sample in samples]

    def _vectors(self, texts: list[str]) -> dict[str, list[float]]:
        """The vectors by their texts, each of length 1."""
        if not texts:
            return {}
        made = list((self._embedding or minilm())(texts))
        if len(made) != len(texts):
            raise ValueError(f"the embedding gave {len(made)} vectors for {len(texts)} texts")
        vectors = {text: _unit(vector) for text, vector in zip(texts, made, strict=True)}
        sizes = sorted({len(vector) for vector in vectors.values()})
        if len(sizes) > 1:
            raise ValueError(f"the embedding gave vectors of different lengths: {sizes}")
        return vectors

    def _similarity(self, sample: Sample, vectors: dict[str, list[float]]) -> Measured:
        answer = vectors.get(sample.answer or "")
        if answer is None:
            return Score.no_answer("the answer is empty")
        targets = [vectors[target] for target in sample.targets if target in vectors]
        if not targets:
            return Score.error("the target is empty")
        nearest = self.best(_product(answer, target) for target in targets)
        return max(-1.0, min(1.0, nearest))


def _unit(vector: Sequence[float]) -> list[float]:
    numbers = [float(number) for number in vector]
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not 0 < length < math.inf:
        raise ValueError(f"the embedding gave a vector of length {length}")
    return [number / length for number in numbers]


def _product(one: list[float], other: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(one, other, strict=True))
