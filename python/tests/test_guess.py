# SPDX-License-Identifier: Apache-2.0
"""Guesses from past solutions, and the tolerances of Newton's method."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual

import newel

A = laplacian(12)
N = A.shape[0]
SPAN = np.random.default_rng(3).standard_normal((N, 3))


@pytest.mark.parametrize(("matrix", "solver"), [(A, "cg"), (A, "minres"), (convection(N), "gmres")])
def test_solutions_that_span_three_vectors_need_no_iterations_from_the_fourth_on(matrix, solver):
    system = newel.Solver(matrix, solver=solver, guess="project:3")
    factors = np.random.default_rng(4).standard_normal((7, 3))
    for step, of in enumerate(factors):
        b = matrix @ (SPAN @ of)
        x, report = system.solve(b, rtol=1e-12 if step < 3 else 1e-8)
        assert residual(matrix, x, b) <= 1e-8
        assert (report.iterations == 0) == (step >= 3)
        if step >= 3:
            assert report.guess["from"] == "projected"
            assert report.guess["vectors"] == 3
            assert report.guess["residual"] == pytest.approx(report.initial_residual)
            assert report.guess["given_residual"] == pytest.approx(np.linalg.norm(b))


def test_after_new_values_the_guess_is_for_the_new_matrix():
    other = (A + sp.identity(N)).tocsr()
    system = newel.Solver(A, solver="cg", guess="project:3")
    for of in np.random.default_rng(5).standard_normal((3, 3)):
        system.solve(A @ (SPAN @ of), rtol=1e-12)
    system.refresh(other)
    _, report = system.solve(other @ (SPAN @ [1.0, -1.0, 2.0]))
    assert report.iterations == 0


def test_by_default_nothing_is_kept_and_nothing_is_reported():
    _, report = newel.Solver(A).solve(np.ones(N))
    assert report.guess == {}
    assert report.to_dict()["guess"] == {}
    assert newel.solver_options()["guess"] == "given"


@pytest.mark.parametrize("guess", ["nothing", "project:0", "project:40", "project:x"])
def test_other_words_are_refused(guess):
    with pytest.raises(ValueError, match="guess: expected given, zero"):
        newel.Solver(A, guess=guess)


def test_forcing_terms_are_those_of_the_paper():
    first = newel.ForcingTerms(1, first=0.2)
    assert first.next(8.0) == 0.2
    assert first.next(3.0, 1.5) == pytest.approx(abs(3 - 1.5) / 8, rel=1e-14)
    second = newel.ForcingTerms(gamma=0.5, alpha=1.5, first=0.1)
    assert second.next(4.0) == 0.1
    assert second.next(1.0) == pytest.approx(0.5 * 0.25**1.5, rel=1e-14)
    second.restart()
    assert second.next(1.0) == 0.1
    guarded = newel.ForcingTerms()
    guarded.next(1.0)
    assert guarded.next(1e-9) == pytest.approx(0.9 * 0.5**2, rel=1e-14)
    for wrong in ({"choice": 3}, {"most": 1.0}, {"gamma": 2.0}, {"alpha": 1.0}):
        with pytest.raises(ValueError, match="forcing terms: expected"):
            newel.ForcingTerms(**wrong)


def test_newtons_method_with_forcing_terms_converges():
    """u + u^3 on the diagonal of a Laplacian: the solution is known, the steps are solved inexactly."""
    target = np.linspace(-1, 1, N)

    def f(u):
        return A @ u + u**3 - (A @ target + target**3)

    u, left = np.zeros(N), 0.0
    terms = newel.ForcingTerms(1)
    system = newel.Solver(A, solver="cg")
    for _ in range(30):
        norm = np.linalg.norm(f(u))
        if norm < 1e-10:
            break
        system.refresh((A + sp.diags_array(3 * u**2)).tocsr())
        step, report = system.solve(-f(u), rtol=terms.next(norm, left))
        left = report.true_residual
        u += step
    np.testing.assert_allclose(u, target, atol=1e-9)
