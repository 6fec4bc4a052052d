# SPDX-License-Identifier: Apache-2.0
"""What XLA calls, through the compiled part: a solve for one vector or, if JAX has mapped it, for many."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from newel import ConvergenceError
from newel._batched_report import BatchedReport

from . import _ffi
from ._arrays import XlaArray
from ._setups import Matrix, Setups

TARGET = "newel_solve"

# By number, because a call takes no other objects than arrays and numbers.
_setups: weakref.WeakValueDictionary[int, Setups] = weakref.WeakValueDictionary()
_handles = itertools.count(1)

# What a call returns for each vector besides x: 0, or one more than the place in this tuple.
STATUSES = ("max_iterations", "breakdown", "not_positive_definite", "not_finite", "stagnation", "diverged",
            "time_limit", "stopped_by_caller")


def handle_of(setups: Setups) -> int:
    """A number for these setups, which are not kept alive by it."""
    handle = next(_handles)
    _setups[handle] = setups
    return handle


def _answer(stream, handle, form, transposed, raises, places) -> str | None:
    """The text of an error; None: the results are written."""
    try:
        arrays = [XlaArray(stream, *place) for place in places]
        setups = _setups.get(handle)
        if setups is None:
            raise RuntimeError("the newel.jax.Solver of this function exists no longer: keep it as long as the "
                               "function is used")
        _solve(setups, form, transposed, raises, *arrays)
    except BaseException as error:  # XLA takes no exceptions
        return f"{type(error).__name__}: {error}"
    return None


def _solve(setups, form, transposed, raises, first, second, values, b, x, status, iterations) -> None:
    n = x.shape[-1]
    for array in (first, second):
        if math.prod(array.shape[:-1]) != 1:
            raise ValueError("vmap over the indices of a matrix is not possible: its systems have one pattern")
    reports = _solve_together(setups, form, transposed, first, second, values, b, x)
    if reports is None:
        size, reports = values.shape[-1], [None] * math.prod(x.shape[:-1])
        for at, begin, to, columns in _runs(values.shape[:-1], b.shape[:-1], x.shape[:-1]):
            matrix = Matrix(setups, form, n, first, second, values, at * size, size)
            reports[to:to + columns] = setups.solve(matrix, transposed, b, begin * n, x, to * n, columns)
    setups.reports[transposed] = reports
    if isinstance(reports, BatchedReport):  # all have converged
        status.set(np.zeros(len(reports), np.int32))
        iterations.set(reports.iterations.astype(np.int32))
        return
    failed = [report for report in reports if not report.converged]
    if failed and raises:
        what = "the system with the transpose of A" if transposed else "A x = b"
        one = failed[0]
        advice = f"; try: {one.advice}" if one.advice else ""
        message = (f"{what}, {len(failed)} of {len(reports)}: {one.status}: {one.reason} (|b - A x| / |b| = "
                   f"{one.relative_residual:.2e}){advice}")
        raise ConvergenceError(message, None, reports)
    status.set(np.array([0 if r.converged else 1 + STATUSES.index(r.status) for r in reports], np.int32))
    iterations.set(np.array([report.iterations for report in reports], np.int32))


def _solve_together(setups, form, transposed, first, second, values, b, x) -> Any:
    """The reports of systems that have a matrix each, solved as a batch; None if there are others, or no batch."""
    of_values, of_x = values.shape[:-1], x.shape[:-1]
    count, size = math.prod(of_values), values.shape[-1]
    if count < 2 or count != math.prod(of_x):
        return None

    def matrix(system: int) -> Matrix:
        return Matrix(setups, form, x.shape[-1], first, second, values, system * size, size)

    vectors = None if b.size == x.size else _numbers(b.shape[:-1], of_x).astype(np.int32)
    return setups.solve_many(count, matrix, transposed, b, vectors, x)


def _numbers(of_part, of_x) -> np.ndarray:
    """For each vector of x the number of its part, which axes of length 1 repeat."""
    return np.broadcast_to(np.arange(math.prod(of_part)).reshape(of_part), of_x).reshape(-1)


def _runs(of_values, of_b, of_x) -> Iterator[tuple[int, int, int, int]]:
    """(matrix, first of b, first of x, number) of vectors that belong to one matrix and follow each other.

    The arguments are the shapes of what is numbered; axes of length 1 are repeated.
    """
    if math.prod(of_values) == 1 and of_b == of_x:
        yield 0, 0, 0, math.prod(of_x)
        return
    matrices, from_, to = (_numbers(shape, of_x) for shape in (of_values, of_b, of_x))
    order = np.argsort(matrices, kind="stable")  # so that each matrix is refreshed once
    ends = np.flatnonzero((np.diff(matrices[order]) != 0) | (np.diff(from_[order]) != 1) | (np.diff(to[order]) != 1))
    for some in np.split(order, ends + 1):
        if some.size:
            yield int(matrices[some[0]]), int(from_[some[0]]), int(to[some[0]]), int(some.size)


_ffi.set_solver(_answer)
for _platform, _handler in _ffi.handlers().items():
    jax.ffi.register_ffi_target(TARGET, _handler, platform=_platform)
