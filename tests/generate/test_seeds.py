"""The samples and flows of Curator's documentation, with only the import changed."""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import penstock
from penstock.errors import InputError
from penstock.simulator import Simulator

TOPICS = """
from bespokelabs import curator
from pydantic import BaseModel, Field
from typing import List

class Topics(BaseModel):
    topics_list: List[str] = Field(description="A list of topics.")

# Create a prompter for generating topics
topic_generator = curator.Prompter(
    prompt_func=lambda: "Generate 10 diverse topics for poems.",
    model_name="gpt-4",
    response_format=Topics,
    parse_func=lambda _, topics: [{"topic": t} for t in topics.topics_list],
)

# Generate topics
topics_dataset = topic_generator()
"""

POET = """
class Poems(BaseModel):
    poems_list: List[str] = Field(description="A list of poems.")

poet_prompter = curator.Prompter(
    prompt_func=lambda row: f"Write two poems about {row['topic']}.",
    model_name="gpt-4",
    response_format=Poems,
    parse_func=lambda row, poems: [{"topic": row["topic"], "poem": p} for p in poems.poems_list],
)
"""

DATASET = """
# Chain prompters to build complex datasets
poems_dataset = poet_prompter(topics_dataset)
print(poems_dataset.to_pandas())
"""

CHAINED = """
# Example from examples/camel.py
subject_prompter = curator.Prompter(
    prompt_func=lambda: "Generate subjects",
    response_format=Subjects,
)
subjects = subject_prompter()

qa_prompter = curator.Prompter(
    prompt_func=lambda subject: f"Generate QA for {subject}",
    response_format=QAs,
)
qa_dataset = qa_prompter(subjects)
"""

BATCH = """
# Example from examples/distill.py
distill_prompter = curator.Prompter(
    prompt_func=prompt_func,
    parse_func=parse_func,
    model_name="gpt-4",
    batch=True,
    batch_size=10,
)

distilled_dataset = distill_prompter(dataset)
"""

FUNCTIONS = """
def prompt_func(row: Dict[str, Any]) -> Union[str, Dict[str, str]]:
    return f"Process this: {row['data']}"

class ResponseFormat(BaseModel):
    field1: str
    field2: int

def parse_func(row: Dict[str, Any], response: Any) -> List[Dict[str, Any]]:
    return [{"processed": response.result}]
"""

TROUBLESHOOTING = """
# Adjust batch size
prompter = Prompter(
    batch=True,
    batch_size=5  # Reduce from default
)
"""

STREAMED = """
# Use streaming for large datasets
dataset = Dataset.from_generator(generator)
"""

VALIDATED = """
# Validate response format
class ResponseFormat(BaseModel):
    field: str
    
    @validator('field')
    def validate_field(cls, v):
        if not v.strip():
            raise ValueError("Field cannot be empty")
        return v
"""  # noqa: W293 - as the document has it


class Subjects(BaseModel):
    subjects: list[str]


class QAs(BaseModel):
    question: str
    answer: str


@pytest.fixture(autouse=True)
def _openai(simulator: Simulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator.url)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-worth")
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))


def run(*samples: str, **names: Any) -> dict[str, Any]:
    """Run samples in one namespace, as they stand but for the import."""
    code = "\n".join(samples)
    code = code.replace("from bespokelabs import curator", "import penstock as curator")
    names.setdefault("curator", penstock)
    names["__name__"] = "sample"
    exec(compile(code, "sample", "exec", dont_inherit=True), names)
    return names


def test_the_example_of_topics_gives_a_row_for_every_topic(simulator: Simulator) -> None:
    names = run(TOPICS)
    topics = names["topics_dataset"]
    assert isinstance(topics, penstock.Table)
    assert len(topics) >= 1
    assert topics.column_names == ["topic"]
    assert all(isinstance(row["topic"], str) for row in topics)
    assert simulator.summary()["requests"] == 1
    assert simulator.ledger()[0]["model"] == "gpt-4"


def test_poems_are_chained_to_topics(simulator: Simulator, capsys: Any) -> None:
    names = run(TOPICS, POET, DATASET)
    topics, poems = names["topics_dataset"], names["poems_dataset"]
    assert simulator.summary()["requests"] == 1 + len(topics)
    assert list(dict.fromkeys(poems["topic"])) == list(dict.fromkeys(topics["topic"]))
    assert "poem" in capsys.readouterr().out


def test_subjects_are_chained_to_questions_without_a_model_name_or_a_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_LLM_MODEL", "gpt-4")
    names = run(CHAINED, Subjects=Subjects, QAs=QAs)
    assert names["subjects"].column_names == ["subjects"]
    [row] = names["qa_dataset"]
    assert row["subjects"] == names["subjects"][0]["subjects"]
    assert row["question"] and row["answer"]


def test_the_functions_of_the_developer_guide_work_together(simulator: Simulator) -> None:
    import typing

    names = run(FUNCTIONS, BaseModel=BaseModel, **vars(typing))

    class Result(BaseModel):
        result: str

    prompter = penstock.Prompter("gpt-4", names["prompt_func"], names["parse_func"], Result)
    table = prompter([{"data": "one"}, {"data": "two"}])
    assert table.column_names == ["processed"]
    assert len(table) == 2
    typed = penstock.Prompter("gpt-4", names["prompt_func"], None, names["ResponseFormat"])
    [row] = typed([{"data": "one"}])
    assert isinstance(row["field1"], str) and isinstance(row["field2"], int)
    assert simulator.summary()["requests"] == 3


def test_a_dataset_goes_through_in_batches_of_ten(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.set(batch_seconds=0)
    monkeypatch.setenv("PENSTOCK_BATCH_PROCESSING_CHECK_INTERVAL", "0.1")
    names: dict[str, Any] = {
        "prompt_func": lambda row: row["data"],
        "parse_func": lambda row, answer: {"data": row["data"]},
        "dataset": [{"data": f"number {n}"} for n in range(25)],
    }
    results = run(BATCH, **names)["distilled_dataset"]
    assert results["data"] == [row["data"] for row in names["dataset"]]
    assert sorted(batch["lines"] for batch in simulator.batches()) == [5, 10, 10]


def test_a_batch_without_a_prompt_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="needs a prompt function"):
        run(TROUBLESHOOTING, Prompter=penstock.Prompter)


@pytest.mark.filterwarnings("default")
def test_a_dataset_from_a_generator_goes_in_and_comes_out_for_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")

    def generator() -> Any:
        yield from ({"data": f"number {n}"} for n in range(20))

    names = run(STREAMED, Dataset=datasets.Dataset, generator=generator)
    table = penstock.Prompter("gpt-4", lambda row: row["data"])(names["dataset"])
    assert table["data"] == [f"number {n}" for n in range(20)]
    assert table.to_hf().column_names == ["data", "response"]


def test_the_validator_of_pydantic_1_is_obeyed() -> None:
    import pydantic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = run(VALIDATED, BaseModel=BaseModel, validator=pydantic.validator)
    table = penstock.Prompter("gpt-4", lambda: "Fill it.", None, names["ResponseFormat"])()
    assert table[0]["field"].strip()


def test_the_storage_is_as_the_components_say(tmp_path: Path) -> None:
    table = penstock.Prompter("gpt-4", lambda row: row["data"], name="storage")([{"data": "x"}])
    folder = Path(table.run.folder)
    assert {"dataset.arrow", "run.json", "rows.keys"} <= {path.name for path in folder.iterdir()}
    assert penstock.Table.open(folder / "dataset.arrow").to_list() == table.to_list()
    with sqlite3.connect(tmp_path / "home" / "catalog.db") as catalog:
        found = catalog.execute("SELECT id, kind, name, state FROM runs").fetchall()
    catalog.close()
    assert found == [(table.run.id, "prompt", "storage", "completed")]


def test_the_online_flow_throttles_backs_off_retries_and_returns_every_row(
    simulator: Simulator,
) -> None:
    simulator.set(errors="429:0.05,500:0.05,reset:0.05", seed=7)
    prompter = penstock.Prompter(
        "gpt-4", lambda row: f"Row {row['n']}", backend_params={"max_retries": 10}
    )
    table = prompter([{"n": n} for n in range(100)])
    assert table["n"] == list(range(100))
    assert len(table.failures) == 0
    ledger = simulator.summary()
    assert ledger["answered"] == 100 < ledger["requests"]
    assert table.run.counters["attempts"] == ledger["requests"]


def test_the_error_flow_ends_in_a_failure_of_its_row_and_a_log(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(errors="500:1")
    prompter = penstock.Prompter(
        "gpt-4", lambda row: f"Row {row['n']}", backend_params={"max_retries": 1}
    )
    table = prompter([{"n": n} for n in range(3)])
    assert len(table) == 0
    assert table.failures["kind"] == ["server"] * 3
    assert table.failures["attempts"] == [2] * 3
    log = (tmp_path / "home" / "penstock.log").read_text()
    assert log.count("attempt failed") == 6
