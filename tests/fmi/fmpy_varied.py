#!/usr/bin/env python3
"""Runs the models of `tests/fmi/models` as units in FMPy and compares with runs of Saltus itself: models of many kinds, each
small, with what importers seldom see: inputs that jump, clocks, chains of events, runs that fail or end themselves, quoted names.

    python3 tests/fmi/fmpy_varied.py target/debug/saltus [--only A,B] [--kinds me3,me2,cs3,cs3e,cs2] [--runtime FILE]

Says so and succeeds where FMPy is not installed. Comments of a model say how it is run:

    // unit: stop 2            and `start`, if that is not zero
    // unit: input u 0:1 0.5:-2     values of an input from a time on
    // unit: set k=3           a parameter, or `x.start=3`, given to the unit by its importer; `kind=b:2` is a literal and its number
    // unit: only cs
    // unit: fails 1.09        a run fails then, with the same words in the unit
    // unit: ends 0.69         it ends itself

All variables that are numbers are compared as `fmpy_examples.py` does, discrete ones exactly.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from fmpy_examples import KINDS, TOLERANCE, compare, events_of, has_effect

POINTS = 97


class Run:
    """What the comments of a model say of its run."""

    def __init__(self, model):
        self.start, self.stop, self.inputs, self.set, self.only, self.fails, self.ends = 0.0, 1.0, {}, {}, "", None, None
        for line in open(model):
            found = re.match(r"// unit: (\w+) (.*)", line)
            if not found:
                continue
            word, rest = found[1], found[2].strip()
            if word == "input":
                name, *points = rest.split()
                self.inputs[name] = [tuple(map(float, point.split(":"))) for point in points]
            elif word == "set":
                name, value = rest.split("=")
                self.set[name] = value.split(":")
            elif word == "only":
                self.only = rest
            else:
                setattr(self, word, float(rest))

    def times_of_jumps(self):
        return sorted({t for points in self.inputs.values() for t, _ in points if t > self.start})

    def value(self, name, time, left=False):
        return [v for t, v in self.inputs[name] if t < time or t == time and not left or t == self.start][-1]

    def rows(self):
        """Times, each jump twice, with the values of all inputs."""
        times = [(self.start, False)] + [(t, left) for t in self.times_of_jumps() for left in (True, False)] + [(self.stop, False)]
        return [[t] + [self.value(name, t, left) for name in self.inputs] for t, left in times]


def number(text):
    return float(text == "true") if text in ("true", "false") else float(text or "nan")


def own_run(saltus, model, run, folder, declared):
    out = folder / "own.csv"
    command = [saltus, "simulate", model, "-o", out, "--start", repr(run.start), "--stop", repr(run.stop), "--tolerance", "1e-10"]
    command += ["--interval", repr((run.stop - run.start) / POINTS)]
    for name, (value, *_) in run.set.items():
        command += ["--set", f"{name}={value}"]
    if run.inputs:
        with open(folder / "inputs.csv", "w") as file:
            print("time", *run.inputs, sep=",", file=file)
            for row in run.rows():
                texts = [text_of(value, declared[name]) for name, value in zip(run.inputs, row[1:])]
                print(repr(row[0]), *texts, sep=",", file=file)
        command += ["--input", folder / "inputs.csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    if run.fails is None and done.returncode != 0:
        raise RuntimeError(done.stderr)
    rows = list(csv.reader(open(out)))
    table = []
    for row in rows[1:]:
        try:
            table.append([number(value) for value in row])
        except ValueError as error:
            raise RuntimeError(f"{error} in a row") from error
    return rows[0], table, done.stderr


def text_of(value, type):
    return {"Boolean": "true" if value else "false", "Integer": repr(int(value))}.get(type, repr(value))


def kind_of(variable):
    if variable.type.startswith(("Int", "UInt")):
        return "Integer"
    return variable.type


def one(saltus, model, kinds, runtime):
    import fmpy
    import numpy
    from fmpy.validation import validate_fmu

    name, run, results = pathlib.Path(model).stem, Run(model), []
    with tempfile.TemporaryDirectory(prefix="saltus fmü ") as folder:
        folder, own = pathlib.Path(folder), None
        for kind in kinds:
            if run.only and not kind.startswith(run.only):
                continue
            unit = folder / f"{name}{kind}.fmu"
            command = [saltus, "fmu", "export", model, "--fmi", kind[2], "--type", kind[:2], "-o", unit]
            done = subprocess.run(command + (["--runtime", runtime] if runtime else []), capture_output=True, text=True)
            if done.returncode != 0:
                results.append((kind, "export", done.stderr.strip()))
                continue
            problems = validate_fmu(str(unit))
            if problems:
                results.append((kind, "validate", "; ".join(problems[:3])))
                continue
            description = fmpy.read_model_description(str(unit), validate=False)
            known = {v.name: v for v in description.modelVariables}
            if own is None:
                try:
                    own = own_run(saltus, model, run, folder, {n: kind_of(known[n]) for n in run.inputs})
                except RuntimeError as error:
                    return [(kind, "own", str(error).strip()[:300])]
            names, table, told = own
            span = run.stop - run.start
            events = [t for t in events_of([row[0] for row in table], span) if has_effect([row for row in table if row[0] == t])]
            wanted = [n for n in names[2:] if n in known and known[n].variability in ("continuous", "discrete") and kind_of(known[n]) != "String"]
            signals = None
            if run.inputs:
                types = [("time", float)] + [(n, {"Boolean": bool, "Integer": int}.get(kind_of(known[n]), float)) for n in run.inputs]
                signals = numpy.array([tuple(row) for row in run.rows()], dtype=types)
            starts = {}
            for n, (*_, value) in run.set.items():
                variable = known[n.removesuffix(".start")]
                read = {"Boolean": lambda text: text == "true", "Real": float, "Float64": float}.get(variable.type, int)
                starts[variable.name] = read(value)
            messages = []
            options = dict(start_time=run.start, stop_time=run.stop, output_interval=span / POINTS, relative_tolerance=TOLERANCE,
                           output=wanted, input=signals, start_values=starts, logger=lambda *a: messages.append(a[-1]))  # fmt: skip
            failed = None
            try:
                if kind.startswith("me"):
                    result = fmpy.simulate_fmu(str(unit), fmi_type="ModelExchange", solver="CVode", record_events=True, **options)
                else:
                    early = kind == "cs3e"
                    result = fmpy.simulate_fmu(str(unit), fmi_type="CoSimulation", use_event_mode=early, early_return_allowed=early, **options)
            except Exception as error:  # noqa: BLE001
                failed = error
            texts = [m.decode() if isinstance(m, bytes) else str(m) for m in messages]
            if run.fails is not None:
                results.append((kind,) + failure(failed, texts, told))
                continue
            if failed:
                results.append((kind, "run", f"{failed} {texts[-1] if texts else ''}"[:400]))
                continue
            if run.ends is not None and abs(float(result["time"][-1]) - run.ends) > 2 * span / POINTS:
                results.append((kind, "WRONG", f"ends at {float(result['time'][-1])}"))
                continue
            continuous = [n for n in wanted if known[n].variability == "continuous" and known[n].type in ("Real", "Float64")]
            discrete = [n for n in wanted if n not in continuous and n != "saltus.mode"]
            least = POINTS // (8 if run.ends else 4)
            verdict, what = compare(names, table, events, result, continuous, span / POINTS, span, kind, least)
            wrong = exact(names, table, events, result, discrete, span / POINTS, span)
            results.append((kind, "WRONG" if wrong else verdict, what + wrong))
    return results


def failure(failed, texts, told):
    """The first line of the message of the run is among those of the unit."""
    if failed is None:
        return "WRONG", "does not fail"
    first = re.sub(r"^error(\[E\d+\])?: ", "", next((line for line in told.splitlines() if line.startswith("error")), told))
    # Numbers differ in their last digits.
    words = [word for word in re.findall(r"[^\W\d]{3,}", first)]
    said = " ".join(texts)
    missing = [word for word in words if word not in said]
    return ("ok", f"fails: {first[:60]}") if not missing else ("WRONG", f"`{first}`, the unit says `{said[-200:]}`")


def exact(names, table, events, result, discrete, interval, span):
    """What is discrete and differs away from events."""
    at, points = {name: place for place, name in enumerate(names)}, {}
    for row in table:
        points.setdefault(round(row[0] / interval * 1e3), row)
    for row in result:
        t = float(row["time"])
        mine = points.get(round(t / interval * 1e3))
        if mine is None or abs(mine[0] - t) > 1e-9 * span or any(abs(t - e) < 1e-5 * span for e in events):
            continue
        for name in discrete:
            x, y = mine[at[name]], float(row[name])
            if x == x and abs(x - y) > 1e-8 * max(abs(x), 1):
                return f"; {name} at {t:g}: {y:.9g}, not {x:.9g}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--models", default=str(pathlib.Path(__file__).parent / "models"))
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--runtime", default="")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    parser.add_argument("--timeout", type=float, default=120)
    arguments = parser.parse_args()
    try:
        import fmpy  # noqa: F401
    except ImportError:
        print("FMPy is not installed: no unit was run in another tool")
        return 0
    saltus = str(pathlib.Path(arguments.saltus).resolve())
    if arguments.one:
        for line in one(saltus, arguments.one, arguments.kinds.split(","), arguments.runtime):
            print(*(str(word).replace("\n", " ").replace("\t", " ") for word in line), sep="\t", flush=True)
        return 0
    only, failed = [name for name in arguments.only.split(",") if name], 0
    for model in sorted(pathlib.Path(arguments.models).glob("*.mo")):
        if only and model.stem not in only:
            continue
        command = [sys.executable, __file__, saltus, "--one", str(model), "--kinds", arguments.kinds, "--runtime", arguments.runtime]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
            lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
            if done.returncode != 0:
                lines.append(["", "crash", f"status {done.returncode}: {done.stderr.strip()[-300:]}"])
        except subprocess.TimeoutExpired:
            lines = [["", "timeout", ""]]
        for kind, verdict, what in (line[:2] + [" ".join(line[2:])] for line in lines):
            failed += verdict != "ok"
            print(f"{model.stem:28} {kind:5} {verdict:8} {what}", flush=True)
    print("all agree" if failed == 0 else f"{failed} do not agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
