"""The command line inside the package, and results that are equal bit by bit."""

import os
import signal
import subprocess
import sys
import time

import pytest
import saltus
from conftest import ENDLESS, EXAMPLES

MODELS = [
    "MotorAndLoad.mo",
    "mechanics/SlippingClutch.mo",
    "electrical/BuckConverter.mo",
    "mechanics/CupAndBall.mo",
    "electrical/DiodeBridge.mo",
]


def saltus_command(*arguments, **settings):
    return subprocess.run([sys.executable, "-m", "saltus", *map(str, arguments)], capture_output=True, text=True, **settings)


def test_commands_and_statuses(tmp_path):
    done = saltus_command("--version")
    assert done.returncode == 0 and saltus.__version__ in done.stdout
    (tmp_path / "M.mo").write_text("model M Real x = y; end M;")
    done = saltus_command("check", tmp_path / "M.mo")
    assert done.returncode == 1 and "E0201" in done.stderr
    assert saltus_command("nonsense").returncode == 2
    assert saltus_command().returncode == 2
    assert saltus_command("explain", "E0201").stdout.startswith("E0201: unknown name")


@pytest.mark.parametrize("name", [name for name in MODELS if (EXAMPLES / name).exists()])
def test_files_are_those_of_the_command_line(name, tmp_path):
    path = EXAMPLES / name
    done = saltus_command("simulate", path, "-o", tmp_path / "a.csv", "--events", tmp_path / "a.json", "--plot", tmp_path / "a.svg")
    assert done.returncode == 0, done.stderr
    result = saltus.load(path).simulate()
    result.save(tmp_path / "b.csv", events=tmp_path / "b.json")
    (tmp_path / "b.svg").write_text(result.svg())
    for kind in ("csv", "json", "svg"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes(), kind
    saltus_command("simulate", path, "-o", tmp_path / "a.mat")
    result.save(tmp_path / "b.mat")
    assert (tmp_path / "a.mat").read_bytes() == (tmp_path / "b.mat").read_bytes()


def test_settings_are_the_same(tmp_path):
    path = EXAMPLES / "mechanics/SlippingClutch.mo"
    settings = ["--stop", "15", "--tolerance", "1e-9", "--solver", "dop853", "--set", "torque=8.5", "--set", "J2=2", "--variable", "w*"]
    done = saltus_command("simulate", path, "-o", tmp_path / "a.csv", *settings)
    assert done.returncode == 0, done.stderr
    result = saltus.load(path).simulate(15, tolerance=1e-9, solver="dop853", set={"torque": 8.5, "J2": 2}, outputs="w*")
    result.save(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_runs_repeat_themselves(ball):
    first = [ball.simulate(2)["h"].tobytes() for _ in range(3)]
    assert len(set(first)) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of other systems")
def test_ctrl_c_leaves_a_file(tmp_path):
    (tmp_path / "Endless.mo").write_text(ENDLESS)
    command = [sys.executable, "-m", "saltus", "simulate", "Endless.mo", "--stop", "1e7", "--interval", "1", "-o", "out.csv"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=20)
    assert run.returncode == 3 and "E0616" in errors
    assert len(saltus.read(tmp_path / "out.csv")) > 10
