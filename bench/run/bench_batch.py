#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many small systems of one pattern, from Python: newel.BatchedSystem beside a loop of SciPy's cg, and with --device beside a
loop of CuPy's cg and cuSOLVER's batched QR.

    bench_batch.py [--device] [--systems 10000] [--iterations 30] [--rtol 1e-8] [--loop 200] [--repeats 5] [--report FULL.json]

Twice: a fixed number of iterations of CG with Jacobi, and to a tolerance, with every preconditioner of batches and, on a
device, the direct solver. Loops are measured on a part of the systems; their times for all are estimates. The largest
|b - A x| / |b| of each is formed here. Needs newel, NumPy and SciPy; CuPy for --device. Needs a quiet machine.
"""
import argparse
import inspect
import json
import statistics
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from batched_qr import BatchedQr, NoBatchedQr
from measured import commit, machine, today
from scipy.sparse.linalg import LinearOperator, cg

import newel

WIDTH, HEIGHT = 25, 20


def pattern():
    """Five entries in each of 500 rows: the neighbours on a torus."""
    across = sp.diags_array([1.0, 1, 1, 1, 1], offsets=[0, 1, -1, WIDTH - 1, 1 - WIDTH], shape=(WIDTH, WIDTH))
    along = sp.diags_array([1.0, 1, 1, 1, 1], offsets=[0, 1, -1, HEIGHT - 1, 1 - HEIGHT], shape=(HEIGHT, HEIGHT))
    a = (sp.kron(sp.eye_array(HEIGHT), across) + sp.kron(along, sp.eye_array(WIDTH))).tocsr()
    a.sort_indices()
    return a


def systems(a, count):
    """Values of each system, symmetric positive definite, and right-hand sides."""
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    same_line = rows // WIDTH == a.indices // WIDTH
    across = 1 + 0.5 * np.sin(np.arange(count))[:, None]
    surplus = 0.01 + 0.1 * np.abs(np.cos(3.0 * np.arange(count)))[:, None]
    values = np.where(rows == a.indices, 2 * across + 2 + surplus, np.where(same_line, -across, -1.0))
    b = np.random.default_rng(1).uniform(-1, 1, (count, a.shape[0]))
    return np.ascontiguousarray(values), b


class Place:
    """The arrays, on the host or a device, and how CG of the usual library solves one of the systems there."""

    def __init__(self, a, values, b, device):
        self.a, self.device = a, device
        if device:
            import cupy
            from cupyx.scipy.sparse import csr_matrix
            from cupyx.scipy.sparse.linalg import LinearOperator as DeviceOperator
            from cupyx.scipy.sparse.linalg import cg as device_cg

            self.library, self.name = cupy, "cupy"
            self._matrix, self._operator, self._cg = csr_matrix, DeviceOperator, device_cg
            self._rtol = "rtol" if "rtol" in inspect.signature(device_cg).parameters else "tol"
            self.values, self.b = cupy.asarray(values), cupy.asarray(b)
            self.indices, self.indptr = cupy.asarray(a.indices, cupy.int32), cupy.asarray(a.indptr, cupy.int32)
        else:
            self.library, self.name = np, "scipy"
            self._matrix, self._operator, self._cg, self._rtol = sp.csr_array, LinearOperator, cg, "rtol"
            self.values, self.b, self.indices, self.indptr = values, b, a.indices, a.indptr

    def wait(self):
        if self.device:
            self.library.cuda.Device().synchronize()

    def loop(self, count, rtol, iterations):
        """x of the first systems, one after another."""
        found = []
        for one, right in zip(self.values[:count], self.b[:count]):
            matrix = self._matrix((one, self.indices, self.indptr), shape=self.a.shape)
            inverse = 1 / matrix.diagonal()
            precond = self._operator(self.a.shape, matvec=lambda v, d=inverse: d * v)
            limits = {self._rtol: rtol, "atol": 0, "maxiter": iterations}
            found.append(self._cg(matrix, right, M=precond, **limits)[0])
        self.wait()
        return self.library.stack(found)

    def residual(self, x):
        """The largest |b - A x| / |b| of the systems in x."""
        count, norm, most = x.shape[0], self.library.linalg.norm, 0.0
        for s in range(0, count, 500):
            part = slice(s, min(s + 500, count))
            products = self.values[part] * x[part][:, self.indices]
            r = self.b[part].copy()
            for k in range(int(np.diff(self.a.indptr).max())):  # rows have the same number of entries
                r -= products[:, self.indptr[:-1] + k]
            most = max(most, float((norm(r, axis=1) / norm(self.b[part], axis=1)).max()))
        return most


def measured(place, solve, count, systems, repeats):
    """Seconds of `count` systems in each of the repeats, and what they come to for all."""
    x = solve()
    samples = []
    for _ in range(repeats):
        place.wait()
        began = time.perf_counter()
        x = solve()
        place.wait()
        samples.append(time.perf_counter() - began)
    return {"seconds": samples, "measured_systems": count, "is_estimate": count < systems,
            "milliseconds_of_all": 1e3 * statistics.median(samples) / count * systems, "largest_residual": place.residual(x)}


def batch(place, options, preconditioner, rtol, iterations):
    system = newel.BatchedSystem(place.a, solver="cg", preconditioner=preconditioner,
                                 device="cuda" if options.device else "host", threads=options.threads)
    limit = 10000 if iterations is None else iterations
    taken = []

    def solve():
        x, report = system.solve(place.values, place.b, rtol=rtol, max_iterations=limit)
        taken[:] = [int(report.iterations.max()), float(report.iterations.mean())]
        return x

    result = measured(place, solve, options.systems, options.systems, options.repeats)
    return {**result, "most_iterations": taken[0], "mean_iterations": taken[1]}


def direct(place, options):
    """cuSOLVER's batched QR, or why it is left out."""
    try:
        qr = BatchedQr(place.library, place.indptr, place.indices)
    except NoBatchedQr as error:
        return {"left_out": str(error)}
    x = place.library.empty_like(place.b)

    def solve():
        qr.solve(place.values, place.b, x)
        return x

    return {**measured(place, solve, options.systems, options.systems, options.repeats), "systems_at_a_time": qr.part}


def compared(place, options):
    """The two tables: name -> result."""
    few = min(options.loop, options.systems)
    loop = lambda rtol, limit: measured(place, lambda: place.loop(few, rtol, limit), few, options.systems,  # noqa: E731
                                        options.repeats)
    fixed = {"newel, jacobi": batch(place, options, "jacobi", 0, options.iterations),
             f"{place.name}'s cg in a loop, jacobi": loop(0, options.iterations)}
    to_tolerance = {f"newel, {name}": batch(place, options, name, options.rtol, None)
                    for name in ("jacobi", "block-jacobi", "fsai", "ilu")}
    to_tolerance[f"{place.name}'s cg in a loop, jacobi"] = loop(options.rtol, None)
    if options.device:
        to_tolerance["cusolver's batched QR"] = direct(place, options)
    return {"fixed_iterations": fixed, "to_tolerance": to_tolerance}


def show(title, results):
    print(title)
    for name, result in results.items():
        if "left_out" in result:
            print(f"  {name:32} left out: {result['left_out']}")
            continue
        estimate = f", estimated from {result['measured_systems']}" if result["is_estimate"] else ""
        print(f"  {name:32} {result['milliseconds_of_all']:10.2f} ms, largest |b - A x| / |b| "
              f"{result['largest_residual']:.1e}{estimate}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--systems", type=int, default=10000)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--loop", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--report")
    options = parser.parse_args()
    warnings.simplefilter("ignore", newel.ConvergenceWarning)  # of fixed numbers of iterations

    a = pattern()
    place = Place(a, *systems(a, options.systems), options.device)
    results = compared(place, options)
    print(f"{options.systems} systems of {a.shape[0]} rows and {a.nnz} entries")
    show(f"{options.iterations} iterations of CG", results["fixed_iterations"])
    show(f"to |b - A x| <= {options.rtol:g} |b|", results["to_tolerance"])
    if options.report:
        device = None
        if options.device:
            device = place.library.cuda.runtime.getDeviceProperties(0)["name"].decode()
        report = {"command": " ".join(["bench_batch.py", *sys.argv[1:]]), "date": today(), "commit": commit(),
                  "machine": machine(), "device": device, "newel": newel.__version__, "rows": a.shape[0],
                  "nonzeros": a.nnz, "systems": options.systems, "iterations": options.iterations, "rtol": options.rtol,
                  **results}
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
