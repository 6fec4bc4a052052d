#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the iterations with AMG and with Jacobi on generated systems and on all meshes of a folder, and times AMG with
both smoothers where it tries one; writes them to docs/results/amg_host.json and their tables into
docs/preconditioners-measured.md, between its markers.

    bench/run/compare_amg.py NEWEL MESH_FOLDER [SPEC...]    SPEC: more systems, mesh:FILE:KIND[:R]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import measured
import amg_tables
import reports
from amg_tables import SMOOTHERS, seconds

GENERATED = ["generate:diffusion:34", "generate:diffusion:68", "generate:elasticity:20", "generate:elasticity:40",
             "generate:grid7:60", *(f"generate:convection:80:{peclet}" for peclet in (1, 10, 100, 1000))]
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
    measured.write(measured.RESULTS / "amg_host.json", {
        **reports.head("bench/run/compare_amg.py"), "date": measured.today(), "commit": measured.commit(),
        "systems": systems, "runs": runs, "smoothers": smoothers})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    measure(sys.argv[1], sys.argv[2], sys.argv[3:])
    amg_tables.write()


if __name__ == "__main__":
    main()
