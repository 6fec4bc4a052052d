# SPDX-License-Identifier: Apache-2.0
"""Diagonal matrices, which newel.solve divides by without a setup: only these, and with the report that any solve has.

The library divides too, by the inverse that is its preconditioner."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual

import newel


def diagonal(values, form="csr", index=np.int32):
    n = len(values)
    make = sp.csr_array if form == "csr" else sp.csc_array
    return make((np.asarray(values, dtype=float), np.arange(n, dtype=index), np.arange(n + 1, dtype=index)), shape=(n, n))


def without_setup(report):
    return report.solver == "division" and report.preconditioner == "none"


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_x_is_b_over_the_diagonal(rng, form, index):
    d = rng.uniform(-2, 2, 5000)
    b = rng.standard_normal(5000)
    a = diagonal(d, form, index)
    x, report = newel.solve(a, b, rtol=1e-14, max_iterations=1)
    assert without_setup(report) and report.converged and report.iterations == 0
    np.testing.assert_array_equal(x, b / d)
    assert residual(a, x, b) < 1e-15
    assert report.rhs_norm == pytest.approx(np.linalg.norm(b), rel=1e-14)
    assert report.relative_residual < 1e-15


def test_the_report_has_all_that_others_have():
    b = np.ones(50)
    _, divided = newel.solve(diagonal(np.arange(1, 51)), b)
    _, iterated = newel.solve(diagonal(np.arange(1, 51)), b, solver="cg")
    assert divided.solver == "division" and iterated.solver == "cg"
    ours, theirs = divided.to_dict(), iterated.to_dict()
    assert set(ours) == set(theirs)
    assert set(ours["attempts"][0]) == set(theirs["attempts"][0])
    assert {key: type(value) for key, value in ours.items()} == {key: type(value) for key, value in theirs.items()}
    assert set(divided.seconds) == set(iterated.seconds)
    assert "converged after 0 iterations of division" in repr(divided)


@pytest.mark.filterwarnings("ignore::newel.ConvergenceWarning")
@pytest.mark.parametrize("b", [np.zeros(4), np.full(4, 1e-170), np.full(4, 1e200), np.array([1.0, np.nan, 0, 0])])
def test_numbers_out_of_the_ordinary_are_a_solvers(b):
    a = diagonal([1.0, 2.0, 4.0, 8.0])
    with np.errstate(all="ignore"):
        try:
            expected = newel.Solver(a).solve(b)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                newel.solve(a, b)
            return
        x, report = newel.solve(a, b)
    assert not without_setup(report) and report.status == expected[1].status
    np.testing.assert_allclose(x, expected[0], rtol=1e-12)


def test_a_zero_on_the_diagonal_is_not_divided_by():
    a = diagonal([1.0, 0.0, 3.0])
    x, report = newel.solve(a, np.array([1.0, 0.0, 3.0]))
    assert report.solver != "division"
    assert residual(a, x, np.array([1.0, 0.0, 3.0])) < 1e-8


def test_one_entry_a_row_is_not_enough():
    rolled = sp.csr_array(np.roll(np.eye(6), 1, axis=1))
    uneven = sp.csr_array((np.ones(3), np.arange(3), np.array([0, 2, 3, 3])), shape=(3, 3))
    assert rolled.nnz == 6 and uneven.nnz == 3
    x, report = newel.solve(rolled, np.arange(6.0))
    assert report.solver != "division" and residual(rolled, x, np.arange(6.0)) < 1e-8
    assert newel.solve(laplacian(3), np.ones(9))[1].solver != "division"
    x, report = newel.solve(uneven, np.array([1.0, 1.0, 0.0]))  # singular, but this b has solutions
    assert report.solver != "division" and residual(uneven, x, np.array([1.0, 1.0, 0.0])) < 1e-8
    with pytest.warns(newel.ConvergenceWarning):
        assert newel.solve(uneven, np.array([1.0, 1.0, 1.0]))[1].solver != "division"


@pytest.mark.parametrize("keywords", [{"x0": np.ones(3)}, {"callback": lambda now: True}, {"solver": "auto"},
                                      {"time_limit": 1.0}, {"precision": "single", "rtol": 1e-5}])
def test_who_asks_for_more_gets_a_solver(keywords):
    x, report = newel.solve(diagonal([1.0, 2.0, 4.0]), np.ones(3), **keywords)
    assert not without_setup(report) and report.converged
    np.testing.assert_allclose(x, [1.0, 0.5, 0.25], rtol=1e-4)


@pytest.mark.parametrize("wrong", [{"rtol": -1.0}, {"rtol": float("nan")}, {"atol": -1.0}, {"max_iterations": -1}])
def test_bad_choices_are_refused_all_the_same(wrong):
    with pytest.raises(ValueError):
        newel.solve(diagonal([1.0, 2.0]), np.ones(2), **wrong)


def test_a_solver_divides_and_takes_new_values(rng):
    d, b = rng.uniform(-2, 2, 500), rng.standard_normal((500, 2))
    solver = newel.Solver(diagonal(d))
    for values in (d, 3 * d, d[::-1]):
        solver.refresh(values)
        x, reports = solver.solve(b)
        assert all(report.solver == "division" and report.iterations == 0 for report in reports)
        np.testing.assert_allclose(x, b / values[:, None], rtol=1e-15)
