"""Installs a wheel into fresh virtual environments of several versions of Python, without a compiler on the path, and uses it:

    python install.py saltus-0.1.0-cp311-abi3-linux_x86_64.whl python3.11 python3.12 python3.13
"""

import os
import pathlib
import subprocess
import sys
import tempfile

USE = """
import pickle, sys
import numpy as np
import saltus
TEXT = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
open("M.mo", "w").write(TEXT)
model = saltus.loads(TEXT)
result = model.simulate(1, set={"k": 2})
assert abs(result["x"][-1] - np.exp(-2)) < 1e-5 and not result["x"].flags.writeable
assert pickle.loads(pickle.dumps(model)).simulate()["x"][0] == 1
assert len(model.sweep({"k": [1, 2, 3]}, "x")["x"]) == 3
model.export_fmu("M.fmu", type="cs")
print(sys.version.split()[0], "numpy", np.__version__, "saltus", saltus.__version__)
"""


def install(wheel: pathlib.Path, python: str) -> None:
    """One interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder) / "venv"
        subprocess.run([python, "-m", "venv", environment], check=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        # Nothing but the environment itself is on the path: no compiler, no Rust.
        bare = {**os.environ, "PATH": str(programs), "PYTHONPATH": ""}
        run = [programs / "python"]
        subprocess.run([*run, "-m", "pip", "install", "-q", "--only-binary", ":all:", wheel], check=True, env=bare)
        subprocess.run([*run, "-c", USE], check=True, env=bare, cwd=folder)
        for command in (["fmu", "check", "M.fmu"], ["fmu", "export", "M.mo", "-o", "again.fmu"], ["fmu", "check", "again.fmu"]):
            subprocess.run([programs / "saltus", *command], check=True, env=bare, cwd=folder, stdout=subprocess.DEVNULL)
        told = subprocess.run([programs / "saltus", "--version"], check=True, env=bare, capture_output=True, text=True)
        print(f"  {python}: {told.stdout.strip()}")


if __name__ == "__main__":
    for interpreter in sys.argv[2:] or [sys.executable]:
        install(pathlib.Path(sys.argv[1]).resolve(), interpreter)
