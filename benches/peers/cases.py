"""The models that are compared, and what is known about their solutions.

What is known stands in the header of each model, where the tests of the examples read it too:

    // expect: x at 5 = 0.94 within 1e-6             a value; 5- and 5+ are the limits at an event
    // expect: reference FILE.csv x=col within 1e-6   a trajectory in tests/reference
"""

import csv
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "library"
TOLERANCE = 1e-6
"""Relative tolerance every tool is asked for."""

# What is asked of a result, relative to the size of the variable. Tools are asked for 1e-6 per step; what is worse than
# this is another solution.
RIGHT = 1e-3


@dataclasses.dataclass
class Check:
    variable: str
    time: float
    side: str  # "-", "+" or "" for no event
    value: float


@dataclasses.dataclass
class Case:
    name: str
    path: pathlib.Path
    group: str
    stop: float
    interval: float
    checks: list

    def scale(self, variable):
        """The largest known value of a variable: errors are relative to it."""
        sizes = [abs(check.value) for check in self.checks if check.variable == variable]
        return max(sizes) or 1.0


# Smooth models, standard Modelica with events, and models whose structure changes.
GROUPS = {
    "smooth": ["Robertson", "VanDerPol", "HeatRod", "MassChain", "Pendulum", "DoublePendulum"],
    "events": ["BouncingBall", "SampledDataControl", "Thermostat", "DiodeRectifier", "ThyristorRectifier", "Integrator"],
    "multi-mode": [
        "MotorAndLoad",
        "GearShift",
        "TwoInertias",
        "HotContact",
        "WaterTank",
        "TowingRope",
        "CupAndBall",
        "FrictionBlock",
        "TwoBlocks",
        "BuckConverter",
        "ThreePhaseBridge",
        "DualClutch",
        "CollidingCarts",
        "Ratchet",
    ],
}

# The run of a bouncing ball is compared before its impacts accumulate.
STOPS = {"BouncingBall": 2.0}


def cases(only=None):
    found = []
    for group, names in GROUPS.items():
        for name in names:
            if only is None or name in only:
                found.append(_case(name, group))
    return found


def _case(name, group):
    folders = [pathlib.Path(__file__).parent / "models", ROOT / "examples"]
    path = next(path for folder in folders for path in folder.rglob(f"{name}.mo"))
    text = path.read_text()
    stop = STOPS.get(name, _setting(text, "StopTime"))
    interval = _setting(text, "Interval")
    checks = [check for check in _checks(text, interval) if check.time < stop or not check.side and check.time == stop]
    return Case(name, path, group, stop, interval, checks)


def _setting(text, name):
    return float(re.search(rf"{name} = ([0-9.eE+-]+)", text).group(1))


def _checks(text, interval):
    number = r"(-?[0-9.]+(?:[eE][+-]?\d+)?)"
    value = re.compile(rf"// expect: ([\w.\[\]]+) at {number}([+-]?) = {number} within")
    for line in text.splitlines():
        if match := value.match(line):
            variable, time, side, known = match.groups()
            yield Check(variable, float(time), side, float(known))
        elif line.startswith("// expect: reference "):
            yield from _trajectory(line, interval)


def _trajectory(line, interval):
    """Twenty rows of a reference, away from its events and on the grid of the output."""
    file, columns = re.match(r"// expect: reference (\S+) (.*) within", line).groups()
    with open(ROOT / "tests" / "reference" / file) as source:
        rows = list(csv.DictReader(row for row in source if not row.startswith("#")))
    times = [float(next(iter(row.values()))) for row in rows]
    for index in range(1, len(rows), max(1, len(rows) // 20)):
        on_grid = abs(times[index] / interval - round(times[index] / interval)) < 1e-6
        alone = index + 1 == len(rows) or times[index - 1] < times[index] < times[index + 1]
        if on_grid and alone:
            for pair in columns.split(","):
                variable, column = pair.strip().split("=")
                yield Check(variable, times[index], "", float(rows[index][column]))
