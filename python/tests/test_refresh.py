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
    for other in (moved, sp.eye_array(60, format="csr"), a.tocsc(), convection(61)):
        with pytest.raises(ValueError, match="pattern"):
            solver.refresh(other)
    with pytest.raises(ValueError, match="expected 178, as the matrix has, found 5"):
        solver.refresh(np.ones(5))
    assert np.allclose(solver @ B, a @ B)


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
