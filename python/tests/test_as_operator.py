# SPDX-License-Identifier: Apache-2.0
"""A Solver and its preconditioner as operators of SciPy; what cannot be pickled."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import convection, laplacian, residual

import newel

A = laplacian(10)
B = np.sin(np.arange(100.0))
X = np.random.default_rng(5).standard_normal((100, 3))


def test_scipy_takes_a_solver_for_its_matrix():
    operator = sla.aslinearoperator(newel.Solver(A))
    assert operator.shape == (100, 100) and operator.dtype == np.float64
    for product in (operator.matvec(B), operator @ B, operator.rmatvec(B), operator.T @ B, operator.H @ B):
        assert np.allclose(product, A @ B, atol=1e-14)
    for product in (operator.matmat(X), operator @ X, operator.T @ X, operator.H @ X):
        assert np.allclose(product, A @ X, atol=1e-13)
    assert np.allclose(operator.matvec(B[:, None]), (A @ B)[:, None], atol=1e-14)
    x, info = sla.cg(operator, B, rtol=1e-9)
    assert info == 0 and residual(A, x, B) < 1e-8
    largest = sla.eigsh(operator, k=1)[0][0]
    assert largest == pytest.approx(8 * np.sin(10 * np.pi / 22) ** 2, rel=1e-9)


def test_solvers_of_this_package_take_a_solver_for_its_matrix():
    x, report = newel.solve(newel.Solver(A), B)
    assert report.format == "operator" and report.converged and residual(A, x, B) < 2e-8


def test_the_transpose_of_a_matrix_that_is_not_symmetric_is_refused():
    a = convection(100)
    solver = newel.Solver(a)
    assert np.allclose(sla.aslinearoperator(solver) @ B, a @ B)
    with pytest.raises(NotImplementedError, match="A is not symmetric"):
        sla.aslinearoperator(solver).rmatvec(B)
    solver.refresh(np.where(a.indices == np.repeat(np.arange(100), np.diff(a.indptr)), 2.0, -1.0))
    assert np.allclose(solver.rmatvec(B), solver @ B)
    solver.refresh(a.data)
    with pytest.raises(NotImplementedError):
        solver.rmatvec(B)


@pytest.mark.parametrize("preconditioner, amg_precision", [
    ("amg", "single"), ("amg", "double"), ("fsai", "auto"), ("jacobi", "auto"), (None, "auto")])
def test_a_symmetric_preconditioner_is_its_own_transpose(preconditioner, amg_precision):
    options = {"amg_precision": amg_precision} if preconditioner == "amg" else {}
    operator = newel.Solver(A, preconditioner=preconditioner, options=options).as_preconditioner()
    product = operator @ B
    for transposed in (operator.T @ B, operator.H @ B, operator.rmatvec(B)):
        assert np.array_equal(transposed, product)
    dense = operator @ np.eye(100)
    eps = np.finfo(np.float32 if amg_precision == "single" else np.float64).eps
    assert (abs(dense - dense.T) <= 8 * eps * abs(dense).max()).all()
    assert (abs(dense @ B - product) <= 8 * eps * (abs(dense) @ abs(B))).all()
    assert np.allclose(operator.T @ X, operator @ X) and np.array_equal((operator @ X)[:, 0], operator @ X[:, 0])
    x, info = sla.bicg(A, B, M=operator, rtol=1e-9)
    assert info == 0 and residual(A, x, B) < 1e-8


def test_a_preconditioner_that_is_not_symmetric_has_no_transpose():
    operator = newel.Solver(convection(100), preconditioner="spai").as_preconditioner()
    assert np.linalg.norm(operator @ B) > 0
    with pytest.raises(NotImplementedError, match="preconditioner is not symmetric"):
        operator.T @ B


def test_what_cannot_be_pickled_says_so_in_words():
    solver = newel.Solver(A)
    for thing in (solver, solver.as_preconditioner(), [solver]):
        for pickled in (pickle.dumps, copy.copy if thing is solver else copy.deepcopy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickled(thing)


def test_a_decision_is_what_may_be_pickled():
    solver = newel.Solver(A)
    x, _ = solver.solve(B)
    again = newel.Solver(A, decision=pickle.loads(pickle.dumps(solver.decision)))
    assert residual(A, again.solve(B)[0], B) < 2e-8
