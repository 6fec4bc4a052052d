#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heat in a square plate, -div(k grad u) = 1 with u = 0 on the edge and a conductivity k that differs by a factor of a
thousand from place to place, by finite volumes on n x n cells. Shows the way from scipy.sparse.linalg.cg to Newel: the
same call, then one call that chooses, then a setup that is kept while the values change, and the same on a GPU."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import newel


def difference(k, along):
    """What flows between neighbours along an axis, by harmonic means of the conductivities k, n x n."""
    n = len(k)
    between = 2 / (1 / k[1:] + 1 / k[:-1]) if along == 0 else 2 / (1 / k[:, 1:] + 1 / k[:, :-1])
    one = sp.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    step = sp.kron(one, sp.eye_array(n)) if along == 0 else sp.kron(sp.eye_array(n), one)
    return step.T @ sp.diags_array(between.ravel()) @ step


def plate(k):
    """The matrix for the conductivities k: between neighbours, and twice as much to the edge."""
    n = len(k)
    edge = np.zeros((n, n))
    edge[0] += 2 * k[0]
    edge[-1] += 2 * k[-1]
    edge[:, 0] += 2 * k[:, 0]
    edge[:, -1] += 2 * k[:, -1]
    return sp.csr_array(difference(k, 0) + difference(k, 1) + sp.diags_array(edge.ravel())) * n**2


n = 200
k = 10 ** (3 * np.random.default_rng(1).random((n // 10, n // 10))).repeat(10, 0).repeat(10, 1)
A, b = plate(k), np.ones(n * n)

# As it was: SciPy with Jacobi.
count = []
jacobi = sp.diags_array(1 / A.diagonal())
x, info = spla.cg(A, b, rtol=1e-8, M=jacobi, callback=lambda _: count.append(1))
print(f"SciPy: info {info}, {len(count)} iterations, |b - A x| / |b| = {np.linalg.norm(b - A @ x) / n:.1e}")

# The same call.
x, info = newel.cg(A, b, rtol=1e-8, M="jacobi")
print(f"newel.cg: info {info}, |b - A x| / |b| = {np.linalg.norm(b - A @ x) / n:.1e}")

# With multigrid, and a report.
x, report = newel.solve(A, b, preconditioner="amg")
print(f"newel.solve: {report.status} after {report.iterations} iterations of {report.solver} with {report.preconditioner}")

# One setup for many systems: the conductivity changes, the pattern does not.
solver = newel.Solver(A, preconditioner="amg", expected_solves=5)
for step in range(5):
    B = plate(k * (1 + 0.2 * step))
    solver.refresh(B.data)
    x, report = solver.solve(b, x0=x)
    print(f"step {step}: {report.iterations} iterations, mean temperature {x.mean():.3e}")
    assert report.converged and np.linalg.norm(b - B @ x) < 1.01e-8 * np.linalg.norm(b)

# On the GPU, where there is one: the arrays are copied there, and x is one of NumPy's again.
for gpu in newel.devices()[:1]:
    solver = newel.Solver(A, preconditioner="amg", device="cuda")
    x, report = solver.solve(b)
    print(f"{gpu}: {report.iterations} iterations, |b - A x| / |b| = {np.linalg.norm(b - A @ x) / n:.1e}")
