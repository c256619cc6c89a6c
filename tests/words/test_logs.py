from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import logs
from penstock.secret import Secret

CANARY = "canary-5f3a9c1e7b2d4860"
ECHOED = "sk-proj-abcdef0123456789abcdef"  # never made a Secret: a server repeats it
LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d (DEBUG|INFO|WARNING|ERROR|CRITICAL) \S+ .*"
)

log = logging.getLogger("penstock.test")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    Secret(CANARY)
    yield
    logs.reset()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "penstock.log"
    logs.configure(file=path, level="DEBUG")
    return path


def handler() -> logging.Handler:
    return logging.getLogger("penstock").handlers[-1]


def handle(message: str, *args: object, **extra: object) -> None:
    """Log past pytest's own handler, which raises what a format string raises."""
    record = log.makeRecord(log.name, logging.ERROR, __file__, 1, message, args, None, extra=extra)
    handler().handle(record)


def only_line(file: Path) -> str:
    (line,) = file.read_text("utf-8").splitlines()
    assert LINE.fullmatch(line)
    return line


def test_an_event_is_one_line_with_time_level_logger_ids_message_and_pairs(file: Path) -> None:
    with logs.bind(run="r1", request="ab12"):
        log.warning("asked %d times", 3, extra={"status": 429, "why": "too many"})
    line = only_line(file).split(" ", 1)[1]
    assert line == (
        'WARNING penstock.test run=r1 request=ab12 asked 3 times status=429 why="too many"'
    )


def test_ids_nest_and_end_with_their_block(file: Path) -> None:
    with logs.bind(run="r1"):
        with logs.bind(request="q1"):
            log.info("in")
        log.info("between")
    log.info("out")
    assert [line.split("penstock.test ")[1] for line in file.read_text().splitlines()] == [
        *("run=r1 request=q1 in", "run=r1 between", "out"),
    ]


def test_ids_in_extra_go_before_bound_ones(file: Path) -> None:
    with logs.bind(run="r1"):
        log.info("x", extra={"run": "r2", "request": "q2"})
    assert only_line(file).endswith(" run=r2 request=q2 x")


async def test_ids_do_not_leak_between_tasks(file: Path) -> None:
    async def work(name: str) -> None:
        with logs.bind(run=name):
            await asyncio.sleep(0)
            log.info("of %s", name)

    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "c"):
            group.create_task(work(name))
    for line in file.read_text().splitlines():
        assert re.search(r"run=(\w) of \1$", line)


class CarrierError(Exception):
    def __init__(self) -> None:
        super().__init__("refused")
        self.key = CANARY

    def __str__(self) -> str:
        return f"refused with {self.key} and {ECHOED}"


def in_message() -> None:
    log.error(f"key {CANARY} {ECHOED}")


def in_arguments() -> None:
    log.error("key %s %r %s", CANARY, {"Authorization": f"Bearer {CANARY}"}, ECHOED)


def in_an_exception() -> None:
    try:
        raise CarrierError
    except CarrierError:
        log.exception("failed")


def in_a_nested_exception() -> None:
    try:
        try:
            raise CarrierError
        except CarrierError as error:
            error.add_note(f"note {CANARY}")
            raise ExceptionGroup("many", [ValueError(CANARY), KeyError(ECHOED)]) from error
    except ExceptionGroup:
        log.exception("failed")


def in_an_exception_as_message() -> None:
    log.error(CarrierError())


def in_an_exception_as_argument() -> None:
    log.error("failed: %s %r", CarrierError(), CarrierError())


def in_extra() -> None:
    log.error("x", extra={"url": f"https://h/?k={CANARY}", "headers": {"x-api-key": ECHOED}})


def in_extra_by_its_name() -> None:
    log.error("x", extra={"api_key": CANARY, "session_token": ECHOED})


def in_ids() -> None:
    with logs.bind(run=CANARY, request=ECHOED):
        log.error("x")


def in_a_url() -> None:
    log.error("via http://user:%s@proxy:3128 and http://u:%s@h", CANARY, ECHOED)


def in_arguments_that_do_not_fit() -> None:
    handle("%d %d", CANARY, ECHOED)


def in_a_stack() -> None:
    log.error("x", stack_info=True, extra={"k": f"{CANARY} {ECHOED}"})


def in_a_third_party_logger() -> None:
    other = logging.getLogger("thirdparty.http")
    other.addHandler(handler())
    try:
        other.error("sent %s", CANARY, extra={"header": ECHOED})
        try:
            raise CarrierError
        except CarrierError:
            other.exception("failed")
    finally:
        other.removeHandler(handler())


@pytest.mark.parametrize(
    "leak",
    [
        in_message,
        in_arguments,
        in_an_exception,
        in_a_nested_exception,
        in_an_exception_as_message,
        in_an_exception_as_argument,
        in_extra,
        in_extra_by_its_name,
        in_ids,
        in_a_url,
        in_arguments_that_do_not_fit,
        in_a_stack,
        in_a_third_party_logger,
    ],
)
def test_a_secret_never_reaches_the_log(leak: Any, tmp_path: Path) -> None:
    path = tmp_path / "penstock.log"
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream):
        logs.configure(file=path, level="DEBUG")
        leak()
        logs.configure(console=True, level="DEBUG")
        leak()
    for text in (path.read_text(), stream.getvalue()):
        assert "****" in text
        assert CANARY not in text
        assert ECHOED[8:] not in text
        assert all(LINE.fullmatch(line) for line in text.splitlines())


def test_a_secret_is_masked_before_the_line_is_cut(file: Path) -> None:
    log.error("x" * 16_370 + CANARY)
    assert CANARY[:8] not in file.read_text()


def test_the_record_itself_is_left_alone_for_other_handlers(file: Path) -> None:
    seen: list[dict[str, Any]] = []
    other = logging.Handler()
    other.emit = lambda record: seen.append(dict(vars(record)))  # type: ignore[method-assign]
    logging.getLogger("penstock").addHandler(other)
    try:
        in_an_exception()
    finally:
        logging.getLogger("penstock").removeHandler(other)
    (record,) = seen
    assert record["msg"] == "failed"
    assert record["exc_info"] is not None
    assert record["exc_text"] is None


def test_newlines_and_escape_sequences_are_written_as_escapes(file: Path) -> None:
    log.info("a\nb\r\x1b[31mred\x9b2J\u2028\u202ereversed\x00", extra={"k": "x\ny\x1b]0;t\x07"})
    line = only_line(file)
    assert r"a\nb\r\x1b[31mred\x9b2J\u2028\u202ereversed\x00" in line
    assert "\x1b" not in line
    assert r"k=" in line


def test_a_traceback_is_one_line(file: Path) -> None:
    in_a_nested_exception()
    assert r"Traceback (most recent call last):\n" in only_line(file)


def test_readable_text_of_any_language_stays_as_it_is(file: Path) -> None:
    log.info("żółw 日本語 😀 C:\\new")
    assert only_line(file).endswith("żółw 日本語 😀 C:\\new")


def test_a_lone_surrogate_is_written_as_an_escape(file: Path) -> None:
    log.info("a\ud800b")
    assert only_line(file).endswith(r"a\ud800b")


@given(st.text(st.characters(exclude_categories=[])), st.text())
def test_any_message_is_exactly_one_inert_line(message: str, value: str) -> None:
    facts = {"msg": message, "name": value, "levelname": "INFO", "detail": value}
    record = logging.makeLogRecord(facts)
    line = logs.OneLine().format(record)
    assert len(line.splitlines()) == 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", line)
    line.encode("utf-8")


def test_a_wrong_format_string_loses_no_event(file: Path) -> None:
    handle("%d items", "many")
    assert "%d items (arguments do not fit: ('many',))" in only_line(file)


class Unshowable:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def test_an_object_that_cannot_show_itself_loses_no_event(file: Path) -> None:
    handle("got %s", Unshowable(), thing=Unshowable())
    assert 'thing="<Unshowable: RuntimeError>"' in only_line(file)


def test_a_huge_message_is_cut(file: Path) -> None:
    log.info("x" * 1_000_000)
    assert len(only_line(file)) < 17_000


@pytest.mark.parametrize(
    ("level", "written"),
    [
        ("DEBUG", ["d", "i", "w", "e"]),
        ("INFO", ["i", "w", "e"]),
        ("WARNING", ["w", "e"]),
        ("ERROR", ["e"]),
    ],
)
def test_the_level_decides_what_is_written(level: str, written: list[str], tmp_path: Path) -> None:
    logs.configure(file=tmp_path / "x.log", level=level)
    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")
    assert [line[-1] for line in (tmp_path / "x.log").read_text().splitlines()] == written


def test_the_console_is_stderr_and_only_when_asked(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.info("quiet")
    assert capsys.readouterr() == ("", "")
    logs.configure(console=True)
    log.info("aloud\x1b[2J")
    out, err = capsys.readouterr()
    assert out == ""
    assert LINE.fullmatch(err.rstrip("\n"))
    assert err.endswith("aloud\\x1b[2J\n")
    assert "aloud" not in file.read_text()


def test_the_console_writes_what_its_encoding_lacks_as_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    with contextlib.redirect_stderr(stream):
        logs.configure(console=True)
        log.info("żółw")
    assert rb"\u017c\xf3\u0142w" in raw.getvalue()


def test_configuring_again_replaces_and_never_doubles(tmp_path: Path) -> None:
    for _ in range(3):
        logs.configure(file=tmp_path / "a.log")
    log.info("one")
    logs.configure(file=tmp_path / "b.log")
    log.info("two")
    assert only_line(tmp_path / "a.log").endswith("one")
    assert only_line(tmp_path / "b.log").endswith("two")


def test_importing_configures_nothing(tmp_path: Path) -> None:
    program = (
        "import logging, penstock.logs as l\n"
        "root, ours = logging.getLogger(), logging.getLogger('penstock')\n"
        "assert root.handlers == [] and root.level == logging.WARNING\n"
        "assert [type(h) for h in ours.handlers] == [logging.NullHandler]\n"
        "assert ours.level == logging.NOTSET and ours.propagate\n"
        "ours.error('nobody listens')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_the_first_event(file: Path) -> None:
    assert not file.exists()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_and_its_backups_are_private_whatever_the_umask(
    umask: int, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        logs.configure(file=tmp_path / "new" / "x.log", max_size=1024, backup_count=2)
        for _ in range(50):
            log.info("x" * 100)
    finally:
        os.umask(before)
    files = list((tmp_path / "new").iterdir())
    assert len(files) == 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize("backup_count", [0, 1, 3])
def test_size_and_number_of_files_are_bounded_and_the_newest_events_kept(
    backup_count: int, tmp_path: Path
) -> None:
    logs.configure(file=tmp_path / "x.log", max_size=2048, backup_count=backup_count)
    for number in range(200):
        log.info("event %d %s", number, "é" * (number % 60))
    log.info("y" * 10_000)
    log.info("last")
    files = sorted(tmp_path.iterdir())
    assert len(files) == backup_count + 1
    assert all(path.stat().st_size <= 2048 for path in files)
    assert (tmp_path / "x.log").read_text("utf-8").endswith("last\n")
    kept = [
        int(found[1])
        for path in reversed(files)
        for found in re.finditer(r"event (\d+)", path.read_text("utf-8"))
    ]
    assert kept == list(range(200 - len(kept), 200))


def test_fewer_backups_than_before_takes_the_old_ones_away(tmp_path: Path) -> None:
    for count in (4, 1):
        logs.configure(file=tmp_path / "x.log", max_size=1024, backup_count=count)
        for _ in range(100):
            log.info("x" * 100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.log", "x.log.1"]


def test_an_existing_file_is_continued(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("before\n")
    logs.configure(file=tmp_path / "x.log")
    log.info("after")
    assert (tmp_path / "x.log").read_text().startswith("before\n")


def test_a_file_moved_away_by_another_program_is_begun_anew(file: Path) -> None:
    log.info("one")
    file.rename(file.with_name("moved"))
    log.info("two")
    file.unlink()
    log.info("three")
    assert only_line(file).endswith("three")


def test_several_processes_share_a_file_without_tearing_lines_or_losing_events(
    tmp_path: Path,
) -> None:
    program = (
        "import logging, sys, penstock.logs as l\n"
        "l.configure(file='x.log', max_size=20_000, backup_count=100)\n"
        "log = logging.getLogger('penstock.' + sys.argv[1])\n"
        "for n in range(1500): log.info('n=%d %s', n, 'x' * (n % 97))\n"
        "assert l.lost() == 0\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, name], cwd=tmp_path)
        for name in ("a", "b", "c")
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    files = list(tmp_path.iterdir())
    lines = [line for path in files for line in path.read_text().splitlines()]
    assert all(LINE.fullmatch(line) for line in lines)
    seen = {
        (m[1], int(m[2])) for line in lines if (m := re.search(r"penstock\.(\w) n=(\d+)", line))
    }
    assert seen == {(name, n) for name in "abc" for n in range(1500)}
    assert len(lines) == 4500
    assert max(path.stat().st_size for path in files) <= 30_000


def fail_to_log(reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = logs.lost()
    for number in range(5):
        log.error("event %d %s", number, CANARY)
    assert logs.lost() == before + 5
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "cannot write the log" in err
    assert reason in err
    assert CANARY not in err


def test_a_folder_that_cannot_be_written_costs_events_and_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    logs.configure(file=tmp_path / "file" / "x.log")
    fail_to_log("File exists", capsys)


def test_a_read_only_folder_costs_events_and_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o500)
    logs.configure(file=tmp_path / "x.log")
    with contextlib.ExitStack() as after:
        after.callback(tmp_path.chmod, 0o700)
        if os.geteuid() == 0:  # root may write anywhere
            os.seteuid(65534)
            after.callback(os.seteuid, 0)
        fail_to_log("Permission denied", capsys)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_events_and_one_warning(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(file="/dev/full")
    fail_to_log("No space left", capsys)


def test_a_pipe_that_nobody_reads_does_not_stop_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "x.log")
    logs.configure(file=tmp_path / "x.log")
    fail_to_log("No such device", capsys)


def test_logging_comes_back_when_the_disk_does(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log.info("before")
    real = os.write

    def half(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", full)
        return real(fd, data[:40])

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    fail_to_log("No space left", capsys)
    monkeypatch.setattr(os, "write", real)
    log.info("after")
    first, torn, last = file.read_text().splitlines()
    assert first.endswith("before")
    assert len(torn) == 40
    assert LINE.fullmatch(last)
    assert last.endswith("after")


def test_when_files_cannot_be_renamed_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    before = logs.lost()
    logs.configure(file=tmp_path / "x.log", max_size=1024, backup_count=2)
    for _ in range(50):
        log.info("x" * 100)
    assert logs.lost() == before
    assert len((tmp_path / "x.log").read_text().splitlines()) == 50


def test_a_broken_stderr_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    logs.configure(console=True)
    monkeypatch.setattr(sys, "stderr", None)
    log.error("x")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    log.error("x")


def test_a_symbolic_link_is_written_but_not_rotated(tmp_path: Path) -> None:
    (tmp_path / "x.log").symlink_to(tmp_path / "real")
    logs.configure(file=tmp_path / "x.log", max_size=1024, backup_count=2)
    for _ in range(50):
        log.info("x" * 100)
    assert (tmp_path / "x.log").is_symlink()
    assert len((tmp_path / "real").read_text().splitlines()) == 50
