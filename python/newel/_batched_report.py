# SPDX-License-Identifier: Apache-2.0
"""The report of a batch of systems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._report import ConvergenceError, ConvergenceWarning
from ._warn import warn


class BatchedResult(NamedTuple):
    """The result of one system of a batch: the entries that the arrays of a `BatchedReport` have for it."""

    status: str
    converged: bool
    solver: str
    iterations: int
    rhs_norm: float
    tolerance: float
    initial_residual: float
    true_residual: float
    reason: str

    def __bool__(self) -> bool:
        return self.converged


class BatchedReport:
    """The results of all systems of a batch, as arrays with one entry for each. Norms are absolute 2-norms.

    ``bool(report)`` is true if every system converged; ``len(report)`` is the number of systems, and ``report[s]`` has
    the entries of system s.

    Attributes
    ----------
    status : array of str
        ``"converged"`` or why not, as in `Report`.
    converged : array of bool
    solver : array of str
        The last method that was tried.
    iterations : array of int
        Of all methods that were tried.
    rhs_norm, tolerance : array of float
        ``|b|`` and ``max(rtol |b|, atol)``.
    initial_residual, true_residual : array of float
        ``|b - A x|`` of the guess and of the returned x; the second decides whether a system converged.
    together : bool
        Whether the systems were solved together, or else one after another, because they do not fit.
    seconds : float
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self._causes: np.ndarray[Any, Any] = fields["cause_codes"]
        self.status: np.ndarray[Any, Any] = _named(fields["statuses"], fields["status_codes"])
        self.converged: np.ndarray[Any, Any] = fields["status_codes"] == fields["statuses"].index("converged")
        self.solver: np.ndarray[Any, Any] = _named(fields["solvers"], fields["solver_codes"])
        self.iterations: np.ndarray[Any, Any] = fields["iterations"]
        self.rhs_norm: np.ndarray[Any, Any] = fields["rhs_norm"]
        self.tolerance: np.ndarray[Any, Any] = fields["tolerance"]
        self.initial_residual: np.ndarray[Any, Any] = fields["initial_residual"]
        self.true_residual: np.ndarray[Any, Any] = fields["true_residual"]
        self.together: bool = fields["together"]
        self.seconds: float = fields["seconds"]

    def __bool__(self) -> bool:
        return bool(self.converged.all())

    def __len__(self) -> int:
        return len(self.iterations)

    def __getitem__(self, system: int) -> BatchedResult:
        """The result of one system; IndexError if there is none with this number."""
        reason = self.reason(system)
        return BatchedResult(str(self.status[system]), bool(self.converged[system]), str(self.solver[system]),
                             int(self.iterations[system]), float(self.rhs_norm[system]), float(self.tolerance[system]),
                             float(self.initial_residual[system]), float(self.true_residual[system]), reason)

    def __repr__(self) -> str:
        failed = len(self) - int(self.converged.sum())
        most = int(self.iterations.max()) if len(self) else 0
        return f"<BatchedReport: {len(self)} systems, {failed} not converged, at most {most} iterations>"

    @property
    def relative_residual(self) -> np.ndarray[Any, Any]:
        """``true_residual / |b|``, or the residual itself if b is 0."""
        return self.true_residual / np.where(self.rhs_norm > 0, self.rhs_norm, 1.0)

    def reason(self, system: int) -> str:
        """Why a system did not converge, as a sentence; empty if it did."""
        count = len(self)
        if not -count <= system < count:
            raise IndexError(f"system {system} of {count}")
        return _core.batch_reason(int(self._causes[system]), int(self.iterations[system]), float(self.rhs_norm[system]),
                                  float(self.true_residual[system]))


def _named(names: list[str], codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array(names, dtype=np.str_)[codes] if len(names) else np.empty(0, dtype=np.str_)


def conclude_batch(x: Any, report: BatchedReport, raise_on_failure: bool) -> tuple[Any, BatchedReport]:
    """Return (x, report), after a warning if a system did not converge; or raise instead."""
    if report:
        return x, report
    failed = np.flatnonzero(~report.converged)
    first = int(failed[0])
    message = (f"system {first}, the first of {len(failed)} out of {len(report)}: {report.status[first]}: "
               f"{report.reason(first)} (|b - A x| / |b| = {report.relative_residual[first]:.2e})")
    if raise_on_failure:
        raise ConvergenceError(message, x, report)
    warn(message, ConvergenceWarning)
    return x, report
