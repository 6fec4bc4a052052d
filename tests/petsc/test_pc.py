#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PC of the plugin for PETSc, on as many processes as mpirun starts: test_pc.py PLUGIN FOLDER.

Every solution is judged by the residual that `systems.py` computes from triplets, without PETSc and without Newel."""
import numpy as np

from harness import ALONE, PETSc, ksp, load, run, solved, view
from systems import elasticity, poisson, rigid_body_modes, vector, whole


def coordinates_of_the_pc_serve_the_ksp():
    system = elasticity(8, 3, 3)
    A = system.mat()
    b = vector(A, load(system))
    counts = {}
    for given in (False, True):
        solver = ksp(A, ksp_newel_solver="cg", pc_type="newel", pc_newel_precond="amg", pc_newel_amg_max_coarse=60)
        if given:
            first, end = A.getOwnershipRange()
            solver.getPC().setCoordinates(system.coordinates[first // 3:end // 3])
        solved(system, solver, A, b)
        counts[given] = solver.getIterationNumber()
    assert counts[True] < counts[False], counts


def one_application_is_that_of_the_preconditioner():
    system = poisson(12)
    values = system.val.copy()
    values[system.row == system.col] += np.arange(system.rows)
    A = system.mat(values=values)
    r, z = vector(A, load(system)), A.createVecRight()
    solver = ksp(A, ksp_type="preonly", pc_type="newel", pc_newel_precond="jacobi")
    solver.solve(r, z)
    diagonal = 4.0 + np.arange(system.rows)
    assert np.allclose(whole(z), whole(r) / diagonal, rtol=1e-15)
    # The same in the caller's order if the matrix is renumbered.
    if ALONE:
        solver = ksp(A, ksp_type="preonly", pc_type="newel", pc_newel_precond="jacobi", pc_newel_format="ehyb")
        solver.solve(r, z)
        assert np.allclose(whole(z), whole(r) / diagonal, rtol=1e-15)


def the_preconditioner_serves_solvers_of_petsc():
    system = elasticity(6, 3, 3)
    A = system.mat()
    A.setNearNullSpace(rigid_body_modes(A, system.coordinates))
    b, x = vector(A, load(system)), A.createVecRight()
    counts = {}
    for name, options in {"jacobi": {"pc_type": "jacobi"}, "newel": {"pc_type": "newel", "pc_newel_precond": "jacobi"},
                          "auto": {"pc_type": "newel"}, "fsai": {"pc_type": "newel", "pc_newel_precond": "fsai"}, "amg": {"pc_type": "newel", "pc_newel_precond": "amg"}}.items():
        solver = ksp(A, ksp_type="cg", ksp_norm_type="unpreconditioned", ksp_rtol=1e-8, **options)
        solver.solve(b, x)
        assert solver.getConvergedReason() > 0
        assert system.residual(b, x) < 1.01e-8 * b.norm()
        counts[name] = solver.getIterationNumber()
    assert abs(counts["newel"] - counts["jacobi"]) <= 1, counts
    assert counts["fsai"] < counts["jacobi"] - 5, counts
    assert counts["amg"] < counts["jacobi"] / 2, counts


def a_preconditioner_is_refreshed():
    system = poisson(10)
    A = system.mat()
    solver = ksp(A, ksp_type="preonly", pc_type="newel", pc_newel_precond="jacobi")
    r, z = vector(A, load(system)), A.createVecRight()
    solver.solve(r, z)
    A.scale(2.0)
    solver.solve(r, z)
    assert np.allclose(whole(z), whole(r) / 8.0, rtol=1e-15)
    assert "newel setups: 1, with new values: 1\n" in view(solver.getPC())


def a_preconditioner_that_served_newel_serves_others():
    system = poisson(8)
    A = system.mat()
    b = vector(A, load(system))
    solver = ksp(A, pc_type="newel", pc_newel_precond="jacobi")
    solved(system, solver, A, b)
    solver.setType("cg")
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    solved(system, solver, A, b)
    values = system.val.copy()
    values[system.row == system.col] += np.arange(system.rows)
    A.zeroEntries()
    system.fill(A, values)
    solved(system, solver, A, b, values)
    assert "with new values: 1\n" in view(solver.getPC())


def fields_of_a_split_are_solved():
    system = elasticity(3, 2, 2)
    A = system.mat()
    A.setBlockSize(3)
    b = vector(A, load(system))
    solver = ksp(A, ksp_type="fgmres", pc_type="fieldsplit", pc_fieldsplit_block_size=3, fieldsplit_ksp_type="newel",
                 fieldsplit_ksp_newel_solver="cg", fieldsplit_ksp_rtol=1e-3)
    solved(system, solver, A, b)
    assert view(solver).count("newel solver: cg") == 3


run(globals())
