# SPDX-License-Identifier: Apache-2.0
"""Complex systems on a CUDA device, with arrays of CuPy, of PyTorch, and of a library that Newel does not know."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from device_kinds import every_kind
from test_complex import MATRICES, B, near

import newel

pytestmark = pytest.mark.device
every_matrix = pytest.mark.parametrize("name", MATRICES)


@every_kind
@every_matrix
def test_every_form_is_solved_where_it_lies(kind, name):
    a = MATRICES[name]
    for form in kind.forms:
        x, report = newel.solve(kind.sparse(a, form), kind.array(B))
        assert report.converged and report.device == "cuda:0"
        assert kind.host(x).dtype == np.complex128
        assert np.linalg.norm(B - a @ kind.host(x)) <= 1.0001e-8 * np.linalg.norm(B)
        assert report.rhs_norm == pytest.approx(np.linalg.norm(B), rel=1e-13)


@every_kind
def test_columns_guesses_refresh_and_products(kind):
    a = MATRICES["shifted"]
    solver = newel.Solver(kind.sparse(a))
    columns = np.asfortranarray(np.stack([B, 1j * B.real], axis=1))
    x, reports = solver.solve(kind.array(columns, order="F"))
    assert all(report.converged for report in reports)
    assert np.linalg.norm(columns - a @ kind.host(x)) <= 1.5e-8 * np.linalg.norm(columns)
    guess = spla.spsolve(a.tocsc(), B)
    assert solver.solve(kind.array(B), x0=kind.array(guess))[1].iterations == 0
    assert near(kind.host(solver @ kind.array(B)), a @ B, 1e-13)
    solver.refresh(kind.sparse((1 - 2j) * a))
    x, report = solver.solve(kind.array(B))
    assert report.converged and near((1 - 2j) * (a @ kind.host(x)), B)
    solver.refresh(kind.array(a.data))
    assert near(a @ kind.host(solver.solve(kind.array(B))[0]), B)


@every_kind
def test_single_precision_and_functions_like_scipys(kind):
    a, b = MATRICES["gauge"].astype(np.complex64), B.astype(np.complex64)
    x, report = newel.solve(kind.sparse(a), kind.array(b), precision="single")
    assert report.converged and kind.host(x).dtype == np.complex64 and near(a @ kind.host(x), b, 2e-5)
    for method in (newel.cg, newel.gmres, newel.bicgstab):
        x, info = method(kind.sparse(MATRICES["gauge"]), kind.array(B), rtol=1e-8)
        assert info == 0 and near(MATRICES["gauge"] @ kind.host(x), B)


@every_kind
def test_arrays_of_the_host_are_copied(kind):
    a = sp.csr_array(MATRICES["imaginary"])
    x, report = newel.solve(a, B, device="cuda")
    assert type(x) is np.ndarray and report.converged and near(a @ x, B)


@every_kind
def test_a_matrix_that_is_not_finite_is_refused(kind):
    if kind.name == "foreign":
        pytest.skip("Newel knows no conversions of such arrays")
    a = MATRICES["shifted"].copy()
    a.data[3] = complex(np.inf, 0)
    with pytest.raises(ValueError, match="finite"):
        newel.Solver(kind.sparse(a))
