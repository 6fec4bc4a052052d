# SPDX-License-Identifier: Apache-2.0
"""Complex matrices and vectors, against SciPy's direct solver and dense LU factors."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import newel

M = 12
N = M * M
RNG = np.random.default_rng(5)
B = RNG.standard_normal(N) + 1j * RNG.standard_normal(N)


def laplacian(m=M):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(m, m))
    return sp.csr_array(sp.kron(line, sp.eye_array(m)) + sp.kron(sp.eye_array(m), line))


def gauge_laplacian(m=M, mass=0.05):
    """Hermitian and positive definite: neighbours differ by random phases."""
    rng = np.random.default_rng(1)
    a = laplacian(m).tocoo()
    below = a.row > a.col
    phases = np.exp(1j * rng.uniform(-2, 2, below.sum()))
    lower = sp.coo_array((a.data[below] * phases, (a.row[below], a.col[below])), shape=a.shape)
    return sp.csr_array(lower + lower.conj().T + (4 + mass) * sp.eye_array(m * m))


def helmholtz(m=M, kh=0.4):
    """With an absorbing boundary: equal to its transpose, not Hermitian."""
    edge = np.zeros((m, m))
    for side in (edge[0], edge[-1], edge[:, 0], edge[:, -1]):
        side += 1
    return sp.csr_array(laplacian(m) - sp.diags_array(edge.ravel()) - kh**2 * sp.eye_array(m * m)
                        - 1j * kh * sp.diags_array(edge.ravel()))


MATRICES = {
    "gauge": gauge_laplacian(),
    "helmholtz": helmholtz(),
    "shifted": sp.csr_array(laplacian() + 0.3j * sp.eye_array(N)),
    "imaginary": sp.csr_array(1j * laplacian()),
    "no imaginary parts": sp.csr_array(laplacian().astype(complex)),
}
every_matrix = pytest.mark.parametrize("name", MATRICES)


def near(x, expected, rtol=1e-6):
    return np.linalg.norm(x - expected) <= rtol * np.linalg.norm(expected)


@every_matrix
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_form_gives_the_solution_of_spsolve(name, form):
    a = MATRICES[name]
    x, report = newel.solve(a.asformat(form), B, rtol=1e-10)
    assert report.converged and x.dtype == np.complex128
    assert near(x, spla.spsolve(a.tocsc(), B))
    residual = np.linalg.norm(B - a @ x)
    assert residual <= 1.0001e-10 * np.linalg.norm(B)
    assert report.rhs_norm == pytest.approx(np.linalg.norm(B), rel=1e-13)
    assert report.true_residual == pytest.approx(residual, rel=1e-3)
    assert report.rows == N


@every_matrix
def test_columns_refresh_and_products(name):
    a = MATRICES[name]
    solver = newel.Solver(a)
    assert solver.dtype == np.complex128 and solver.shape == (N, N)
    assert solver.info()["real_form"] == ("real_parts" if name == "no imaginary parts" else "general")
    assert newel.Solver(MATRICES["helmholtz"], solver="minres").info()["real_form"] == "symmetric"
    b = np.stack([B, 2j * B, B.real], axis=1)
    x, reports = solver.solve(b)
    assert all(report.converged for report in reports) and np.linalg.norm(b - a @ x) <= 3e-8 * np.linalg.norm(b)
    assert near(solver @ B, a @ B, 1e-13)
    for other in ((2 + 0.5j) * a, 3 * a):
        solver.refresh(other)
        x, report = solver.solve(B)
        assert report.converged and np.linalg.norm(B - other @ x) <= 1.0001e-8 * np.linalg.norm(B)
    guess = spla.spsolve((3 * a).tocsc(), B)
    assert solver.solve(B, x0=guess)[1].iterations == 0
    solver.refresh(a.data.conj())
    assert near(solver @ B, a.conj() @ B, 1e-13)


def test_a_refresh_takes_a_sub_pattern():
    a = MATRICES["shifted"]
    solver = newel.Solver(a)
    part = sp.csr_array(sp.diags_array(a.diagonal()))
    solver.refresh(part)
    assert near(solver.solve(B)[0], B / a.diagonal())


@pytest.mark.parametrize("method", [newel.cg, newel.bicgstab, newel.gmres, newel.idrs, newel.fgmres, newel.minres])
@every_matrix
def test_functions_like_scipys(method, name):
    a = MATRICES[name]
    if method is newel.cg and name in ("helmholtz", "shifted"):
        pytest.skip("for Hermitian matrices")
    x, info = method(a, B, rtol=1e-8)
    assert info == 0 and np.linalg.norm(B - a @ x) <= 1.0001e-8 * np.linalg.norm(B)
    assert x.dtype == np.complex128


def test_iterates_are_those_of_the_complex_system():
    for name in ("gauge", "no imaginary parts"):
        a, seen = MATRICES[name], []
        x, info = newel.cg(a, B, rtol=1e-8, callback=lambda xk: seen.append(np.linalg.norm(B - a @ xk)))
        assert info == 0 and seen[-1] <= 1.0001e-8 * np.linalg.norm(B) and seen[-1] < 1e-3 * seen[0]
        theirs = []
        spla.cg(a, B, rtol=1e-8, callback=lambda xk: theirs.append(np.linalg.norm(B - a @ xk)))
        assert abs(len(seen) - len(theirs)) <= 2
        assert seen[5] == pytest.approx(theirs[5], rel=1e-3)


def test_a_real_matrix_with_a_complex_right_hand_side():
    a = laplacian()
    x, report = newel.solve(a, B)
    assert report.converged and x.dtype == np.complex128 and near(x, spla.spsolve(a.tocsc().astype(complex), B))
    x, info = newel.gmres(a, B)
    assert info == 0 and x.dtype == np.complex128
    with pytest.raises(TypeError, match="b is complex .*A.astype"):
        newel.Solver(a).solve(B)
    x, report = newel.Solver(MATRICES["gauge"]).solve(B.real)
    assert report.converged and x.dtype == np.complex128


def test_single_and_mixed_precision():
    a = MATRICES["gauge"]
    x, report = newel.solve(a.astype(np.complex64), B.astype(np.complex64))
    assert report.converged and x.dtype == np.complex64 and report.precision == "single"
    assert np.linalg.norm(B - a @ x) <= 1.1e-5 * np.linalg.norm(B)
    x, report = newel.solve(a, B, precision="mixed")
    assert report.converged and np.linalg.norm(B - a @ x) <= 1.0001e-8 * np.linalg.norm(B)


def test_operators_of_both_kinds():
    a = MATRICES["shifted"]
    operator = spla.aslinearoperator(a)
    x, report = newel.solve(operator, B)
    assert report.converged and np.linalg.norm(B - a @ x) <= 1.0001e-8 * np.linalg.norm(B)
    x, report = newel.solve(lambda v: a @ v, B)
    assert report.converged and np.linalg.norm(B - a @ x) <= 1.0001e-8 * np.linalg.norm(B)
    inverse = spla.splu(a.tocsc())
    M_ = spla.LinearOperator((N, N), matvec=inverse.solve, dtype=complex)
    for matrix in (a, MATRICES["imaginary"]):
        x, report = newel.solve(matrix, B, preconditioner=M_, solver="gmres")
        assert report.converged and np.linalg.norm(B - matrix @ x) <= 1.0001e-8 * np.linalg.norm(B)
    assert newel.solve(a, B, preconditioner=M_, solver="gmres")[1].iterations <= 2


def test_a_solver_as_an_operator_knows_hermitian_matrices():
    assert near(newel.Solver(MATRICES["gauge"]).rmatvec(B), MATRICES["gauge"].conj().T @ B, 1e-12)
    with pytest.raises(NotImplementedError):
        newel.Solver(MATRICES["helmholtz"]).rmatvec(B)
    with pytest.raises(ValueError, match="as_preconditioner: not possible for a complex system"):
        newel.Solver(MATRICES["gauge"], preconditioner="amg").as_preconditioner() @ B


def test_direct_factors_and_amg():
    for name in ("helmholtz", "no imaginary parts"):
        x, report = newel.solve(MATRICES[name], B, solver="direct")
        assert report.converged and near(x, spla.spsolve(MATRICES[name].tocsc(), B), 1e-10)
    points = np.stack(np.meshgrid(np.arange(M), np.arange(M)), axis=-1).reshape(-1, 2).astype(float)
    x, report = newel.solve(MATRICES["shifted"], B, preconditioner="amg", coordinates=points,
                            near_null_space=np.ones((N, 1)))
    assert report.converged and report.preconditioner == "amg"


def test_mistakes_are_named():
    a = MATRICES["shifted"].copy()
    a.data[7] = complex(0, np.nan)
    row = np.searchsorted(a.indptr, 7, side="right") - 1
    with pytest.raises(ValueError, match=f"found .*nanj.* in row {row}, column {a.indices[7]}"):
        newel.Solver(a)
    with pytest.raises(TypeError, match="newel.info describes real matrices"):
        newel.info(MATRICES["gauge"])
    with pytest.raises(ValueError, match="null_space"):
        newel.Solver(MATRICES["gauge"], null_space="constant")
    zero = sp.csr_array((np.array([1 + 1j, 0, 2]), np.arange(3), np.arange(4)))
    with pytest.warns(newel.ConvergenceWarning, match="row 1 of A"):
        newel.solve(zero, np.ones(3, dtype=complex))


@pytest.mark.parametrize("field, symmetry", [("complex", None), ("complex", "hermitian")])
def test_matrix_market_files_are_read_as_scipy_reads_them(tmp_path, field, symmetry):
    a = MATRICES["gauge"]
    scipy.io.mmwrite(tmp_path / "A.mtx", a, field=field, symmetry=symmetry or "general", precision=17)
    read = newel.read(tmp_path / "A.mtx")
    assert read.dtype == np.complex128 and abs(read - a).max() == 0
    scipy.io.mmwrite(tmp_path / "b.mtx", B[:, None], precision=17)
    assert np.array_equal(newel.read(tmp_path / "b.mtx"), B)
