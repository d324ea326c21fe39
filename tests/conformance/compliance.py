#!/usr/bin/env python3
"""Simulates the cases of Modelica-Compliance: those that should pass must run to their end, the others must be refused. The C code
of external functions runs (`--allow-external`): look at what you give it.

    compliance.py --saltus BINARY --library FOLDER [--only TEXT] [--limit SECONDS]

FOLDER is a copy of the repository (the folder that holds `ModelicaCompliance`). A case that should not pass is refused by an
error of the model (status 1) or by a simulation that fails (status 3); any other status is wrong for all. One line per case on
standard output, the table by chapter on standard error.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

CASE = re.compile(r"TestCase\s*\(\s*shouldPass\s*=\s*(true|false)")


def cases(folder):
    """Names of the models with the annotation `TestCase(shouldPass = …)` and what it says; a file holds at most one."""
    for path in sorted((folder / "ModelicaCompliance").rglob("*.mo")):
        text = path.read_text(errors="replace")
        found = CASE.search(text)
        within = re.search(r"^\s*within\s+([\w.]+)\s*;", text.lstrip("\ufeff"), re.MULTILINE)
        if not found or not within:
            continue
        outermost = path.parent.name if path.name == "package.mo" else path.stem
        # The annotation belongs to the class whose `end` follows it.
        owner = re.search(r"\bend\s+(\w+|'(?:\\.|[^'\\])*')\s*;", text[found.end() :]).group(1)
        name = f"{within.group(1)}.{outermost}" + ("" if owner == outermost else f".{owner}")
        yield name, found.group(1) == "true"


def simulate(args, name, work):
    """The status of a run, none if it took too long, and its first error."""
    result = work / f"{abs(hash(name))}.csv"
    command = [args.saltus, "simulate", "-L", args.library, "--model", name, "-o", str(result), "--allow-external"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit, check=False)
    except subprocess.TimeoutExpired:
        return None, "stopped"
    result.unlink(missing_ok=True)
    lines = (done.stdout + done.stderr).splitlines()
    return done.returncode, next((line for line in lines if line.startswith("error")), "")[:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("saltus", "library"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    chosen = [case for case in cases(pathlib.Path(args.library)) if args.only in case[0]]
    right, all_cases = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = pool.map(lambda case: simulate(args, case[0], pathlib.Path(work)), chosen)
        for (name, should_pass), (status, message) in zip(chosen, runs):
            good = status == 0 if should_pass else status in (1, 3)
            key = (name.split(".")[1], should_pass)
            all_cases[key] += 1
            right[key] += good
            wanted = "pass" if should_pass else "fail"
            print(f"{'ok   ' if good else 'WRONG'} {wanted} {status} {name} {message}", flush=True)
    chapters = sorted({chapter for chapter, _ in all_cases})
    for chapter in chapters:
        counts = [f"{right[chapter, kind]:4} of {all_cases[chapter, kind]:4}" for kind in (True, False)]
        print(f"{chapter:14} {counts[0]}    {counts[1]}", file=sys.stderr)
    totals = [[sum(c[x, kind] for x in chapters) for c in (right, all_cases)] for kind in (True, False)]
    print(f"{'total':14} {totals[0][0]:4} of {totals[0][1]:4}    {totals[1][0]:4} of {totals[1][1]:4}", file=sys.stderr)


if __name__ == "__main__":
    main()
