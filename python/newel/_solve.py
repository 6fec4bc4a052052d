# SPDX-License-Identifier: Apache-2.0
"""Solves a system in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from . import _core
from ._arrays import double
from ._device_array import shape_of
from ._keywords import names_keywords
from ._matrices import given_matrix, is_matrix
from ._operators import Sized
from ._report import Report
from ._single import default_rtol
from ._solver import Solver

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import Columns, SolverKeywords, Vector

F = TypeVar("F", bound=Callable[..., Any])


def _shows_keywords_of_a_solver(function: F) -> F:
    """Replace ``**keywords`` in the signature by the keywords of `Solver` that it lacks."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    names = {p.name for p in own}
    more = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(Solver).parameters.values() if p.name not in names]
    function.__signature__ = signature.replace(parameters=own + more)  # type: ignore[attr-defined]
    return function


@overload
def solve(A: Any, b: Vector, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
          max_iterations: int | None = None, time_limit: float | None = None,
          callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False, M: Any = None,
          **keywords: Unpack[SolverKeywords]) -> tuple[Vector, Report]: ...
@overload
def solve(A: Any, b: Columns, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
          max_iterations: int | None = None, time_limit: float | None = None,
          callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False, M: Any = None,
          **keywords: Unpack[SolverKeywords]) -> tuple[Columns, list[Report]]: ...
@overload
def solve(A: Any, b: Any, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
          max_iterations: int | None = None, time_limit: float | None = None,
          callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False, M: Any = None,
          **keywords: Unpack[SolverKeywords]) -> tuple[Any, Report]: ...
@names_keywords()
@_shows_keywords_of_a_solver
def solve(
    A: Any,
    b: Any,
    x0: Any = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[_core.Progress], Any] | None = None,
    *,
    raise_on_failure: bool = False,
    M: Any = None,
    **keywords: Any,
) -> tuple[Any, Any]:
    """Solve A x = b in one call.

    Takes the parameters of `Solver.solve`, and as keywords those of `Solver`; see there. ``M`` is another name for
    ``preconditioner``, as in SciPy's solvers. For several solves with one pattern, make a `Solver`. ``device="auto"``
    solves on the device that holds A or b. If A or b is complex, so is x. If A and b are both float32, so is x, and the solve is in single precision
    unless ``precision`` says otherwise. For a diagonal SciPy matrix in CSR or CSC, x = b / diag(A) if only tolerances
    are given; the report then names ``"division"`` as solver, with no iterations.

    Returns
    -------
    x : array of the same kind as b
    report : Report, or a list of reports if b has two dimensions

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, newel
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, report = newel.solve(A, np.ones(100), preconditioner="jacobi", rtol=1e-10)
    >>> report.status
    'converged'
    """
    if "guess" in keywords:
        raise TypeError("solve() has no keyword 'guess'; did you mean 'x0'? Guesses from past solutions belong to a "
                        "Solver()")
    if "recycle" in keywords:
        raise TypeError("solve() has no keyword 'recycle': vectors of earlier solves belong to a Solver()")
    if not keywords and M is None and x0 is None and time_limit is None and callback is None:
        found = _divided(A, b, rtol, atol, max_iterations)
        if found is not None:
            return found
    if M is not None:
        if "preconditioner" in keywords:
            raise TypeError("solve: M is another name for preconditioner, pass only one of them")
        keywords["preconditioner"] = M
    if "columns" not in keywords and getattr(b, "ndim", 1) == 2 and b.shape[1] > 1:
        keywords["columns"] = b.shape[1]
    if callable(A) and not hasattr(A, "shape") and not is_matrix(A):
        shape = shape_of(b)
        if not shape:
            raise ValueError("b: expected shape (n,) or (n, k), found ()")
        A = Sized(A, shape[0])
    solver = Solver._made_for(b, A, rtol=rtol, **keywords)
    return solver._solve(b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure)


def _divided(A: Any, b: Any, rtol: Any, atol: Any, max_iterations: Any) -> tuple[Any, Report] | None:
    """(x, report) for a diagonal matrix; None for others, and if a solver has to report an error."""
    began = perf_counter()
    rtol = default_rtol(double) if rtol is None else rtol
    if getattr(A, "format", None) not in ("csr", "csc") or type(b) is not np.ndarray or b.ndim != 1:
        return None
    if type(rtol) is not float or type(atol) is not float:
        return None
    if max_iterations is not None and not (type(max_iterations) is int and 0 < max_iterations < 2**31):
        return None
    n = b.shape[0]
    if n == 0 or A.shape != (n, n) or type(A.data) is not np.ndarray or A.data.shape != (n,):
        return None
    if A.data.dtype != double or b.dtype != double or not b.flags.c_contiguous:
        return None
    given = given_matrix(A, double)
    x = np.empty(n)
    ready = perf_counter()
    norms = _core.divide_by_diagonal(given.arrays, b, x, rtol, atol)
    if norms is None:
        return None
    rhs_norm, residual, row_residual = norms
    ended = perf_counter()
    attempt = {
        "solver": "division", "method": "", "preconditioner": "none", "status": "converged", "cause": "none",
        "reason": "", "iterations": 0, "true_residual": residual, "attainable_residual": 0.0,
        "seconds": ended - ready,
    }
    return x, Report({
        "status": "converged", "cause": "none", "reason": "", "advice": "", "solver": "division", "method": "",
        "iterations": 0, "rhs_norm": rhs_norm, "tolerance": max(rtol * rhs_norm, atol), "initial_residual": rhs_norm,
        "recurrence_residual": residual, "true_residual": residual, "residual_error_bound": 0.0,
        "twice_precision": True, "row_residual": row_residual, "scaled_residual": -1.0,
        "warning": "", "attainable_residual": 0.0,
        "residual_replacements": 0, "refinements": 0, "cycle_length": 0, "restarts": 0, "changed": "", "guess": {},
        "recycle": {"vectors": 0, "iterations_saved": 0.0, "seconds": 0.0},
        "history": np.array([rhs_norm]), "attempts": [attempt], "format": "csr", "preconditioner": "none",
        "precision": "double", "rows": n, "device": "host",
        "seconds": {"setup": ready - began, "solve": ended - ready},
    })
