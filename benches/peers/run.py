#!/usr/bin/env python3
"""Times Saltus and its peers on the same models and judges their results. See README.md."""

import argparse
import datetime
import pathlib
import platform
import subprocess
import sys
import tempfile

from cases import RIGHT, ROOT, TOLERANCE, cases
from judge import error
from tools import TIME_LIMIT, Outcome, tools

MARK = "<!-- made by benches/peers/run.py from here on -->\n"


def best(tool, case, repeat):
    """The least times of several runs; they differ in time only."""
    found, compiled = None, float("inf")
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = tool.run(case, folder)
            except subprocess.TimeoutExpired:
                outcome = Outcome(refusal=f"not finished after {TIME_LIMIT:g} s")
        if outcome.refusal:
            return outcome
        compiled = min(compiled, outcome.compile)
        if found is None or outcome.total < found.total:
            found = outcome
    found.compile, found.run = compiled, max(found.total - compiled, 1e-4)
    return found


def verdict(case, outcome):
    """A word, and the largest error where there is a result."""
    if outcome.refusal:
        return ("not written by hand" if outcome.refusal == "not written by hand" else "fails", None)
    worst = error(case, outcome.times, outcome.columns)
    if worst is None:
        return ("nothing to compare", None)
    return ("right" if worst <= RIGHT else "differs", worst)


def ratio(peer, own):
    text = f"{peer / own:.2g}" if peer / own < 100 else f"{peer / own:.0f}"
    return f"**{text}**" if peer < own else text


def own_cell(outcome, judged, worst):
    if worst is None:
        return judged
    return f"{outcome.total * 1000:.1f} ({outcome.run * 1000:.1f}) ms, {worst:.0e}, {judged}"


def peer_cell(outcome, own, judged, worst):
    if worst is None:
        return judged
    if judged != "right" or own.refusal:
        return f"{judged}, {worst:.0e}"
    return f"{ratio(outcome.total, own.total)} ({ratio(outcome.run, own.run)}), {worst:.0e}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(fields) + " |" for fields in rows]


def machine():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


class Report:
    """Rows as they come, and what they add up to."""

    def __init__(self, versions):
        self.versions = versions
        self.groups = {}
        self.counts = {tool: {} for tool, version in versions.items() if version}
        self.failures = []

    def case(self, case, repeat):
        fields, own = [case.name], None
        for tool, version in self.versions.items():
            if version is None:
                fields.append("not installed")
                continue
            outcome = best(tool, case, repeat)
            judged, worst = verdict(case, outcome)
            fields.append(peer_cell(outcome, own, judged, worst) if own else own_cell(outcome, judged, worst))
            own = own or outcome
            self.counts[tool][judged] = self.counts[tool].get(judged, 0) + 1
            if judged == "fails":
                self.failures.append(f"- {case.name}, {tool.name}: `{outcome.refusal[:160]}`")
        self.groups.setdefault(case.group, []).append(fields)
        print("  ".join(fields), flush=True)

    def text(self):
        today = datetime.date.today().isoformat()
        lines = [f"Made on {today} on a machine with {machine()}, relative tolerance {TOLERANCE:g}.", ""]
        lines += table(["tool", "version"], [[t.name, v or "not installed"] for t, v in self.versions.items()])
        names = [tool.name for tool in self.versions]
        header = ["model", f"{names[0]}: total (run), error", *(f"{name}: total (run) ratio, error" for name in names[1:])]
        for group, rows in self.groups.items():
            lines += ["", f"## {group}", "", *table(header, rows)]
        kinds = ["right", "differs", "fails", "not written by hand"]
        sums = [[tool.name, *(str(counts.get(kind, 0)) for kind in kinds)] for tool, counts in self.counts.items()]
        lines += ["", "## Sum", "", *table(["tool", *kinds], sums)]
        if self.failures:
            lines += ["", "## What failures say", "", *self.failures]
        return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saltus", default=str(ROOT / "target" / "release" / "saltus"), help="the command to time")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the fastest counts")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--write", type=pathlib.Path, help="page whose tables are replaced")
    arguments = parser.parse_args()

    versions = {tool: tool.version() for tool in tools(arguments.saltus)}
    if next(iter(versions.values())) is None:
        sys.exit(f"{arguments.saltus} does not run: cargo build --release -p saltus-cli, or give --saltus")
    report = Report(versions)
    for case in cases(arguments.only):
        report.case(case, arguments.repeat)
    if arguments.write:
        before = arguments.write.read_text().split(MARK)[0]
        arguments.write.write_text(before + MARK + "\n" + report.text())
    else:
        print("\n" + report.text())


main()
