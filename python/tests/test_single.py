# SPDX-License-Identifier: Apache-2.0
"""float32 in, float32 out."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import laplacian, residual

import newel

A = laplacian(10)
B = np.sin(np.arange(100.0))
TYPES = [np.float16, np.float32, np.float64, np.int32]


@pytest.mark.parametrize("of_a", TYPES[1:])
@pytest.mark.parametrize("of_b", TYPES)
def test_solve_returns_the_type_that_cg_returns(of_a, of_b):
    a, b = A.astype(of_a), (100 * B).astype(of_b)
    x, report = newel.solve(a, b)
    y, info = newel.cg(a, b, rtol=1e-4)
    single = of_a == np.float32 and of_b in (np.float16, np.float32)
    assert x.dtype == y.dtype == (np.float32 if single else np.float64)
    assert report.precision == ("single" if single else "double") and report.converged and info == 0
    assert residual(a, x, b) <= (1.1e-5 if single else 1.1e-8)


def test_columns_tuples_and_operators_follow_the_same_rule():
    a, b = A.astype(np.float32), B.astype(np.float32)
    for given in (a, (a.data, a.indices, a.indptr), sla.aslinearoperator(a)):
        assert newel.solve(given, b)[0].dtype == np.float32
        x, reports = newel.solve(given, np.stack([b, b], axis=1))
        assert x.dtype == np.float32 and all(reports)
    assert newel.solve(lambda x: a @ x, b)[0].dtype == np.float64


def test_a_precision_that_is_named_is_taken():
    a, b = A.astype(np.float32), B.astype(np.float32)
    assert newel.solve(a, b, precision="double")[0].dtype == np.float64
    assert newel.solve(a, b, precision="mixed")[0].dtype == np.float64
    assert newel.solve(A, B, precision="single")[0].dtype == np.float32
    assert newel.Solver(a).dtype == np.float64  # what b will be is not known
    assert newel.Solver(a, precision="single").solve(b)[0].dtype == np.float32


def test_the_tolerance_is_by_default_one_that_the_precision_reaches():
    for precision, rtol in (("single", 1e-5), ("double", 1e-8), ("mixed", 1e-8)):
        for x, report in (newel.solve(A, B, precision=precision), newel.Solver(A, precision=precision).solve(B)):
            assert report.converged and report.tolerance == pytest.approx(rtol * np.linalg.norm(B), rel=1e-6)
            assert residual(A, x, B) <= 1.1 * rtol


def test_what_single_precision_does_not_reach_is_not_said_to_be_reached():
    with pytest.warns(newel.ConvergenceWarning, match='precision="double"'):
        x, report = newel.solve(A.astype(np.float32), B.astype(np.float32), rtol=1e-12)
    assert x.dtype == np.float32 and not report
