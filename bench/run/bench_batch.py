#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many small systems of one pattern, from Python: newel.solve_batch beside a loop of SciPy's cg, and with --device beside a
loop of CuPy's cg. All make the same number of iterations of CG with Jacobi; loops are measured on a part of the systems.

    bench_batch.py [--device] [--systems 10000] [--iterations 30] [--loop 200] [--repeats 5] [--report FULL.json]

Needs newel, NumPy and SciPy; CuPy for --device. Needs a quiet machine.
"""
import argparse
import json
import platform
import statistics
import sys
import time

import numpy as np
import scipy.sparse as sp
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


def seconds_of(work, repeats):
    work()
    samples = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        samples.append(time.perf_counter() - began)
    return samples


def scipys_loop(a, values, b, iterations):
    for one, right in zip(values, b):
        matrix = sp.csr_array((one, a.indices, a.indptr), shape=a.shape)
        inverse = 1 / matrix.diagonal()
        precond = LinearOperator(a.shape, matvec=lambda v, d=inverse: d * v)
        cg(matrix, right, rtol=0, atol=0, maxiter=iterations, M=precond)


def cupys_loop(cupy, a, values, b, iterations):
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import LinearOperator as DeviceOperator
    from cupyx.scipy.sparse.linalg import cg as device_cg

    indices, indptr = cupy.asarray(a.indices.astype(np.int32)), cupy.asarray(a.indptr.astype(np.int32))
    for one, right in zip(values, b):
        matrix = csr_matrix((one, indices, indptr), shape=a.shape)
        inverse = 1 / matrix.diagonal()
        precond = DeviceOperator(a.shape, matvec=lambda v, d=inverse: d * v)
        device_cg(matrix, right, tol=0, atol=0, maxiter=iterations, M=precond)
    cupy.cuda.Device().synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--systems", type=int, default=10000)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--loop", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--report")
    options = parser.parse_args()

    a = pattern()
    values, b = systems(a, options.systems)
    few = min(options.loop, options.systems)
    cupy = None
    if options.device:
        import cupy

        values, b = cupy.asarray(values), cupy.asarray(b)
    system = newel.BatchedSystem(a, solver="cg", device="cuda" if options.device else "host", threads=options.threads)
    import warnings

    warnings.simplefilter("ignore", newel.ConvergenceWarning)  # of fixed numbers of iterations
    batch = seconds_of(lambda: system.solve(values, b, rtol=0, max_iterations=options.iterations), options.repeats)
    if options.device:
        loop = seconds_of(lambda: cupys_loop(cupy, a, values[:few], b[:few], options.iterations), options.repeats)
    else:
        loop = seconds_of(lambda: scipys_loop(a, values[:few], b[:few], options.iterations), options.repeats)
    per_batch, per_loop = statistics.median(batch) / options.systems, statistics.median(loop) / few
    rival = "cupy" if options.device else "scipy"
    print(f"{options.systems} systems of {a.shape[0]} rows, {options.iterations} iterations: newel.solve_batch "
          f"{1e6 * per_batch:.2f} us a system, {rival}'s cg {1e6 * per_loop:.1f} us, {per_loop / per_batch:.1f} times")
    if options.report:
        report = {"command": " ".join(["bench_batch.py", *sys.argv[1:]]), "date": time.strftime("%Y-%m-%d"),
                  "machine": platform.machine(), "newel": newel.__version__, "rows": a.shape[0], "nonzeros": a.nnz,
                  "systems": options.systems, "iterations": options.iterations, "batch_seconds": batch,
                  f"{rival}_seconds": loop, f"{rival}_systems": few, f"{rival}_over_batch": per_loop / per_batch}
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
