#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A warm membrane in time steps by PETSc, with its solver from the command line:
mpirun -n 3 python3 15_petsc.py -dll_append libnewel_petsc.so -ksp_type newel. The values of the matrix change with the
length of the step, and its pattern stays, so that Newel is set up once."""

import sys

import petsc4py

petsc4py.init(sys.argv)  # takes the options of the command line
from petsc4py import PETSc  # noqa: E402

n = 60
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
u = A.createVecRight()
b = u.duplicate()
ksp = PETSc.KSP().create()
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()

iterations = 0
for step in (10.0, 5.0, 1.0):  # 1 + step * (-Laplace), u of the last step on the right
    A.zeroEntries()
    for row in range(*A.getOwnershipRange()):
        i, j = row % n, row // n
        near = [j * n + i + d for d in (-1, 1) if 0 <= i + d < n] + [(j + d) * n + i for d in (-1, 1) if 0 <= j + d < n]
        A.setValue(row, row, 1 + 4 * step)
        A.setValues(row, near, [-step] * len(near))
    A.assemble()
    b.set(1.0)
    b.axpy(1.0, u)
    ksp.setOperators(A)
    ksp.solve(b, u)
    iterations += ksp.getIterationNumber()

r = A * u - b
words = "converged" if ksp.getConvergedReason() > 0 else "FAILED"
PETSc.Sys.Print(f"{words} after {iterations} iterations on {PETSc.COMM_WORLD.size} processes, "
                f"residual {r.norm() / b.norm():.1e}")
