"""The tools: whether one is installed, and how it runs a case.

`version()` is None where a tool is not installed. `run(case, folder)` returns an Outcome: seconds from the text to
something that can be run (compile), seconds of the run with its results (run), and the results; or why there are none.
Seconds are of processor time, so that other work on the machine does not count.
"""

import csv
import dataclasses
import json
import pathlib
import resource
import shutil
import subprocess
import sys

from cases import LIBRARY, TOLERANCE

TIME_LIMIT = 60.0
"""Seconds for one run of one tool."""


@dataclasses.dataclass
class Outcome:
    compile: float = 0.0
    run: float = 0.0
    times: list = dataclasses.field(default_factory=list)
    columns: dict = dataclasses.field(default_factory=dict)
    refusal: str = ""

    @property
    def total(self):
        return self.compile + self.run


def _process(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, **options)


def _timed(command, **options):
    """A process that has ended, and the processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = _process(command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _first_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def _table(path):
    with open(path) as source:
        rows = list(csv.reader(source))
    header, body = rows[0], rows[1:]
    numbers = [[float(field) if field else float("nan") for field in row] for row in body]
    columns = {name: [row[index] for row in numbers] for index, name in enumerate(header)}
    return columns[header[0]], columns


class Saltus:
    name = "Saltus"

    def __init__(self, binary):
        self.binary = binary

    def version(self):
        try:
            return _process([self.binary, "--version"]).stdout.split()[-1]
        except OSError:
            return None

    def run(self, case, folder):
        output = pathlib.Path(folder) / "saltus.csv"
        command = [self.binary, "simulate", str(case.path), "-L", str(LIBRARY), "-o", str(output)]
        command += ["--interval", str(case.interval), "--tolerance", str(TOLERANCE), "--stop"]
        # A run that ends where it begins: everything but the run.
        before, compile_time = _timed([*command, "0"])
        done, total = _timed([*command, str(case.stop)])
        if before.returncode != 0 or done.returncode != 0:
            return Outcome(refusal=_first_line(before.stderr + done.stderr))
        return Outcome(compile_time, max(total - compile_time, 0.0), *_table(output))


class OpenModelica:
    name = "OpenModelica"

    def version(self):
        if shutil.which("omc") is None:
            return None
        return _process(["omc", "--version"]).stdout.strip()

    def run(self, case, folder):
        intervals = round(case.stop / case.interval)
        settings = f'startTime = 0, stopTime = {case.stop}, numberOfIntervals = {intervals}, tolerance = {TOLERANCE}'
        script = pathlib.Path(folder) / "build.mos"
        script.write_text(
            f'loadFile("{LIBRARY / "Saltus" / "package.mo"}");\nloadFile("{case.path}");\n'
            f'buildModel({case.name}, {settings}, outputFormat = "csv");\ngetErrorString();\n'
        )
        built, compile_time = _timed(["omc", script.name], cwd=folder)
        program = pathlib.Path(folder) / case.name
        if not program.exists():
            errors = [line for line in built.stdout.splitlines() if "Error:" in line]
            return Outcome(refusal=_first_line("\n".join(errors) or built.stdout))
        done, run = _timed([str(program)], cwd=folder)
        result = pathlib.Path(folder) / f"{case.name}_res.csv"
        if done.returncode != 0 or not result.exists():
            return Outcome(refusal=_first_line(done.stdout + done.stderr))
        return Outcome(compile_time, run, *_table(result))


class InPython:
    """A tool that is a Python package: runs in a process of its own, which may be ended."""

    def __init__(self, name, package, module):
        self.name, self.package, self.module = name, package, module

    def version(self):
        code = f"import {self.package}, importlib.metadata as m; print(m.version('{self.name}'))"
        done = _process([sys.executable, "-c", code])
        return done.stdout.strip() if done.returncode == 0 else None

    def run(self, case, folder):
        command = [sys.executable, str(pathlib.Path(__file__).with_name(self.module)), case.name]
        done = _process(command)
        if done.returncode != 0:
            return Outcome(refusal=_first_line(done.stderr[::-1])[::-1])
        return Outcome(**json.loads(done.stdout))


def tools(saltus):
    return [
        Saltus(saltus),
        OpenModelica(),
        InPython("rumoca", "rumoca", "with_rumoca.py"),
        InPython("scikit-sundae", "sksundae", "with_sundae.py"),
    ]
