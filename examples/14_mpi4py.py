# SPDX-License-Identifier: Apache-2.0
"""14  Under mpi4py: a heated plate, whose rows are shared out among processes.

Each process makes a range of rows, with the columns of the whole matrix, and gets its part of u.

Shows: newel.Solver(A, comm=...), refresh.
Run: mpirun -n 3 python 14_mpi4py.py
"""

import numpy as np
import scipy.sparse as sp
from mpi4py import MPI

import newel

# This process' rows of -div(grad u) + c u on n x n points, u = 0 around them.
comm = MPI.COMM_WORLD
n, h = 100, 1 / 101
first, end = n * n * comm.rank // comm.size, n * n * (comm.rank + 1) // comm.size
row = np.arange(first, end)
i, j = row % n, row // n


def rows(c):
    """The matrix for a constant c: CSR with the columns of the whole matrix, in ascending order."""
    there = np.stack([j > 0, i > 0, j >= 0, i < n - 1, j < n - 1], axis=1)
    columns = np.stack([row - n, row - 1, row, row + 1, row + n], axis=1)
    values = np.tile([-1.0, -1.0, 4.0 + c * h * h, -1.0, -1.0], (row.size, 1))
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return sp.csr_array((values[there], columns[there], indptr), shape=(row.size, n * n))


solver = newel.Solver(rows(0), solver="cg", comm=comm)
x, y = (i + 1) * h, (j + 1) * h
exact = x * (1 - x) * y * (1 - y)
for c in (0.0, 50.0):
    solver.refresh(rows(c))                     # new values on the same pattern
    b = h * h * (2 * x * (1 - x) + 2 * y * (1 - y) + c * exact)
    u, report = solver.solve(b, rtol=1e-10)     # the process' part of u; the report is the same on all
    error = comm.allreduce(np.abs(u - exact).max() if u.size else 0.0, MPI.MAX)
    if comm.rank == 0:
        print(f"c = {c:g}: {report.status} after {report.iterations} iterations on {comm.size} processes, "
              f"error {error:.1e}")
