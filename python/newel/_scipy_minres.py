# SPDX-License-Identifier: Apache-2.0
"""The arguments of SciPy's minres that its other solvers do not have: shift, show and check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._operators import apply_of


def shifted(A: Any, shift: float) -> Any:
    """A - shift I: a sparse matrix for a matrix of NumPy or SciPy, else a function from x to the product."""
    if isinstance(shift, (str, bytes)) or np.ndim(shift) != 0 or np.iscomplexobj(shift) or not np.isfinite(shift):
        raise TypeError(f"shift: expected a finite number, found {shift!r}")
    shift = float(shift)
    if shift == 0:
        return A
    from scipy.sparse import csr_array, eye_array, issparse

    if isinstance(A, (np.ndarray, list)) or issparse(A):
        given = csr_array(A if issparse(A) else np.asarray(A))
        return csr_array(given - shift * eye_array(*given.shape, dtype=given.dtype))
    product = apply_of(A, "A")
    return lambda x: product(x) - shift * x


def require_symmetric(A: Any, b: Any, dtype: np.dtype, name: str) -> None:
    """Raise ValueError if two products show that A is not symmetric: w.w = b.A w with w = A b."""
    product = apply_of(A, name)
    w = product(b)
    one, other = float(w @ w), float(b @ product(w))
    eps = float(np.finfo(dtype).eps)
    if abs(one - other) > (one + eps) * eps ** (1 / 3):
        raise ValueError(f"{name} is not symmetric: two products differ, {one!r} and {other!r}")


def printed(method: str, inner: Any) -> Callable[[Any], None]:
    """A watch that prints each iteration, and passes it on to another, or None."""
    def watch(progress: Any) -> None:
        print(f"{method}: iteration {progress.iteration:6}  |b - A x| / |b| = {progress.relative_residual:.3e}")
        if inner is not None:
            inner(progress)

    if inner is not None:
        watch.watch = inner.watch  # type: ignore[attr-defined]
    return watch
