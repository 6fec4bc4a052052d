# SPDX-License-Identifier: Apache-2.0
"""Operators and callables in the place of A and of M."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import laplacian, residual

import newel

A = laplacian(10)
B = np.ones(100)


@pytest.mark.parametrize("make", [sla.aslinearoperator, lambda a: lambda x: a @ x])
@pytest.mark.parametrize("solver", ["auto", "cg", "bicgstab", "gmres"])
def test_an_operator_is_solved(make, solver):
    x, report = newel.solve(make(A), B, solver=solver)
    assert report.converged and report.format == "operator"
    assert residual(A, x, B) < 2e-8


def test_several_columns_of_an_operator():
    b = np.eye(100)[:, :5]
    x, reports = newel.solve(sla.aslinearoperator(A), b)
    assert all(report.converged for report in reports)
    assert np.linalg.norm(b - A @ x, axis=0).max() < 2e-8


def test_vectors_that_an_operator_keeps_are_its_own():
    kept, copies = [], []

    def product(x):
        kept.append(x)
        copies.append(x.copy())
        return A @ x

    newel.solve(product, B)
    assert len(kept) > 5
    assert all(np.array_equal(one, other) for one, other in zip(kept, copies))
    assert len({one.__array_interface__["data"][0] for one in kept}) == len(kept)


def test_an_operator_in_single_precision_gets_single_vectors():
    types = set()

    def product(x):
        types.add(x.dtype)
        return A @ x

    x, report = newel.solve(product, B, precision="single", rtol=1e-4)
    assert report.converged and x.dtype == np.float32 and types == {np.dtype(np.float32)}


@pytest.mark.parametrize("result, error, words", [
    (lambda x: x[:-1], ValueError, r"expected shape \(100,\), found \(99,\)"),
    (lambda x: 1j * x, TypeError, "is complex"),
    (lambda x: None, TypeError, "expected an array of numbers"),
    (lambda x: 1 / 0, ZeroDivisionError, "division"),
])
def test_what_an_operator_does_wrong_comes_out(result, error, words):
    with pytest.raises(error, match=words):
        newel.solve(result, B)
    with pytest.raises(error, match=words):
        newel.solve(A, B, preconditioner=result)


def test_products_of_any_kind_of_array_are_taken():
    for convert in (list, lambda y: y[:, None], lambda y: np.asfortranarray(np.stack([y, y], 1))[:, 0],
                    lambda y: np.repeat(y, 2)[::2]):
        x, report = newel.solve(lambda v, convert=convert: convert(A @ v), B)
        assert report.converged and residual(A, x, B) < 2e-8


def test_a_changed_operator_is_solved_as_it_is():
    factor = [1.0]
    solver = newel.Solver(sla.LinearOperator((100, 100), matvec=lambda x: factor[0] * (A @ x), dtype=float))
    x, _ = solver.solve(B)
    factor[0] = 2.0
    solver.refresh()
    y, report = solver.solve(B)
    assert report.converged and np.allclose(y, x / 2, rtol=1e-6)


def test_an_own_preconditioner_is_used():
    calls = []

    def inverse(r):
        calls.append(1)
        return r / 4

    x, report = newel.solve(A, B, preconditioner=inverse)
    assert report.converged and len(calls) >= report.iterations
    assert residual(A, x, B) < 2e-8


@pytest.mark.parametrize("keywords", [{"format": "csr"}, {"precision": "mixed"}, {"preconditioner": "amg"}])
def test_what_needs_entries_is_refused(keywords):
    with pytest.raises(ValueError, match="operator|entries"):
        newel.solve(sla.aslinearoperator(A), B, **keywords)


def test_a_callable_alone_has_no_size():
    with pytest.raises(ValueError, match="how many rows"):
        newel.Solver(lambda x: A @ x)
