# SPDX-License-Identifier: Apache-2.0
"""cg, minres, bicgstab and gmres beside the functions of SciPy that they are named after; idrs and fgmres."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import convection, laplacian, residual

import newel

NAMES = ["cg", "minres", "bicgstab", "gmres"]
ALL = [*NAMES, "idrs", "fgmres"]
A = laplacian(12)
B = np.sin(np.arange(144.0))


@pytest.mark.parametrize("name", NAMES)
def test_the_arguments_are_those_of_scipy(name):
    mine, theirs = (inspect.signature(getattr(module, name)).parameters for module in (newel, sla))
    assert list(mine) == list(theirs)
    for key in mine:
        assert mine[key].default == theirs[key].default and mine[key].kind == theirs[key].kind


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, lambda a: a.toarray(), sla.aslinearoperator])
def test_the_solution_meets_the_tolerance(name, kind):
    x, info = getattr(newel, name)(kind(A), B)
    assert info == 0 and x.shape == (144,)
    assert residual(A, x, B) <= 1.001e-5


@pytest.mark.parametrize("name", NAMES)
def test_types_are_those_of_scipy(name):
    for a, b in ((np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32), (np.int64, np.int32)):
        mine, _ = getattr(newel, name)(A.astype(a), B.astype(b), rtol=1e-3)
        theirs, _ = getattr(sla, name)(A.astype(a), B.astype(b), rtol=1e-3)
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
    assert getattr(newel, name)(A, B[:, None])[0].shape == (144,)


@pytest.mark.parametrize("name", NAMES)
def test_too_few_iterations_give_their_number(name):
    x, info = getattr(newel, name)(A, B, maxiter=3, **({"restart": 2} if name == "gmres" else {}))
    y, theirs = getattr(sla, name)(A, B, maxiter=3, **({"restart": 2} if name == "gmres" else {}))
    assert info == theirs == 3


@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab"])
def test_callbacks_see_the_iterates_of_scipy(name):
    mine, theirs = [], []
    x, _ = getattr(newel, name)(A, B, callback=mine.append)
    getattr(sla, name)(A, B, callback=lambda xk: theirs.append(xk.copy()))
    assert len(mine) >= len(theirs) - 1
    assert name == "minres" or len(mine) <= len(theirs) + 1  # SciPy's minres ends earlier, by |A| |x|
    for one, other in zip(mine[:15], theirs[:15]):
        assert np.linalg.norm(one - other) < 1e-8 * np.linalg.norm(other)
    assert np.array_equal(mine[-1], x)


@pytest.mark.parametrize("kind", [None, "legacy", "pr_norm"])
def test_callbacks_of_gmres_see_residuals(kind):
    mine, theirs = [], []
    newel.gmres(A, B, callback=mine.append, callback_type=kind, restart=10)
    sla.gmres(A, B, callback=theirs.append, callback_type=kind or "legacy", restart=10)
    assert np.allclose(mine[:10], theirs[:10], rtol=1e-8)
    with pytest.raises(ValueError, match="callback_type"):
        newel.gmres(A, B, callback=mine.append, callback_type="xs")


def test_callbacks_of_gmres_see_the_iterate_after_each_cycle():
    mine, theirs = [], []
    x, info = newel.gmres(A, B, callback=mine.append, callback_type="x", restart=5)
    sla.gmres(A, B, callback=lambda xk: theirs.append(xk.copy()), callback_type="x", restart=5)
    assert info == 0 and abs(len(mine) - len(theirs)) <= 1 and np.array_equal(mine[-1], x)
    for one, other in zip(mine[:-1], theirs[:-1]):
        assert np.linalg.norm(one - other) < 1e-6 * np.linalg.norm(other)


def test_a_callback_of_gmres_gets_a_number_of_numpy():
    seen = []
    newel.gmres(A, B, callback=lambda r: seen.append((r.ndim, isinstance(r, float))), callback_type="pr_norm")
    assert set(seen) == {(0, True)}


@pytest.mark.parametrize("name, of_iteration", [("cg", 1), ("minres", 1), ("gmres", 1), ("fgmres", 1), ("bicgstab", 2),
                                                ("idrs", 1)])
@pytest.mark.parametrize("x0", [None, np.zeros(144), np.zeros((144, 1), dtype=int)])
def test_products_of_an_operator_are_those_of_iterations_and_three_for_the_result(name, of_iteration, x0):
    # The result takes b - A x, and two products that show its rounding: no entries are known that would bound it.
    products, seen = [], []
    operator = sla.LinearOperator(A.shape, matvec=lambda x: products.append(1) or A @ x, dtype=float)
    kind = {"callback_type": "pr_norm"} if name == "gmres" else {}
    _, info = getattr(newel, name)(operator, B, x0, callback=seen.append, **kind)
    cycles = -(-len(seen) // 20) - 1 if name in ("gmres", "fgmres") else 0  # each of which begins with a residual
    assert info == 0 and len(products) == of_iteration * len(seen) + cycles + 3


def test_gmres_warns_as_scipy_does_where_the_type_of_a_callback_is_left_open():
    with pytest.warns(DeprecationWarning, match="called without specifying `callback_type`"):
        newel.gmres(A, B, callback=lambda r: None)


@pytest.mark.parametrize("kind, calls", [("legacy", 3), ("pr_norm", 12)])
def test_maxiter_of_gmres_counts_as_in_scipy(kind, calls):
    for module in (newel, sla):
        seen = []
        _, info = module.gmres(A, B, maxiter=3, restart=4, rtol=1e-12, callback=seen.append, callback_type=kind)
        assert info == 3 and len(seen) == calls


def test_what_a_callback_returns_ends_nothing():
    seen = []
    x, info = newel.cg(A, B, callback=lambda xk: bool(seen.append(1)))
    assert info == 0 and len(seen) > 3


@pytest.mark.parametrize("name", ALL)
def test_a_preconditioner_may_be_an_operator_a_matrix_or_a_name(name):
    inverse = sp.diags_array(1 / A.diagonal()).tocsr()
    for M in (sla.aslinearoperator(inverse), inverse, "jacobi", "amg", lambda r: r / 4):
        x, info = getattr(newel, name)(A, B, M=M)
        assert info == 0 and residual(A, x, B) <= 1.001e-5


@pytest.mark.parametrize("name", ALL)
def test_a_zero_right_hand_side_has_a_zero_solution(name):
    x, info = getattr(newel, name)(A, np.zeros(144), np.ones(144))
    assert info == 0 and not x.any()


@pytest.mark.parametrize("name", NAMES)
def test_a_guess_is_used(name):
    exact = sla.spsolve(A.tocsc(), B)
    seen = []
    x, info = getattr(newel, name)(A, B, exact, callback=seen.append)
    assert info == 0 and not seen and np.array_equal(x, exact)


def test_info_is_never_zero_for_a_residual_above_the_tolerance():
    singular = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0]]))
    for name in NAMES:
        _, info = getattr(newel, name)(singular, np.array([1.0, -1.0]))
        assert info != 0
    wind = convection(50)
    x, info = newel.cg(wind, np.ones(50))
    assert (info == 0) == (residual(wind, x, np.ones(50)) <= 1.001e-5)


def test_shapes_that_do_not_fit_are_refused():
    for name in NAMES:
        for b in (np.ones(143), np.ones((144, 2))):
            with pytest.raises(ValueError, match="b: expected"):
                getattr(newel, name)(A, b)


def test_a_preconditioner_of_newel_serves_scipy():
    a = laplacian(40)
    M = newel.Solver(a, preconditioner="amg").as_preconditioner()
    few, many = [], []
    x, info = sla.cg(a, np.ones(1600), M=M, rtol=1e-8, callback=few.append)
    sla.cg(a, np.ones(1600), rtol=1e-8, callback=many.append)
    assert info == 0 and len(few) < len(many) / 3
    assert residual(a, x, np.ones(1600)) < 1.001e-8


def indefinite(n=60):
    return sp.csr_array(sp.diags_array([-1.0, 0.3, -1.0], offsets=[-1, 0, 1], shape=(n, n)))


@pytest.mark.parametrize("kind", [sp.csr_array, lambda a: a.toarray(), sla.aslinearoperator, lambda a: a.toarray().tolist()])
@pytest.mark.parametrize("shift", [0, 0.45, -0.2])
def test_minres_subtracts_a_shift(kind, shift):
    a, b = indefinite(), np.cos(np.arange(60.0))
    x, info = newel.minres(kind(a), b, shift=shift, rtol=1e-10, maxiter=2000)
    exact = np.linalg.solve(a.toarray() - shift * np.eye(60), b)
    assert info == 0 and np.linalg.norm(x - exact) < 1e-6 * np.linalg.norm(exact)
    y, _ = sla.minres(a, b, shift=shift, rtol=1e-14)
    assert np.linalg.norm(x - y) < 1e-6 * np.linalg.norm(y)
    with pytest.raises(TypeError, match="shift: expected a finite number"):
        newel.minres(a, b, shift="1")


def test_minres_checks_symmetry_if_asked():
    a, b = indefinite(), np.cos(np.arange(60.0))
    skew = sp.csr_array(a + sp.diags_array([0.5], offsets=[1], shape=(60, 60)))
    assert newel.minres(a, b, check=True)[1] == 0
    assert newel.minres(a, b, M="l1-jacobi", check=True)[1] == 0
    with pytest.raises(ValueError, match="A is not symmetric"):
        newel.minres(skew, b, check=True)
    with pytest.raises(ValueError, match="A is not symmetric"):
        newel.minres(sla.aslinearoperator(skew), b, check=True)
    with pytest.raises(ValueError, match="M is not symmetric"):
        newel.minres(a, b, M=sp.eye_array(60) + skew - a, check=True)


def test_minres_shows_iterations_and_its_result_if_asked(capsys):
    seen = []
    a, b = indefinite(), np.cos(np.arange(60.0))
    x, info = newel.minres(a, b, show=True, callback=seen.append)
    lines = capsys.readouterr().out.splitlines()
    assert info == 0 and len(lines) == len(seen) + 1 and np.array_equal(seen[-1], x)
    assert lines[0].startswith("minres: iteration      1 ")
    assert lines[-1].startswith(f"minres: converged after {len(seen)} iterations")
    newel.minres(a, b, show=True)
    assert len(capsys.readouterr().out.splitlines()) == len(lines)
    newel.minres(a, b)
    assert capsys.readouterr().out == ""


def test_idrs_takes_the_number_of_its_shadow_vectors():
    a, b = convection(196), np.sin(np.arange(196.0))
    counts = set()
    for s in (1, 2, 4, 8):
        seen = []
        x, info = newel.idrs(a, b, s=s, callback=seen.append)
        assert info == 0 and residual(a, x, b) <= 1.001e-5 and np.array_equal(seen[-1], x)
        counts.add(len(seen))
    assert len(counts) > 1
    for wrong in (0, 9):
        with pytest.raises(ValueError):
            newel.idrs(a, b, s=wrong)
    assert newel.idrs(a, b, maxiter=3)[1] == 3


def test_fgmres_solves_with_a_preconditioner_that_changes_and_gmres_does_not():
    a, b = laplacian(20), np.sin(np.arange(400.0))

    def inner(r):
        return sla.cg(a, r, rtol=1e-1, maxiter=12)[0]

    seen = []
    x, info = newel.fgmres(a, b, M=inner, rtol=1e-9, maxiter=2, callback=seen.append)
    assert info == 0 and residual(a, x, b) <= 1.001e-9 and len(seen) <= 20
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in zip(seen, seen[1:]))
    more = []
    newel.gmres(a, b, M=inner, rtol=1e-9, maxiter=2, callback=more.append, callback_type="pr_norm")
    assert len(more) > len(seen)
    assert newel.fgmres(a, b, restart=2, maxiter=3, rtol=1e-12)[1] == 3
