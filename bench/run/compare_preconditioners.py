#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every preconditioner with every solver on the real square matrices of a folder and on generated systems.

    bench/run/compare_preconditioners.py [FOLDER] [--newel build/host/bin/newel]   FOLDER defaults to $NEWEL_TEST_DATA

Writes docs/results/preconditioners_host.json and, from it, the tables of docs/preconditioners-measured.md. Right-hand side
A*random:1, |b - A x| <= 1e-8 |b|, 5,000 iterations, the format csr, one thread a run. What has been run is kept in
--state, so that a run that was cut short goes on where it ended. Needs nothing but Python and newel.
"""
import concurrent.futures
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

import measured
import preconditioner_tables
import reports
from measured import ROOT, output_of

RESULT = measured.RESULTS / "preconditioners_host.json"
GENERATED = ("generate:elasticity:20", "generate:elasticity:30", "generate:diffusion:40", "generate:diffusion:60",
             "generate:convection:40", "generate:convection:40:2000")
COMMON = ("--rhs", "A*random:1", "--rtol", "1e-8", "--max-iterations", "5000", "--format", "csr", "--device", "host",
          "--threads", "1")
SOLVERS = {"cg": ("--solver", "cg"), "bicgstab": ("--solver", "bicgstab"),
           "gmres(50)": ("--solver", "gmres", "--restart", "50")}
PRECONDITIONERS = {
    "none": ("--precond", "none"),
    "jacobi": ("--precond", "jacobi"),
    "spai0": ("--precond", "spai0"),
    "spai": ("--precond", "spai"),
    "fsai(1)": ("--precond", "fsai"),
    "fsai(2)": ("--precond", "fsai", "--fsai-power", "2"),
    "fsai(3)": ("--precond", "fsai", "--fsai-power", "3"),
    "auto": ("--precond", "auto"),
}
FSAI3_MOST_ENTRIES = 200_000
# Non-symmetric systems that are hard for Jacobi: flow, reservoirs, circuits, and one of our own assembly. Each is given
# to every SPAI of the grid.
HARD = ("e05r0500", "olm500", "olm1000", "cryg2500", "fasp_SPE01", "adder_dcop_05", "rajat19", "basker_matrix1",
        "impcol_e", "dw4096", "teko_nsjac_1",
        "epb0", "bfw782a", "ACTIVSg500_Jac", "pyamg_recirc_flow", "orsirr_1", "generate:convection:40:2000")
GRID = {f"spai {side} {name}": ("--precond", "spai", "--spai-side", side, *options)
        for side in ("right", "left")
        for name, options in (("power 1", ()), ("power 2", ("--spai-power", "2")),
                              ("adaptive 0.4", ("--spai-adaptive", "0.4")),
                              ("adaptive 0.2", ("--spai-adaptive", "0.2")))}
GRID_SOLVERS = ("bicgstab", "gmres(50)")


def short(spec):
    name = pathlib.Path(spec).name if not spec.startswith("generate:") else spec.removeprefix("generate:")
    return name.removesuffix(".gz").removesuffix(".mtx")


def is_system(path):
    """Whether a Matrix Market file holds a square matrix of real values."""
    field, symmetry, rows, cols = measured.banner_of(path)
    return rows == cols and field in ("real", "integer", "double") and symmetry != "hermitian"


def facts_of(settings, spec, folder):
    report = folder / "info.json"
    done = subprocess.run([settings.newel, "info", spec, "--threads", "1", "--report", str(report)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: newel info {spec}: {done.stderr.strip()}")
    said = reports.load(report)
    diagonal = said["diagonal"]
    return {"name": short(spec), "rows": said["rows"], "nonzeros": said["nonzeros"],
            "symmetric": said["symmetry"]["values"],
            "positive_diagonal": all(diagonal[kind]["count"] == 0 for kind in ("missing", "zero", "negative")),
            "diagonal": said["bandwidth"]["lower"] == 0 and said["bandwidth"]["upper"] == 0}


def run(settings, spec, precond, solver, folder):
    report = folder / "solve.json"
    report.unlink(missing_ok=True)
    command = [settings.newel, "solve", spec, *SOLVERS[solver], *{**PRECONDITIONERS, **GRID}[precond], *COMMON,
               "--time-limit", str(settings.time_limit), "--quiet", "--report", str(report)]
    result = {"system": short(spec), "precond": precond, "solver": solver}
    limit = settings.time_limit + settings.build_limit
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {**result, "status": "build_limit", "reason": f"not built and solved after {limit:g} s"}
    if done.returncode not in (0, 1):
        reason = done.stderr.strip().replace(spec, short(spec)).removeprefix("newel: ").removeprefix("error: ")
        return {**result, "status": "refused" if done.returncode == 2 else "failed", "reason": reason}
    said = reports.load(report)
    seconds = said["seconds"]
    result.update(status=said["status"], iterations=said["iterations"], true_residual=said["true_relative_residual"],
                  build=said["setup_phases"]["preconditioner"], setup=seconds["setup"], solve=seconds["solve"],
                  total=seconds["total"])
    figures = said["operators"]["preconditioner"]["figures"]
    if "density" in figures:
        result["density"] = round(figures["density"], 4)
    if precond == "auto":
        result.update(chosen=said["preconditioner"], reason=said["preconditioner_reason"])
    elif said["reason"]:
        result["reason"] = said["reason"]
    return result


def run_all_solvers(settings, spec, precond, solvers):
    """One preconditioner: what is refused or cannot be built with one solver is not tried with the next."""
    with tempfile.TemporaryDirectory() as name:
        results = []
        for solver in solvers:
            if results and results[-1]["status"] in ("refused", "build_limit"):
                results.append({**results[-1], "solver": solver})
            else:
                results.append(run(settings, spec, precond, solver, pathlib.Path(name)))
        return results


class State:
    """Finished jobs, one line each."""

    def __init__(self, path, retry_limits):
        self.path, self.lock, self.done = path, threading.Lock(), {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                job = json.loads(line)
                self.done[job["key"]] = job["results"]
        if retry_limits:
            limits = ("time_limit", "build_limit")
            self.done = {key: results for key, results in self.done.items()
                         if not any(result["status"] in limits for result in results)}

    def add(self, key, results):
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            self.done[key] = results
            file.write(json.dumps({"key": key, "results": results}) + "\n")


def work(settings, state, systems):
    """Every job that the state does not hold yet, the largest systems first."""
    jobs = []
    for facts in sorted(systems, key=lambda facts: -facts["nonzeros"]):
        spec = facts["spec"]
        names = [name for name in PRECONDITIONERS
                 if name != "fsai(3)" or (facts["symmetric"] and facts["nonzeros"] <= FSAI3_MOST_ENTRIES)]
        jobs += [(spec, name, tuple(SOLVERS)) for name in names]
        if facts["name"] in [short(name) for name in HARD]:
            jobs += [(spec, name, GRID_SOLVERS) for name in GRID]
    jobs = [job for job in jobs if f"{short(job[0])} {job[1]}" not in state.done]
    count = 0
    with concurrent.futures.ThreadPoolExecutor(settings.processes) as pool:
        running = {pool.submit(run_all_solvers, settings, *job): job for job in jobs}
        for future in concurrent.futures.as_completed(running):
            spec, precond, _ = running[future]
            results = future.result()
            state.add(f"{short(spec)} {precond}", results)
            count += 1
            told = ", ".join(f"{r['solver']} {r['status']} {r.get('iterations', '')}" for r in results)
            print(f"[{count}/{len(jobs)}] {short(spec)}, {precond}: {told}", flush=True)


def parse_arguments():
    parser = measured.matrices_parser(__doc__, RESULT)
    parser.add_argument("--only", default="*", help="names of systems to run, with wildcards")
    parser.add_argument("--time-limit", type=float, default=30, help="seconds that one run may iterate")
    parser.add_argument("--build-limit", type=float, default=60, help="seconds that it may take on top of that")
    parser.add_argument("--note", default="", help="what to say of the circumstances, such as other load")
    parser.add_argument("--state", type=pathlib.Path, default=ROOT / "build/compare_preconditioners.jsonl",
                        help="finished runs, which are not repeated; delete it to start anew")
    parser.add_argument("--retry-limits", action="store_true", help="run again what met a limit of time before")
    return measured.parsed(parser)


def main():
    settings = parse_arguments()
    specs = sorted(spec for spec in (*map(str, measured.matrix_files(settings.folder)), *GENERATED)
                   if fnmatch.fnmatch(short(spec), settings.only)
                   and (spec.startswith("generate:") or is_system(pathlib.Path(spec))))
    state = State(settings.state, settings.retry_limits)
    with tempfile.TemporaryDirectory() as name:
        systems = [{**facts_of(settings, spec, pathlib.Path(name)), "spec": spec} for spec in specs]
    work(settings, state, systems)
    changed = output_of("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    document = {**reports.head("bench/run/compare_preconditioners.py"),
                "command": "bench/run/compare_preconditioners.py $NEWEL_TEST_DATA",
                "date": measured.today(), "machine": measured.machine(), "threads": 1,
                "processes": settings.processes, "note": settings.note,
                "commit": measured.commit() + (" with changes" if changed else ""),
                "newel": output_of(settings.newel, "--version").split("\n")[0], "time_limit": settings.time_limit,
                "build_limit": settings.build_limit,
                "common_options": COMMON, "solvers": SOLVERS, "preconditioners": PRECONDITIONERS,
                "spai_grid": GRID, "hard": [short(name) for name in HARD],
                "systems": sorted(({key: facts[key] for key in facts if key != "spec"} for facts in systems),
                                  key=lambda facts: facts["name"].lower()),
                "runs": [run for key in sorted(state.done, key=str.lower) for run in state.done[key]
                         if run["system"] in {facts["name"] for facts in systems}]}
    measured.write(settings.json, document)
    if settings.json == RESULT:
        preconditioner_tables.write()


if __name__ == "__main__":
    main()
