#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the iterations with AMG and with Jacobi on generated systems and on all meshes of a folder, and times AMG with
both smoothers where it tries one; writes them to docs/results/amg_host.json and their tables into
docs/preconditioners-measured.md, between its markers.

    scripts/compare_amg.py NEWEL MESH_FOLDER [SPEC...]    measures; SPEC: more systems, mesh:FILE:KIND[:R]
    scripts/compare_amg.py                                 the tables again, without measuring
"""
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import reports
from preconditioner_tables import dump

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/results/amg_host.json"
DOCUMENT = ROOT / "docs/preconditioners-measured.md"
GENERATED = ["generate:diffusion:34", "generate:diffusion:68", "generate:elasticity:20", "generate:elasticity:40",
             "generate:grid7:60", *(f"generate:convection:80:{peclet}" for peclet in (1, 10, 100, 1000))]
MANY = 300  # iterations with Jacobi


SMOOTHERS = ("auto", "fsai", "chebyshev")
ROUNDS = 3  # of each smoother, in turns; the fastest counts


def solve(newel, spec, precond, smoother="auto"):
    solver = "bicgstab" if ":convection" in spec else "cg"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([newel, "solve", spec, "--rhs", "ones", "--solver", solver, "--precond", precond, "--format", "csr",
                        "--device", "host", "--threads", "1", "--max-iterations", "20000", "--quiet", "--report",
                        str(report), *(["--amg-smoother", smoother] if precond == "amg" else [])], check=False)
        found = reports.load(report)
    run = {"precond": precond, "solver": solver, "converged": found["converged"], "iterations": found["iterations"],
           "setup_seconds": found["seconds"]["setup"], "solve_seconds": found["seconds"]["solve"]}
    complexity = re.search(r"operator complexity\W+([\d.]+)", json.dumps(found))
    if complexity:
        run["operator_complexity"] = float(complexity.group(1))
    return found, run


def seconds(run):
    return run["setup_seconds"] + run["solve_seconds"]


def smoothed(newel, spec, name):
    """A run with each smoother, where AMG tries Chebyshev's polynomial before FSAI."""
    best = {}
    for _ in range(ROUNDS):
        for smoother in SMOOTHERS:
            try:
                found, run = solve(newel, spec, "amg", smoother)
            except FileNotFoundError:  # no report: FSAI refuses the matrix
                continue
            if smoother not in best or seconds(run) < seconds(best[smoother]):
                best[smoother] = {"system": name, "smoother": smoother, **run,
                                  "detail": found["operators"]["preconditioner"]["detail"].split(" of degree")[0]}
    return list(best.values())


def measure(newel, folder, more):
    meshes = sorted(pathlib.Path(folder).glob("*.mesh.gz"))
    specs = GENERATED + [f"mesh:{mesh}:{kind}" for mesh in meshes for kind in ("diffusion", "elasticity")] + more
    systems, runs, smoothers = [], [], []
    for spec in specs:
        name = re.sub(r"mesh:.*/", "mesh:", spec).replace(".gz", "")
        for precond in ("jacobi", "amg"):
            found, run = solve(newel, spec, precond)
            runs.append({"system": name, **run})
        if "trial of the smoother" in json.dumps(found):
            smoothers += smoothed(newel, spec, name)
        systems.append({"name": name, "rows": found["rows"], "nonzeros": found["nonzeros"]})
        print(name, runs[-2]["iterations"], runs[-1]["iterations"], flush=True)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()
    document = {**reports.head("scripts/compare_amg.py"), "date": datetime.date.today().isoformat(), "commit": commit,
                "systems": systems, "runs": runs, "smoothers": smoothers}
    RESULTS.write_text(dump(document), encoding="utf-8")


def count(run):
    return f"{run['iterations']:,}" if run["converged"] else "not converged"


def table(document):
    runs = {(run["system"], run["precond"]): run for run in document["runs"]}
    lines = ["| system, b = ones, to 1e-8 | rows | Jacobi | AMG | AMG / Jacobi | operator complexity |",
             "|---|---:|---:|---:|---:|---:|"]
    for system in document["systems"]:
        jacobi, amg = runs[system["name"], "jacobi"], runs[system["name"], "amg"]
        both = jacobi["converged"] and amg["converged"]
        share = f"{amg['iterations'] / jacobi['iterations']:.3f}" if both else ""
        lines.append(f"| `{system['name']}` | {system['rows']:,} | {count(jacobi)} | {count(amg)} | {share} | "
                     f"{amg['operator_complexity']:.2f} |")
    return lines


def smoother_table(document):
    lines = ["| system | AMG takes | its iterations | s | FSAI | s | Chebyshev | s |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    runs = {(run["system"], run["smoother"]): run for run in document["smoothers"]}
    for system in document["systems"]:
        if (system["name"], "auto") not in runs:
            continue
        found = [runs.get((system["name"], smoother)) for smoother in SMOOTHERS]
        cells = [f"{count(run)} | {seconds(run):.3f}" if run else "refused | " for run in found]
        lines.append(f"| `{system['name']}` | {runs[system['name'], 'auto']['detail']} | " + " | ".join(cells) + " |")
    return lines


def smoother_summary(document):
    runs = {(run["system"], run["smoother"]): run for run in document["smoothers"] if run["converged"]}
    systems = [name for name, smoother in runs if smoother == "auto" and all((name, s) in runs for s in SMOOTHERS)]
    behind = {s: [seconds(runs[name, "auto"]) / seconds(runs[name, s]) for name in systems] for s in SMOOTHERS[1:]}
    best = [max(pair) for pair in zip(*behind.values())]
    mean = {s: statistics.geometric_mean(shares) for s, shares in behind.items()}
    kept = sum(runs[name, "auto"]["detail"] == "chebyshev" for name in systems)
    return (f"Flat elements make AMG try Chebyshev's polynomial on {len(systems)} of them, and keep it on {kept}. Setup and "
            f"solve together take {mean['fsai']:.2f} of the time with FSAI and {mean['chebyshev']:.2f} of that with "
            f"Chebyshev's polynomial, in the geometric mean, and at most {max(best):.2f} times that of the faster one. "
            "Asked for, both smooth all levels.")


def summary(document):
    runs = {(run["system"], run["precond"]): run for run in document["runs"]}
    pairs = [(runs[s["name"], "jacobi"], runs[s["name"], "amg"]) for s in document["systems"]]
    shares = [a["iterations"] / j["iterations"] for j, a in pairs
              if j["converged"] and a["converged"] and j["iterations"] > MANY]
    mean = statistics.geometric_mean(shares)
    return (f"On the {len(shares)} systems below for which Jacobi needs more than {MANY} iterations, AMG takes {mean:.3f} of "
            f"them in the geometric mean and {max(shares):.3f} at most. (`scripts/compare_amg.py`, {document['date']}, "
            f"commit {document['commit']}, one thread; convection with BiCGStab, all others with CG; all figures are in "
            "[results/amg_host.json](results/amg_host.json).)")


def write(document):
    text = DOCUMENT.read_text(encoding="utf-8")
    begin, end = "<!-- amg: written by scripts/compare_amg.py -->", "<!-- end of amg -->"
    if begin not in text or end not in text:
        raise SystemExit(f"error: {DOCUMENT} has no markers: {begin} ... {end}")
    before, rest = text.split(begin, 1)
    lines = [begin, "", summary(document), "", "<details><summary>All systems</summary>", "", *table(document), "",
             "</details>", "", smoother_summary(document), "", "<details><summary>Smoothers</summary>", "",
             *smoother_table(document), "", "</details>", "", end]
    DOCUMENT.write_text(before + "\n".join(lines) + rest.split(end, 1)[1], encoding="utf-8")


def main():
    if len(sys.argv) > 2:
        measure(sys.argv[1], sys.argv[2], sys.argv[3:])
    write(reports.load(RESULTS))


if __name__ == "__main__":
    main()
