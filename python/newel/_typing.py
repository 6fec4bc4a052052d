# SPDX-License-Identifier: Apache-2.0
"""Types for type checkers: kinds of b, and the keywords of a Solver. Imported only by type checkers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]
Columns: TypeAlias = np.ndarray[tuple[int, int], np.dtype[Any]]


class SolverKeywords(TypedDict, total=False):
    """The keywords that `newel.solve` passes on to `Solver`; see there."""

    solver: str
    preconditioner: Any
    format: str
    precision: str
    device: str
    coordinates: Any
    near_null_space: Any
    expected_solves: float | None
    threads: int | None
    stream: Any
    columns: int
    null_space: str | None
    restart: int | None
    deterministic: bool
    plan_cache: str | os.PathLike[str] | None
    decision: str | None
    options: Mapping[str, Any] | None
    constraints: Any
    mass: Any
    comm: Any
    devices: Sequence[int] | None
