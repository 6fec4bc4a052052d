#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Poisson's equation and a beam in DOLFINx 0.5 (Debian's python3-dolfinx), solved by the plugin for PETSc.

    PETSC_OPTIONS="-dll_append libnewel_petsc.so" mpirun -n 3 /usr/bin/python3 scripts/petsc_dolfinx.py [--record FILE]

Each row is one solve: options, iterations, PETSc's reason, and |b - A x| / |b| by PETSc's product. With --record the rows are
added to a JSON report; those of as many processes that it has are replaced. docs/howto/petsc.md shows them."""
import argparse
import datetime
import json
import pathlib
import sys

import dolfinx
import dolfinx.fem.petsc
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reports  # noqa: E402

PROCESSES = MPI.COMM_WORLD.size
rows = []


def assemble(a, L, bcs):
    a, L = fem.form(a), fem.form(L)
    A = fem.petsc.assemble_matrix(a, bcs=bcs)
    A.assemble()
    b = fem.petsc.assemble_vector(L)
    fem.petsc.apply_lifting(b, [a], bcs=[bcs])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(b, bcs)
    return A, b


def poisson(n):
    """A load in the middle of a cube, 0 on two of its sides."""
    cube = mesh.create_unit_cube(MPI.COMM_WORLD, n, n, n)
    V = fem.FunctionSpace(cube, ("Lagrange", 1))
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(cube)
    sides = mesh.locate_entities_boundary(cube, 2, lambda x: np.isclose(x[0], 0) | np.isclose(x[0], 1))
    zero = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(V, 2, sides), V)
    load = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
    return ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, ufl.inner(load, v) * ufl.dx, [zero]


def beam(n):
    """A beam of 4 x 1 x 1, clamped at one end, under its weight; and the nodes of this process."""
    box = mesh.create_box(MPI.COMM_WORLD, [np.zeros(3), np.array([4.0, 1.0, 1.0])], [2 * n, n // 2, n // 2])
    V = fem.VectorFunctionSpace(box, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    E, nu = 1.0e9, 0.3
    mu, lame = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))

    def sigma(w):
        return 2 * mu * ufl.sym(ufl.grad(w)) + lame * ufl.tr(ufl.sym(ufl.grad(w))) * ufl.Identity(3)
    end = mesh.locate_entities_boundary(box, 2, lambda x: np.isclose(x[0], 0))
    clamped = fem.dirichletbc(np.zeros(3), fem.locate_dofs_topological(V, 2, end), V)
    weight = fem.Constant(box, PETSc.ScalarType((0.0, 0.0, -1.0e4)))
    nodes = V.tabulate_dof_coordinates()[:V.dofmap.index_map.size_local]
    return ufl.inner(sigma(u), ufl.grad(v)) * ufl.dx, ufl.inner(weight, v) * ufl.dx, [clamped], nodes


def rigid_body_modes(A, nodes):
    v = A.createVecLeft()
    v.setArray(nodes.ravel())
    v.setBlockSize(3)
    return PETSc.NullSpace().createRigidBody(v)


def record(system, solver, options, A, b, x):
    r = A * x - b
    rows.append({"system": system, "rows": A.size[0], "processes": PROCESSES, "options": options,
                 "iterations": solver.getIterationNumber(), "reason": solver.getConvergedReason(),
                 "relative_residual": float(f"{r.norm() / b.norm():.3e}")})
    PETSc.Sys.Print(json.dumps(rows[-1]))


def solve(system, A, b, **options):
    solver = PETSc.KSP().create(A.comm)
    solver.setOperators(A)
    solver.setOptionsPrefix(f"s{len(rows)}_")
    for name, value in options.items():
        PETSc.Options()[f"s{len(rows)}_{name}"] = value
    solver.setTolerances(rtol=1e-8)
    solver.setFromOptions()
    x = A.createVecRight()
    solver.solve(b, x)
    record(system, solver, options, A, b, x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record")
    parser.add_argument("--size", type=int, default=40)
    given = parser.parse_args()

    form, load, bcs = poisson(given.size)
    options = {"ksp_type": "newel", "ksp_rtol": 1e-8}
    problem = fem.petsc.LinearProblem(form, load, bcs=bcs, petsc_options=options)  # DOLFINx's own solve
    u = problem.solve()
    record("poisson", problem.solver, options, problem.A, problem.b, u.vector)
    solve("poisson", problem.A, problem.b, ksp_type="cg", pc_type="newel", ksp_norm_type="unpreconditioned")

    form, load, bcs, nodes = beam(given.size)
    A, b = assemble(form, load, bcs)
    A.setNearNullSpace(rigid_body_modes(A, nodes))
    solve("beam", A, b, ksp_type="newel")
    if PROCESSES == 1:
        solve("beam", A, b, ksp_type="newel", ksp_newel_precond="amg")
        solve("beam", A, b, ksp_type="cg", pc_type="newel", pc_newel_precond="amg", ksp_norm_type="unpreconditioned")

    if given.record and MPI.COMM_WORLD.rank == 0:
        path = pathlib.Path(given.record)
        old = reports.load(path)["solves"] if path.exists() else []
        kept = [row for row in old if row["processes"] != PROCESSES]
        report = {**reports.head("scripts/petsc_dolfinx.py"), "date": datetime.date.today().isoformat(),
                  "dolfinx": dolfinx.__version__, "petsc": ".".join(map(str, PETSc.Sys.getVersion())),
                  "solves": sorted(kept + rows, key=lambda row: row["processes"])}
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


main()
