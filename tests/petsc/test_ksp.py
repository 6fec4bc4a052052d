#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The KSP of the plugin for PETSc, on as many processes as mpirun starts: test_ksp.py PLUGIN FOLDER.

Every solution is judged by the residual that `systems.py` computes from triplets, without PETSc and without Newel."""
import numpy as np

from harness import ALONE, COMM, PETSc, Reason, ksp, load, refused, run, solved, view, with_options
from systems import elasticity, neumann, poisson, rigid_body_modes, vector, whole


def a_membrane_is_solved():
    system = poisson(20)
    A = system.mat()
    b = vector(A, load(system))
    for options in ({}, {"ksp_newel_solver": "gmres", "ksp_newel_restart": 30}, {"ksp_newel_solver": "bicgstab"},
                    {"ksp_newel_solver": "cg", "ksp_newel_precond": "none"}, {"pc_type": "none"},
                    {"ksp_newel_precond": "fsai", "ksp_newel_fsai_power": 2},
                    {"ksp_newel_solver": "bicgstab", "ksp_newel_precond": "spai"}):
        solver = ksp(A, **options)
        solved(system, solver, A, b)
        assert solver.getIterationNumber() > 0


def values_are_refreshed_on_the_same_pattern():
    for precond in ("auto", "fsai"):
        _values_are_refreshed_with(precond)


def _values_are_refreshed_with(precond):
    system = poisson(12)
    A = system.mat()
    b = vector(A, load(system))
    solver = ksp(A, ksp_newel_precond=precond)
    solved(system, solver, A, b)
    solved(system, solver, A, vector(A, load(system, 2)))
    assert "newel setups: 1, with new values: 0\n" in view(solver)
    values = system.val.copy()
    for step in range(3):
        values[system.row == system.col] += 1.0 + step
        A.zeroEntries()
        system.fill(A, values)
        if step > 0:  # the first time nobody tells the KSP
            solver.setOperators(A)
        solved(system, solver, A, b, values)
    assert "newel setups: 1, with new values: 3\n" in view(solver)
    assert not np.allclose(values, system.val)


def another_pattern_is_a_new_setup():
    system = poisson(12)
    A = system.mat()
    b = vector(A, load(system))
    solver = ksp(A)
    solved(system, solver, A, b)
    other = poisson(12)
    other.row = np.append(other.row, [0, system.rows - 1])
    other.col = np.append(other.col, [system.rows - 1, 0])
    other.val = np.append(other.val, [0.5, 0.5])
    other.fill(A, other.val)
    solved(other, solver, A, b)
    assert "newel setups: 2, with new values: 0\n" in view(solver)
    B = system.mat()
    solver.setOperators(B)
    solved(system, solver, B, b)
    assert "newel setups: 3," in view(solver)


def a_body_is_solved_with_its_rigid_body_modes():
    system = elasticity(8, 3, 3)
    A = system.mat()
    b = vector(A, load(system))
    counts = {}
    for modes in (False, True):
        if modes:
            A.setNearNullSpace(rigid_body_modes(A, system.coordinates))
        solver = ksp(A, ksp_newel_solver="cg", ksp_newel_precond="amg", ksp_newel_amg_max_coarse=60)
        solved(system, solver, A, b)
        counts[modes] = solver.getIterationNumber()
        assert "newel preconditioner: amg" in view(solver)
    assert counts[True] < counts[False], counts


def a_pure_neumann_problem_has_mean_zero():
    system = neumann(15)
    A = system.mat()
    A.setNullSpace(PETSc.NullSpace().create(constant=True))
    values = load(system)
    b = vector(A, values - values.mean())
    x = solved(system, ksp(A), A, b)
    assert abs(whole(x).mean()) < 1e-10 * np.abs(whole(x)).max()
    ones = A.createVecRight()
    ones.set(3.0)
    ones.normalize()
    B = system.mat()
    B.setNullSpace(PETSc.NullSpace().create(vectors=[ones]))
    y = solved(system, ksp(B), B, b)
    assert np.array_equal(whole(x), whole(y))


def a_free_body_has_no_rigid_motion():
    system = elasticity(4, 2, 2, clamped=False)
    A = system.mat()
    modes = rigid_body_modes(A, system.coordinates)
    A.setNullSpace(modes)
    b = vector(A, load(system))
    modes.remove(b)
    x = solved(system, ksp(A, ksp_newel_precond="jacobi"), A, b, rtol=1e-7)
    for mode in modes.getVecs():
        assert abs(mode.dot(x)) < 1e-9 * x.norm()


def vectors_that_are_no_null_space_are_refused():
    system = poisson(8)
    A = system.mat()
    v = vector(A, np.arange(system.rows) % 2 + 0.0)
    v.normalize()
    A.setNullSpace(PETSc.NullSpace().create(vectors=[v]))
    x = A.createVecRight()
    refused("not in the null space", ksp(A).solve, vector(A, load(system)), x)


def what_does_not_converge_has_a_negative_reason():
    system = poisson(20)
    A = system.mat()
    b, x = vector(A, load(system)), A.createVecRight()
    solver = ksp(A)
    solver.setTolerances(max_it=3)
    solver.solve(b, x)
    assert solver.getConvergedReason() == Reason.DIVERGED_MAX_IT
    assert solver.getIterationNumber() == 3
    assert abs(solver.getResidualNorm() - system.residual(b, x)) < 1e-12 * b.norm()
    assert "max_iterations" in view(solver)
    A.scale(-1)
    solver = ksp(A, ksp_newel_solver="cg", ksp_newel_precond="none")
    solver.solve(b, x)
    assert solver.getConvergedReason() == Reason.DIVERGED_INDEFINITE_MAT
    solver = ksp(_neumann_mat(), ksp_newel_solver="gmres")
    ones = b.duplicate()
    ones.set(1.0)  # which the singular matrix cannot produce
    solver.solve(ones, x)
    assert solver.getConvergedReason() < 0, solver.getConvergedReason()
    solver = ksp(A, ksp_newel_solver="cg", ksp_newel_precond="none", ksp_error_if_not_converged=True)
    refused("has not converged", solver.solve, b, x)


def _neumann_mat():
    return neumann(20).mat()


def a_nan_is_no_convergence():
    system = poisson(8)
    A = system.mat()
    values = load(system)
    values[5] = np.nan
    b, x = vector(A, values), A.createVecRight()
    solver = ksp(A)
    solver.solve(b, x)
    assert solver.getConvergedReason() == Reason.DIVERGED_NANORINF


def tolerances_are_those_of_petsc():
    system = poisson(16)
    A = system.mat()
    b = vector(A, load(system))
    x = A.createVecRight()
    solver = ksp(A)
    solver.setTolerances(rtol=1e-12, atol=1e-3)
    solver.solve(b, x)
    assert solver.getConvergedReason() == Reason.CONVERGED_ATOL
    assert 1e-6 < system.residual(b, x) <= 1e-3
    # From a good guess, relative to the first residual: as many digits again.
    start = x.copy()
    first = system.residual(b, x)
    solver = ksp(A, ksp_converged_use_initial_residual_norm=True, ksp_rtol=1e-4, ksp_initial_guess_nonzero=True)
    solver.solve(b, x)
    assert solver.getConvergedReason() == Reason.CONVERGED_RTOL
    assert system.residual(b, x) <= 1.000001e-4 * first
    assert not np.array_equal(whole(x), whole(start))


def a_guess_is_used_if_petsc_says_so():
    system = poisson(16)
    A = system.mat()
    exact = load(system)
    b = vector(A, system.product(exact).astype(float))
    x = vector(A, exact)
    solver = ksp(A)
    solver.setInitialGuessNonzero(True)
    solver.solve(b, x)
    assert solver.getIterationNumber() == 0 and np.array_equal(whole(x), exact)
    solver.setInitialGuessNonzero(False)
    solver.solve(b, x)
    assert solver.getIterationNumber() > 5


def monitors_see_iterations_and_residuals():
    system = poisson(16)
    A = system.mat()
    b, x = vector(A, load(system)), A.createVecRight()
    solver = ksp(A)
    seen = []
    solver.setMonitor(lambda _, its, norm: seen.append((its, norm)))
    solver.setConvergenceHistory()
    solver.solve(b, x)
    history = solver.getConvergenceHistory()
    assert len(history) == solver.getIterationNumber() + 1
    assert abs(history[0] - b.norm()) < 1e-12 * b.norm()
    assert [its for its, _ in seen] == list(range(solver.getIterationNumber() + 1)), seen
    assert abs(seen[0][1] - b.norm()) < 1e-12 * b.norm()
    for its, norm in seen[1:]:
        assert norm == history[its]
    seen.clear()
    solver.setInitialGuessNonzero(True)  # from the solution
    solver.solve(b, x)
    assert [its for its, _ in seen] == [0] and seen[0][1] < 1e-4 * b.norm(), seen


def a_solution_is_not_shown_during_a_solve():
    system = poisson(8)
    A = system.mat()
    solver = ksp(A, ksp_monitor_true_residual=None)
    refused("after a solve only", solver.solve, vector(A, load(system)), A.createVecRight())


def blocks_and_halves_are_converted():
    system = elasticity(4, 2, 2)
    for kind in ("baij", "sbaij"):
        A = system.mat(kind)
        b = vector(A, load(system))
        solver = ksp(A)
        solved(system, solver, A, b)
        A.scale(2.0)
        solved(system, solver, A, b, 2.0 * system.val)
        assert "newel setups: 1, with new values: 1\n" in view(solver)
    scalar = poisson(6)
    part = scalar.mat()
    A = PETSc.Mat().createNest([[part]], comm=COMM)
    solved(scalar, ksp(A), A, vector(part, load(scalar)))


def what_cannot_be_done_is_refused():
    system = poisson(6)
    A = system.mat()
    b, x = vector(A, load(system)), A.createVecRight()
    for words, options in (("expected one of auto, none, jacobi", {"ksp_newel_precond": "multigrid"}),
                           ("restart: expected a whole number", {"ksp_newel_restart": "1.5"}),
                           ("expected double or mixed", {"ksp_newel_precision": "single"}),
                           ("ksp_newel_precnd (did you mean precond?)", {"ksp_newel_precnd": "amg"}),
                           ("there is no option", {"pc_type": "newel", "pc_newel_solver": "cg"}),
                           ("cannot use the PC gamg", {"pc_type": "gamg"}),
                           ("cannot use the PC jacobi", {"pc_type": "jacobi"}),
                           ("both name a preconditioner", {"pc_type": "newel", "ksp_newel_precond": "amg"}),
                           ("must be KSPConvergedDefault", {"ksp_convergence_test": "skip"}),
                           ("-ksp_converged_maxits", {"ksp_converged_maxits": True})):
        refused(words, lambda: ksp(A, **options).solve(b, x))
    refused("the same Amat and Pmat", ksp(A, system.mat()).solve, b, x)
    refused("does not solve with the transpose", ksp(A).solveTranspose, b, x)
    dense = PETSc.Mat().createDense(A.getSizes(), comm=COMM)
    dense.setUp()
    dense.assemble()
    refused("of type aij, baij, sbaij or nest, not", ksp(dense).solve, b, x)
    if not ALONE:
        refused("host", lambda: ksp(A, ksp_newel_device="cuda:1").solve(b, x))


def a_zero_on_the_diagonal_is_an_error_everywhere():
    system = poisson(8)
    values = system.val.copy()
    values[(system.row == 3) & (system.col == 3)] = 0.0
    A = system.mat(values=values)
    b, x = vector(A, load(system)), A.createVecRight()
    solver = ksp(A, ksp_newel_precond="jacobi")
    refused("row 3", solver.solve, b, x)
    A.zeroEntries()
    system.fill(A, system.val)
    solved(system, solver, A, b)  # a new setup


def options_reach_their_methods():
    system = poisson(24)
    A = system.mat()
    b = vector(A, load(system))
    long = ksp(A, ksp_newel_solver="gmres", ksp_newel_precond="jacobi", ksp_newel_restart=200)
    short = ksp(A, ksp_newel_solver="gmres", ksp_newel_precond="jacobi", ksp_newel_restart=5)
    solved(system, long, A, b)
    solved(system, short, A, b)
    assert short.getIterationNumber() > 1.5 * long.getIterationNumber()
    for word, value in (("yes", "yes"), ("true", True), ("no value", None)):
        left = ksp(A, ksp_newel_solver="gmres", ksp_newel_precond="jacobi", ksp_newel_left=value, ksp_newel_restart=5)
        left.setTolerances(max_it=3)
        left.solve(b, A.createVecRight())
        assert left.getConvergedReason() == Reason.DIVERGED_MAX_IT, word
    refused("left: expected one of no, yes", ksp, A, None, **{"ksp_newel_left": "maybe"})
    text = view(short)
    for words in ("newel solver: gmres", "newel preconditioner: jacobi", "converged by gmres", "|b - A x| ="):
        assert words in text, text
    if ALONE:
        mixed = ksp(A, ksp_newel_precision="mixed", ksp_newel_solver="cg", ksp_newel_format="csr")
        solved(system, mixed, A, b)
        assert "mixed cg" in view(mixed)


def a_kept_solver_can_be_reset():
    system = poisson(8)
    A = system.mat()
    b = vector(A, load(system))
    solver = ksp(A)
    solved(system, solver, A, b)
    solver.reset()
    small = poisson(5)
    B = small.mat()
    solver.setOperators(B)
    solved(small, solver, B, vector(B, load(small)))
    with_options(solver, {"ksp_type": "cg", "pc_type": "jacobi"})
    solver.destroy()


def processes_without_rows_take_part():
    system = poisson(1)  # one row
    A = system.mat()
    x = solved(system, ksp(A), A, vector(A, [2.0]))
    assert np.allclose(whole(x), [0.5])


run(globals())
