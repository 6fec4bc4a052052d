#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves every real square matrix of a folder with each of Newel's and SciPy's solvers.

    bench/run/bench_matrices.py [FOLDER] [--newel build/host/bin/newel]     FOLDER defaults to $NEWEL_TEST_DATA
    bench/run/bench_matrices.py --part 1/4 --json part1.json                the first of four parts, which takes less time
    bench/run/bench_matrices.py --merge part1.json part2.json ...           what the parts come to

Writes docs/matrices.md and docs/results/matrices.json. Both sides get the same A, b = A x for a seeded random x,
preconditioner, tolerance and number of iterations; `plain` is `newel solve` without options, and SciPy's spilu + gmres
and splu have no Jacobi. Every residual in the tables is computed here from the returned x, never taken from a solver's
own report. If `plain` does not solve a matrix, SciPy's factors and the structural rank say whether it is singular.
Seconds are taken in one process for both sides, by Newel's Python package, the smallest of three solves with their
setups: a first solve also loads the code. Needs numpy, SciPy 1.12 or newer, and the package newel.
"""
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # one process per core, one thread each; must be set before numpy is loaded

import concurrent.futures
import fnmatch
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile
import time
import warnings

import measured
import newel
import numpy as np
import scipy
import scipy.io
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

import matrices_tables
import reports
from matrices_tables import TITLES, describe, reached_by

RTOL = 1e-8
MAX_ITERATIONS = 5000
RESTART = 50
SEED = 1
NEWEL_SOLVERS = ("cg", "bicgstab", "gmres", "minres", "auto", "plain")
SCIPY_SOLVERS = ("cg", "bicgstab", "gmres", "minres", "spilu + gmres", "splu")
REPEATS = 3  # whose smallest time counts; one that takes more than a second is not repeated
LONG = 1.0
DENSE = 2000  # rows up to which all singular values are computed
RESULT = measured.RESULTS / "matrices.json"


def why_left_out(path):
    """The reason why this file is not a system with real values, or None."""
    field, symmetry, rows, cols = measured.banner_of(path)
    if rows != cols:
        return "right-hand side or coordinates" if cols == 1 else "rectangular"
    if field == "pattern":
        return "pattern without values"
    if field == "complex" or symmetry == "hermitian":
        return "complex"
    return None


def read_system(path):
    matrix = scipy.sparse.csr_matrix(scipy.io.mmread(path), dtype=np.float64)
    matrix.sum_duplicates()
    solution = np.random.default_rng(SEED).uniform(-1.0, 1.0, matrix.shape[0])
    return matrix, matrix @ solution


def write_vector(path, vector):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{vector.size} 1\n")
        file.write("\n".join(map(repr, vector.tolist())) + "\n")


def read_vector(path, size):
    with open(path, encoding="ascii") as file:
        file.readline()
        rows, cols = map(int, file.readline().split())
        values = np.array(file.read().split(), dtype=np.float64)
    if (rows, cols) != (size, 1) or values.size != size:
        raise ValueError(f"{path} holds {values.size} values and its header says {rows} x {cols}; expected {size} x 1")
    return values


class Judge:
    """Computes |b - A x| / |b| and whether it meets the tolerance.

    The residual itself is rounded: two programs that sum a row in different orders differ by up to
    (k + 2) eps (|A||x| + |b|) in it, with k entries in the row. This is added to the tolerance, for both libraries.
    """

    def __init__(self, matrix, rhs):
        self.matrix, self.rhs = matrix, rhs
        self.magnitudes = abs(matrix)
        self.row_lengths = np.diff(matrix.indptr)
        self.rhs_norm = np.linalg.norm(rhs) or 1.0

    def __call__(self, x):
        if x is None or not np.all(np.isfinite(x)):
            return {"true_residual": None, "reached": False}
        residual = np.linalg.norm(self.rhs - self.matrix @ x) / self.rhs_norm
        terms = self.magnitudes @ np.abs(x) + np.abs(self.rhs)
        rounding = np.finfo(float).eps * np.linalg.norm((self.row_lengths + 2) * terms) / self.rhs_norm
        if not np.isfinite(residual):
            return {"true_residual": None, "reached": False}
        return {"true_residual": float(residual), "reached": bool(residual <= RTOL + min(rounding, RTOL))}


def run_newel(settings, path, folder, solver, precond, judge):
    out, report, rhs = folder / "x.mtx", folder / "r.json", folder / "b.mtx"
    for old in (out, report):
        old.unlink(missing_ok=True)
    named = ["--solver", solver, "--precond", precond, "--max-iterations", str(MAX_ITERATIONS)]
    command = [settings.newel, "solve", str(path), "--rhs", str(rhs), *([] if solver == "plain" else named),
               "--rtol", str(RTOL), "--time-limit", str(settings.time_limit), "--threads", "1", "--device", "host",
               "--quiet", "--out", str(out), "--report", str(report)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=8 * settings.time_limit + 60)
    except subprocess.TimeoutExpired:
        return {"status": "hang", "iterations": None, "exit": None, **judge(None)}
    result = {"exit": done.returncode}
    if done.returncode not in (0, 1):
        message = done.stderr.strip().replace(str(path), path.name)
        return {**result, "status": "refused" if done.returncode == 2 else "failed", "iterations": None,
                "message": message, **judge(None)}
    said = reports.load(report)
    result.update({key: said[key] for key in ("status", "reason", "iterations", "attempts")})
    result["said_true_residual"] = said["true_relative_residual"]
    result["command_seconds"] = said["seconds"]["setup"] + said["seconds"]["solve"]
    result.update(judge(read_vector(out, judge.rhs.size)))
    if result["reached"]:
        result["seconds"] = seconds_in_process(solver, precond, judge)
    return result


def seconds_in_process(solver, precond, judge):
    """Of the same solve by the Python package, setup included."""
    named = {} if solver == "plain" else {"solver": solver, "preconditioner": precond}
    limits = {} if solver == "plain" else {"max_iterations": MAX_ITERATIONS}
    seconds = []
    while not seconds or (len(seconds) < REPEATS and seconds[-1] < LONG):
        start = time.perf_counter()
        newel.Solver(judge.matrix, device="host", threads=1, **named).solve(judge.rhs, rtol=RTOL, **limits)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class OutOfTime(Exception):
    pass


def run_scipy(settings, solver, preconditioner, judge):
    count = 0
    start = time.perf_counter()

    def step(_):
        nonlocal count
        count += 1
        if time.perf_counter() - start > settings.time_limit:
            raise OutOfTime

    restart = min(RESTART, judge.rhs.size)
    options = {"rtol": RTOL, "M": preconditioner, "callback": step, "maxiter": MAX_ITERATIONS}
    if solver != "minres":  # which has no absolute tolerance
        options["atol"] = 0.0
    if "gmres" in solver:
        options.update(maxiter=-(-MAX_ITERATIONS // restart), restart=restart, callback_type="pr_norm")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if solver == "splu":
                x, info = scipy.sparse.linalg.splu(judge.matrix.tocsc()).solve(judge.rhs), 0
            elif solver == "spilu + gmres":
                factors = scipy.sparse.linalg.spilu(judge.matrix.tocsc())
                options["M"] = scipy.sparse.linalg.LinearOperator(judge.matrix.shape, factors.solve)
                x, info = scipy.sparse.linalg.gmres(judge.matrix, judge.rhs, **options)
            else:
                x, info = getattr(scipy.sparse.linalg, solver)(judge.matrix, judge.rhs, **options)
        status = "converged" if info == 0 else "max_iterations" if info > 0 else "breakdown"
    except OutOfTime:
        x, status = None, "time_limit"
    except Exception as error:  # an exception is a result too
        x, status = None, type(error).__name__
    return {"status": status, "iterations": count, "seconds": time.perf_counter() - start, **judge(x)}


def run_scipy_repeatedly(*arguments):
    result = run_scipy(*arguments)
    for _ in range(REPEATS - 1):
        if result["reached"] and result["seconds"] < LONG:
            result["seconds"] = min(result["seconds"], run_scipy(*arguments)["seconds"])
    return result


def evidence_of_singularity(matrix):
    """What SciPy says of a matrix that was not solved: its structural rank, and its condition number after its rows and
    columns are scaled: all singular values of a small one, else |A|_1 and an estimate of |inverse(A)|_1 by splu."""
    found = {"structural_rank": int(scipy.sparse.csgraph.structural_rank(matrix))}
    size = matrix.shape[0]
    if found["structural_rank"] < size:
        return found
    for axis in (1, 0):
        largest = abs(matrix).max(axis=axis).toarray().ravel()
        scale = scipy.sparse.diags(np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1]))
        matrix = (scale @ matrix if axis == 1 else matrix @ scale).tocsr()
    if size <= DENSE:
        singular = np.linalg.svd(matrix.toarray(), compute_uv=False)
        return {**found, "condition": float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf}
    try:
        with np.errstate(all="ignore"):
            factors = scipy.sparse.linalg.splu(matrix.tocsc())
            inverse = scipy.sparse.linalg.LinearOperator(matrix.shape, factors.solve,
                                                         rmatvec=lambda v: factors.solve(v, trans="T"))
            condition = scipy.sparse.linalg.norm(matrix, 1) * scipy.sparse.linalg.onenormest(inverse)
    except RuntimeError:  # a pivot is exactly zero
        condition = np.inf
    return {**found, "condition": float(condition)}


def is_proven(entry):
    """Whether the evidence says that the matrix is singular to working precision."""
    evidence = entry.get("evidence", {})
    rank, condition = evidence.get("structural_rank", entry["rows"]), evidence.get("condition", 0)
    return rank < entry["rows"] or condition >= 1 / np.finfo(float).eps


def solve_one(path, settings):
    matrix, rhs = read_system(path)
    judge = Judge(matrix, rhs)
    diagonal = matrix.diagonal()
    precond = "none" if np.any(diagonal == 0) else "jacobi"
    preconditioner = scipy.sparse.diags(1 / diagonal).tocsr() if precond == "jacobi" else None
    entry = {"matrix": path.name, "rows": matrix.shape[0], "nonzeros": int(matrix.nnz), "precond": precond,
             "empty_rows": int(np.count_nonzero(np.diff(matrix.indptr) == 0)), "newel": {}, "scipy": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_vector(folder / "b.mtx", rhs)
        for solver in NEWEL_SOLVERS:
            entry["newel"][solver] = run_newel(settings, path, folder, solver, precond, judge)
    for solver in SCIPY_SOLVERS:
        entry["scipy"][solver] = run_scipy_repeatedly(settings, solver, preconditioner, judge)
    if not entry["newel"]["plain"]["reached"]:
        entry["evidence"] = evidence_of_singularity(matrix)
    return entry


def slowdowns_of(entries, of_plain="seconds"):
    """The seconds of plain `solve`, its setup included, over those of the fastest run that solves the matrix."""
    slowdowns = []
    for entry in entries:
        plain = entry["newel"]["plain"]
        right = [result["seconds"] for side in ("newel", "scipy") for result in entry[side].values() if result["reached"]]
        if plain["reached"] and min(right) > 0:
            slowdowns.append((max(1.0, plain[of_plain] / min(right)), entry["matrix"]))
    return sorted(slowdowns, reverse=True)


def geometric_mean(slowdowns):
    return float(np.exp(np.mean(np.log([slowdown for slowdown, _ in slowdowns])))) if slowdowns else 1.0


def findings_of(entries):
    """The findings of the benchmark, each a list of lines; all but the last should be empty."""
    lost, dishonest, modest, odd, per_solver, unproven, proven = [], [], [], [], [], [], []
    for entry in entries:
        name = entry["matrix"]
        if reached_by(entry, "scipy") and not reached_by(entry, "newel"):
            lost.append(f"{name}: SciPy's {', '.join(reached_by(entry, 'scipy'))}")
        for solver, result in entry["newel"].items():
            residual = result["true_residual"]
            shown = "none" if residual is None else f"{residual:.2e}"
            if result["status"] == "converged" and not result["reached"]:
                dishonest.append(f"{name}, {solver}: status converged, true residual {shown}")
            if result["status"] not in ("converged", "refused") and residual is not None and residual <= RTOL * 0.999:
                modest.append(f"{name}, {solver}: status {result['status']}, true residual {shown}")
            if result["exit"] not in (0, 1):
                odd.append(f"{name}, {solver}: {result['status']}: {result.get('message', '')}".replace("\n", " "))
            elif (result["exit"] == 0) != (result["status"] == "converged"):
                odd.append(f"{name}, {solver}: exit status {result['exit']} with {result['status']}")
        if not entry["newel"]["plain"]["reached"]:
            rank, condition = entry["evidence"]["structural_rank"], entry["evidence"].get("condition")
            what = f"structural rank {rank} of {entry['rows']}" if condition is None else f"condition {condition:.1e}"
            (proven if is_proven(entry) else unproven).append(f"{name}: {what}; {entry['newel']['plain'].get('reason', '')}")
        for solver in set(SCIPY_SOLVERS) & set(NEWEL_SOLVERS):
            if entry["scipy"][solver]["reached"] and not entry["newel"][solver]["reached"]:
                shown = describe(entry["newel"][solver])
                per_solver.append(f"{name}, {solver}: SciPy {describe(entry['scipy'][solver])}; Newel {shown}")
    slowdowns = slowdowns_of(entries)
    mean, as_command = geometric_mean(slowdowns), geometric_mean(slowdowns_of(entries, "command_seconds"))
    slow = [f"{name}: {slowdown:.1f} times" for slowdown, name in slowdowns if slowdown > 10]
    return {"lost": lost, "dishonest": dishonest, "unproven": unproven, "proven": proven, "modest": modest, "odd": odd,
            "slow": [f"geometric mean of {len(slowdowns)} matrices: {mean:.2f} times; {as_command:.2f} if Newel's is the first "
                     "solve of a process, as in the command, and the others are not", *slow],
            "per_solver": sorted(per_solver)}


def parse_arguments():
    parser = measured.matrices_parser(__doc__, RESULT)
    parser.add_argument("--only", default="*", help="file names to run, with wildcards")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds that one run may iterate")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every N-th matrix by size, from the K-th on")
    parser.add_argument("--merge", nargs="+", type=pathlib.Path, metavar="PART.json", help="write what these parts hold")
    return measured.parsed(parser)


def merged(parts):
    """The document of several parts, which have to be of the same matrices, programs and limits."""
    documents = [reports.load(path) for path in parts]
    whole = documents[0]
    for other in documents[1:]:
        different = [key for key in ("machine", "newel", "scipy", "time_limit", "files") if other[key] != whole[key]]
        if different:
            sys.exit(f"error: the parts differ in {', '.join(different)}")
        whole["matrices"] += other["matrices"]
    names = [entry["matrix"] for entry in whole["matrices"]]
    if len(set(names)) != len(names):
        sys.exit("error: a matrix is in two of the parts")
    return whole


def finish(settings, document):
    """Writes the document, and says what was found. The exit status."""
    document["matrices"].sort(key=lambda entry: entry["matrix"].lower())
    document["findings"] = findings = findings_of(document["matrices"])
    measured.write(settings.json, document)
    if settings.json == RESULT:
        matrices_tables.write()
    for key, title in TITLES.items():
        print(f"{title}: {len(findings[key])}")
        for line in findings[key]:
            print("  " + line)
    return 1 if findings["lost"] or findings["dishonest"] or findings["unproven"] else 0


def main():
    settings = parse_arguments()
    if settings.merge:
        sys.exit(finish(settings, merged(settings.merge)))
    files = [path for path in measured.matrix_files(settings.folder) if fnmatch.fnmatch(path.name, settings.only)]
    left_out, systems = {}, []
    for path in files:
        why = why_left_out(path)
        if why:
            left_out.setdefault(why, []).append(path.name)
        else:
            systems.append(path)
    if not systems:
        sys.exit(f"error: {settings.folder} holds no real square matrix called {settings.only}")
    part, parts = map(int, settings.part.split("/"))
    entries = []
    with concurrent.futures.ProcessPoolExecutor(settings.processes) as pool:
        largest_first = sorted(systems, key=lambda path: (-path.stat().st_size, path.name))[part - 1::parts]
        for job in concurrent.futures.as_completed([pool.submit(solve_one, path, settings) for path in largest_first]):
            entry = job.result()
            entries.append(entry)
            ours = " | ".join(describe(result) for result in entry["newel"].values())
            theirs = " | ".join(describe(result) for result in entry["scipy"].values())
            print(f"[{len(entries)}/{len(largest_first)}] {entry['matrix']}  {ours}  ||  {theirs}", flush=True)
    version = subprocess.run([settings.newel, "--version"], capture_output=True, text=True, check=True).stdout
    facts = {"command": shlex.join(["bench/run/bench_matrices.py", "$NEWEL_TEST_DATA"]).replace("'", ""),
             "date": measured.today(), "machine": measured.machine(), "files": len(files),
             "newel": version.split("\n")[0].removeprefix("newel "), "scipy": scipy.__version__,
             "numpy": np.__version__, "python": platform.python_version(), "time_limit": settings.time_limit,
             "rtol": RTOL, "max_iterations": MAX_ITERATIONS, "restart": RESTART, "seed": SEED}
    head = reports.head("bench/run/bench_matrices.py")
    sys.exit(finish(settings, {**head, **facts, "left_out": left_out, "findings": {}, "matrices": entries}))


if __name__ == "__main__":
    main()
