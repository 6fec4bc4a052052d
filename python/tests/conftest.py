# SPDX-License-Identifier: Apache-2.0
"""Matrices for the tests, made by SciPy, and the judgement of a solution, which asks nothing of Purlin."""

import numpy as np
import pytest
import scipy.sparse as sp


def laplacian(n: int, dtype=np.float64) -> sp.csr_array:
    """Five points on n x n: symmetric, positive definite."""
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sp.eye_array(n)
    a = (sp.kron(eye, line) + sp.kron(line, eye)).tocsr().astype(dtype)
    a.eliminate_zeros()  # SciPy stores those of full blocks
    return a


def convection(n: int) -> sp.csr_array:
    """A line with a wind: not symmetric, diagonally dominant."""
    return sp.diags_array([-1.6, 2.5, -0.4], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def residual(A, x, b) -> float:
    """|b - A x| / |b|, by SciPy's product in double."""
    b = np.asarray(b, dtype=np.float64)
    r = b - A.astype(np.float64) @ np.asarray(x, dtype=np.float64)
    return float(np.linalg.norm(r) / np.linalg.norm(b))


@pytest.fixture
def rng():
    return np.random.default_rng(20261123)
