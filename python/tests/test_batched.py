# SPDX-License-Identifier: Apache-2.0
"""Batches of small systems of one pattern: solutions against SciPy's direct solver, failures of single systems."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual
from device_kinds import every_kind
from scipy.sparse.linalg import spsolve

import newel

A = laplacian(6)
N = A.shape[0]
K = 21
VALUES = A.data * np.linspace(0.5, 3.0, K)[:, None]
B = np.sin(np.arange(K * N, dtype=float)).reshape(K, N)


def matrix(pattern, values):
    return sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def judge(pattern, values, b, x, rtol):
    for s in range(len(b)):
        a = matrix(pattern, np.asarray(values[s], dtype=np.float64))
        assert residual(a, x[s], b[s]) <= rtol * (1 + 1e-9)
        np.testing.assert_allclose(x[s], spsolve(a.tocsc(), b[s]), rtol=1e3 * rtol, atol=1e3 * rtol)


@pytest.mark.parametrize("solver", ["auto", "cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("preconditioner", [None, "jacobi", "block-jacobi", "fsai", "ilu"])
def test_every_system_is_solved(solver, preconditioner):
    x, report = newel.solve_batch(A, VALUES, B, rtol=1e-10, solver=solver, preconditioner=preconditioner)
    assert report and len(report) == K and report.together
    judge(A, VALUES, B, x, 1e-10)
    assert set(report.solver) == {"cg" if solver == "auto" else solver}
    for s in range(K):
        assert report.true_residual[s] == pytest.approx(np.linalg.norm(B[s] - matrix(A, VALUES[s]) @ x[s]), rel=1e-2)
        assert report.rhs_norm[s] == pytest.approx(np.linalg.norm(B[s]))


def test_better_preconditioners_take_fewer_iterations():
    iterations = {}
    for preconditioner in ("jacobi", "fsai", "ilu"):
        report = newel.solve_batch(A, VALUES, B, solver="cg", preconditioner=preconditioner)[1]
        iterations[preconditioner] = report.iterations.max()
    assert iterations["ilu"] < iterations["fsai"] < iterations["jacobi"]


def test_systems_that_are_not_symmetric_are_told_apart():
    pattern = convection(30)
    values = np.tile(pattern.data, (4, 1))
    symmetric = (pattern + pattern.T).tocsr()
    assert np.array_equal(symmetric.indices, pattern.indices)
    values[2] = symmetric.data
    x, report = newel.solve_batch(pattern, values, np.ones((4, 30)))
    assert list(report.solver) == ["bicgstab", "bicgstab", "cg", "bicgstab"]
    judge(pattern, values, np.ones((4, 30)), x, 1e-8)


def test_single_precision_follows_the_arrays():
    x, report = newel.solve_batch((A.indices, A.indptr), VALUES.astype(np.float32), B.astype(np.float32), rtol=1e-4)
    assert x.dtype == np.float32 and report
    assert newel.solve_batch(A, VALUES.astype(np.float32), B)[0].dtype == np.float64


def test_a_failed_system_warns_and_touches_no_other():
    whole, _ = newel.solve_batch(A, VALUES, B)
    values = VALUES.copy()
    values[5, 3] = np.nan
    values[9] *= -1
    with pytest.warns(newel.ConvergenceWarning, match="system 5, the first of 2 out of 21: not_finite"):
        x, report = newel.solve_batch(A, values, B, solver="cg")
    assert list(report.status[[5, 9, 0]]) == ["not_finite", "not_positive_definite", "converged"]
    assert not report and "positive definite" in report.reason(9) and report.reason(0) == ""
    others = [s for s in range(K) if s not in (5, 9)]
    assert np.array_equal(x[others], whole[others])
    with pytest.raises(newel.ConvergenceError) as caught:
        newel.solve_batch(A, values, B, solver="cg", raise_on_failure=True)
    assert len(caught.value.report) == K


def test_a_system_of_a_batch_is_set_up_once():
    system = newel.BatchedSystem(A, solver="cg")
    assert (system.rows, system.nonzeros, system.fits) == (N, A.nnz, True)
    for scale in (1.0, 7.0):
        x, report = system.solve(scale * VALUES, B, rtol=1e-9)
        judge(A, scale * VALUES, B, x, 1e-9)
    again, report = system.solve(7 * VALUES, B, x, rtol=1e-9)
    assert not report.iterations.any() and np.array_equal(again, x)
    with pytest.warns(newel.ConvergenceWarning, match="max_iterations"):
        _, report = system.solve(VALUES, B, max_iterations=2)
    assert set(report.iterations) == {2}


def test_an_empty_batch_has_an_empty_report():
    x, report = newel.solve_batch(A, np.empty((0, A.nnz)), np.empty((0, N)))
    assert x.shape == (0, N) and len(report) == 0 and report and "0 systems" in repr(report)


def test_systems_may_be_solved_one_after_another():
    x, report = newel.solve_batch(A, VALUES, B, together=False, rtol=1e-10)
    assert report and not report.together
    judge(A, VALUES, B, x, 1e-10)


@pytest.mark.parametrize("arguments, error, text", [
    ((A, VALUES, B[1:]), ValueError, r"values: expected shape \(20, 156\), found \(21, 156\)"),
    ((A, VALUES[:, 1:], B), ValueError, "values: expected shape"),
    ((A, VALUES, B[0]), ValueError, r"b: expected shape \(k, 36\), found \(36,\)"),
    ((A.tocsc(), VALUES, B), TypeError, "expected a matrix in CSR"),
    ((A, VALUES.astype(complex), B), TypeError, "complex"),
    (((A.indices[::-1].copy(), A.indptr), VALUES, B), ValueError, "ascending"),
])
def test_mistakes_are_named(arguments, error, text):
    with pytest.raises(error, match=text):
        newel.solve_batch(*arguments)
    with pytest.raises(ValueError, match="did you mean bicgstab"):
        newel.BatchedSystem(A, solver="bicgstap")


@pytest.mark.device
@every_kind
def test_arrays_on_a_device_are_solved_there(kind):
    b, values = kind.array(B), kind.array(VALUES)
    x, report = newel.solve_batch(A, values, b, rtol=1e-10)
    assert report and report.together
    judge(A, VALUES, B, kind.host(x), 1e-10)
    guess, report = newel.solve_batch(A, values, b, x, rtol=1e-10)
    assert not report.iterations.any()
    assert np.array_equal(kind.host(guess), kind.host(x))


@pytest.mark.device
@pytest.mark.parametrize("preconditioner", ["jacobi", "fsai", "ilu"])
def test_arrays_of_the_host_are_copied_to_a_device(preconditioner):
    x, report = newel.solve_batch(A, VALUES, B, rtol=1e-10, device="cuda", preconditioner=preconditioner)
    assert report and report.together
    judge(A, VALUES, B, x, 1e-10)
