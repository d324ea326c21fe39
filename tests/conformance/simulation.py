#!/usr/bin/env python3
"""Simulates models of the Modelica Standard Library and compares them with the published reference trajectories.

    simulation.py run --saltus BINARY --library FOLDER --references FOLDER --models TABLE --results FILE
                      [--tiers ACDEFGH] [--only TEXT] [--again KINDS] [--limit SECONDS]
    simulation.py table --models TABLE --results FILE [--only TEXT] [--reasons FILE] [--into README]

The folder of references is a copy of MAP-LIB_ReferenceResults at the version of the library (or a repository that has its tag),
TABLE a file with the columns `model` and `tier`. Every model runs with the settings its reference was made with (`creation.txt`:
the output interval is half of the model's, and a curve sampled at half the density lies outside the tube at its peaks), and writes
the signals that the reference is compared in (`comparisonSignals.txt`), protected ones included.

`run` adds to the file of results a row per model: how it ended, processor time and memory of the run, and the first line of the
diagnostic or of the comparison; a model that has a row already is left out unless its outcome is one of `--again`. `table` makes of
it the tables of the README: counts by tier, how long the models take, a reason for every model that is not inside, and all models
with their times. Reasons are looked up in a file (columns `model` and `reason`); what has none there is given with its
diagnostic. Models without a row are named as not run. With `--into` the tables take the place of those between the marks
`<!-- sweep -->` and `<!-- end of sweep -->` of a file.
"""

import argparse
import collections
import csv
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

TAG = "v4.1.0"
COLUMNS = ["model", "tier", "outcome", "seconds", "megabytes", "text"]
OUTCOMES = ["inside", "outside", "runs", "fails", "stopped"]


def show(references, path):
    """A file of the references: beside the others, or in the commit of the tag."""
    file = pathlib.Path(references) / path
    if file.exists():
        return file.read_bytes()
    shown = subprocess.run(["git", "-C", references, "show", f"{TAG}:{path}"], capture_output=True, check=False)
    return shown.stdout if shown.returncode == 0 else None


def settings(references, folder):
    """Options that repeat the settings of a reference."""
    text = show(references, f"{folder}/creation.txt")
    options = []
    for name, option in (("Interval", "--interval"), ("Tolerance", "--tolerance"), ("StopTime", "--stop")):
        found = re.search(rf"^{name}=([0-9.eE+-]+)", (text or b"").decode(errors="replace"), re.MULTILINE)
        # An interval of zero stands for a model without a time to run through.
        if found and not (name == "Interval" and float(found.group(1)) == 0):
            options += [option, found.group(1)]
    return options


def signals(references, folder):
    """Options that write what the reference is compared in and nothing else: a user looks at some curves, not at 500."""
    text = show(references, f"{folder}/comparisonSignals.txt")
    lines = [line.strip() for line in (text or b"").decode(errors="replace").splitlines()]
    names = [line.replace(", ", ",") for line in lines if line and line != "time" and not line.startswith("//")]
    return [word for name in names for word in ("--variable", name)]


def run(arguments, limit):
    """Status (none if it took too long), output, processor time in seconds, largest memory in megabytes.

    The limit is one of processor time, so that outcomes do not depend on what else the machine does."""
    bound = math.ceil(limit)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            arguments,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (bound, bound)),
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    seconds = usage.ru_utime + usage.ru_stime
    stopped = process.returncode < 0 and seconds > 0.8 * bound
    return None if stopped else process.returncode, text, seconds, usage.ru_maxrss / 1024


def outcome(args, model, work):
    """The row of a model without its name and tier."""
    folder = model.replace(".", "/")
    result = work / "result.csv"
    command = [args.saltus, "simulate", "-L", args.library, "--model", model, "-o", str(result), "--protected"]
    command += settings(args.references, folder) + signals(args.references, folder)
    status, text, seconds, memory = run(command, args.limit)
    figures = {"seconds": f"{seconds:.2f}", "megabytes": f"{memory:.0f}"}
    if status is None:
        return {"outcome": "stopped", "text": f"after {args.limit:g} s"} | figures
    if status != 0:
        message = next((line for line in text.splitlines() if line.startswith("error")), text[-200:])
        return {"outcome": "fails", "text": message[:200]} | figures
    reference = show(args.references, f"{folder}/{model.rsplit('.', 1)[-1]}.csv")
    if reference is None:
        return {"outcome": "runs", "text": "no reference"} | figures
    expected = work / "reference.csv"
    expected.write_bytes(reference)
    _, compared, _, _ = run([args.saltus, "compare", str(expected), str(result)], 4 * args.limit)
    summary = next((line for line in compared.splitlines() if " outside, " in line), "")
    inside = " 0 outside, 0 missing" in summary
    return {"outcome": "inside" if inside else "outside", "text": summary} | figures


def listed(path):
    """The models of a table with their tiers, in its order."""
    with open(path, newline="", encoding="utf-8") as table:
        return {row["model"]: row["tier"] for row in csv.DictReader(table)}


def recorded(path):
    """The last row of every model in a file of results."""
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as table:
        return {row["model"]: row for row in csv.DictReader(table)}


def sweep(args):
    known = recorded(args.results)
    fresh = not os.path.exists(args.results)
    counts = collections.Counter()
    with open(args.results, "a", newline="", encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
        rows = csv.DictWriter(file, COLUMNS)
        if fresh:
            rows.writeheader()
        for model, tier in listed(args.models).items():
            again = model not in known or known[model]["outcome"] in args.again.split(",")
            if tier not in args.tiers or args.only not in model or not again:
                continue
            row = {"model": model, "tier": tier} | outcome(args, model, pathlib.Path(folder))
            counts[row["outcome"]] += 1
            rows.writerow(row)
            file.flush()
            print(row["outcome"], tier, model, row["seconds"], row["text"], sep=" | ", flush=True)
    print(dict(counts), file=sys.stderr)


def counts_by_tier(rows):
    """Markdown: a row per tier and library, and their sums."""
    yield "| tier | library | models | run | inside | outside | no reference | fail | stopped |"
    yield "|---|---|---|---|---|---|---|---|---|"
    groups = collections.defaultdict(collections.Counter)
    for row in rows:
        library = row["model"].split(".")[0]
        groups[(row["tier"], library)][row["outcome"]] += 1
        groups[("all", library)][row["outcome"]] += 1
    for (tier, library), count in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0] == "all", item[0][0])):
        inside, outside, other, fails, stopped = (count[kind] for kind in OUTCOMES)
        total, run_ = sum(count.values()), inside + outside + other
        yield f"| {tier} | {library} | {total} | {run_} | {inside} | {outside} | {other} | {fails} | {stopped} |"


def times(rows):
    """Markdown: how many models take how long."""
    ran = sorted(float(row["seconds"]) for row in rows if row["outcome"] not in ("fails", "stopped"))
    if not ran:
        return
    bounds = [0.2, 0.5, 1, 2, 5, 10, math.inf]
    names = [f"up to {bound:g} s" for bound in bounds[:-1]] + [f"over {bounds[-2]:g} s"]
    counts = [sum(low < seconds <= high for seconds in ran) for low, high in zip([-1.0, *bounds], bounds)]
    yield f"Processor time of the {len(ran)} that run, from the text to the end of the run: {sum(ran):.0f} s in all, half of them take"
    yield f"at most {ran[(len(ran) - 1) // 2]:.2f} s each."
    yield ""
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    yield "| " + " | ".join(str(count) for count in counts) + " |"


def every(rows):
    """Markdown: all models, folded away."""
    yield "<details><summary>All models with their times</summary>"
    yield ""
    yield "| model | outcome | s | MB |"
    yield "|---|---|---|---|"
    for row in rows:
        kind = "no reference" if row["outcome"] == "runs" else row["outcome"]
        yield f"| `{row['model']}` | {kind} | {row['seconds']} | {row['megabytes']} |"
    yield ""
    yield "</details>"


def table(args):
    order = [model for model in listed(args.models) if args.only in model]
    known = recorded(args.results)
    rows = [known[model] for model in order if model in known]
    missing = [f"`{model}`" for model in order if model not in known]
    reasons = {}
    if args.reasons:
        with open(args.reasons, newline="", encoding="utf-8") as file:
            reasons = {row["model"]: row["reason"] for row in csv.DictReader(file)}
    lines = [*counts_by_tier(rows), ""]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    lines += [*times(rows), "", "| model | tier | outcome | s | MB | reason |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["outcome"] in ("inside", "runs"):
            continue
        reason = "" if row["outcome"] == "stopped" else row["text"]
        reason = " ".join(reasons.get(row["model"], reason).split()).replace("|", "\\|")
        figures = f"{row['seconds']} | {row['megabytes']}"
        lines.append(f"| `{row['model']}` | {row['tier']} | {row['outcome']} | {figures} | {reason} |")
    lines += ["", *every(rows)]
    if args.into:
        put(lines, args.into)
    else:
        print("\n".join(lines))


def put(lines, path):
    """Replaces what is between the marks of a file."""
    file = pathlib.Path(path)
    before, rest = file.read_text(encoding="utf-8").split("<!-- sweep -->\n")
    _, after = rest.split("<!-- end of sweep -->\n")
    text = "\n".join(lines)
    file.write_text(f"{before}<!-- sweep -->\n{text}\n<!-- end of sweep -->\n{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    for name in ("saltus", "library", "references", "models", "results"):
        runs.add_argument(f"--{name}", required=True)
    runs.add_argument("--tiers", default="ACDEFGHIJKLMN")
    runs.add_argument("--only", default="Modelica.")
    runs.add_argument("--again", default="")
    runs.add_argument("--limit", type=float, default=30.0)
    runs.set_defaults(command=sweep)
    tables = commands.add_parser("table")
    for name in ("models", "results"):
        tables.add_argument(f"--{name}", required=True)
    tables.add_argument("--only", default="Modelica.")
    tables.add_argument("--reasons")
    tables.add_argument("--into")
    tables.set_defaults(command=table)
    args = parser.parse_args()
    args.command(args)


if __name__ == "__main__":
    main()
