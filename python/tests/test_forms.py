# SPDX-License-Identifier: Apache-2.0
"""Matrices in every form, type and order give the solution that dense elimination gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual
from hypothesis import given, settings
from hypothesis import strategies as st

import newel

FORMS = ["csr", "csc", "coo", "bsr", "dia"]


@st.composite
def dominant_matrices(draw):
    """A dense matrix with a dominant diagonal, of 1 to 12 rows, so that every solver converges."""
    n = draw(st.integers(1, 12))
    values = draw(st.lists(st.integers(-4, 4), min_size=n * n, max_size=n * n))
    dense = np.array(values, dtype=np.float64).reshape(n, n)
    dense *= np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    if draw(st.booleans()):
        dense = dense + dense.T
    np.fill_diagonal(dense, 1 + np.abs(dense).sum(axis=1))
    return dense


def split_and_shuffled(dense, rng):
    """The same matrix as triplets in any order, each entry in two halves."""
    row, col = np.nonzero(dense)
    value = dense[row, col] / 2
    order = rng.permutation(2 * row.size)
    row, col, value = (np.concatenate([a, a])[order] for a in (row, col, value))
    return row, col, value


@settings(max_examples=60, deadline=None)
@given(dense=dominant_matrices(), form=st.sampled_from(FORMS), array=st.booleans(),
       index=st.sampled_from([np.int32, np.int64]),
       dtype=st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.int8, np.uint16]))
def test_every_form_and_type_gives_the_solution(dense, form, array, index, dtype):
    if np.dtype(dtype).kind == "u":
        dense = np.abs(dense)
    A = (sp.csr_array if array else sp.csr_matrix)(dense.astype(dtype)).asformat(form)
    for name in ("indptr", "indices", "row", "col"):
        if form != "dia" and hasattr(A, name) and not (form == "coo" and array):
            setattr(A, name, getattr(A, name).astype(index))
    b = np.arange(1, dense.shape[0] + 1)
    x, report = newel.solve(A, b, rtol=1e-10)
    assert report.converged
    # |x - A^-1 b| <= |A^-1| |r|
    bound = 2e-10 * np.linalg.norm(np.linalg.inv(dense), 2) * np.linalg.norm(b)
    assert np.linalg.norm(x - np.linalg.solve(dense, b)) <= bound + 1e-13 * np.linalg.norm(x)


@settings(max_examples=40, deadline=None)
@given(dense=dominant_matrices(), form=st.sampled_from(["coo", "csr", "csc"]), seed=st.integers(0, 99))
def test_repeated_entries_in_any_order_are_summed(dense, form, seed):
    n = dense.shape[0]
    row, col, value = split_and_shuffled(dense, np.random.default_rng(seed))
    if form == "coo":
        A = sp.coo_array((value, (row, col)), shape=(n, n))
    else:
        line, other = (row, col) if form == "csr" else (col, row)
        order = np.argsort(line, kind="stable")
        pointers = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=n))])
        kind = sp.csr_array if form == "csr" else sp.csc_array
        A = kind((value[order], other[order], pointers), shape=(n, n))
    b = np.ones(n)
    x, report = newel.solve(A, b, rtol=1e-10)
    assert report.converged
    assert residual(sp.csr_array(dense), x, b) < 2e-10


@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint32, np.uint64, np.int16])
def test_a_tuple_of_arrays_is_csr(index):
    A = laplacian(10)
    parts = (A.data, A.indices.astype(index), A.indptr.astype(index))
    x, report = newel.solve(parts, np.ones(100))
    assert report.converged
    assert residual(A, x, np.ones(100)) < 2e-8


@pytest.mark.parametrize("blocksize", [(2, 2), (5, 5), (2, 5), (1, 4)])
def test_blocks_of_every_shape_are_taken(blocksize):
    A = convection(100)
    x, report = newel.solve(A.tobsr(blocksize=blocksize), np.ones(100))
    assert report.converged
    assert residual(A, x, np.ones(100)) < 2e-8


def test_diagonals_outside_the_matrix_are_left_out():
    data = np.array([[9.0, 9.0, -1.0], [2.0, 3.0, 4.0], [-1.0, 9.0, 9.0]])
    data = np.hstack([data, np.full((3, 2), 9.0)])
    A = sp.dia_array((data, [2, 0, -2]), shape=(3, 3))
    x, report = newel.solve(A, np.ones(3), rtol=1e-12)
    assert np.allclose(x, np.linalg.solve(A.toarray(), np.ones(3)), rtol=1e-11)
    assert report.converged


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])  # SciPy makes no empty matrix of the others
def test_an_empty_system_has_an_empty_solution(form):
    A = sp.csr_array((0, 0)).asformat(form)
    x, report = newel.solve(A, np.zeros(0))
    assert x.shape == (0,)
    assert report.converged


def test_a_system_of_one_row():
    for form in FORMS:
        x, report = newel.solve(sp.csr_array([[4.0]]).asformat(form), [2.0])
        assert x == pytest.approx([0.5], rel=1e-8)
        assert report.rows == 1


def test_arrays_longer_than_the_matrix_are_cut():
    A = laplacian(5)
    long = sp.csr_array((25, 25))
    long.indptr = A.indptr
    long.indices = np.concatenate([A.indices, np.full(7, 99, A.indices.dtype)])
    long.data = np.concatenate([A.data, np.full(7, np.nan)])
    solver = newel.Solver(long)
    solver.refresh(long.data)
    x, report = solver.solve(np.ones(25))
    assert report.converged
    assert residual(A, x, np.ones(25)) < 2e-8


@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_precisions_give_what_they_promise(precision):
    A, b = laplacian(20), np.ones(400)
    x, report = newel.solve(A, b, rtol=1e-4 if precision == "single" else 1e-8, precision=precision)
    assert x.dtype == (np.float32 if precision == "single" else np.float64)
    assert report.precision == precision
    # The matrix is exact in single precision; x is rounded to it.
    assert residual(A, x, b) < (2e-4 if precision == "single" else 2e-8)


def test_foreign_byte_order_is_converted():
    A = laplacian(5)
    A.data = A.data.astype(">f8")
    x, report = newel.solve(A, np.ones(25, dtype=">f8"))
    assert report.converged
    assert residual(laplacian(5), x, np.ones(25)) < 2e-8
