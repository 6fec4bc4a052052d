# SPDX-License-Identifier: Apache-2.0
"""Right-hand sides and guesses of every shape, order and type."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import laplacian, residual
from hypothesis import given, settings
from hypothesis import strategies as st

import newel

A = laplacian(6)
N = A.shape[0]


@settings(max_examples=60, deadline=None)
@given(columns=st.integers(0, 10), order=st.sampled_from("CF"),
       dtype=st.sampled_from([np.float64, np.float32, np.int32, np.uint8, np.bool_]), stride=st.integers(1, 3),
       reverse=st.booleans(), seed=st.integers(0, 99))
def test_columns_in_every_layout_solve_like_each_alone(columns, order, dtype, stride, reverse, seed):
    values = np.random.default_rng(seed).integers(0, 2, (stride * N, stride * columns)).astype(dtype)
    b = np.array(values, order=order)[::stride, ::stride]
    if reverse:
        b = b[::-1, ::-1]
    before = b.copy()
    x, reports = newel.solve(A, b)
    assert x.shape == b.shape and x.dtype == np.float64
    assert len(reports) == columns
    assert np.array_equal(b, before)
    for column in range(columns):
        if b[:, column].any():
            assert reports[column].converged
            assert residual(A, x[:, column], b[:, column]) < 2e-8


def test_the_solution_is_that_of_scipy():
    b = np.sin(np.arange(N))
    x, _ = newel.solve(A, b, rtol=1e-12)
    # The condition of this matrix is below 20.
    assert np.allclose(x, sla.spsolve(A.tocsc(), b), rtol=1e-10)


def test_one_column_keeps_its_shape():
    x, reports = newel.solve(A, np.ones((N, 1)))
    assert x.shape == (N, 1)
    assert len(reports) == 1


@pytest.mark.parametrize("make", [np.ones, lambda n: np.ones(2 * n)[::2], lambda n: np.ones(n)[::-1], lambda n: [1] * n,
                                  lambda n: tuple([1.0] * n), lambda n: np.ones(n, dtype=np.float16)])
def test_what_numpy_takes_for_a_vector_is_one(make):
    x, report = newel.solve(A, make(N))
    assert report.converged
    assert residual(A, x, np.ones(N)) < 2e-8


def test_read_only_arrays_are_taken():
    a, b, x0 = A.copy(), np.ones(N), np.zeros(N)
    for array in (a.data, a.indices, a.indptr, b, x0):
        array.flags.writeable = False
    solver = newel.Solver(a)
    solver.refresh(a.data)
    x, report = solver.solve(b, x0)
    assert report.converged and x.flags.writeable
    assert np.allclose(solver @ b, A @ b)


def test_host_memory_of_another_library_is_taken():
    class Foreign:
        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **keywords):
            return self._array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    x, report = newel.solve(A, Foreign(np.ones(N)))
    assert report.converged and residual(A, x, np.ones(N)) < 2e-8


def test_a_guess_is_used_and_left_alone():
    b = A @ np.arange(N, dtype=float)
    guess = np.arange(N, dtype=float)
    x, report = newel.solve(A, b, guess)
    assert report.iterations == 0
    assert x is not guess and not np.shares_memory(x, guess)
    guess += 1
    assert np.array_equal(x, np.arange(N))


def test_products_are_those_of_scipy(rng):
    solver = newel.Solver(A)
    for shape in ((N,), (N, 1), (N, 3)):
        x = rng.standard_normal(shape)
        assert np.allclose(solver @ x, A @ x, rtol=1e-14, atol=1e-14)
    assert (solver @ np.zeros((N, 0))).shape == (N, 0)


def test_a_zero_right_hand_side_has_a_zero_solution():
    x, report = newel.solve(A, np.zeros(N))
    assert report.converged and not x.any()


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("columns", [None, 3])
def test_without_a_guess_x_is_what_it_is_from_zeros(rng, solver, columns):
    a = laplacian(12)
    b = rng.standard_normal(144 if columns is None else (144, columns))
    one, other = newel.Solver(a, solver=solver), newel.Solver(a, solver=solver)
    x, report = one.solve(b)
    y, expected = other.solve(b, np.zeros_like(b))
    np.testing.assert_array_equal(x, y)
    pairs = [(report, expected)] if columns is None else zip(report, expected)
    assert all(list(r.history) == list(e.history) for r, e in pairs)


def test_scipys_functions_without_a_guess_are_as_from_zeros(rng):
    a, b = laplacian(12), rng.standard_normal(144)
    for function in (newel.cg, newel.bicgstab, newel.gmres):
        np.testing.assert_array_equal(function(a, b)[0], function(a, b, np.zeros(144))[0])
