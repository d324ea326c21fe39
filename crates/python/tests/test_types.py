"""Types: stubs say what is there, and scripts of users pass a strict check."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
CONFIGURATION = pathlib.Path(__file__).parents[1] / "pyproject.toml"

SCRIPT = """
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import saltus

model: saltus.Model = saltus.loads("model M parameter Real k = 1; Real x = k*time; end M;", set={"k": 2})
result = model.simulate(stop=2, set={"k": 3.0}, outputs=["x"], progress=lambda t, fraction: None)
x: NDArray[np.float64] = result["x"]
for event in result.events:
    triggers: list[str] = [trigger.condition for trigger in event.triggers]
sweep = model.sweep(saltus.design.sobol(8, {"k": (1, 2)}), {"end": "x"}, threads=2)
ends = sweep["end"]
run = model.stepper(stop=1)
reached: str = run.step(0.5)
value: float = run["x"]
try:
    model.simulate(set={"unknown": 1})
except saltus.RequestError as error:
    code: str | None = error.code
linear: saltus.Linear = model.linearize(outputs="x")
"""

WRONG = """
import saltus

model = saltus.loads("model M end M;")
model.simulate(stop="soon")
model.simulate(unknown=1)
saltus.load(7)
"""


def mypy(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(CONFIGURATION), *arguments], capture_output=True, text=True
    )


def test_the_package(tmp_path):
    done = mypy("-p", "saltus", "--cache-dir", str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout


def test_scripts_of_users(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = mypy("--strict", str(tmp_path / "script.py"), "--cache-dir", str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    done = mypy("--strict", str(tmp_path / "wrong.py"), "--cache-dir", str(tmp_path / "cache"))
    assert done.stdout.count("error:") == 3, done.stdout
    exec(compile(SCRIPT, "script.py", "exec"), {})


def test_stubs():
    command = [sys.executable, "-m", "mypy.stubtest", "saltus", "--mypy-config-file", str(CONFIGURATION)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
