# SPDX-License-Identifier: Apache-2.0
"""The preconditioner of a Solver as a SciPy operator. Imported on first use, because it needs SciPy's solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator


class SolverPreconditioner(LinearOperator):  # type: ignore[misc]  # where SciPy has no types
    """The preconditioner M of a Solver, which it keeps alive.

    Parameters
    ----------
    apply : function
        Computes M x for x of shape (n,) or (n, k).
    require_symmetric : function
        Raises NotImplementedError if M is not symmetric.
    """

    def __init__(self, solver: Any, apply: Callable[[Any], Any], require_symmetric: Callable[[], None]) -> None:
        super().__init__(solver.dtype, solver.shape)
        self._solver, self._apply, self._require_symmetric = solver, apply, require_symmetric

    def __reduce__(self) -> Any:
        raise TypeError("the preconditioner of a Solver cannot be pickled: what the Solver has set up lies in this "
                        "process")

    def _matvec(self, x: Any) -> Any:
        return self._apply(np.asarray(x).reshape(-1))

    def _matmat(self, X: Any) -> Any:
        return self._apply(np.asarray(X))

    def _rmatvec(self, x: Any) -> Any:
        self._require_symmetric()
        return self._matvec(x)

    def _rmatmat(self, X: Any) -> Any:
        self._require_symmetric()
        return self._matmat(X)
