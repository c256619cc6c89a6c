"""A table on the Hugging Face hub: Parquet files and a card, in one commit.

Data and card come together or not at all, and only if nobody else changed the repository meanwhile.
Other splits and subsets in it stay. Only `huggingface_hub` is needed, and is loaded only here.

The token lives in memory. What the library raises holds the request with its headers, so it is
never passed on: an error of ours stands in its place, with nothing behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from penstock.errors import ApiError, InputError, KeyMissingError, PenstockError
from penstock.secret import Secret, is_reference, mask, resolve
from penstock.tables.card import Part, card
from penstock.tables.convert import library

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["Push", "push"]

T = TypeVar("T")

_SPLIT = re.compile(r"\w+(\.\w+)*", re.ASCII)
_CONFIG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SHARD = 500 << 20
_ROW_GROUP = 65_536


class Push(NamedTuple):
    """Where a table goes, and how."""

    repo: str
    config: str
    split: str
    private: bool | None
    card: str | None
    revision: str | None
    message: str | None

    @property
    def folder(self) -> str:
        return "data" if self.config == "default" else self.config


def push(table: Table, wanted: Push, token: str | Secret | None) -> str:
    """Upload a table; the address of the commit."""
    _check(table, wanted)
    part = Part(
        repo=wanted.repo,
        config=wanted.config,
        split=wanted.split,
        folder=wanted.folder,
        schema=table.schema,
        rows=len(table),
        size=table.to_arrow().nbytes,
        version=version("penstock"),
        origin=getattr(table.run, "origin", None),
    )
    card(part, own=wanted.card)  # what is wrong with it is said before anything is made
    hub = _Hub(wanted, token)
    old = hub.open()
    text = card(part._replace(repo=hub.repo), old=old, own=wanted.card)
    with TemporaryDirectory(prefix="penstock-") as folder:
        return hub.commit(_shards(table, Path(folder), wanted), text)


def _check(table: Table, wanted: Push) -> None:
    if not table.column_names:
        raise InputError("the table has no columns: there is nothing to publish")
    if not _SPLIT.fullmatch(wanted.split):
        raise InputError(
            f"split is {wanted.split!r}", remedy="Letters, digits and underscores are allowed."
        )
    if not _CONFIG.fullmatch(wanted.config) or wanted.config == "data":
        raise InputError(
            f"config_name is {wanted.config!r}",
            remedy="Letters, digits, '_', '-' and '.' are allowed, but not the name 'data'.",
        )


def _shards(table: Table, folder: Path, wanted: Push) -> dict[str, Path]:
    """The table in Parquet files of a handy size, by their place in the repository."""
    from pyarrow import parquet

    files: list[Path] = []
    writer, size = None, 0
    try:
        for batch in table.batches(_ROW_GROUP):
            if writer is None:
                files.append(folder / f"{wanted.split}-{len(files):05d}.parquet")
                writer = parquet.ParquetWriter(files[-1], table.schema, compression="zstd")
            writer.write_batch(batch)
            size += batch.nbytes
            if size >= _SHARD:
                writer.close()
                writer, size = None, 0
    finally:
        if writer is not None:
            writer.close()
    if not files:
        files.append(table.to_parquet(folder / f"{wanted.split}.parquet"))
    start, of = f"{wanted.folder}/{wanted.split}", len(files)
    return {f"{start}-{n:05d}-of-{of:05d}.parquet": file for n, file in enumerate(files)}


class _Hub:
    """One repository of datasets, as one push sees it."""

    def __init__(self, wanted: Push, token: str | Secret | None) -> None:
        self._wanted = wanted
        self._library = library("huggingface_hub", "hf")
        self._errors = import_module("huggingface_hub.errors")
        self._api = self._library.HfApi(
            token=self._token(token).reveal(),
            library_name="penstock",
            library_version=version("penstock"),
        )
        self.repo = wanted.repo
        self._commit: str | None = None
        self._files: list[str] = []

    def open(self) -> str:
        """Find the repository or make it; the card that is there."""
        if "/" not in self.repo:
            self.repo = f"{self._do(self._api.whoami)['name']}/{self.repo}"
        info = self._do(self._found_or_made)
        if self._wanted.private and info.private is False:
            raise InputError(
                f"{self.repo} is there already, and everyone can read it",
                remedy="Make it private on the hub first, choose another name, or leave out "
                "private=True.",
            )
        self._commit = info.sha
        self._files = [each.rfilename for each in info.siblings or ()]
        return self._do(self._card) if "README.md" in self._files else ""

    def commit(self, files: dict[str, Path], text: str) -> str:
        """Put files and card there, in the place of the files that this split had."""
        add, delete = self._library.CommitOperationAdd, self._library.CommitOperationDelete
        start = f"{self._wanted.folder}/{self._wanted.split}-"
        stale = [name for name in self._files if name.startswith(start) and name not in files]
        operations = [
            *(add(path_in_repo=name, path_or_fileobj=str(path)) for name, path in files.items()),
            add(path_in_repo="README.md", path_or_fileobj=text.encode()),
            *(delete(path_in_repo=name) for name in stale),
        ]
        done = self._do(
            lambda: self._api.create_commit(
                self.repo,
                operations=operations,
                commit_message=self._wanted.message or "Upload a table with Penstock",
                repo_type="dataset",
                revision=self._wanted.revision,
                parent_commit=self._commit,
            )
        )
        return str(done.commit_url)

    def _found_or_made(self) -> Any:
        api, repo, branch = self._api, self.repo, self._wanted.revision
        try:
            found = api.repo_info(repo, repo_type="dataset")
        except self._errors.RepositoryNotFoundError:
            api.create_repo(repo, repo_type="dataset", private=self._wanted.private, exist_ok=True)
            found = api.repo_info(repo, repo_type="dataset")
        if branch is None:
            return found
        api.create_branch(repo, branch=branch, repo_type="dataset", exist_ok=True)
        return api.repo_info(repo, repo_type="dataset", revision=branch)

    def _card(self) -> str:
        with TemporaryDirectory(prefix="penstock-") as folder:
            path = self._api.hf_hub_download(
                self.repo,
                "README.md",
                repo_type="dataset",
                revision=self._commit,
                local_dir=folder,
            )
            return Path(path).read_text("utf-8", "replace")

    def _token(self, given: str | Secret | None) -> Secret:
        """What was given, a reference to it, or what the library knows."""
        if isinstance(given, str) and given:
            return resolve(given) if is_reference(given) else Secret(given)
        if isinstance(given, Secret):
            return given
        found = self._library.get_token()
        if not found:
            raise KeyMissingError(
                "there is no token for the Hugging Face hub",
                remedy="Run `hf auth login`, set HF_TOKEN, or give token='env:NAME'.",
            )
        return Secret(found)

    def _do(self, work: Callable[[], T]) -> T:
        """Ask the hub; what goes wrong, in our words."""
        try:
            return work()
        except PenstockError:
            raise
        except Exception as error:
            trouble = self._trouble(error)
        raise trouble  # out here nothing hangs behind it

    def _trouble(self, error: Exception) -> PenstockError:
        errors = self._errors
        said = _said(error)
        if isinstance(error, errors.HFValidationError):
            return InputError(f"{self.repo!r} is no name of a dataset: {said}")
        if isinstance(error, errors.OfflineModeIsEnabled):
            return InputError(
                "the Hugging Face hub is switched off by HF_HUB_OFFLINE", remedy="Unset it."
            )
        if not isinstance(error, errors.HfHubHTTPError):
            return ApiError(
                f"the upload to {self.repo} failed: {said}", remedy="No data were published."
            )
        status = int(error.response.status_code)
        remedy = _REMEDIES.get(status, "No data were published.")
        return ApiError(
            f"{self.repo}: the hub answered {_ANSWERS.get(status, said)}", remedy=remedy
        )


def _said(error: BaseException | None) -> str:
    """The first line of an error and of what it came from, without secrets."""
    lines: list[str] = []
    while error is not None and len(lines) < 3:
        lines.append(str(error).strip().split("\n")[0] or type(error).__name__)
        error = error.__cause__
    return mask(": ".join(dict.fromkeys(lines)))


_ANSWERS = {
    401: "that the token is wrong (HTTP 401)",
    403: "that the token may not write there (HTTP 403)",
    409: "that something else is being committed (HTTP 409)",
    412: "that it was changed meanwhile (HTTP 412)",
}
_REMEDIES = {
    401: "Run `hf auth login`, set HF_TOKEN, or give token='env:NAME'.",
    403: "Use a token with the right to write.",
    409: "Push again.",
    412: "Push again.",
}
