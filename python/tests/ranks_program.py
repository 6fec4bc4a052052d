# SPDX-License-Identifier: Apache-2.0
"""Run under mpirun by test_ranks.py: a Solver whose rows are distributed. SciPy judges."""

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from mpi4py import MPI

import newel

world = MPI.COMM_WORLD


def grid(n, wind=0.0):
    line = sp.diags_array([-1.0 - wind, 2.0, -1.0 + wind], offsets=[-1, 0, 1], shape=(n, n))
    across = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sp.eye_array(n)
    return (sp.kron(eye, line) + sp.kron(across, eye)).tocsr()


def bounds(n):
    """Unlike lengths; of three ranks and more the second has no row."""
    ends = [n * (r + 1) // world.size for r in range(world.size)]
    if world.size > 2:
        ends[1] = ends[0]
    return ([0, *ends])[world.rank], ends[world.rank]


def whole(x):
    """The parts of all ranks, on all."""
    return np.concatenate(world.allgather(np.asarray(x)))


def residual(A, x, b):
    return np.linalg.norm(b - A @ whole(x)) / np.linalg.norm(b)


def same_everywhere(value):
    assert all(other == value for other in world.allgather(value)), world.allgather(value)


def solves():
    for A, choices in ((grid(20), {}), (grid(20), {"solver": "cg", "preconditioner": None}),
                       (grid(20), {"solver": "cg", "preconditioner": "amg"}),
                       (grid(20, 0.4), {"solver": "gmres", "restart": 25}), (grid(20, 0.4), {"solver": "bicgstab"})):
        n = A.shape[0]
        first, end = bounds(n)
        b = A @ np.random.default_rng(1).standard_normal(n)
        solver = newel.Solver(A[first:end], comm=world, **choices)
        assert solver.shape == (end - first, n)
        x, report = solver.solve(b[first:end], rtol=1e-9)
        assert report.converged and report.rows == n and report.format == "csr", report
        assert residual(A, x, b) <= 1.01e-9
        same_everywhere((report.iterations, report.true_residual, tuple(report.history)))
        again, _ = solver.solve(b[first:end], rtol=1e-9)
        assert np.array_equal(again, x)
        y = solver @ x
        assert np.allclose(y, (A @ whole(x))[first:end], rtol=1e-12, atol=1e-12)
        info = solver.info()
        assert (info["rows"], info["first_row"], info["all_rows"]) == (end - first, first, n)
        assert info["matrix"]["nonzeros"] == A.nnz
        x, report = solver.solve(b[first:end], x0=x, rtol=1e-9)
        assert report.iterations == 0


def columns_and_values():
    A = grid(15)
    n = A.shape[0]
    first, end = bounds(n)
    b = A @ np.random.default_rng(2).standard_normal((n, 11))
    x, reports = newel.solve(A[first:end], b[first:end], rtol=1e-9, comm=world)
    assert len(reports) == 11 and all(reports) and x.shape == (end - first, 11)
    found = np.linalg.norm(b - A @ whole(x), axis=0) / np.linalg.norm(b, axis=0)
    assert np.all(found <= 1.01e-9)
    # New values: an array, and a block of rows.
    solver = newel.Solver(A[first:end], comm=world)
    for values in ((3 * A[first:end]).data, 3 * A[first:end]):
        solver.refresh(values)
        x, report = solver.solve(b[first:end, 0])
        assert report and residual(3 * A, x, b[:, 0]) <= 1.01e-8
    # Entries in any order, repeated ones, and 32-bit or 64-bit indices.
    rows = A[first:end].tocoo()
    turned = np.argsort(-rows.col, kind="stable")
    turned = turned[np.argsort(rows.row[turned], kind="stable")]
    indptr = A[first:end].indptr
    data = np.repeat(rows.data[turned] / 2, 2)
    for kind in (np.int32, np.int64):
        block = (data, np.repeat(rows.col[turned], 2).astype(kind), (2 * indptr).astype(kind))
        x, report = newel.solve(block, b[first:end, 0], comm=world)
        assert report and residual(A, x, b[:, 0]) <= 1.01e-8
    x, report = newel.solve(A[first:end].astype(np.float32), b[first:end, 0].astype(np.float32), comm=world)
    assert report and x.dtype == np.float32 and residual(A, x, b[:, 0]) <= 3e-5


def endings():
    A = grid(15)
    n = A.shape[0]
    first, end = bounds(n)
    b = np.ones(n)
    solver = newel.Solver(A[first:end], comm=world, solver="cg")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, report = solver.solve(b[first:end], max_iterations=3)
    assert report.status == "max_iterations" and report.iterations == 3 and len(caught) == 1
    same_everywhere(report.reason)
    # A callback of one rank ends the solve of all.
    last = world.size - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, report = solver.solve(b[first:end], callback=(lambda p: p.iteration < 4) if world.rank == last else None)
    assert report.status == "stopped_by_caller" and report.iterations == 4
    for arguments, words in (({"preconditioner": "jump"}, "jump"), ({"format": "ehyb"}, "ehyb"),
                             ({"precision": "mixed"}, "mixed precision"), ({"device": "cuda:1"}, "device"),
                             ({"plan_cache": "somewhere"}, "plan_cache")):
        try:
            newel.Solver(A[first:end], comm=world, **arguments)
        except ValueError as error:
            assert words in str(error), error
        except newel.RankFailed as error:  # the others may have been faster
            assert words in str(error), error
        else:
            raise AssertionError(arguments)
    try:
        newel.Solver(A[first:end], comm=3)
    except TypeError as error:
        assert "comm: expected a communicator of mpi4py" in str(error)
    else:
        raise AssertionError("comm=3")


def on_gpus():
    """Each rank takes a GPU, or hands its rows to a rank that has one; without GPUs all are told."""
    A = grid(15)
    n = A.shape[0]
    first, end = bounds(n)
    b = A @ np.random.default_rng(3).standard_normal(n)
    if not newel.devices():
        try:
            newel.Solver(A[first:end], comm=world, device="cuda")
        except (RuntimeError, newel.RankFailed) as error:
            assert "device" in str(error), error
        else:
            raise AssertionError("device")
        if world.rank == 0:
            print("skipped: no device: a Solver with comm and a device")
        return
    solver = newel.Solver(A[first:end], comm=world, device="cuda")
    assert solver.device.startswith("cuda:") and solver.info()["link"]
    for scale in (1, 3):
        solver.refresh(scale * A[first:end])
        x, report = solver.solve(b[first:end])
        assert report and residual(scale * A, x, b) <= 1.01e-8
        same_everywhere(report.iterations)
    y = solver @ x
    assert np.allclose(y, (3 * A @ whole(x))[first:end], rtol=1e-12, atol=1e-12)


def failures():
    """A rank that fails, in every call: the others raise RankFailed with its words."""
    A = grid(15)
    n = A.shape[0]
    first, end = bounds(n)
    last = world.size - 1

    def ends(work, kind, words):
        try:
            work()
        except newel.RankFailed as error:
            assert world.rank != last and f"rank {last}: " in str(error) and words in str(error), error
        except kind as error:
            assert world.rank == last and words in str(error), error
        else:
            raise AssertionError(words)

    rows = A[first:end]
    b = np.ones(end - first)
    mine = world.rank == last
    ends(lambda: newel.Solver(rows.tocsc() if mine else rows, comm=world), TypeError, "in CSR")
    wrong = rows.copy()
    if mine:
        wrong.data[0] = np.nan
    ends(lambda: newel.Solver(wrong, comm=world), ValueError, "finite")
    if mine:
        wrong = sp.csr_array((rows.data, np.where(rows.indices == n - 1, n, rows.indices), rows.indptr), (end - first, n))
    else:
        wrong = rows
    ends(lambda: newel.Solver(wrong, comm=world), ValueError, "column")
    solver = newel.Solver(rows, comm=world)
    ends(lambda: solver.solve(b[1:] if mine else b), ValueError, "b: expected")
    if not mine:
        ends(lambda: solver.solve(b), newel.RankFailed, "b: expected")  # it remains so
    solver = newel.Solver(rows, comm=world)
    # A product waits for neighbours only; the next sum waits for all.
    ends(lambda: (solver @ (b[1:] if mine else b), solver.solve(b)), ValueError, "x: expected")
    solver = newel.Solver(rows, comm=world)
    ends(lambda: solver.refresh(rows.data[1:] if mine else rows.data), ValueError, "the values: expected")
    x, report = newel.solve(rows, b, comm=world)  # the communicator itself still works
    assert report


def main():
    of_one = (solves, columns_and_values, endings, on_gpus)
    for part in (*of_one, failures) if world.size > 1 else of_one:
        part()
        world.Barrier()
    if world.rank == 0:
        print(f"{world.size} ranks: ok")


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        world.Abort(1)
