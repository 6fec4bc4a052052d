# SPDX-License-Identifier: Apache-2.0
"""newel.eigsh: eigenpairs against SciPy's and LAPACK's, and against formulas of chains, membranes and beams."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from conftest import laplacian
from device_kinds import every_kind

import newel


def mass_of_line(n):
    """The mass matrix of linear elements, times six."""
    return sp.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def free_membrane(n):
    """Five points on n x n without a boundary condition: constants are its null space."""
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    line[0, 0] = line[n - 1, n - 1] = 1.0
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))


def free_membrane_values(n, k):
    line = 4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2
    return np.sort((line[:, None] + line).ravel())[:k]


def judge(A, M, w, V, tolerance):
    """Residuals, and V^T M V, computed here. Two clusters of one eigenvalue may differ by a rotation: none is compared."""
    m = sp.eye_array(A.shape[0]) if M is None else M
    assert (np.diff(w) >= 0).all()
    assert abs(V.T @ (m @ V) - np.eye(w.size)).max() < 1e-12
    residuals = np.linalg.norm((A @ V - (m @ V) * w) / np.sqrt(m.diagonal())[:, None], axis=0)
    assert (residuals <= 1.0001 * tolerance + 1e-14 * abs(A).max()).all()


@pytest.mark.parametrize("A, M", [(laplacian(30), None), (laplacian(24), mass_of_line(576)),
                                  (sp.csr_array(laplacian(20) @ laplacian(20)), None)], ids=["laplacian", "mass", "plate"])
def test_eigenpairs_are_those_of_scipy(A, M):
    w, V, report = newel.eigsh(A, 7, M, return_report=True)
    expected = np.sort(scipy.sparse.linalg.eigsh(A.tocsc(), 7, None if M is None else M.tocsc(), sigma=0)[0])
    # The error is about the square of the residual over the gap, and the tolerance a millionth of the largest.
    assert np.allclose(w, expected, rtol=1e-9, atol=0)
    judge(A, M, w, V, report.tolerance)
    assert report and report.tolerance == pytest.approx(1e-6 * w[-1], rel=1e-6) and 0 < report.iterations < 60
    assert (V[abs(V).argmax(axis=0), np.arange(7)] > 0).all()


def test_eigenvalues_are_those_of_the_formula():
    n = 40
    line = 4 * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2
    expected = np.sort((line[:, None] + line).ravel())[:12]  # nearly all of them twice
    assert np.allclose(newel.eigsh(laplacian(n), 12)[0], expected, rtol=1e-9)


def test_the_modes_of_a_cantilever_are_those_of_beam_theory():
    """Bernoulli's beam by cubic elements: (beta_k L)^4, with cos(beta L) cosh(beta L) = -1."""
    elements, h = 100, 1 / 100
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                  [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3
    m = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                  [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]) * h / 420
    dofs = 2 * np.arange(elements)[:, None] + np.arange(4)
    rows, columns = np.repeat(dofs, 4, axis=1).ravel(), np.tile(dofs, (1, 4)).ravel()
    A, M = (sp.coo_array((np.tile(e.ravel(), elements), (rows, columns))).tocsr()[2:, 2:] for e in (k, m))
    roots = np.array([1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349])
    w, V = newel.eigsh(A, 4, M)
    assert np.allclose(w, roots**4, rtol=1e-6)


@pytest.mark.parametrize("choice", [{"null_space": "constant"}, {"null_space": np.ones(900)}, {"sigma": -1e-3},
                                    {"sigma": -1e-3, "null_space": "constant"}])
def test_a_singular_matrix_has_its_null_space_or_loses_it(choice):
    A = free_membrane(30)
    w, V, report = newel.eigsh(A, 5, return_report=True, **choice)
    judge(A, None, w, V, report.tolerance)
    expected = free_membrane_values(30, 6)
    if "null_space" in choice:
        assert np.allclose(w, expected[1:], rtol=1e-9) and abs(V.sum(axis=0)).max() < 1e-10
    else:
        assert abs(w[0]) < 1e-12 and np.allclose(w[1:], expected[1:5], rtol=1e-9)


def test_the_null_space_of_a_pencil_is_left_out_in_the_product_with_its_mass():
    A, M = free_membrane(20), sp.diags_array(1.0 + np.arange(400.0) % 3, format="csr")
    w, V = newel.eigsh(A, 4, M, null_space="constant")
    expected = scipy.linalg.eigh(A.toarray(), M.toarray(), eigvals_only=True)[1:5]
    assert np.allclose(w, expected, rtol=1e-9) and abs(np.ones(400) @ (M @ V)).max() < 1e-10


def test_pencils_of_few_rows_are_solved_with_the_same_meaning():
    A, M = free_membrane(4), mass_of_line(16)
    for null_space in (None, "constant"):
        w, V, report = newel.eigsh(A, 3, M, sigma=-1.0, null_space=null_space, return_report=True)
        judge(A, M, w, V, report.tolerance)
        first = null_space is not None
        assert np.allclose(w, scipy.linalg.eigh(A.toarray(), M.toarray(), eigvals_only=True)[first:3 + first], atol=1e-11)
    w, V = newel.eigsh(sp.csr_array(np.diag([3.0, 1.0])), 2, preconditioner=None)
    assert np.allclose(w, [1, 3], rtol=1e-12) and np.allclose(V, [[0, 1], [1, 0]], atol=1e-12)


def test_the_same_call_gives_the_same_bits_and_a_guess_saves_iterations():
    A = laplacian(30)
    first, second = (newel.eigsh(A, 4, threads=1, return_report=True) for _ in range(2))
    assert (first[0] == second[0]).all() and (first[1] == second[1]).all()
    again = newel.eigsh(A, 4, X=first[1], return_report=True)
    assert again[2].iterations < first[2].iterations
    same = newel.eigsh(A, 4, X=np.tile(first[1][:, :1], (1, 7)))  # guesses that depend on each other
    assert np.allclose(same[0], first[0], rtol=1e-9)


@pytest.mark.parametrize("preconditioner", ["jacobi", "fsai", None, "operator", "function"])
def test_preconditioners_change_the_iterations_only(preconditioner):
    A = laplacian(16)
    if preconditioner == "operator":
        preconditioner = scipy.sparse.linalg.LinearOperator(A.shape, matvec=scipy.sparse.linalg.factorized(A.tocsc()))
    elif preconditioner == "function":
        preconditioner = scipy.sparse.linalg.factorized(A.tocsc())
    w, V, report = newel.eigsh(A, 3, preconditioner=preconditioner, return_report=True)
    judge(A, None, w, V, report.tolerance)
    assert np.allclose(w, np.sort(scipy.sparse.linalg.eigsh(A.tocsc(), 3, sigma=0)[0]), rtol=1e-9)


def test_an_error_in_a_preconditioner_is_raised():
    def broken(x):
        raise ZeroDivisionError("of the preconditioner")

    with pytest.raises(ZeroDivisionError, match="of the preconditioner"):
        newel.eigsh(laplacian(16), 3, preconditioner=broken)


def test_pairs_that_do_not_converge_raise_and_are_there():
    with pytest.raises(newel.ConvergenceError, match="of 4 eigenpairs converged in 2 iterations; the residual of pair") as caught:
        newel.eigsh(laplacian(30), 4, max_iterations=2)
    w, V = caught.value.x
    assert w.shape == (4,) and V.shape == (900, 4) and not caught.value.report.converged


@pytest.mark.parametrize("change, error, message", [
    ({"A": sp.csr_array(np.triu(np.ones((60, 60))))}, ValueError, "A: expected a symmetric matrix"),
    ({"A": laplacian(8)[:60]}, ValueError, "A: expected a square matrix"),
    ({"A": laplacian(8) * 1j}, TypeError, "A is complex"),
    ({"A": laplacian(8) * np.nan}, ValueError, "nan"),
    ({"M": laplacian(8) * np.inf}, ValueError, "M: .*inf"),
    ({"M": sp.csr_array(np.triu(np.ones((64, 64))))}, ValueError, "M: expected a symmetric matrix"),
    ({"A": np.eye(64)}, TypeError, "A: expected a sparse matrix"),
    ({"M": laplacian(7)}, ValueError, r"M: expected shape \(64, 64\)"),
    ({"M": -laplacian(8)}, ValueError, "M: expected a positive definite"),
    ({"sigma": 0.5}, ValueError, "sigma: expected a number below all eigenvalues"),
    ({"sigma": np.nan}, ValueError, "sigma: expected a finite number"),
    ({"k": 0}, ValueError, "k"), ({"k": 65}, ValueError, "k: expected at most 64"),
    ({"null_space": "linear"}, ValueError, 'null_space: expected "constant"'),
    ({"null_space": np.ones(3)}, ValueError, r"null_space: expected shape \(64, p\)"),
    ({"X": np.ones(64)}, ValueError, r"X: expected shape \(64, j\)"),
    ({"maxiter": 3}, TypeError, "max_iterations"),
    ({"preconditioner": "none of them"}, ValueError, "none of them"),
])
def test_what_cannot_be_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        newel.eigsh(**{"A": laplacian(8), "k": 2, **change})


@pytest.mark.device
@every_kind
@pytest.mark.parametrize("M", [None, mass_of_line(576)], ids=["identity", "mass"])
def test_eigenpairs_of_a_device_are_those_of_the_host(kind, M):
    A = laplacian(24)
    expected, _ = newel.eigsh(A, 5, M)
    w, V, report = newel.eigsh(kind.sparse(A), 5, None if M is None else kind.sparse(M), return_report=True)
    assert type(w) is np.ndarray and np.allclose(w, expected, rtol=1e-9)
    V = kind.host(V)
    judge(A, M, w, V, report.tolerance)
    again, other = newel.eigsh(kind.sparse(A), 5, None if M is None else kind.sparse(M))
    assert (again == w).all() and (kind.host(other) == V).all()
    guessed = newel.eigsh(kind.sparse(A), 5, None if M is None else kind.sparse(M), X=kind.array(V, "F"),
                          return_report=True)
    assert guessed[2].iterations < report.iterations


@pytest.mark.device
@every_kind
@pytest.mark.parametrize("choice", [{"null_space": "constant"}, {"sigma": -1e-3}])
def test_a_singular_matrix_of_a_device_has_its_null_space_or_loses_it(kind, choice):
    A = free_membrane(30)
    w, V, report = newel.eigsh(kind.sparse(A), 5, return_report=True, **choice)
    judge(A, None, w, kind.host(V), report.tolerance)
    expected = free_membrane_values(30, 6)
    assert np.allclose(w, expected[1:] if "null_space" in choice else expected[:5], rtol=1e-9, atol=1e-12)


@pytest.mark.device
@every_kind
def test_preconditioners_of_a_device_may_be_functions(kind):
    A = laplacian(16)
    solver = newel.Solver(kind.sparse(A), preconditioner="jacobi")
    w, V, report = newel.eigsh(kind.sparse(A), 3, preconditioner=solver.as_preconditioner(), return_report=True)
    judge(A, None, w, kind.host(V), report.tolerance)


@pytest.mark.device
def test_matrices_of_the_host_are_solved_on_a_device():
    A, M = laplacian(24), mass_of_line(576)
    expected, _ = newel.eigsh(A, 5, M)
    for device in ("cuda", "cuda:0"):
        w, V, report = newel.eigsh(A, 5, M, device=device, return_report=True)
        assert np.allclose(w, expected, rtol=1e-9) and type(V) is np.ndarray
        judge(A, M, w, V, report.tolerance)
    singular = newel.eigsh(free_membrane(30), 4, device="cuda", null_space="constant")[0]
    assert np.allclose(singular, free_membrane_values(30, 5)[1:], rtol=1e-9)
    with pytest.raises(ValueError, match="M: expected a positive definite"):
        newel.eigsh(A, 3, -laplacian(24), device="cuda")
