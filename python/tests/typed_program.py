# SPDX-License-Identifier: Apache-2.0
"""A program with types, which test_typing.py gives to mypy. It uses every public name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import newel

A: Any = newel.read("A.mtx")
vector = np.ones(100)
columns = np.ones((100, 3))


def watch(progress: newel.Progress) -> bool:
    return progress.relative_residual > 1e-3 or progress.iteration < 5


x, report = newel.solve(A, vector, preconditioner="amg", options={"amg_degree": 3}, threads=1)
assert_type(report, newel.Report)
x, report = newel.solve(A, [1.0] * 100, rtol=1e-6, callback=watch, raise_on_failure=False)
assert_type(report, newel.Report)
x, report = newel.solve(A, vector, devices=[0, 1])
assert_type(report, newel.Report)
several, reports = newel.solve(A, columns, x0=np.zeros((100, 3)), columns=3)
assert_type(reports, list[newel.Report])
all_converged: bool = all(reports) and report.converged and bool(report)
words: str = report.status + report.reason + report.advice
number: float = report.true_residual + report.relative_residual + report.history[0] + several[0, 0]
fields: dict[str, Any] = report.to_dict()

solver = newel.Solver(A, precision="double", near_null_space=None)
assert_type(solver.solve(vector)[1], newel.Report)
assert_type(solver.solve(columns)[1], list[newel.Report])
solver.refresh(A.data, keep_preconditioner=True)
shape: tuple[int, int] = solver.shape
tolerance: float = newel.ForcingTerms(choice=1, first=0.1).next(1.0, 0.01)
text: str = solver.device + solver.decision + repr(solver)
setup: dict[str, Any] = solver.info()
product = solver @ vector
M = solver.as_preconditioner()

y, info = newel.cg(A, vector, M=M)
assert_type(info, int)
y, info = newel.bicgstab(A, vector, callback=lambda xk: None)
y, info = newel.minres(A, vector, shift=0.5, show=False)
y, info = newel.idrs(A, vector, s=2)
y, info = newel.fgmres(A, vector, restart=10, M=M)
y, info = newel.gmres(A, vector, restart=10, callback=lambda r: None, callback_type="pr_norm")

facts: newel.MatrixInfo = newel.info(A)
rows: int = facts["rows"]
names: list[str] = newel.solvers() + newel.preconditioners() + newel.formats() + newel.devices()
defaults: dict[str, object] = {**newel.preconditioner_options(), **newel.solver_options()}
terminal = newel.TerminalProgress(every=1.0)
version: str = newel.__version__


def solve_or_warn(b: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Any:
    try:
        return newel.solve(A, b, callback=terminal, raise_on_failure=True)[0]
    except newel.ConvergenceError as error:
        return error.x
    except newel.RankFailed:
        return None
    except (newel.ConvergenceWarning, newel.RowWarning):
        return None


def of_any_shape(b: NDArray[np.float64]) -> NDArray[np.float64]:
    x, report = newel.solve(A, b)
    assert_type(report, newel.Report)
    x, report = newel.Solver(A).solve(b)
    assert_type(report, newel.Report)
    return b


def on_a_device(array: newel.DeviceArray) -> Any:
    return array.get() if array.ndim == 1 else array.shape


def from_file(path: str) -> Any:
    return newel.read(path, threads=2)


def of_a_batch(values: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    x, report = newel.solve_batch(A, values, b, rtol=1e-10, solver="cg")
    assert_type(report, newel.BatchedReport)
    system = newel.BatchedSystem((A.indices, A.indptr), preconditioner="block-jacobi", block_rows=2)
    x, report = system.solve(values, b, x, raise_on_failure=True)
    first: newel.BatchedResult = report[0]
    return float(report.true_residual.max()) if system.fits and first.converged else 0.0


def of_a_pencil(mass: Any) -> float:
    w, V = newel.eigsh(A, 2, mass, sigma=-1.0, tol=1e-8)
    report: newel.EigenReport = newel.eigsh(A, 2, mass, return_report=True)[2]
    assert report and report.residuals.max() <= report.tolerance
    return float(w[0])


def of_a_picture(points: NDArray[np.float64], triangles: NDArray[np.int64]) -> None:
    newel.show((points, {"triangle": triangles}), points[:, 0], warp=0.0, file="picture.png", show_edges=True)
