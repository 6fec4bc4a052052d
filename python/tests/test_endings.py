# SPDX-License-Identifier: Apache-2.0
"""What reports say of systems at the ends of the range, without solutions, or with unknowns that have no entries.

The systems are those of bug reports. Residuals are formed exactly, in fractions.
"""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import newel

pytestmark = pytest.mark.filterwarnings("ignore::newel.ConvergenceWarning")


def line(n, diagonal=2.0):
    return sp.diags_array([-np.ones(n - 1), diagonal * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()


def relative_residual(A, b, x):
    """|b - A x| / |b|, exactly but for the last root."""
    A = sp.csr_array(A)
    squares = Fraction(0)
    for i in range(A.shape[0]):
        r = Fraction(float(b[i]))
        for k in range(A.indptr[i], A.indptr[i + 1]):
            r -= Fraction(float(A.data[k])) * Fraction(float(x[A.indices[k]]))
        squares += r * r
    return math.sqrt(squares / sum(Fraction(float(v)) ** 2 for v in b))


def check(A, b, x, report):
    """The report is of the x that came back, in every ending."""
    if not np.isfinite(x).all():
        assert not report.converged and not np.isfinite(report.true_residual)
        return
    exact = relative_residual(A, b, x)
    assert report.relative_residual == pytest.approx(exact, rel=1e-6, abs=1e-9)
    if report.converged:
        assert exact * report.rhs_norm <= report.tolerance * (1 + 1e-12)


@pytest.mark.parametrize("scale, of_b", [(1.0, 1.0), (1e-162, 1.0), (1e-189, 1e-35), (1e-200, 1e-35), (1e-250, 1.0),
                                         (1e-290, 1.0)])
def test_a_regular_matrix_has_no_null_space_at_any_scale(scale, of_b):
    b = np.random.default_rng(0).standard_normal(50) * of_b
    with pytest.raises(ValueError, match="null_space|null space"):
        newel.solve(line(50) * scale, b, rtol=1e-5, null_space="constant", preconditioner="none", solver="cg")


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab"])
def test_the_residual_is_not_that_of_another_x_when_x_leaves_the_range(solver):
    A, b = line(8) * 1e-309, np.ones(8)
    check(A, b, *newel.solve(A, b, preconditioner="none", solver=solver, max_iterations=2, rtol=1e-8))
    A, b = line(34) * 1e290, np.random.default_rng(1).standard_normal(34) * 1e-61
    check(A, b, *newel.solve(A, b, solver=solver, max_iterations=5, rtol=0.01))


@pytest.mark.parametrize("scale", [1e153, 1e154, 1e155, 1e200])
@pytest.mark.parametrize("x0", [None, np.ones(2)])
def test_a_guess_of_ordinary_size_does_not_overflow_next_to_a_large_matrix(scale, x0):
    A, b = sp.csr_array(np.eye(2) * scale), np.array([1.0, 2.0])
    x, report = newel.solve(A, b, x0=x0, preconditioner="jacobi")
    assert report.converged, report.reason
    np.testing.assert_allclose(x * scale, b)
    check(A, b, x, report)


@pytest.mark.parametrize("scale", [1e-100, 1e-140, 1e-145, 1e-150, 1e-200])
@pytest.mark.parametrize("shape", [np.r_[1.0, np.full(39, 1e-3)], np.ones(40)])
def test_norms_are_2_norms_also_where_squares_underflow(scale, shape):
    x, report = newel.solve(line(40, 3.0), shape * scale, atol=1e-10, solver="cg")
    assert report.converged
    assert report.rhs_norm / scale == pytest.approx(np.linalg.norm(shape))
    if not x.any():
        assert report.true_residual == pytest.approx(report.rhs_norm)


@pytest.mark.parametrize("A, b, options", [
    (sp.csr_array(np.eye(35) * 1e200), None, {"rtol": 0.0, "atol": 2e-19, "format": "csr"}),
    (sp.csr_array(np.diag(np.arange(1.0, 36))), None, {"rtol": 0.0, "format": "csr"}),
    (sp.csr_array(np.array([[0.0, 1], [1, 0]])), np.array([0.3, 0.7]), {"rtol": 1e-17}),
])
def test_the_history_starts_from_the_guess_and_has_one_entry_for_each_iteration(A, b, options):
    b = np.random.default_rng(3).standard_normal(35) if b is None else b
    _, report = newel.solve(A, b, **options)
    assert report.initial_residual == pytest.approx(np.linalg.norm(b))
    assert report.tolerance == pytest.approx(max(options["rtol"] * np.linalg.norm(b), options.get("atol", 0.0)))
    assert len(report.history) == report.iterations + 1


def test_unknowns_without_entries_are_finite_where_a_solve_has_converged():
    A = sp.csr_array(np.array([[0, -2.0, 0], [0, 0, -2], [0, 0, 2]]))
    A.eliminate_zeros()
    for x0 in (None, np.zeros(3), np.array([np.nan, 0, 0]), np.array([np.inf, 0, 0])):
        x, report = newel.solve(A, np.array([-3.0, -4, 5]), x0=x0, rtol=0.1)
        assert np.isfinite(x).all() or not report.converged
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(5000000 + seed)
        n = int(rng.integers(5, 45))
        D = np.round(rng.standard_normal((n, n)) * 4) * (rng.random((n, n)) < rng.uniform(1.5, 6) / n)
        D[:, rng.choice(n, int(rng.integers(1, 3)), replace=False)] = 0
        A = sp.csr_array(D)
        A.eliminate_zeros()
        b = A @ np.round(rng.standard_normal(n) * 4)
        b = b + 1e-3 * np.linalg.norm(b) * rng.standard_normal(n) / np.sqrt(n)
        try:
            x, report = newel.solve(A, b, rtol=1e-3)
        except ValueError:  # an empty row
            continue
        found += 1
        if report.converged:
            assert np.isfinite(x).all(), seed
            assert relative_residual(A, b, x) <= 1e-3 * (1 + 1e-12), seed
    assert found > 10


def test_a_load_that_a_singular_matrix_cannot_carry_is_never_converged():
    A = sp.csr_array(4.0 * np.eye(4) - np.ones((4, 4)))
    for b in (np.array([1.0, 0, 0, 0]), np.ones(4)):
        for precision in ("double", "mixed"):
            for solver in ("auto", "cg", "bicgstab", "gmres"):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    x, report = newel.solve(A, b, solver=solver, precision=precision)
                assert not report.converged
                assert any(issubclass(w.category, newel.ConvergenceWarning) for w in caught)
                assert report.relative_residual >= abs(b.sum()) / 2 / np.linalg.norm(b) * 0.99
