# SPDX-License-Identifier: Apache-2.0
"""Approximate eigenvectors that a sequence of solves passes on."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual

import newel

N = 600


def with_outliers(count=12):
    """Symmetric, with a dozen eigenvalues between 1e-5 and 1e-3 and the others between 0.2 and 2."""
    values = np.concatenate([np.logspace(-5, -3, count), np.linspace(0.2, 2, N - count)])
    turned = sp.lil_matrix((N, N))
    half = N // 2
    for i in range(half):
        c, s = np.cos(0.3 + i), np.sin(0.3 + i)
        turned[i, i], turned[i, half + i], turned[half + i, i], turned[half + i, half + i] = c, s, -s, c
    turned = turned.tocsr()
    return (turned.T @ sp.diags(values) @ turned).tocsr()


def right_hand_sides(count):
    return np.random.default_rng(8).standard_normal((count, N))


@pytest.mark.parametrize("recycle", [16, "16", "auto"])
def test_solves_after_the_first_take_a_part_of_its_iterations(recycle):
    matrix = with_outliers()
    system = newel.Solver(matrix, solver="cg", preconditioner="none", format="csr", recycle=recycle)
    reports = []
    for b in right_hand_sides(4):
        x, report = system.solve(b)
        assert residual(matrix, x, b) <= 1e-8
        reports.append(report)
    assert reports[0].recycle["vectors"] == 0
    for report in reports[1:]:
        assert report.iterations <= 0.4 * reports[0].iterations
        assert report.recycle["vectors"] > 0
        assert report.recycle["iterations_saved"] > 0
        assert report.recycle["seconds"] >= 0
    json.dumps(reports[-1].to_dict()["recycle"])


def test_cycles_of_gmres_leave_vectors_out():
    turn = sp.identity(N) + 0.2 * sp.diags(np.ones(N - 1), 1)
    matrix = (with_outliers() @ turn).tocsr()
    assert abs(matrix - matrix.T).max() > 0.1
    system = newel.Solver(matrix, solver="gmres", preconditioner="none", format="csr", recycle=16)
    reports = []
    for b in right_hand_sides(6):
        x, report = system.solve(b)
        assert residual(matrix, x, b) <= 1e-8
        reports.append(report)
    for report in reports[1:]:
        assert report.iterations <= 0.4 * reports[0].iterations
        assert report.recycle["vectors"] > 0


def test_vectors_are_taken_once_the_format_stays():
    system = newel.Solver(with_outliers(), solver="cg", preconditioner="none", recycle=16)
    reports = [system.solve(b)[1] for b in right_hand_sides(6)]
    first = next(k for k in range(1, 6) if reports[k].format == reports[k - 1].format)
    for report in reports[first + 1:]:
        assert report.iterations <= 0.4 * reports[0].iterations


def test_new_values_are_followed():
    matrix = with_outliers()
    system = newel.Solver(matrix, solver="cg", preconditioner="none", recycle=16)
    first = [system.solve(b)[1].iterations for b in right_hand_sides(3)][0]
    other = (2 * matrix + 1e-6 * sp.identity(N)).tocsr()
    system.refresh(other)
    for b in right_hand_sides(3):
        x, report = system.solve(b)
        assert residual(other, x, b) <= 1e-8
        assert report.iterations <= 0.4 * first


def test_by_default_nothing_is_recycled():
    system = newel.Solver(laplacian(8))
    for _ in range(2):
        _, report = system.solve(np.ones(64))
        assert report.recycle == {"vectors": 0, "iterations_saved": 0, "seconds": 0}
    assert newel.solver_options()["recycle"] == "0"


@pytest.mark.parametrize("recycle", ["some", "-1", "33", -1, 33])
def test_other_counts_are_refused(recycle):
    with pytest.raises(ValueError, match="recycle"):
        newel.Solver(laplacian(4), recycle=recycle)


def test_a_single_solve_has_nothing_to_recycle():
    with pytest.raises(TypeError, match="belong to a Solver"):
        newel.solve(laplacian(4), np.ones(16), recycle=4)
