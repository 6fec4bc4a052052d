# SPDX-License-Identifier: Apache-2.0
"""What fits is not copied, and nothing that was borrowed is used later."""

import gc
import tracemalloc

import numpy as np
import pytest
from conftest import convection, laplacian, residual

import newel
from newel._arrays import as_dtype, by_columns
from newel._matrices import given_matrix

A = laplacian(8)


def address(array) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_library_reads_the_arrays_of_the_caller(form, dtype):
    a = A.astype(dtype).asformat(form)
    first, second = (a.row, a.col) if form == "coo" else (a.indptr, a.indices)
    given = given_matrix(a)
    assert given.arrays.addresses() == (address(first), address(second), address(a.data))


def test_the_library_reads_the_arrays_of_a_tuple():
    parts = (A.data, A.indices.astype(np.int64), A.indptr)
    assert given_matrix(parts).arrays.addresses() == (address(parts[2]), address(parts[1]), address(parts[0]))


@pytest.mark.parametrize("b", [np.ones(64), np.ones((64, 1)), np.ones((64, 3), order="F")])
def test_vectors_that_fit_are_passed_on(b):
    assert address(by_columns(as_dtype(b, np.dtype(np.float64), "b"))) == address(b)


def test_a_solve_allocates_the_solution_alone():
    n = 200_000
    a, b = convection(n), np.ones(n)
    solver = newel.Solver(a, solver="bicgstab")
    solver.solve(b)
    tracemalloc.start()
    x, _ = solver.solve(b)
    peak = tracemalloc.get_traced_memory()[1]
    solver.refresh(a.data)
    refreshed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x.nbytes <= peak < 1.05 * x.nbytes
    assert refreshed < 1.05 * x.nbytes


def test_a_setup_allocates_nothing_in_numpy():
    a = convection(200_000)
    tracemalloc.start()
    newel.Solver(a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * a.data.nbytes


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_solver_does_not_use_the_arrays_afterwards(form):
    a, b = A.copy().asformat(form), np.ones(64)
    solver = newel.Solver(a)
    for name in ("data", "indptr", "indices", "row", "col"):
        array = getattr(a, name, None)
        if isinstance(array, np.ndarray):
            array[...] = 77
    del a, array
    gc.collect()
    x, report = solver.solve(b)
    assert report.converged
    assert residual(A, x, b) < 2e-8


def test_histories_outlive_their_solver():
    solver = newel.Solver(A)
    x, report = solver.solve(np.ones(64))
    history = report.history
    first = history.copy()
    del solver, report
    gc.collect()
    assert np.array_equal(history, first)
