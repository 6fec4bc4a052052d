#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs, and newel.solve beside the cg of SciPy, or of CuPy, with Jacobi.

    bench/run/bench_python.py [FOLDER] [--out docs/results/python_host.json]     FOLDER defaults to $NEWEL_TEST_DATA
    bench/run/bench_python.py --device [FOLDER] [--out python_device.json]       the same with arrays on a device, by CuPy

Run it by the Python of an environment that has the package: build/python/venv/bin/python after scripts/python_test.sh.

Overhead: the time of Solver.solve on a system of ten unknowns, less what the library's own report says the solve took.
Solves: every real symmetric matrix of the folder with a positive diagonal and more than 2,000 rows. Both sides get
the same A, b = A x for a seeded random x, and a relative tolerance of 1e-8; Newel makes all choices itself and its
setup is counted, the other's Jacobi is made beforehand. They take turns; the least of the times counts, and residuals are
computed here. A system that one side does not solve is tried once. On a device A and b lie there before, as does x
afterwards, every system is solved once by both sides before the turns, and a solve ends with a synchronisation; without
FOLDER no systems are solved.
"""
import argparse
import inspect
import os
import pathlib
import platform
import statistics
import time
import warnings

import numpy as np
import newel
import scipy
import scipy.sparse
import scipy.sparse.linalg

from measured import RESULTS, reports, today, write

RTOL = 1e-8
MAX_ITERATIONS = 5000
LEAST_ROWS = 2000


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


def device_overhead(calls, versions):
    """The same for arrays on a device, by their library; `versions` gets those of the libraries."""
    a, result = small_system(), {}
    parts = (a.data, a.indices, a.indptr)
    try:
        import cupy

        versions["cupy"] = cupy.__version__
        result["cupy"] = tuple(cupy.asarray(part) for part in parts), cupy.ones(10)
    except ImportError:
        print("without CuPy")
    try:
        import torch

        versions["torch"] = torch.__version__
        result["torch"] = tuple(torch.from_numpy(part).cuda() for part in parts), torch.ones(10, device="cuda").double()
    except ImportError:
        print("without PyTorch")
    return {name: overhead(calls, newel.Solver(matrix), b, matrix[0]) for name, (matrix, b) in result.items()}


def systems(folder):
    """(name, matrix) for what is compared."""
    for path in sorted(folder.glob("*.mtx*")):
        try:
            a = newel.read(path)
        except ValueError:  # complex values
            continue
        if not scipy.sparse.issparse(a) or a.shape[0] != a.shape[1] or a.shape[0] <= LEAST_ROWS:
            continue
        facts = newel.info(a)
        if facts["symmetric"] and facts["positive_diagonal"]:
            yield path.name.split(".mtx")[0], a


class Scipy:
    """Where both sides find their arrays, and the side that Newel is compared with."""

    name = "scipy"
    warm_up = False

    def matrix(self, a):
        return a

    vector = matrix
    host = matrix
    linalg = scipy.sparse.linalg

    def synchronize(self):
        pass


class Cupy:
    name = "cupy"
    warm_up = True  # of kernels that CuPy compiles

    def __init__(self):
        import cupy
        import cupyx.scipy.sparse.linalg

        self.vector, self.host = cupy.asarray, cupy.asnumpy
        self.csr_matrix, self.linalg = cupyx.scipy.sparse.csr_matrix, cupyx.scipy.sparse.linalg
        self.synchronize = cupy.cuda.Device().synchronize

    def matrix(self, a):
        return self.csr_matrix(tuple(self.vector(part) for part in (a.data, a.indices, a.indptr)), shape=a.shape)


def by_newel(a, b, synchronize):
    began = time.perf_counter()
    x, report = newel.solve(a, b, rtol=RTOL, max_iterations=MAX_ITERATIONS)
    synchronize()
    chosen = {"solver": report.solver, "preconditioner": report.preconditioner, "format": report.format,
              "setup_seconds": report.seconds["setup"]}
    return time.perf_counter() - began, x, {"iterations": report.iterations, **chosen}


def by_other(a, b, inverse, library, count):
    """Iterations are counted only where asked, because the count is a call after each."""
    calls = [0]

    def counted(_):
        calls[0] += 1

    function = library.linalg.cg
    tolerance = "rtol" if "rtol" in inspect.signature(function).parameters else "tol"  # the name has changed
    jacobi = library.linalg.LinearOperator(a.shape, matvec=lambda r: inverse * r, dtype=np.float64)
    began = time.perf_counter()
    x, _ = function(a, b, maxiter=MAX_ITERATIONS, M=jacobi, atol=0.0, callback=counted if count else None,
                    **{tolerance: RTOL})
    library.synchronize()
    return time.perf_counter() - began, x, {"iterations": calls[0]}


def compare(a, turns, library):
    """Both sides on one system, in turns."""
    b = a @ np.random.default_rng(1).uniform(-1.0, 1.0, a.shape[0])
    there, inverse = (library.matrix(a), library.vector(b)), library.vector(1 / a.diagonal())
    times = {"newel": [], library.name: []}
    sides = {"newel": lambda first: by_newel(*there, library.synchronize),
             library.name: lambda first: by_other(*there, inverse, library, first)}
    line = {"rows": a.shape[0], "nonzeros": int(a.nnz)}
    for turn in range(turns + library.warm_up):
        for side, solve in sides.items():
            seconds, x, told = solve(turn == 0)
            times[side].append(seconds)
            if turn == 0:
                residual = float(np.linalg.norm(b - a @ library.host(x)) / np.linalg.norm(b))
                line[side] = {**told, "true_residual": residual, "reached": bool(residual <= 1.01 * RTOL)}
            elif seconds == min(times[side]):
                line[side].update(told, iterations=line[side]["iterations"])
        if not all(line[side]["reached"] for side in sides):
            break  # there is nothing to compare
    for side, seconds in times.items():
        line[side]["seconds"] = min(seconds[library.warm_up:] or seconds)
    return line


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="$NEWEL_TEST_DATA by default, but not with --device")
    parser.add_argument("--device", action="store_true", help="arrays on a device; without FOLDER no solves")
    parser.add_argument("--out", help="docs/results/python_host.json by default, or python_device.json")
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    if not arguments.device:
        arguments.folder = arguments.folder or os.environ.get("NEWEL_TEST_DATA")
        if not arguments.folder:
            parser.error("name the folder of matrices, or set NEWEL_TEST_DATA")
    return arguments


def main():
    arguments = parse_arguments()
    warnings.simplefilter("ignore")
    a, library = small_system(), Scipy()
    report = reports.head("bench_python")
    report.update(
        date=today(),
        machine=platform.processor() or platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        load=os.getloadavg()[0],
        versions={"newel": newel.__version__, "python": platform.python_version(), "numpy": np.__version__,
                  "scipy": scipy.__version__},
        rtol=RTOL,
        max_iterations=MAX_ITERATIONS,
    )
    if arguments.device:
        report.update(device=newel.devices()[0], overhead=device_overhead(arguments.calls, report["versions"]))
        overheads = report["overhead"]
        library = Cupy() if arguments.folder else None
    else:
        report["overhead"] = overhead(arguments.calls, newel.Solver(a, threads=1), np.ones(10), a.data)
        overheads = {"numpy": report["overhead"]}
    for kind, measured in overheads.items():
        print(f"{kind}: a call beyond its solve: {measured['beyond_solve_us']:.1f} us,"
              f" refresh {measured['refresh_call_us']:.1f} us")
    report["systems"] = {}
    out = pathlib.Path(arguments.out or RESULTS / f"python_{'device' if arguments.device else 'host'}.json")
    for name, a in systems(pathlib.Path(arguments.folder) / "matrices") if library else ():
        line = report["systems"][name] = compare(a, arguments.turns, library)
        mine, theirs = line["newel"], line[library.name]
        print(f"{name:30} {line['rows']:8} rows"
              f"  newel {mine['seconds']:8.5f} s {'' if mine['reached'] else '(failed)'}"
              f"  {library.name} {theirs['seconds']:8.5f} s {'' if theirs['reached'] else '(failed)'}"
              f"  {theirs['seconds'] / mine['seconds']:5.2f} x", flush=True)
        write(out, report)
    write(out, report)


if __name__ == "__main__":
    main()
