# SPDX-License-Identifier: Apache-2.0
"""Runs test functions on all processes of mpirun, with solvers whose options come from a dictionary.

The program's arguments are the plugin and a folder for files."""
import os
import sys
import traceback

import petsc4py

petsc4py.init([sys.argv[0], "-dll_append", sys.argv[1]])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

COMM = PETSc.COMM_WORLD
ALONE = COMM.size == 1
Reason = PETSc.KSP.ConvergedReason
made = 0


def with_options(thing, options):
    """Gives a KSP or PC a prefix of its own with these options, and has it read them."""
    global made
    made += 1
    prefix = f"t{made}_"
    database = PETSc.Options()
    for name, value in options.items():
        database[prefix + name] = value
    thing.setOptionsPrefix(prefix)
    thing.setFromOptions()
    return thing


def ksp(A, P=None, **options):
    """A KSP of type newel, or of the type in the options."""
    solver = PETSc.KSP().create(COMM)
    solver.setOperators(A, P)
    return with_options(solver, {"ksp_type": "newel", **options})


def view(thing):
    """What -ksp_view or -pc_view prints."""
    name = os.path.join(sys.argv[2], f"view_of_{COMM.size}.txt")
    viewer = PETSc.Viewer().createASCII(name, comm=COMM)
    thing.view(viewer)
    viewer.destroy()
    COMM.barrier()
    with open(name, encoding="utf-8") as file:
        text = file.read()
    COMM.barrier()
    return text


def refused(words, function, *arguments, **options):
    """Whether PETSc's error has these words on every process."""
    try:
        function(*arguments, **options)
    except PETSc.Error:
        messages = "\n".join(PETSc.Error._traceback_)
        assert words in messages, f"expected {words!r} in:\n{messages}"
        return
    raise AssertionError(f"no error; expected {words!r}")


def load(system, seed=1):
    """A right-hand side, the same on all processes."""
    return np.random.default_rng(seed).standard_normal(system.rows)


def solved(system, solver, A, b, values=None, rtol=1e-8):
    """Solves; checks the residual by triplets; returns x."""
    solver.setTolerances(rtol=rtol)
    x = A.createVecRight()
    solver.solve(b, x)
    assert solver.getConvergedReason() in (Reason.CONVERGED_RTOL, Reason.CONVERGED_ATOL), solver.getConvergedReason()
    residual = system.residual(b, x, values)
    assert residual <= 1.000001 * rtol * b.norm(), (residual, b.norm())
    assert abs(residual - solver.getResidualNorm()) <= 1e-3 * residual + 1e-13 * b.norm()
    return x


def run(names):
    """Runs each function of a module but what begins with an underscore; the exit status is 1 if one has failed on a
    process."""
    tests = [thing for name, thing in names.items() if getattr(thing, "__module__", "") == "__main__"
             and callable(thing) and not name.startswith("_")]
    failed = 0
    for test in tests:
        try:
            test()
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"process {COMM.rank}: {test.__name__} FAILED\n{traceback.format_exc()}", flush=True)
            if COMM.size > 1:
                os._exit(1)  # mpirun ends the others, which wait within a call
    if COMM.rank == 0:
        print(f"{len(tests) - failed} of {len(tests)} passed on {COMM.size} processes", flush=True)
    sys.exit(1 if failed else 0)
