# SPDX-License-Identifier: Apache-2.0
"""Warnings: every failing solve, and options that do nothing."""

import warnings

import numpy as np
import pytest
from conftest import laplacian

import newel

A = laplacian(10)
B = np.ones(100)


def test_every_failing_solve_warns_also_under_the_default_filters():
    solver = newel.Solver(A)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            solver.solve(B, max_iterations=1)
            newel.solve(A, B, max_iterations=1)
    assert [w.category for w in seen] == 6 * [newel.ConvergenceWarning]
    assert {w.filename for w in seen} == {__file__} and len({w.lineno for w in seen}) == 2


def test_filters_of_the_user_count():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore", newel.ConvergenceWarning)
        newel.solve(A, B, max_iterations=1)
    assert not seen
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(newel.ConvergenceWarning):
            newel.solve(A, B, max_iterations=1)


@pytest.mark.parametrize("keywords, words", [
    ({"preconditioner": "jacobi", "options": {"amg_degree": 3}}, "options: amg_degree has no effect: it belongs to "
                                                                 "the preconditioner amg or saddle, and this is jacobi"),
    ({"preconditioner": None, "options": {"fsai_power": 2}}, "fsai_power .* preconditioner fsai, and this is none"),
    ({"preconditioner": lambda x: x, "options": {"fsai_power": 2}}, "fsai_power .* and this is your own"),
    ({"preconditioner": "FSAI", "near_null_space": np.ones(100)}, "near_null_space has no effect.* amg"),
    ({"preconditioner": "jacobi", "coordinates": np.ones((100, 2))}, "coordinates has no effect.* amg"),
    ({"solver": "cg", "restart": 20}, "restart has no effect: it belongs to the solver gmres or fgmres, and this is cg"),
])
def test_what_belongs_to_another_choice_is_warned_about(keywords, words):
    with pytest.warns(UserWarning, match=words):
        assert newel.solve(A, B, **keywords)[1].converged


@pytest.mark.parametrize("keywords", [
    {"preconditioner": "amg", "options": {"amg_degree": 3}, "near_null_space": np.ones(100)},
    {"options": {"amg_degree": 3}, "coordinates": np.ones((100, 2)), "restart": 20},
    {"preconditioner": "AMG", "options": {"amg_degree": 3}},
    {"preconditioner": "fsai", "options": {"fsai_power": 2}},
    {"solver": "gmres", "restart": 20},
])
def test_what_may_be_used_is_not_warned_about(keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert newel.solve(A, B, **keywords)[1].converged
