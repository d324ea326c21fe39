#!/usr/bin/env python3
"""Runs the examples as units in fmusim, the simulator of the Modelica Association, and compares as `fmpy_examples.py` does.

    python3 tests/fmi/fmusim_examples.py target/debug/saltus [--fmusim PROGRAM] [--only A,B] [--kinds me3,me2,cs3,cs3e,cs2]

Says so and succeeds where fmusim is not on the path. It shares nothing with FMPy: another loader, another importer, CVode by itself.
"""

import argparse
import csv
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

from fmpy_examples import (
    KINDS, ONLY_CS, POINTS, ROOT, TOLERANCE, TOLERANCES, compare, events_of, has_effect, own_run, policies,
)  # fmt: skip


class Rows:
    """A table as NumPy has it."""

    def __init__(self, path):
        rows = list(csv.reader(open(path)))
        self.dtype = types.SimpleNamespace(names=rows[0])
        self.rows = [dict(zip(rows[0], (number(value) for value in row))) for row in rows[1:]]

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, name):
        return [row[name] for row in self.rows]


def number(text):
    return float(text == "true") if text in ("true", "false") else float(text or "nan")


def one(saltus, fmusim, model, kinds, runtime, timeout):
    name = pathlib.Path(model).stem
    with tempfile.TemporaryDirectory(prefix="saltus fmü ") as folder:
        folder = pathlib.Path(folder)
        start, stop, names, table = own_run(saltus, model, folder, 1e-10)
        span, more = stop - start, policies(model)
        interval = span / POINTS
        events = [t for t in events_of([row[0] for row in table], span) if has_effect([row for row in table if row[0] == t])]
        stop = end_for(start, stop, interval, events)
        table, events = [row for row in table if row[0] <= stop + 1e-9 * span], [t for t in events if t <= stop + 1e-9 * span]
        for kind in kinds:
            if kind.startswith("me") and (name in ONLY_CS or more):
                continue
            unit, out = folder / f"{name}{kind}.fmu", folder / f"{kind}.csv"
            command = [saltus, "fmu", "export", model, "--fmi", kind[2], "--type", kind[:2], "-o", unit] + more
            subprocess.run(command + (["--runtime", runtime] if runtime else []), check=True, stdout=subprocess.DEVNULL)
            told = subprocess.run([fmusim, "validate", unit], capture_output=True, text=True)
            if told.returncode != 0:
                yield kind, "validate", (told.stdout + told.stderr).strip()[-300:]
                continue
            shown = subprocess.run([saltus, "fmu", "info", unit, "--json"], capture_output=True, text=True)
            assert shown.returncode == 0
            wanted = [name for name in names[2:] if f'name="{name}"' in description(unit)]
            command = [fmusim, "simulate", unit, "--output-file", out, "--start-time", repr(start), "--stop-time", repr(stop)]
            command += ["--output-interval", repr(interval), "--tolerance", repr(TOLERANCES.get(name, TOLERANCE)), "--set-tolerance", "--set-stop-time"]
            command += ["--interface-type", kind[:2]]
            command += ["--event-mode-used", "--early-return-allowed"] if kind == "cs3e" else []
            command += [word for name in wanted for word in ("--output-variable", name)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
                if "mxstep" in done.stdout + done.stderr:
                    # CVode takes 500 steps to an output point, no more.
                    command[command.index("--tolerance") + 1] = "1e-8"
                    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
            except subprocess.TimeoutExpired:
                yield kind, "timeout", ""
                continue
            if done.returncode != 0:
                yield kind, "run", (done.stdout + done.stderr).strip()[-300:]
                continue
            result = Rows(out)
            wanted = [name for name in wanted if name in result.dtype.names and continuous(unit, name)]
            yield (kind,) + compare(names, table, events, result, wanted, interval, span, kind)


def end_for(start, stop, interval, events):
    """An end that is a whole number of intervals away, to the last bit, and next to no event: it refuses others."""
    for count in (POINTS, POINTS - 1):
        at = stop if count == POINTS else start + count * interval
        for end in (at, math.nextafter(at, start), math.nextafter(at, math.inf)):
            if (end - start) / interval == count and all(abs(end - event) > 1e-9 * (stop - start) for event in events):
                return end
    return stop


def description(unit):
    import zipfile

    with zipfile.ZipFile(unit) as archive:
        return archive.read("modelDescription.xml").decode()


def continuous(unit, name):
    text = description(unit)
    begin = text.index(f'name="{name}"')
    return 'variability="continuous"' in text[begin : text.index(">", begin)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--fmusim", default="fmusim")
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--runtime", default="")
    parser.add_argument("--timeout", type=float, default=120)
    arguments = parser.parse_args()
    fmusim = shutil.which(arguments.fmusim)
    if fmusim is None:
        print("fmusim is not installed: no unit was run in it")
        return 0
    saltus, only, failed = str(pathlib.Path(arguments.saltus).resolve()), arguments.only.split(","), 0
    for model in sorted((ROOT / "examples").rglob("*.mo")):
        if arguments.only and model.stem not in only:
            continue
        for kind, verdict, what in one(saltus, fmusim, model, arguments.kinds.split(","), arguments.runtime, arguments.timeout):
            failed += verdict != "ok"
            print(f"{model.stem:28} {kind:5} {verdict:8} {what}", flush=True)
    print("all agree" if failed == 0 else f"{failed} do not agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
