# SPDX-License-Identifier: Apache-2.0
"""New values come in the order of the array that the Solver was made from."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual

import newel
import newel._matrices

B = np.ones(60)


def with_values(a, factor):
    """The same pattern, every stored value times its own factor."""
    other = a.copy()
    other.data = a.data * factor.reshape(a.data.shape)
    return other


def coo_with_repeats():
    a = convection(60).tocoo()
    return sp.coo_array((np.concatenate([a.data / 2, a.data[::-1] / 2]),
                         (np.concatenate([a.row, a.row[::-1]]), np.concatenate([a.col, a.col[::-1]]))), shape=a.shape)


def unsorted_csr():
    a = convection(60)
    for i in range(60):
        row = slice(a.indptr[i], a.indptr[i + 1])
        a.indices[row], a.data[row] = a.indices[row][::-1].copy(), a.data[row][::-1].copy()
    a.has_sorted_indices = False
    return a


MATRICES = {
    "csr": lambda: convection(60),
    "unsorted csr": unsorted_csr,
    "csc": lambda: convection(60).tocsc(),
    "coo with repeats": coo_with_repeats,
    "bsr": lambda: convection(60).tobsr(blocksize=(3, 3)),
    "bsr 2 x 3": lambda: convection(60).tobsr(blocksize=(2, 3)),
    "dia": lambda: convection(60).todia(),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("as_matrix", [False, True])
def test_refreshed_values_are_those_of_the_new_matrix(name, as_matrix, rng):
    a = MATRICES[name]()
    solver = newel.Solver(a)
    solver.solve(B)
    other = with_values(a, 1 + 0.1 * rng.random(a.data.size))
    solver.refresh(other if as_matrix else other.data)
    x, report = solver.solve(B)
    assert report.converged
    assert residual(other.tocsr(), x, B) < 2e-8
    assert residual(a.tocsr(), x, B) > 1e-4


def test_a_tuple_refreshes_too():
    a = convection(60)
    solver = newel.Solver((a.data, a.indices, a.indptr))
    solver.refresh((2 * a.data, a.indices.astype(np.int64), a.indptr))
    assert np.allclose(solver @ B, 2 * (a @ B))


def test_another_pattern_is_refused():
    a = convection(60)
    solver = newel.Solver(a)
    moved = a.copy()
    moved.indices = moved.indices.copy()
    moved.indices[:2] = [0, 2]
    with pytest.raises(ValueError, match=r"has 1 entries where the pattern .* row 0, column 2 \(counted from 0\)"):
        solver.refresh(moved)
    with pytest.raises(ValueError, match=r"expected a matrix of shape \(60, 60\), .* found \(61, 61\)"):
        solver.refresh(convection(61))
    with pytest.raises(ValueError, match="expected 178, as the matrix has, found 5"):
        solver.refresh(np.ones(5))
    assert np.allclose(solver @ B, a @ B)


def fewer(a, rng):
    """A part of the entries, others than in `a` at times, and always the diagonal."""
    b = a.tocsr().tocoo()
    kept = (rng.random(b.nnz) < 0.7) | (b.row == b.col)
    return sp.coo_array((b.data[kept] * (1 + 0.1 * rng.random(kept.sum())), (b.row[kept], b.col[kept])), shape=a.shape)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("name", [name for name in MATRICES if name != "coo with repeats"])
def test_missing_entries_are_zeros_whatever_the_forms(name, form, rng):
    a = MATRICES[name]()
    solver = newel.Solver(a)
    for _ in range(2):
        other = fewer(a, rng)
        given = other.tobsr(blocksize=(1, 1)) if form == "bsr" else other.asformat(form)
        if form == "dia":  # stores whole diagonals, all of which the pattern has
            given = sp.diags_array([other.diagonal(-1), other.diagonal(), other.diagonal(1)], offsets=[-1, 0, 1])
            other = given
        solver.refresh(given)
        assert np.allclose(solver @ B, other @ B, rtol=1e-13)
    solver.refresh(a)
    assert np.allclose(solver @ B, a @ B, rtol=1e-13)
    x, report = solver.solve(B)
    assert report.converged and residual(a.tocsr(), x, B) < 2e-8


def test_zeros_that_vanish_from_the_matrix_itself_are_found_out():
    a = convection(60)
    solver = newel.Solver(a)
    a.data[1] = 0
    a.eliminate_zeros()  # which moves the entries in the arrays that the Solver refers to
    with pytest.raises(ValueError, match="index arrays have been changed since"):
        solver.refresh(a)
    assert solver.update(a)
    assert np.allclose(solver @ B, a @ B)


def test_repeated_entries_have_no_one_place():
    solver = newel.Solver(coo_with_repeats())
    with pytest.raises(ValueError, match="several values in one place"):
        solver.refresh(sp.eye_array(60, format="csr"))


def test_not_a_number_in_fewer_entries_is_named(rng):
    a = convection(60)
    solver = newel.Solver(a)
    other = fewer(a, rng).tocsr()
    other.data[0] = np.nan
    with pytest.raises(ValueError, match="row 0, column 0"):
        solver.refresh(other)
    assert np.allclose(solver @ B, a @ B)


def test_an_update_sets_up_again_only_for_a_larger_pattern():
    a = convection(60)
    solver = newel.Solver(a, solver="gmres", restart=7)
    solver.solve(B)
    assert not solver.update(2 * a)
    assert np.allclose(solver @ B, 2 * (a @ B))
    assert not solver.update(sp.diags_array(np.arange(1.0, 61)).tocsr())
    larger = (a + sp.eye_array(60, k=5)).tocsr()
    assert solver.update(larger)
    x, report = solver.solve(B)
    assert report.solver == "gmres" and residual(larger, x, B) < 2e-8
    assert solver.update(laplacian(5)) and solver.shape == (25, 25)
    x, report = solver.solve(np.ones(25))
    assert report.converged and residual(laplacian(5), x, np.ones(25)) < 2e-8


def test_a_failed_update_leaves_the_solver_as_it_was():
    a = convection(60)
    solver = newel.Solver(a, preconditioner="jacobi")
    hollow = (a + sp.eye_array(60, k=5)).tolil()
    hollow[3, 3] = 0
    with pytest.raises(ValueError, match="row 3"):
        solver.update(hollow.tocsr())
    assert np.allclose(solver @ B, a @ B)
    x, report = solver.solve(B)
    assert report.converged and residual(a, x, B) < 2e-8


def test_an_update_wants_a_matrix_for_a_matrix():
    with pytest.raises(TypeError, match="sparse matrix"):
        newel.Solver(convection(60)).update(np.ones(178))
    with pytest.raises(TypeError, match="operator"):
        newel.Solver(sp.linalg.aslinearoperator(laplacian(5))).update(laplacian(5))


def test_a_preconditioner_may_be_kept():
    a = laplacian(20)
    solver = newel.Solver(a, preconditioner="amg")
    solver.refresh(1.01 * a.data, keep_preconditioner=True)
    x, report = solver.solve(np.ones(400))
    assert report.converged
    assert residual(1.01 * a, x, np.ones(400)) < 2e-8


def test_nodes_that_have_moved_are_taken_into_account():
    side = 12  # a plate of bilinear springs: the Laplacian of a grid for each of two components, coupled
    a = (sp.kron(laplacian(side), [[2, 0.5], [0.5, 1]])).tocsr()
    nodes = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2).astype(float)
    solver = newel.Solver(a, preconditioner="amg", coordinates=nodes, options={"amg_max_coarse": 20})
    x, report = solver.solve(np.ones(2 * side**2))
    solver.refresh(2 * a.data, coordinates=2 * nodes)
    x, again = solver.solve(np.ones(2 * side**2))
    assert again.converged and abs(again.iterations - report.iterations) <= 1
    assert residual(2 * a, x, np.ones(2 * side**2)) < 2e-8
    with pytest.raises(ValueError, match="as many coordinates as before, 288 in 2 dimensions"):
        solver.refresh(a.data, coordinates=np.ones((side**2, 3)))
    with pytest.raises(ValueError, match="SpmvOptions::coordinates"):
        newel.Solver(a, preconditioner="amg").refresh(a.data, coordinates=nodes)


def test_values_that_are_refused_leave_the_nodes_where_they_were():
    side = 12
    a = (sp.kron(laplacian(side), [[2, 0.5], [0.5, 1]])).tocsr()
    nodes = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2).astype(float)
    # In a format that no solve changes, so that the bits are the same.
    solver = newel.Solver(a, format="csr", preconditioner="amg", coordinates=nodes, options={"amg_max_coarse": 20})
    x, _ = solver.solve(np.ones(2 * side**2))
    with pytest.raises(ValueError):
        solver.refresh(a.data[1:], coordinates=nodes**2)
    solver.refresh(a.data)
    y, _ = solver.solve(np.ones(2 * side**2))
    assert np.array_equal(x, y)


def test_values_that_a_preconditioner_refuses_name_the_row_and_the_solver_recovers():
    a = laplacian(5)
    solver = newel.Solver(a, preconditioner="jacobi")
    bad = a.data.copy()
    bad[np.flatnonzero(a.indices == np.repeat(np.arange(25), np.diff(a.indptr)))[7]] = 0
    with pytest.raises(ValueError, match="row 7"):
        solver.refresh(bad)
    with pytest.raises(ValueError):
        solver.solve(np.ones(25))
    solver.refresh(a.data)
    x, _ = solver.solve(np.ones(25))
    assert residual(a, x, np.ones(25)) < 2e-8


def test_refresh_wants_values_and_an_operator_has_none():
    with pytest.raises(TypeError, match="missing"):
        newel.Solver(laplacian(5)).refresh()
    with pytest.raises(TypeError, match="operator"):
        newel.Solver(sp.linalg.aslinearoperator(laplacian(5))).refresh(np.ones(3))


def test_one_call_does_not_pay_for_a_refresh_that_cannot_come(monkeypatch):
    A, b = laplacian(8), np.ones(64)

    def hashed(*_):
        raise AssertionError("the pattern is hashed")

    monkeypatch.setattr(newel._matrices.GivenMatrix, "value_map", hashed)
    assert newel.solve(A, b)[1].converged and newel.cg(A, b)[1] == 0
    with pytest.raises(AssertionError, match="hashed"):
        newel.Solver(A)


def test_bytes_are_compared_to_the_last_one():
    values = np.arange(9.0)
    assert newel._core.same_bytes(values, values.copy()) and newel._core.same_bytes(values[:0], values[3:3])
    for place in range(9):
        other = values.copy()
        other[place] = np.nextafter(other[place], 10)
        assert not newel._core.same_bytes(values, other) and not newel._core.same_bytes(other, values)
    assert not newel._core.same_bytes(values, values[:8]) and not newel._core.same_bytes(np.zeros(1), -np.zeros(1))
    with pytest.raises((ValueError, BufferError)):
        newel._core.same_bytes(values, values[::2])
