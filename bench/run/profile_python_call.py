#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time of one Solver.solve on a device goes, beyond what the library reports for the solve.

    bench/run/profile_python_call.py [--calls 400] [--out python_call.json]

For arrays of CuPy and of PyTorch, a 5-point grid of 400 rows and one of 19,881: the median of several hundred calls of
the whole, and of its stages as the package goes through them. Between two calls the host waits for the device, so that
nothing is left over from the call before. What is in the stages is the host's time; the device works on meanwhile. Runs where the package is staged (scripts/stage_python_device.sh) or installed.
"""
import argparse
import pathlib
import statistics
import time

import numpy as np
import newel
import scipy.sparse
from newel._arrays import check_shape
from newel._choices import check_guess
from newel._libraries import library_of
from newel._report import Report
from newel._vectors import settle

import measured
import reports

SIDES = (20, 141)  # of the grids
clock = time.perf_counter_ns


def grid(side):
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    eye = scipy.sparse.eye_array(side)
    return scipy.sparse.csr_array(scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line))


class CuPy:
    def __init__(self):
        import cupy

        self.name, self.version = "cupy", cupy.__version__
        self.vector = cupy.asarray
        self.synchronize = cupy.cuda.Device().synchronize


class PyTorch:
    def __init__(self):
        import torch

        self.name, self.version = "torch", torch.__version__
        self.vector = lambda array: torch.from_numpy(array).cuda()
        self.synchronize = torch.cuda.synchronize


def medians(calls, once):
    """`once` returns a dict of nanoseconds; the medians in microseconds."""
    for _ in range(20):
        once()
    seen = [once() for _ in range(calls)]
    return {name: round(statistics.median(one[name] for one in seen) / 1e3, 2) for name in seen[0]}


def whole_call(solver, b, kind):
    kind.synchronize()
    began = clock()
    _, report = solver.solve(b)
    ended = clock()
    reported = 1e9 * report.seconds["solve"]
    return {"whole call": ended - began, "reported solve": reported, "beyond it": ended - began - reported}


def staged_call(solver, b, kind):
    """What Solver.solve does, with a look at the clock after each stage."""
    times = {}

    def stage(name, began):
        ended = clock()
        times[name] = ended - began
        return clock()

    dtype, device = solver._dtype, solver._device
    kind.synchronize()
    began = clock()
    library = library_of(b)
    began = stage("library_of(b)", began)
    b = library.vectors(b, dtype, "b")
    began = stage("vectors(b)", began)
    check_shape(b, solver._rows, "b")
    check_guess(None, b.shape)
    began = stage("checks of shapes", began)
    x = library.new(b, None, tuple(b.shape), dtype, device)
    began = stage("new x", began)
    given = library.span(b)
    began = stage("span(b) with its stream", began)
    taken = library.span(x, given.stream)
    began = stage("span(x)", began)
    raw = solver._system.solve(given, taken, 1, 1e-8, 0.0, 10000, 0.0, None, 0, True)
    ended = clock()
    reported = 1e9 * raw["solve_seconds"]
    times["compiled part beyond its solve"] = ended - began - reported
    began = clock()
    settle(x)
    solver._reports([raw])
    stage("report", began)
    times["sum"] = sum(times.values())
    return times


def profile(kind, a, calls):
    arrays = tuple(kind.vector(part) for part in (a.data, a.indices, a.indptr))
    b = kind.vector(a @ np.random.default_rng(1).uniform(-1.0, 1.0, a.shape[0]))
    found = {"rows": a.shape[0]}
    for name, choices in {
        "auto": {},
        "cg, jacobi, csr": {"solver": "cg", "preconditioner": "jacobi", "format": "csr"},
    }.items():
        solver = newel.Solver(arrays, **choices)
        for _ in range(50):  # until auto has settled
            _, report = solver.solve(b)
        found[name] = {
            "chosen": [report.solver, report.preconditioner, report.format, report.iterations],
            "call": medians(calls, lambda: whole_call(solver, b, kind)),
            "stages": medians(calls, lambda: staged_call(solver, b, kind)),
        }
    return found


def show(title, table):
    print(title)
    for name, value in table.items():
        if isinstance(value, dict):
            print(f"  {name}")
            for inner, microseconds in value.items():
                print(f"    {inner:34}{microseconds:9.2f} us")
        else:
            print(f"  {name}: {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("python_call.json"))
    arguments = parser.parse_args()
    report = reports.head("profile_python_call")
    report.update(date=measured.today(), device=newel.devices()[0], calls=arguments.calls,
                  versions={"newel": newel.__version__}, kinds={})
    print(report["device"])
    for make in (CuPy, PyTorch):
        try:
            kind = make()
        except ImportError as error:
            print(f"without {make.__name__}: {error}")
            continue
        report["versions"][kind.name] = kind.version
        found = report["kinds"][kind.name] = {}
        for side in SIDES:
            one = found[str(side * side)] = profile(kind, grid(side), arguments.calls)
            for name in ("auto", "cg, jacobi, csr"):
                show(f"{kind.name}, {side * side} rows, {name}", one[name])
    measured.write(arguments.out, report)


if __name__ == "__main__":
    main()
