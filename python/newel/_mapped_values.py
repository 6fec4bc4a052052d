# SPDX-License-Identifier: Apache-2.0
"""Matrices of one pattern with many values as a batch: what a map over the values of a solve is computed by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._batched import BatchedSystem

MOST_ROWS = 2048  # of systems that are solved together; larger ones need a preconditioner that a batch has not

_of_batches = ("solver", "preconditioner", "restart", "precision", "threads", "stream")  # and of a Solver too
_without_effect = ("columns", "decision", "device", "expected_solves", "rtol")  # on what a batch computes


class MappedValues:
    """The batches of a pattern and of its transpose.

    Parameters
    ----------
    rows, columns : arrays of integers on the host
        The place of each value, in any order.
    n : int
        Rows of the matrix.
    symmetric : bool or None
        Whether the matrices are known to be symmetric, so that the transpose needs no other order of the values.
    options : keywords of `newel.Solver`
    device : int or None
        The device; None: the host.
    """

    def __init__(self, rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any], n: int, symmetric: bool | None,
                 options: Mapping[str, Any], device: int | None) -> None:
        self._rows, self._columns, self._n, self._symmetric = rows, columns, n, symmetric
        self._options, self._device = options, device
        self._made: dict[bool, BatchedSystem | None] = {}

    def of(self, transposed: bool) -> BatchedSystem | None:
        """The batch, which takes values in the order of the matrix.

        None: such systems are solved one after another, because they are large, the pattern has repeated entries, or
        the options are not those of batches.
        """
        transposed = transposed and not self._symmetric
        if transposed not in self._made:
            self._made[transposed] = self._make(transposed)
        return self._made[transposed]

    def _make(self, transposed: bool) -> BatchedSystem | None:
        if self._n > MOST_ROWS:
            return None
        choices = batch_choices(self._options)
        if choices is None:
            return None
        rows, columns = (self._columns, self._rows) if transposed else (self._rows, self._columns)
        order = np.lexsort((columns, rows))
        if np.any((np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)):
            return None  # repeated entries
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=self._n))))
        pattern = (np.ascontiguousarray(columns[order], np.int32), indptr.astype(np.int64))
        try:
            batch = BatchedSystem(pattern, device="host" if self._device is None else f"cuda:{self._device}", **choices)
        except ValueError:  # another method than those of batches
            return None
        if not batch.fits:
            return None
        if not np.array_equal(order, np.arange(order.size)):
            batch._set_order(order)
        return batch


def batch_choices(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keywords of a `BatchedSystem` for those of a Solver; None if these say what a batch cannot do."""
    given = {name: value for name, value in options.items()
             if name not in _without_effect and (value is not None or name == "preconditioner")}
    if any(name not in _of_batches for name in given):
        return None
    if given.get("preconditioner", "auto") == "auto":
        given["preconditioner"] = "jacobi"
    if given.get("precision", "auto") == "auto":
        given["precision"] = "double"
    return given
