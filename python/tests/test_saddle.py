# SPDX-License-Identifier: Apache-2.0
"""What a Solver knows of a saddle point: constraints, a mass matrix, coordinates and near-null vectors of all rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual

import newel

N = 12
M = 40  # constraints


def line_of_constraints(n=N):
    """[A B^T; B 0] with the Laplacian, each of whose first unknowns M constraints tie in pairs."""
    A = laplacian(n)
    rows = np.repeat(np.arange(M), 2)
    B = sp.coo_array((np.tile([1.0, -1.0], M), (rows, (2 * rows + np.tile([0, 1], M)))), shape=(M, n * n))
    return sp.csr_array(sp.block_array([[A, B.T], [B, None]]))


K = line_of_constraints()
B_VECTOR = np.cos(np.arange(float(K.shape[0])))
LAST = np.arange(N * N, N * N + M)


def iterations(**keywords):
    x, report = newel.solve(K, B_VECTOR, solver="minres", preconditioner="saddle", **keywords)
    assert report.converged and residual(K, x, B_VECTOR) <= 1.01e-8
    return report.iterations


def test_constraints_are_rows_or_a_mask_in_any_order():
    mask = np.zeros(K.shape[0], dtype=bool)
    mask[LAST] = True
    assert iterations(constraints=LAST) == iterations(constraints=mask) == iterations(constraints=LAST[::-1].tolist())
    assert iterations(constraints=LAST) == iterations(options={"saddle_constraints": M}) == iterations()


def test_the_mass_matrix_replaces_the_schur_complement():
    S = sp.csc_array(K[LAST][:, : N * N] @ sp.linalg.inv(K[: N * N][:, : N * N].tocsc()) @ K[: N * N][:, LAST])
    assert iterations(mass=S) < iterations(options={"saddle_schur": "diagonal"})
    assert iterations(mass=S) == iterations(mass=7.0 * sp.coo_array(S), constraints=LAST)  # up to a factor
    solver = newel.Solver(K, solver="minres", preconditioner="saddle", mass=S)
    assert "the given matrix" in str(solver.info())


@pytest.mark.parametrize("keywords, error, words", [
    ({"constraints": [K.shape[0]]}, ValueError, "expected rows from 0 to 183, found 184"),
    ({"constraints": [-1, 3]}, ValueError, "found -1"),
    ({"constraints": []}, (ValueError, TypeError), "constraints"),
    ({"constraints": [0.5]}, TypeError, "row numbers or a mask"),
    ({"constraints": [[1, 2]]}, ValueError, "one dimension"),
    ({"mass": np.eye(3)}, TypeError, "sparse matrix"),
    ({"mass": sp.eye_array(3, 4)}, ValueError, "square"),
    ({"mass": sp.eye_array(M) * 1j}, TypeError, "real"),
    ({"mass": sp.eye_array(M) * np.nan}, ValueError, "finite"),
    ({"mass": sp.eye_array(M - 1), "constraints": LAST}, ValueError, "expected 40 rows"),
    ({"mass": sp.eye_array(M - 1)}, ValueError, "39 rows, not 40"),
])
def test_what_does_not_fit_is_refused_in_words(keywords, error, words):
    with pytest.raises(error, match=words):
        newel.solve(K, B_VECTOR, preconditioner="saddle", **keywords)


def test_they_have_no_effect_elsewhere_and_say_so():
    with pytest.warns(UserWarning, match="constraints has no effect.* saddle"):
        newel.Solver(K, solver="minres", preconditioner="none", constraints=LAST)
    with pytest.warns(UserWarning, match="mass has no effect.* saddle"):
        newel.Solver(K, solver="minres", preconditioner="none", mass=sp.eye_array(M))


def test_complex_systems_take_them_by_complex_rows():
    A = K.astype(complex)
    turn = np.exp(0.3j * np.arange(K.shape[0]))
    H = sp.csr_array(sp.diags_array(turn.conj()) @ A @ sp.diags_array(turn))  # Hermitian, with the same eigenvalues
    x, report = newel.solve(H, B_VECTOR.astype(complex), solver="minres", preconditioner="saddle", constraints=LAST)
    assert report.converged
    assert np.linalg.norm(B_VECTOR - H @ x) <= 1.01e-8 * np.linalg.norm(B_VECTOR)


def test_rigid_body_modes_come_from_the_points_of_all_rows_or_from_vectors():
    skfem = pytest.importorskip("skfem")
    from skfem.helpers import ddot, div, grad

    mesh = skfem.MeshTri.init_tensor(np.linspace(0, 8, 97), np.linspace(0, 1, 13))
    u = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=3)
    p = u.with_element(skfem.ElementTriP1())

    @skfem.BilinearForm
    def energy(a, v, w):
        return 0.5 * ddot(grad(a) + grad(a).swapaxes(0, 1), grad(v) + grad(v).swapaxes(0, 1))

    B = skfem.BilinearForm(lambda a, q, w: -div(a) * q).assemble(u, p)
    mass = skfem.BilinearForm(lambda a, b, w: a * b).assemble(p)
    A = sp.block_array([[energy.assemble(u), B.T], [B, -1e-3 * mass]], format="csr")
    fixed = u.get_dofs(lambda x: np.isclose(x[0], 0)).all()
    free = np.setdiff1d(np.arange(A.shape[0]), fixed)
    points = np.hstack([u.doflocs, p.doflocs])[:, free].T
    is_second = np.concatenate([np.arange(u.N) % 2, np.full(p.N, 2)])[free]  # 2: a pressure
    modes = np.column_stack([is_second == 0, is_second == 1,
                             np.where(is_second == 0, -points[:, 1], points[:, 0])]).astype(float)
    modes[is_second == 2] = 99.0  # not read
    K, b = A[free][:, free], np.ones(free.size)
    rows = np.flatnonzero(is_second == 2)
    counts = []
    for keywords in ({}, {"coordinates": points}, {"near_null_space": modes}):
        x, report = newel.solve(K, b, solver="minres", preconditioner="saddle", constraints=rows, **keywords)
        assert report.converged and residual(K, x, b) <= 1.01e-8
        counts.append(report.iterations)
    assert counts[1] < 0.8 * counts[0] and counts[2] < 0.8 * counts[0], counts
