"""The server as a process: it starts, tells its port, changes, ends, and dies with its parent."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from urllib.request import urlopen

import pytest

from penstock import simulator as room
from penstock.cli.simulate import simulate
from penstock.errors import HostError, InputError
from penstock.simulator import Simulator, SimulatorSettings
from penstock.simulator.settings import changed, checked
from tests.simulator.raw import chat, post


def test_the_face_shows_what_it_promises() -> None:
    assert sorted(room.__all__) == room.__all__ == dir(room)
    assert all(getattr(room, name) is not None for name in room.__all__)


def test_two_simulators_do_not_disturb_each_other() -> None:
    with Simulator() as one, Simulator(fixed=True) as two:
        assert one.url != two.url
        post(one, chat())
        assert (one.summary()["requests"], two.summary()["requests"]) == (1, 0)


def test_bad_settings_are_told_before_and_while_it_runs(simulator: Simulator) -> None:
    with pytest.raises(InputError, match="latency 'abc'"):
        Simulator(latency="abc").start()
    bad: list[dict[str, object]] = [
        {"latency": "abc"},
        {"errors": "foo:2"},
        {"rpm": 0},
        {"rpm": True},
        {"nonsense": 1},
        {"port": 5},
        {"seed": "x"},
        {"quota": -1},
    ]
    for settings in bad:
        with pytest.raises(InputError):
            simulator.set(**settings)


def test_settings_in_force_are_shown(simulator: Simulator) -> None:
    simulator.set(rpm=77)
    assert post(simulator, None, "/settings", "GET").json["rpm"] == 77
    assert post(simulator, b"[]", "/settings").status == 400
    assert post(simulator, b"{", "/settings").status == 400


def test_changing_one_limit_keeps_the_other_settings() -> None:
    settings = changed(SimulatorSettings(latency="5"), {"rpm": 3})
    assert (settings.latency, settings.rpm) == ("5", 3)
    with pytest.raises(InputError, match="more than 0"):
        checked(SimulatorSettings(burst=0))


def test_a_taken_port_is_told() -> None:
    with Simulator() as one, pytest.raises(InputError, match="cannot listen"):
        Simulator(port=one.port).start()


def test_a_killed_simulator_is_gone() -> None:
    simulator = Simulator().start()
    simulator.kill()
    with pytest.raises(HostError):
        simulator.summary()
    simulator.stop()


def test_it_ends_when_its_parent_dies(tmp_path: Path) -> None:
    code = (
        "import sys, time; from penstock.simulator import Simulator\n"
        "with Simulator() as simulator:\n"
        "    print(simulator.pid, flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 5
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_command_has_a_flag_for_every_setting_with_its_default() -> None:
    flags = inspect.signature(simulate).parameters
    wanted = {each.name: each.default for each in fields(SimulatorSettings)}
    assert {name: flag.default for name, flag in flags.items()} == wanted
    documented = inspect.getdoc(simulate) or ""
    assert all(f"\n{name}\n" in documented for name in wanted)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_where_it_listens_and_ends_cleanly(number: signal.Signals) -> None:
    code = "from penstock.cli.simulate import simulate; raise SystemExit(simulate(port=0))"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    line = child.stdout.readline()
    url = next(word for word in line.split() if word.startswith("http://"))
    assert f"--model {url}#simulated" in child.stdout.readline()
    with urlopen(f"{url}/models", timeout=5) as response:
        assert response.status == 200
    os.kill(child.pid, number)
    _, complaints = child.communicate(timeout=10)
    assert (child.returncode, complaints) == (0, "")
