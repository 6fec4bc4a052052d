# SPDX-License-Identifier: Apache-2.0
"""A system solved in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._device_array import shape_of
from ._matrices import is_matrix
from ._operators import Sized
from ._solver import Solver


def solve(
    A,
    b,
    x0=None,
    rtol: float = 1e-8,
    atol: float = 0.0,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[_core.Progress], Any] | None = None,
    *,
    raise_on_failure: bool = False,
    **keywords,
) -> tuple[Any, Any]:
    """Solve A x = b in one call.

    Takes the parameters of `Solver.solve`, and as keywords those of `Solver`. For several solves with one pattern, make
    a `Solver`. ``device="auto"`` solves on the device where A or b lies.

    Returns
    -------
    x : array of the kind of b
    report : Report, or a list of them where b has two dimensions

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, purlin
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, report = purlin.solve(A, np.ones(100), preconditioner="jacobi", rtol=1e-10)
    >>> report.status
    'converged'
    """
    if "columns" not in keywords and getattr(b, "ndim", 1) == 2 and b.shape[1] > 1:
        keywords["columns"] = b.shape[1]
    if callable(A) and not hasattr(A, "shape") and not is_matrix(A):
        A = Sized(A, shape_of(b)[0])
    solver = Solver._made_for(b, A, rtol=rtol, **keywords)
    return solver._solve(b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure, 2)
