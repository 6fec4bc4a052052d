#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs, and purlin.solve beside scipy.sparse.linalg.cg with Jacobi.

    scripts/bench_python.py [FOLDER] [--out docs/results/python_host.json]     FOLDER defaults to $PURLIN_TEST_DATA
    scripts/bench_python.py --device [--out python_device.json]                what calls with arrays on a device cost

Run it by the Python of an environment that has the package: build/python/venv/bin/python after scripts/python_test.sh.

Overhead: the time of Solver.solve on a system of ten unknowns, less what the library's own report says the solve took.
Solves: every real symmetric matrix of the folder with a positive diagonal and more than 2,000 rows. Both sides get
the same A, b = A x for a seeded random x, and a relative tolerance of 1e-8; Purlin makes all choices itself and its
setup is counted, SciPy's Jacobi is made beforehand. They take turns; the least of the times counts, and residuals are
computed here. A system that one side does not solve is tried once.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import time
import warnings

import numpy as np
import purlin
import scipy
import scipy.sparse
import scipy.sparse.linalg

import reports

RTOL = 1e-8
MAX_ITERATIONS = 5000
LEAST_ROWS = 2000
ROOT = pathlib.Path(__file__).resolve().parent.parent


def small_system():
    return scipy.sparse.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(10, 10), format="csr")


def overhead(calls, solver, b, values):
    """Microseconds of a call beyond the solve itself: median, and the tenth that is above."""
    for _ in range(10):
        solver.solve(b)
    beyond, whole = [], []
    for _ in range(calls):
        began = time.perf_counter()
        _, report = solver.solve(b)
        seconds = time.perf_counter() - began
        whole.append(1e6 * seconds)
        beyond.append(1e6 * (seconds - report.seconds["solve"]))
    refresh = []
    for _ in range(calls):
        began = time.perf_counter()
        solver.refresh(values)
        refresh.append(1e6 * (time.perf_counter() - began))
    return {
        "rows": 10,
        "calls": calls,
        "solve_call_us": statistics.median(whole),
        "beyond_solve_us": statistics.median(beyond),
        "beyond_solve_us_p90": statistics.quantiles(beyond, n=10)[-1],
        "refresh_call_us": statistics.median(refresh),
    }


def device_overhead(calls):
    """The same for arrays on a device, by their library."""
    a, result = small_system(), {}
    parts = (a.data, a.indices, a.indptr)
    try:
        import cupy

        result["cupy"] = tuple(cupy.asarray(part) for part in parts), cupy.ones(10)
    except ImportError:
        print("without CuPy")
    try:
        import torch

        result["torch"] = tuple(torch.from_numpy(part).cuda() for part in parts), torch.ones(10, device="cuda").double()
    except ImportError:
        print("without PyTorch")
    return {name: overhead(calls, purlin.Solver(matrix), b, matrix[0]) for name, (matrix, b) in result.items()}


def systems(folder):
    """(name, matrix) for what is compared."""
    for path in sorted(folder.glob("*.mtx*")):
        try:
            a = purlin.read(path)
        except ValueError:  # complex values
            continue
        if not scipy.sparse.issparse(a) or a.shape[0] != a.shape[1] or a.shape[0] <= LEAST_ROWS:
            continue
        facts = purlin.info(a)
        if facts["symmetric"] and facts["positive_diagonal"]:
            yield path.name.split(".mtx")[0], a


def by_purlin(a, b):
    began = time.perf_counter()
    x, report = purlin.solve(a, b, rtol=RTOL, max_iterations=MAX_ITERATIONS)
    return time.perf_counter() - began, x, report.iterations


def by_scipy(a, b, inverse):
    count = [0]

    def counted(_):
        count[0] += 1

    jacobi = scipy.sparse.linalg.LinearOperator(a.shape, matvec=lambda r: inverse * r, dtype=np.float64)
    began = time.perf_counter()
    x, _ = scipy.sparse.linalg.cg(a, b, rtol=RTOL, maxiter=MAX_ITERATIONS, M=jacobi, callback=counted)
    return time.perf_counter() - began, x, count[0]


def compare(a, turns):
    """Both sides on one system, in turns."""
    b = a @ np.random.default_rng(1).uniform(-1.0, 1.0, a.shape[0])
    inverse = 1 / a.diagonal()
    times = {"purlin": [], "scipy": []}
    sides = {"purlin": lambda: by_purlin(a, b), "scipy": lambda: by_scipy(a, b, inverse)}
    line = {"rows": a.shape[0], "nonzeros": int(a.nnz)}
    for _ in range(turns):
        for side, solve in sides.items():
            seconds, x, iterations = solve()
            times[side].append(seconds)
            residual = float(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
            line[side] = {"iterations": iterations, "true_residual": residual,
                          "reached": bool(residual <= 1.01 * RTOL)}
        if not (line["purlin"]["reached"] and line["scipy"]["reached"]):
            break  # there is nothing to compare
    for side, seconds in times.items():
        line[side]["seconds"] = min(seconds)
    return line


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("PURLIN_TEST_DATA"))
    parser.add_argument("--device", action="store_true", help="calls with arrays on a device, and no solves")
    parser.add_argument("--out", help="docs/results/python_host.json by default; with --device only printed")
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    if not arguments.folder and not arguments.device:
        parser.error("name the folder of matrices, or set PURLIN_TEST_DATA")
    return arguments


def main():
    arguments = parse_arguments()
    warnings.simplefilter("ignore")
    report = reports.head("bench_python")
    if arguments.device:
        report.update(date=datetime.date.today().isoformat(), device=purlin.devices()[0],
                      versions={"purlin": purlin.__version__, "python": platform.python_version()},
                      overhead=device_overhead(arguments.calls))
        print(json.dumps(report, indent=1))
        if arguments.out:
            pathlib.Path(arguments.out).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        return
    a = small_system()
    report.update(
        date=datetime.date.today().isoformat(),
        machine=platform.processor() or platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        load=os.getloadavg()[0],
        versions={"purlin": purlin.__version__, "python": platform.python_version(), "numpy": np.__version__,
                  "scipy": scipy.__version__},
        rtol=RTOL,
        max_iterations=MAX_ITERATIONS,
        overhead=overhead(arguments.calls, purlin.Solver(a, threads=1), np.ones(10), a.data),
        systems={},
    )
    print(f"a call beyond its solve: {report['overhead']['beyond_solve_us']:.1f} us")
    for name, a in systems(pathlib.Path(arguments.folder) / "matrices"):
        line = report["systems"][name] = compare(a, arguments.turns)
        mine, theirs = line["purlin"], line["scipy"]
        print(f"{name:30} {line['rows']:8} rows"
              f"  purlin {mine['seconds']:8.4f} s {'' if mine['reached'] else '(failed)'}"
              f"  scipy {theirs['seconds']:8.4f} s {'' if theirs['reached'] else '(failed)'}"
              f"  {theirs['seconds'] / mine['seconds']:5.2f} x", flush=True)
    out = pathlib.Path(arguments.out or ROOT / "docs/results/python_host.json")
    out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
