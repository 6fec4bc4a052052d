# SPDX-License-Identifier: Apache-2.0
"""NaN and infinity in what a system is made from are refused, with their place."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian

import newel

A = laplacian(4)
B = np.ones(16)
BAD = [np.nan, np.inf, -np.inf]


def entry(a, row, column):
    """The position in a.data of an entry of a CSR matrix."""
    begin, end = a.indptr[row:row + 2]
    return begin + list(a.indices[begin:end]).index(column)


def broken(bad, row=6, column=5):
    a = A.copy()
    a.data[entry(a, row, column)] = bad
    return a


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("call", [newel.solve, lambda a, b: newel.Solver(a), newel.cg])
def test_a_matrix_is_refused_with_row_and_column(bad, form, call):
    a = broken(bad)
    a = a.tobsr(blocksize=(2, 2)) if form == "bsr" else a.asformat(form)
    with pytest.raises(ValueError, match=rf"A: expected finite values of float64, found {bad} in row 6, column 5 "):
        call(a, B)


def test_the_last_and_the_only_value_are_seen_and_blocks_that_are_not_square():
    for a, place in ((broken(np.nan, 15, 15), "row 15, column 15"), (broken(np.nan, 0, 0), "row 0, column 0"),
                     (sp.csr_array([[np.nan]]), "row 0, column 0"),
                     (broken(np.nan).tobsr(blocksize=(1, 2)), "row 6, column 5")):
        with pytest.raises(ValueError, match=place):
            newel.solve(a, np.ones(a.shape[0]))
    data, indices, indptr = A.data.copy(), A.indices, A.indptr
    data[entry(A, 9, 8)] = np.inf
    with pytest.raises(ValueError, match="found inf in row 9, column 8"):
        newel.solve((data, indices.astype(np.int64), indptr.astype(np.uint64)), B)


def test_a_value_beyond_single_precision_is_named():
    with pytest.raises(ValueError, match="finite values of float32, found inf in row 6, column 5"), np.errstate(all="ignore"):
        newel.solve(broken(1e300), B, precision="single")


def test_what_is_stored_beyond_a_matrix_is_not_asked():
    padded = sp.dia_array((np.array([[-1.0] * 15 + [np.nan], [2.0] * 16, [np.nan] + [-1.0] * 15]), [-1, 0, 1]), (16, 16))
    assert newel.solve(padded, B)[1].converged
    longer = A.copy()
    longer.data, longer.indices = np.append(A.data, np.nan), np.append(A.indices, 0)
    assert newel.solve(longer, B)[1].converged


@pytest.mark.parametrize("bad", BAD)
def test_new_values_are_refused_with_their_place_and_the_old_ones_stay(bad):
    solver = newel.Solver(A)
    with pytest.raises(ValueError, match=f"found {bad} at position {entry(A, 6, 5)} "):
        solver.refresh(broken(bad).data)
    with pytest.raises(ValueError, match=f"found {bad} in row 6, column 5"):
        solver.refresh(broken(bad))
    x, report = solver.solve(B)
    assert report.converged and np.array_equal(x, newel.Solver(A).solve(B)[0])
    diagonals = A.todia()
    solver = newel.Solver(diagonals)
    values = diagonals.data.copy()
    values[2, 7] = bad
    with pytest.raises(ValueError, match=f"found {bad} at position {2 * values.shape[1] + 7} "):
        solver.refresh(values)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name, shape", [("coordinates", (16, 2)), ("coordinates", (8, 2)), ("near_null_space", (16, 3))])
@pytest.mark.parametrize("preconditioner", ["amg", "auto"])
def test_coordinates_and_near_null_vectors_are_refused_with_their_place(bad, name, shape, preconditioner):
    values = np.random.default_rng(1).random(shape)
    values[5, 1] = bad
    with pytest.raises(ValueError, match=f"{name}: expected finite values, found {bad} in row 5, column 1"):
        newel.solve(A, B, preconditioner=preconditioner, **{name: values})


def test_a_matrix_of_nan_is_described_all_the_same():
    assert newel.info(broken(np.nan))["nonzeros"] == A.nnz
