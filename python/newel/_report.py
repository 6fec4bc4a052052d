# SPDX-License-Identifier: Apache-2.0
"""The report of a solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._warn import warn

class ConvergenceWarning(UserWarning):
    """A solve did not converge; its report says why and what to try."""


class RowWarning(UserWarning):
    """A solve converged by ``|b - A x|``, but some rows that are far smaller than ``|b|`` are almost unsolved."""


class ConvergenceError(RuntimeError):
    """A solve did not converge, and was called with ``raise_on_failure=True``.

    Attributes
    ----------
    x : numpy.ndarray
        The x at the end of the solve.
    report : Report or list of Report
    """

    def __init__(self, message: str, x: Any, report: Any) -> None:
        super().__init__(message)
        self.x = x
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.x, self.report)


class Report:
    """The result of a solve. Norms are 2-norms of b - A x, without the preconditioner.

    ``bool(report)`` is true if the solve converged. Compared with a number, a report behaves like the ``info`` of
    SciPy's solvers: 0 if it converged, else the number of iterations. Reports can be pickled. `to_dict` returns all
    fields.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __bool__(self) -> bool:
        return self.converged

    # Programs for SciPy's solvers compare the second result with 0. As it is no number, it has no hash of one.
    def _as_info(self) -> int:
        return 0 if self.converged else max(1, self.iterations)

    def __eq__(self, other: object) -> bool:
        return self._as_info() == other if isinstance(other, (int, np.integer)) else self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __lt__(self, other: int) -> bool:
        return self._as_info() < other

    def __gt__(self, other: int) -> bool:
        return self._as_info() > other

    def __le__(self, other: int) -> bool:
        return self._as_info() <= other

    def __ge__(self, other: int) -> bool:
        return self._as_info() >= other

    @property
    def converged(self) -> bool:
        """Whether b - A x, computed from the returned x, meets the tolerance."""
        return self._fields["status"] == "converged"

    @property
    def status(self) -> str:
        """``"converged"``, ``"max_iterations"``, ``"breakdown"``, ``"not_positive_definite"``, ``"not_finite"``,
        ``"stagnation"``, ``"diverged"``, ``"time_limit"`` or ``"stopped_by_caller"``."""
        return self._fields["status"]

    @property
    def cause(self) -> str:
        """The status in more detail, as one word: ``"rounding"``, ``"matrix_not_positive"``, ..."""
        return self._fields["cause"]

    @property
    def reason(self) -> str:
        """Why the solve did not converge, as a sentence; empty if it converged."""
        return self._fields["reason"]

    @property
    def advice(self) -> str:
        """What to try next; empty if the solve converged."""
        return self._fields["advice"]

    @property
    def solver(self) -> str:
        """The method that ended the solve."""
        return self._fields["solver"]

    @property
    def preconditioner(self) -> str:
        """The name of the preconditioner; ``"none"`` if there was none."""
        return self._fields["preconditioner"]

    @property
    def format(self) -> str:
        """The storage format of the matrix in products; ``"operator"`` for an operator of the caller."""
        return self._fields["format"]

    @property
    def precision(self) -> str:
        """``"double"``, ``"single"`` or ``"mixed"``, as requested."""
        return self._fields["precision"]

    @property
    def device(self) -> str:
        """Where the system was solved: ``"host"``, ``"cuda:0"``, ..."""
        return self._fields["device"]

    @property
    def rows(self) -> int:
        """Number of unknowns."""
        return self._fields["rows"]

    @property
    def iterations(self) -> int:
        """Iterations of all attempts together."""
        return self._fields["iterations"]

    @property
    def residual_error_bound(self) -> float:
        """Bound on the rounding error of `true_residual`. `converged` means that their sum meets the tolerance.

        For an operator, whose entries are not known, it is an estimate, and `twice_precision` is False.
        """
        return self._fields["residual_error_bound"]

    @property
    def twice_precision(self) -> bool:
        """Whether b - A x was computed in twice the precision of A and x."""
        return self._fields["twice_precision"]

    @property
    def row_residual(self) -> float:
        """max over the rows of ``|b - A x|_i / (sum_j |a_ij| max|x| + |b_i|)``. Near 1 if some row is not solved at
        all; ``|b - A x| / |b|`` does not show this if the row is small compared with others. Negative: the entries
        are not known."""
        return self._fields["row_residual"]

    @property
    def scaled_residual(self) -> float:
        """``|E (b - A x)| / |E b|``, where E divides each row by its largest entry, if rows were scaled (`scale` in
        `options`); the relative tolerance applies to it too. Negative: they were not."""
        return self._fields["scaled_residual"]

    @property
    def warning(self) -> str:
        """A warning although the solve converged: some rows are almost unsolved. Empty: no warning."""
        return self._fields["warning"]

    @property
    def true_residual(self) -> float:
        """``|b - A x|``, computed from the returned x."""
        return self._fields["true_residual"]

    @property
    def relative_residual(self) -> float:
        """`true_residual` divided by ``|b|``, or `true_residual` itself if b is zero."""
        norm = self._fields["rhs_norm"]
        return self._fields["true_residual"] / norm if norm > 0 else self._fields["true_residual"]

    @property
    def initial_residual(self) -> float:
        """``|b - A x0|``."""
        return self._fields["initial_residual"]

    @property
    def tolerance(self) -> float:
        """``max(rtol |b|, atol)``."""
        return self._fields["tolerance"]

    @property
    def rhs_norm(self) -> float:
        """``|b|``."""
        return self._fields["rhs_norm"]

    @property
    def history(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The residual before the first and after each iteration, by the recurrence."""
        return self._fields["history"]

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by phase: ``"setup"`` (of the Solver, or of refreshes since the previous solve) and ``"solve"``."""
        return self._fields["seconds"]

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """One entry for each method and preconditioner that was tried, in order."""
        return self._fields["attempts"]

    @property
    def changed(self) -> str:
        """What ``"auto"`` replaced in this solve, and why; empty: nothing."""
        return self._fields["changed"]

    @property
    def guess(self) -> dict[str, Any]:
        """What the solve began with, if the Solver keeps past solutions (``guess=``): ``from`` (``"given"``,
        ``"zero"``, ``"extrapolated"`` or ``"projected"``), ``vectors`` that were there, ``residual`` and
        ``given_residual``, ``|b - A x0|`` of this guess and of ``x0``, ``iterations_saved`` against the last solve that
        began as given (0: not known; only ``"auto"`` counts) and ``seconds``. Otherwise empty."""
        return self._fields["guess"]

    @property
    def recycle(self) -> dict[str, Any]:
        """The approximate eigenvectors of earlier solves that this one used (``recycle=``): ``vectors``,
        ``iterations_saved`` against the last solve without them (0: not known) and ``seconds`` to prepare and to
        harvest them."""
        return self._fields["recycle"]

    def to_dict(self) -> dict[str, Any]:
        """The whole report in plain Python types, for example for `json.dumps`."""
        fields = dict(self._fields)
        fields["converged"] = self.converged
        fields["advice"] = self.advice
        fields["relative_residual"] = self.relative_residual
        fields["history"] = self.history.tolist()
        fields["seconds"] = dict(self.seconds)
        fields["attempts"] = [dict(attempt) for attempt in self.attempts]
        return fields

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Plot the residual over the iterations. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        **style
            Passed on to ``ax.semilogy``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("Report.plot needs matplotlib: pip install matplotlib") from error
        if ax is None:
            _, ax = plt.subplots()
        scale = self.rhs_norm if self.rhs_norm > 0 else 1.0
        style.setdefault("label", f"{self.solver}, {self.preconditioner}")
        ax.semilogy(np.arange(self.history.size), self.history / scale, **style)
        ax.axhline(self.tolerance / scale, color="grey", linestyle=":")
        ax.set_xlabel("iteration")
        ax.set_ylabel("|r| / |b|")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        lines = [
            f"{self.status} after {self.iterations:,} iterations of {self.solver} "
            f"in {sum(self.seconds.values()):.3g} s",
            f"  |b - A x| / |b| = {self.relative_residual:.2e}",
            f"  format {self.format}, preconditioner {self.preconditioner}, precision {self.precision}, "
            f"{self.rows:,} unknowns",
        ]
        if not self.converged:
            lines.append(f"  {self.reason}")
            if self.advice:
                lines.append(f"  try: {self.advice}")
        if self.warning:
            lines.append(f"  warning: {self.warning}")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        return self._fields

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self._fields = fields


def conclude(x: Any, reports: list[Report], several: bool, raise_on_failure: bool) -> tuple[Any, Any]:
    """Return (x, report), after a warning if a solve did not converge; or raise instead."""
    report = reports if several else reports[0]
    failed = [column for column, one in enumerate(reports) if not one.converged]
    for one in reports:
        if one.warning:
            warn(one.warning, RowWarning)
    if not failed:
        return x, report
    first = reports[failed[0]]
    where = f"column {failed[0]}, the first of {len(failed)} out of {len(reports)}: " if several else ""
    message = f"{where}{first.status}: {first.reason} (|b - A x| / |b| = {first.relative_residual:.2e})"
    if first.advice:
        message += f"; try: {first.advice}"
    if raise_on_failure:
        raise ConvergenceError(message, x, report)
    warn(message, ConvergenceWarning)
    return x, report
