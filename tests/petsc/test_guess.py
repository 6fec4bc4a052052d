#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The KSPGuess of the plugin for PETSc, on as many processes as mpirun starts: test_guess.py PLUGIN FOLDER.

Guesses are compared with a dense projection by NumPy, and residuals are computed from triplets."""
import numpy as np

from harness import ksp, load, refused, run, solved, view
from systems import poisson, vector, whole


def _solver(A, **options):
    """PETSc's own CG, so that nothing but the guess is Newel's."""
    return ksp(A, **{"ksp_type": "cg", "pc_type": "jacobi", "ksp_norm_type": "unpreconditioned",
                     "ksp_guess_type": "newel", **options})


def _residual_of_projection(system, past, b, values=None):
    """|b - A x| of the best combination of the past solutions in the energy norm."""
    X = np.array(past).T
    AX = np.array([system.product(x, values).astype(float) for x in past]).T
    y = np.linalg.lstsq(X.T @ AX, X.T @ b, rcond=1e-14)[0]
    return np.linalg.norm(b - AX @ y)


def solutions_in_a_space_of_three_need_no_iterations():
    system = poisson(20)
    A = system.mat()
    loads = [load(system, seed) for seed in (1, 2, 3)]
    iterations = []
    solver = _solver(A)
    for k in range(8):
        b = vector(A, sum(np.cos(1.0 + k * (j + 1)) * one for j, one in enumerate(loads)))
        solved(system, solver, A, b, rtol=1e-6)
        iterations.append(solver.getIterationNumber())
    assert min(iterations[:3]) > 10, iterations
    assert max(iterations[4:]) <= 2, iterations


def a_guess_is_that_of_a_dense_projection():
    system = poisson(14)
    A = system.mat()
    for kind in ("project", "project:4"):
        solver = _solver(A, ksp_guess_newel=kind)
        past = []
        for k in range(6):
            b = load(system, 1) + 0.1 * k * load(system, 2) + 0.01 * k * k * load(system, 3) + 1e-4 * load(system, 10 + k)
            if k == 5:
                solver.setConvergenceHistory()
            x = solved(system, solver, A, vector(A, b), rtol=1e-10)
            if k < 5:
                past.append(whole(x))
        kept = 5 if kind == "project" else 4
        text = view(solver)
        assert f"newel guess: {kind}, past solutions: {min(6, 8 if kind == 'project' else 4)}; the last one was projected" in text
        first = solver.getConvergenceHistory()[0]
        if kind == "project":
            expected = _residual_of_projection(system, past[-kept:], b)
            assert abs(first - expected) <= 1e-3 * expected, (first, expected)
        assert first < 1e-3 * np.linalg.norm(b)


def new_values_keep_the_solutions():
    system = poisson(16)
    A = system.mat()
    solver = _solver(A)
    plain = _solver(A, ksp_guess_type="fischer", ksp_guess_fischer_model="1,1")
    values = system.val.copy()
    b = load(system)
    iterations = others = 0
    for step in range(6):
        values[system.row == system.col] *= 1.001
        A.zeroEntries()
        system.fill(A, values)
        solver.setOperators(A)
        plain.setOperators(A)
        solved(system, solver, A, vector(A, b), values)
        solved(system, plain, A, vector(A, b), values)
        if step >= 2:
            iterations += solver.getIterationNumber()
            others += plain.getIterationNumber()
    assert iterations <= 0.8 * others, (iterations, others)


def a_guess_of_the_caller_is_the_beginning():
    system = poisson(12)
    A = system.mat()
    solver = _solver(A, ksp_initial_guess_nonzero=True)
    b = vector(A, load(system))
    x = solved(system, solver, A, b, rtol=1e-10)
    solver.setTolerances(rtol=1e-8)
    solver.solve(b, x)
    assert solver.getIterationNumber() == 0


def newels_own_solver_takes_it():
    system = poisson(12)
    A = system.mat()
    solver = ksp(A, ksp_guess_type="newel", ksp_guess_newel="extrapolate", ksp_newel_precond="jacobi")
    iterations = []
    for k in range(6):
        solved(system, solver, A, vector(A, load(system, 1) + 0.1 * k * load(system, 2)), rtol=1e-6)
        iterations.append(solver.getIterationNumber())
    assert max(iterations[3:]) <= 1 < iterations[0], iterations


def other_words_are_refused():
    A = poisson(4).mat()
    for word in ("auto", "given", "project:0", "best"):
        refused("-ksp_guess_newel", _solver, A, ksp_guess_newel=word)


run(globals())
