#!/usr/bin/env python3
"""Runs the examples as units in FMPy and compares with runs of Saltus itself.

    python3 tests/fmi/fmpy_examples.py target/debug/saltus [--only A,B] [--kinds me3,me2,cs3,cs3e,cs2] [--jobs 2]

Says so and succeeds where FMPy is not installed (`pip install fmpy`). Every example is exported, validated, and simulated: by
Model Exchange with CVode, by Co-Simulation with and without event mode, of FMI 3 and FMI 2. Values are compared at all
output points that are no events, to 1e-5 of the largest value of each variable; event times to 1e-7 of the run; sums of multiples
of variables that an example says are conserved (momentum, charge), to 1e-6 in every row, at events too, and energies as values are.
"""

import argparse
import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# No divisor of usual periods: at events values are not compared.
POINTS = 193
VALUES, TIMES, CONSERVED = 1e-5, 1e-7, 1e-6
# What is smaller is rounding of what should be zero.
SMALL = 5e-3
# Rates at output points belong to states between steps of our own run: stiff ones show the errors there many times over.
RATES = 10
KINDS = ["me3", "me2", "cs3", "cs3e", "cs2"]
ONLY_CS = {"HotWaterPipe": "`spatialDistribution` needs the past"}
# How exactly the importer integrates: bounces of micrometres, in which an absolute tolerance is seen, want more of it.
TOLERANCE, TOLERANCES = 1e-10, {"BouncingBallRest": 1e-12}


def policies(model):
    """What the header of an example says of its run, beside the tolerance."""
    found = []
    for line in open(model):
        words = line.replace("=", " ").split()
        if words[:2] == ["//", "run:"] and words[2] in ("chattering", "zeno"):
            found += [f"--{words[2]}", words[3]]
    return found


def conserved(model):
    """Expressions that keep their first value, by the header of an example, and how well they do in our own run."""
    found = []
    for line in open(model):
        matched = re.match(r"// expect: conserved (.*) within (\S+)", line)
        if matched:
            found.append((matched[1], float(matched[2])))
    return found


def is_sum(expression):
    """Whether an expression is a sum of multiples of several variables."""
    terms = re.split(r"\s[+-]\s", expression)
    return len(terms) > 1 and all(re.fullmatch(r"(?:[\d.e]+\*)?[A-Za-z_][\w.]*(?:\[[\d,]*\])?", term) for term in terms)


def terms(code):
    """The terms of a sum."""
    depth, begin, found = 0, 0, []
    for at, c in enumerate(code):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and code[at : at + 3] in (" + ", " - "):
            found.append(code[begin:at])
            begin = at + 3
    return found + [code[begin:]]


def deviation(expression, result, known):
    """How far an expression goes from its first value, in parts of the sizes of its terms; nothing if its variables are not shown."""
    names = sorted(set(re.findall(r"[A-Za-z_][\w.]*(?:\[[\d,]*\])?", expression)), key=len, reverse=True)
    names = [name for name in names if not hasattr(math, name) and not re.fullmatch(r"e\d*", name)]
    if not all(name in result.dtype.names or name in known and known[name].start is not None for name in names):
        return None
    code = re.sub(r"[A-Za-z_][\w.]*(?:\[[\d,]*\])?", lambda m: f"v[{m[0]!r}]" if m[0] in names else m[0], expression.replace("^", "**"))
    functions = {name: getattr(math, name) for name in dir(math)}
    values, sizes = [], []
    for row in result:
        v = {name: float(row[name]) if name in result.dtype.names else float(known[name].start) for name in names}
        if any(value != value for value in v.values()):
            continue
        values.append(eval(code, functions, {"v": v}))  # noqa: S307
        sizes.append(sum(abs(eval(term, functions, {"v": v})) for term in terms(code)))  # noqa: S307
    return max(abs(value - values[0]) for value in values) / max(max(sizes), SMALL)


def own_run(saltus, model, folder, tolerance):
    """Rows of a run: times, names, values, event times."""
    out, more = folder / "own.csv", policies(model)
    # Runs that end with an error are followed to shortly before.
    ended = subprocess.run([saltus, "simulate", model, "-o", folder / "first.csv"] + more, capture_output=True)
    rows = list(csv.reader(open(folder / "first.csv")))
    start, stop = float(rows[1][0]), float(rows[-1][0])
    if ended.returncode != 0:
        stop = start + 0.9 * (stop - start)
    command = [saltus, "simulate", model, "-o", out, "--interval", repr((stop - start) / POINTS), "--tolerance", repr(tolerance)]
    subprocess.run(command + ["--start", repr(start), "--stop", repr(stop)] + more, capture_output=True, check=True)
    rows = list(csv.reader(open(out)))
    names = rows[0]
    table = [[float(value) if value not in ("true", "false") else float(value == "true") for value in row] for row in rows[1:]]
    return start, stop, names, table


def events_of(times, span):
    """Times that occur more than once."""
    found = []
    for before, after in zip(times, times[1:]):
        if after == before and (not found or after > found[-1] + 1e-12 * span):
            found.append(after)
    return found


def has_effect(rows):
    """Whether anything jumps at an event: ours may see more that have none."""
    first, last = rows[0], rows[-1]
    return any(abs(a - b) > 1e-9 * max(abs(a), abs(b), 1e-3) for a, b in zip(first, last))


def one(saltus, model, kinds, runtime):
    import fmpy
    from fmpy.validation import validate_fmu
    name = pathlib.Path(model).stem
    results = []
    with tempfile.TemporaryDirectory(prefix="saltus fmü ") as folder:
        folder = pathlib.Path(folder)
        start, stop, names, table = own_run(saltus, model, folder, 1e-10)
        span = stop - start
        interval = span / POINTS
        times = [row[0] for row in table]
        own_events = [t for t in events_of(times, span) if has_effect([row for row in table if row[0] == t])]
        for kind in kinds:
            more = policies(model)
            if kind.startswith("me") and (name in ONLY_CS or more):
                continue
            version = kind[2]
            unit = folder / f"{name}{kind}.fmu"
            command = [saltus, "fmu", "export", model, "--fmi", version, "--type", kind[:2], "-o", unit] + more
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
            wanted = [n for n in names[2:] if n in known and known[n].variability == "continuous"]
            messages = []
            options = dict(start_time=start, stop_time=stop, output_interval=interval, relative_tolerance=TOLERANCES.get(name, TOLERANCE),
                           output=wanted + ["saltus.mode"], set_stop_time=True,
                           logger=lambda *a: messages.append(a[-1]), debug_logging=False)
            try:
                if kind.startswith("me"):
                    exchange = dict(fmi_type="ModelExchange", solver="CVode", record_events=True)
                    try:
                        result = fmpy.simulate_fmu(str(unit), **exchange, **options)
                    except Exception as error:  # noqa: BLE001
                        # CVode takes 500 steps to an output point, no more.
                        if "mxstep" not in str(error):
                            raise
                        options["relative_tolerance"] = 1e-8
                        result = fmpy.simulate_fmu(str(unit), **exchange, **options)
                else:
                    early = kind == "cs3e"
                    result = fmpy.simulate_fmu(str(unit), fmi_type="CoSimulation", use_event_mode=early,
                                               early_return_allowed=early, **options)
            except Exception as error:  # noqa: BLE001
                told = messages[-1] if messages else ""
                told = told.decode() if isinstance(told, bytes) else str(told)
                results.append((kind, "run", f"{error} {told}"[:400]))
                continue
            verdict, what = compare(names, table, own_events, result, wanted, interval, span, kind)
            for expression, within in conserved(model):
                off = deviation(expression, result, known)
                if off is not None:
                    passed = off <= max(CONSERVED if is_sum(expression) else VALUES, within)
                    verdict = verdict if passed else "WRONG"
                    what += f", conserved {off:.1e}" + ("" if passed else f": {expression}")
            results.append((kind, verdict, what))
    return results


def compare(names, table, own_events, result, wanted, interval, span, kind, least=POINTS // 4):
    own = {name: at for at, name in enumerate(names)}
    sizes = {name: max((abs(row[own[name]]) for row in table if abs(row[own[name]]) < float("inf")), default=0.0) for name in wanted}
    times = [row[0] for row in table]
    # Rows at output points, away from events.
    by_point = {}
    for row in table:
        by_point.setdefault(round(row[0] / interval * 1e3), row)
    near = lambda t: any(abs(t - e) < 1e-5 * span for e in own_events)
    worst, which, points = 0.0, "", 0
    for row in result:
        t = float(row["time"])
        mine = by_point.get(round(t / interval * 1e3))
        if mine is None or abs(mine[0] - t) > 1e-9 * span or near(t):
            continue
        points += 1
        for name in wanted:
            x, y = mine[own[name]], float(row[name])
            if x != x and y != y:
                continue
            difference = abs(x - y) / max(sizes[name], SMALL) / (RATES if name.startswith("der(") else 1)
            if not difference <= worst:
                worst, which = difference, f"{name} at {t:g}: {y:.9g}, not {x:.9g}"
    late = 0.0
    if kind.startswith("me"):
        theirs = events_of([float(t) for t in result["time"]], span)
        for e in own_events:
            if e > times[0] and e < times[-1] - 1e-6 * span:
                late = max(late, min((abs(e - t) for t in theirs), default=span) / span)
    passed = worst <= VALUES and late <= TIMES and points > least
    return ("ok" if passed else "WRONG", f"values {worst:.1e}, events {late:.1e} ({len(own_events)}), {points} points" + ("" if passed else f"; {which}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
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
    saltus, kinds = str(pathlib.Path(arguments.saltus).resolve()), arguments.kinds.split(",")
    if arguments.one:
        for line in one(saltus, arguments.one, kinds, arguments.runtime):
            print(*line, sep="\t", flush=True)
        return 0
    models = sorted((ROOT / "examples").rglob("*.mo"))
    only = [name for name in arguments.only.split(",") if name]
    failed = 0
    for model in models:
        if only and model.stem not in only:
            continue
        # In a process of its own: a crash is a failure of one example.
        command = [sys.executable, __file__, saltus, "--one", str(model), "--kinds", arguments.kinds, "--runtime", arguments.runtime]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
            lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
            if done.returncode != 0:
                lines.append(["", "crash", f"status {done.returncode}: {done.stderr.strip()[-300:]}"])
        except subprocess.TimeoutExpired as error:
            text = (error.stdout or b"").decode()
            lines = [line.split("\t") for line in text.splitlines() if "\t" in line] + [["", "timeout", ""]]
        for kind, verdict, what in (line[:2] + [" ".join(line[2:])] for line in lines):
            failed += verdict != "ok"
            print(f"{model.stem:28} {kind:5} {verdict:8} {what}", flush=True)
    print("all agree" if failed == 0 else f"{failed} do not agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
