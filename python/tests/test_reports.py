# SPDX-License-Identifier: Apache-2.0
"""What a report says, and what happens where a solve does not converge."""

import json
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual
from scipy.sparse.linalg import LinearOperator

import newel

A = laplacian(12)
B = np.ones(144)
SINGULAR = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0]]))


def test_a_report_agrees_with_what_the_test_computes():
    x, report = newel.solve(A, B, preconditioner="jacobi", rtol=1e-9)
    assert report.converged and report.status == "converged" and report.reason == report.advice == ""
    assert report.solver == "cg" and report.preconditioner == "jacobi" and report.format == "csr"
    assert report.rows == 144 and report.precision == "double"
    assert report.rhs_norm == pytest.approx(12)
    assert report.tolerance == pytest.approx(12e-9)
    assert report.initial_residual == pytest.approx(12)
    assert report.relative_residual == pytest.approx(residual(A, x, B), rel=1e-3)
    assert report.history.size == report.iterations + 1
    assert report.history[0] == pytest.approx(12)
    assert set(report.seconds) == {"setup", "solve"} and min(report.seconds.values()) > 0
    assert [attempt["solver"] for attempt in report.attempts] == ["cg"]


def test_a_report_becomes_json_and_a_pickle():
    _, report = newel.solve(A, B)
    fields = json.loads(json.dumps(report.to_dict()))
    assert fields["converged"] is True and len(fields["history"]) == report.iterations + 1
    again = pickle.loads(pickle.dumps(report))
    assert again.to_dict() == report.to_dict()


def test_the_text_of_a_report_is_readable():
    _, report = newel.solve(A, B)
    assert repr(report).startswith(f"converged after {report.iterations} iterations of cg")
    assert "144 unknowns" in repr(report)


def test_a_setup_is_counted_once():
    solver = newel.Solver(A)
    assert solver.solve(B)[1].seconds["setup"] > 0
    assert solver.solve(B)[1].seconds["setup"] == 0
    solver.refresh(A.data)
    assert solver.solve(B)[1].seconds["setup"] > 0


def test_a_solve_that_does_not_converge_warns_at_the_line_of_the_caller():
    with pytest.warns(newel.ConvergenceWarning, match="max_iterations") as caught:
        x, report = newel.solve(A, B, max_iterations=3)
    assert caught[0].filename == __file__
    assert not report.converged and report.iterations == 3
    assert "max_iterations=10000" in report.advice
    assert report.relative_residual == pytest.approx(residual(A, x, B), rel=1e-6)
    with pytest.warns(newel.ConvergenceWarning) as caught:
        newel.Solver(A).solve(B, max_iterations=3)
    assert caught[0].filename == __file__


def test_a_solve_may_raise_instead():
    with pytest.raises(newel.ConvergenceError, match="max_iterations") as caught:
        newel.solve(A, B, max_iterations=3, raise_on_failure=True)
    assert caught.value.report.iterations == 3 and caught.value.x.shape == (144,)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.report.iterations == 3


def test_a_singular_system_without_solution_is_never_converged():
    with pytest.warns(newel.ConvergenceWarning):
        x, report = newel.solve(SINGULAR, [1.0, -1.0])
    assert not report.converged
    assert report.reason and report.advice


def test_the_columns_that_fail_are_named():
    b = np.array([[1.0, 1.0], [1.0, -1.0]])
    with pytest.warns(newel.ConvergenceWarning, match="column 1, the first of 1 out of 2"):
        _, reports = newel.solve(SINGULAR, b)
    assert [report.converged for report in reports] == [True, False]


def test_an_indefinite_matrix_is_said_to_be_one():
    with pytest.warns(newel.ConvergenceWarning, match='solver="gmres"'):
        _, report = newel.solve(-A, B, solver="cg", preconditioner=None)
    assert report.status == "not_positive_definite"


@pytest.mark.parametrize("where", ["b", "x0", "products"])
def test_nan_is_never_converged(where):
    b, x0, factor = B.copy(), np.zeros(144), np.ones(144)
    {"b": b, "x0": x0, "products": factor}[where][1] = np.nan
    operator = LinearOperator((144, 144), matvec=lambda x: factor * (A @ x), dtype=float)
    for a in (operator,) if where == "products" else (A, operator):
        with pytest.warns(newel.ConvergenceWarning):
            _, report = newel.solve(a, b, x0, preconditioner=None)
        assert report.status == "not_finite"


def test_nan_in_a_matrix_is_refused_with_its_place():
    a = A.copy()
    a.data[1] = np.nan
    with pytest.raises(ValueError, match="row 0"):
        newel.solve(a, B)


def test_a_null_space_is_taken_out():
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(50, 50)).tolil()
    line[0, 0] = line[49, 49] = 1
    b = np.arange(50) - 24.5
    x, report = newel.solve(line.tocsr(), b, null_space="constant")
    assert report.converged
    assert abs(x.mean()) < 1e-10 * abs(x).max()
    assert residual(line.tocsr(), x, b) < 2e-8


def test_a_time_limit_ends_a_solve():
    with pytest.warns(newel.ConvergenceWarning, match="time_limit"):
        _, report = newel.solve(laplacian(100), np.ones(10000), rtol=1e-15, time_limit=1e-9)
    assert report.status == "time_limit"


def test_converged_solves_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        newel.solve(A, np.ones((144, 2)))


def test_a_plot_shows_the_history():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    _, report = newel.solve(A, B)
    axes = report.plot()
    assert np.allclose(axes.lines[0].get_ydata(), report.history / 12)


def test_info_of_a_solver_says_what_was_chosen():
    solver = newel.Solver(A, preconditioner="amg", options={"amg_degree": 3})
    info = solver.info()
    assert info["preconditioner"]["name"] == "amg" and len(info["preconditioner"]["levels"]) >= 1
    assert info["matrix"]["nonzeros"] == A.nnz
    assert "amg" in repr(solver)


def test_a_decision_is_handed_on():
    first = newel.Solver(A)
    x, _ = first.solve(B)
    kept = json.loads(first.decision)
    assert kept["solves"] == 1 and kept["format"] and kept["rows"] == 144
    going_on, resumed = first.solve(2 * B)[0], newel.Solver(A, decision=first.decision)
    assert json.loads(resumed.decision)["solves"] == 2
    resumed = newel.Solver(A, decision=json.dumps(kept))
    assert np.array_equal(resumed.solve(2 * B)[0], going_on)
    with pytest.raises(ValueError, match="decision"):
        newel.Solver(A, decision="{}")
    with pytest.raises(ValueError, match="rows"):
        newel.Solver(laplacian(11), decision=first.decision)


def test_the_truth_of_a_report_is_whether_the_solve_converged():
    assert newel.solve(A, B)[1]
    with pytest.warns(newel.ConvergenceWarning):
        assert not newel.solve(A, B, max_iterations=1)[1]
    with pytest.warns(newel.ConvergenceWarning):
        _, reports = newel.solve(A, np.stack([B, 0 * B], axis=1), max_iterations=1)
    assert not all(reports) and reports[1]


def test_a_report_compared_with_a_number_is_the_info_of_scipy():
    _, good = newel.solve(A, B)
    with pytest.warns(newel.ConvergenceWarning):
        _, bad = newel.solve(A, B, max_iterations=3)
    with pytest.warns(newel.ConvergenceWarning):
        _, none = newel.solve(A, B, max_iterations=0)
    assert good == 0 and not good > 0 and not good < 0 and good >= 0 and good <= 0 and not good != 0
    assert bad == 3 and bad > 0 and bad != 0 and not bad < 0 and not bad <= 0
    assert none > 0
    assert good == good and good != newel.solve(A, B)[1] and len({good, bad, good}) == 2
