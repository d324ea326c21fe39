#!/usr/bin/env python3
"""Simulates models of the Modelica Standard Library and compares them with the published reference trajectories.

    simulation.py --saltus BINARY --library FOLDER --references REPOSITORY --models TABLE [--tiers ACDEFGH]
                  [--only TEXT] [--limit SECONDS]

REPOSITORY is a clone of MAP-LIB_ReferenceResults (a bare one will do), TABLE a file with the columns `model` and `tier`.
Every model runs with the settings its reference was made with (`creation.txt`: the output interval is half of the model's,
and a curve sampled at half the density lies outside the tube at its peaks), protected variables included. One line per
model on standard output, counts on standard error.
"""

import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

TAG = "v4.1.0"


def show(repository, path):
    shown = subprocess.run(["git", "-C", repository, "show", f"{TAG}:{path}"], capture_output=True, check=False)
    return shown.stdout if shown.returncode == 0 else None


def settings(repository, folder):
    """Options that repeat the settings of a reference."""
    text = show(repository, f"{folder}/creation.txt")
    options = []
    for name, option in (("Interval", "--interval"), ("Tolerance", "--tolerance"), ("StopTime", "--stop")):
        found = re.search(rf"^{name}=([0-9.eE+-]+)", (text or b"").decode(errors="replace"), re.MULTILINE)
        if found:
            options += [option, found.group(1)]
    return options


def run(arguments, limit):
    """Status and output; no status if it took too long."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def outcome(args, model, work):
    """How a run ended, and what the comparison or the first error says."""
    folder = model.replace(".", "/")
    result = work / "result.csv"
    command = [args.saltus, "simulate", "-L", args.library, "--model", model, "-o", str(result), "--protected"]
    status, text = run(command + settings(args.references, folder), args.limit)
    if status is None:
        return "stopped", ""
    if status != 0:
        message = next((line for line in text.splitlines() if line.startswith("error")), "")
        return "fails", message[:200]
    reference = show(args.references, f"{folder}/{model.rsplit('.', 1)[-1]}.csv")
    if reference is None:
        return "runs", "no reference"
    expected = work / "reference.csv"
    expected.write_bytes(reference)
    _, compared = run([args.saltus, "compare", str(expected), str(result)], args.limit)
    summary = next((line for line in compared.splitlines() if " outside, " in line), "")
    inside = " 0 outside, 0 missing" in summary
    return ("inside" if inside else "outside"), summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("saltus", "library", "references", "models"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--tiers", default="ACDEFGH")
    parser.add_argument("--only", default="Modelica.")
    parser.add_argument("--limit", type=float, default=30.0)
    args = parser.parse_args()
    counts = collections.Counter()
    with open(args.models, newline="", encoding="utf-8") as table, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(table):
            model = row["model"]
            if row["tier"] not in args.tiers or not model.startswith("Modelica.") or args.only not in model:
                continue
            kind, text = outcome(args, model, pathlib.Path(folder))
            counts[kind] += 1
            print(kind, row["tier"], model, text, sep=" | ", flush=True)
    print(dict(counts), file=sys.stderr)


if __name__ == "__main__":
    main()
