# SPDX-License-Identifier: Apache-2.0
"""Solvers under mpi4py, in processes that mpirun starts."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("ranks_program.py")
LAUNCHER = shutil.which("mpirun")
# As root, and with more ranks than processors, Open MPI needs these settings.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(LAUNCHER is None, reason="there is no mpirun"),
]


def run(ranks, *program):
    return subprocess.run([LAUNCHER, "-n", str(ranks), sys.executable, *program], capture_output=True, text=True,
                          env={**os.environ, **ENVIRONMENT}, timeout=300, check=False)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_solve_together(ranks):
    done = run(ranks, str(PROGRAM))
    assert done.returncode == 0 and f"{ranks} ranks: ok" in done.stdout, done.stderr


def test_the_example_solves():
    done = run(3, str(PROGRAM.parents[2] / "examples" / "14_mpi4py.py"))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 2, done.stderr
    for line in lines:
        assert "converged after" in line and "on 3 processes" in line
        assert float(line.rsplit(" ", 1)[1]) < 1e-8


def test_an_exception_that_nobody_handles_ends_all():
    done = run(2, "-m", "mpi4py", "-c", """
import numpy as np, scipy.sparse as sp, newel
from mpi4py import MPI
r = MPI.COMM_WORLD.rank
A = sp.csr_array(np.array([[2.0, 1.0]]) if r == 0 else np.array([[1.0, float("inf")]]))
newel.solve(A, np.ones(1), comm=MPI.COMM_WORLD)
""")
    assert done.returncode != 0
    assert "rank 1: ValueError: the values: expected finite ones" in done.stderr
