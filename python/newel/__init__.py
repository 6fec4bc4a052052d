# SPDX-License-Identifier: Apache-2.0
"""Sparse linear solvers for finite elements.

>>> import numpy as np, scipy.sparse as sp, newel
>>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
>>> x, report = newel.solve(A, np.ones(100))
>>> report.converged
True

`solve` solves a system in one call. `Solver` keeps its setup for new right-hand sides and new values. `cg`,
`minres`, `bicgstab` and `gmres` take the arguments of SciPy's functions with these names; `idrs` and `fgmres` are
methods that SciPy does not have. `solve_batch` solves many small systems of one pattern, and `eigsh`
finds smallest eigenvalues. `read` reads matrix files, `info` describes a matrix, and `show` draws a field on a mesh.
"""

from ._core import Progress
from ._core import version as __version__
from ._batched import BatchedSystem, solve_batch
from ._batched_report import BatchedReport, BatchedResult
from ._device_array import DeviceArray
from ._eigsh import EigenReport, eigsh
from ._facts import MatrixInfo, info
from ._files import read
from ._forcing import ForcingTerms
from ._progress import TerminalProgress
from ._ranks import RankFailed
from ._report import ConvergenceError, ConvergenceWarning, Report, RowWarning
from ._scipy_like import bicgstab, cg, fgmres, gmres, idrs, minres
from ._show import show
from ._solve import solve
from ._solver import Solver
from ._tables import devices, formats, preconditioner_options, preconditioners, solver_options, solvers

__all__ = [
    "BatchedReport",
    "BatchedResult",
    "BatchedSystem",
    "ConvergenceError",
    "ConvergenceWarning",
    "DeviceArray",
    "EigenReport",
    "ForcingTerms",
    "MatrixInfo",
    "Progress",
    "RankFailed",
    "Report",
    "RowWarning",
    "Solver",
    "TerminalProgress",
    "__version__",
    "bicgstab",
    "cg",
    "devices",
    "eigsh",
    "fgmres",
    "formats",
    "gmres",
    "idrs",
    "info",
    "minres",
    "preconditioner_options",
    "preconditioners",
    "read",
    "show",
    "solve",
    "solve_batch",
    "solver_options",
    "solvers",
]
