# SPDX-License-Identifier: Apache-2.0
"""What a Solver knows of a saddle point: which rows are constraints, and a matrix like their Schur complement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import type_name
from ._choices import shown


def constraint_rows(constraints: Any) -> np.ndarray | None:
    """Row numbers from 0, ascending, or None. Accepts numbers or a mask with a truth value for each row."""
    if constraints is None:
        return None
    given = np.asarray(constraints)
    if given.ndim != 1:
        raise ValueError(f"constraints: expected one dimension, found the shape {given.shape}")
    if given.dtype == bool:
        rows = np.flatnonzero(given)
    elif np.issubdtype(given.dtype, np.integer):
        rows = given
    else:
        raise TypeError(f"constraints: expected row numbers or a mask, found {shown(constraints)}")
    if rows.size == 0:
        raise ValueError("constraints: expected at least one row, found none")
    return np.ascontiguousarray(np.sort(rows), dtype=np.int64)


def mass_matrix(mass: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """indptr, indices and data in CSR with ascending columns, in double; None for None."""
    if mass is None:
        return None
    if not hasattr(mass, "tocsr"):
        raise TypeError(f"mass: expected a sparse matrix of SciPy, found {type_name(mass)}")
    a = mass.tocsr(copy=True)
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"mass: expected a square matrix, found the shape {a.shape}")
    if np.iscomplexobj(a.data):
        raise TypeError("mass: expected real values, found complex ones")
    a.sum_duplicates()
    if not np.isfinite(a.data).all():
        raise ValueError("mass: expected finite values")
    return (np.ascontiguousarray(a.indptr, dtype=np.int64), np.ascontiguousarray(a.indices, dtype=np.int64),
            np.ascontiguousarray(a.data, dtype=np.float64))

