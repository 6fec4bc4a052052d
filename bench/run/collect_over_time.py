#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds the headline figures of the committed results, and of their earlier versions in git, to docs/results/over_time.json.

    bench/run/collect_over_time.py      run it when new results are committed; docs/performance-over-time.md shows them

A line is a date and a machine, as the results themselves give them. If results of one date were committed more than once, the
last ones count. Each figure names the commit in which it appeared first.
"""
import gzip
import json
import pathlib
import subprocess

import measured
import reports
from page import place

FILE = measured.RESULTS / "over_time.json"


def iteration(system, form):
    def figure(report):
        return next(1e3 * line["iteration"]["milliseconds"]["median"]
                    for one in report["systems"] if (one["system"], one["precision"]) == (system, "double")
                    for line in one["solves"] if line["refused"] is None and line["by"] in ("newel", "purlin")  # the old name
                    and (line["solver"], line["precond"], line["format"]) == ("cg", "jacobi", form))
    return figure


def multigrid(report):
    solves = next(system["solves"] for system in report["systems"] if system["system"] == "generate:elasticity:130")
    return min(line["setup_milliseconds"] + line["solve"]["milliseconds"]["median"] for line in solves if line["precond"] == "amg")


def regret(report):
    return next(use["geometric_mean"] for use in report["uses"] if use["solves"] == 1)


def heart(report):
    return 1 / report["real_time"]["tried"][-1]["times_real_time"]


def python_call(report):
    overhead = report["overhead"]
    return overhead.get("cupy", overhead)["beyond_solve_us"]


def reading(report):
    rows = report["results"]["rows"]
    return 1e-6 * rows["bytes"] / rows["newel_csr_seconds" if "newel_csr_seconds" in rows else "purlin_csr_seconds"]


# The figures, the files that have them, and how they are found in such a file.
FIGURES = {
    "iteration, elasticity:68, ehyb": ("solve_h200", iteration("generate:elasticity:68", "ehyb")),
    "iteration, elasticity:68, ehyb-symmetric": ("solve_h200", iteration("generate:elasticity:68", "ehyb-symmetric")),
    "iteration, elasticity:29, ehyb": ("solve_h200", iteration("generate:elasticity:29", "ehyb")),
    "iteration, grid7:180, ehyb": ("solve_h200", iteration("generate:grid7:180", "ehyb")),
    "multigrid, elasticity:130": ("amg_h200", multigrid),
    "regret, one solve": ("regret_*", regret),
    "heart": ("heart_*", heart),
    "python call": ("python_h*", python_call),
    "reading": ("reader_*", reading),
    "start": ("start_*", lambda report: 1e3 * report["seconds"]["solve_host"]["median"]),
}


def versions(path):
    """Commits and reports of a result, the oldest first."""
    name = path.relative_to(measured.ROOT)
    for commit in measured.output_of("git", "log", "--reverse", "--format=%h", "--", name).split():
        found = subprocess.run(["git", "show", f"{commit}:{name}"], capture_output=True, cwd=measured.ROOT)
        if found.returncode == 0:
            yield commit, json.loads(gzip.decompress(found.stdout) if path.suffix == ".gz" else found.stdout)


def machine(report):
    if "machine" in report and "device" not in report:
        return f"{report['machine']}, {report['processors']} cores"
    return place(report)


def add(lines, name, commit, report, find):
    try:
        value = float(f"{find(report):.5g}")
    except (KeyError, StopIteration):  # this version does not have the figure
        return
    figures = lines.setdefault((report["date"], machine(report)), {})
    if figures.get(name, {}).get("value") != value:
        figures[name] = {"value": value, "commit": commit}


def main():
    lines = {}
    if FILE.exists():
        lines = {(line["date"], line["machine"]): line["figures"] for line in reports.load(FILE)["lines"]}
    for name, (pattern, find) in FIGURES.items():
        for path in sorted(pathlib.Path(measured.RESULTS).glob(pattern + ".json*")):
            for commit, report in versions(path):
                add(lines, name, commit, report, find)
    measured.write(FILE, {
        **reports.head("bench/run/collect_over_time.py"),
        "lines": [{"date": date, "machine": where, "figures": lines[date, where]} for date, where in sorted(lines)]})


if __name__ == "__main__":
    main()
