# SPDX-License-Identifier: Apache-2.0
"""Scaled rows and matched columns: x is that of the system as it was given."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import laplacian

import newel


def with_penalties():
    A = sp.lil_matrix(laplacian(12))
    b = np.full(144, 1e-2)
    for i in range(12):
        A[i, i] = 1e20
        b[i] = 1e20 * np.sin(3 * i)
    return sp.csr_matrix(A), b


@pytest.mark.parametrize("options", [{}, {"scale": "on"}, {"scale": "on", "match": "on"}])
def test_rows_with_penalties_do_not_hide_the_others(options):
    A, b = with_penalties()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x, report = newel.solve(A, b, options=options)
    R = sp.diags(1 / abs(A).max(axis=1).toarray().ravel())
    right = sla.spsolve(sp.csc_matrix(R @ A), R @ b)
    assert report.converged and 0 <= report.scaled_residual <= 1e-8
    assert np.abs(x - right).max() <= 1e-6 * np.abs(right).max()


def test_columns_are_matched():
    A = sp.csr_matrix(sp.csr_matrix(laplacian(10))[np.roll(np.arange(100), 37)])
    b = A @ np.arange(100.0)
    x, report = newel.solve(A, b, solver="bicgstab", preconditioner="jacobi", options={"match": "on"})
    assert report.converged and report.preconditioner == "jacobi"
    np.testing.assert_allclose(x, np.arange(100.0), atol=1e-4)
    with pytest.raises(ValueError, match="null_space"):
        newel.solve(A, b, null_space="constant", options={"match": "on"})
