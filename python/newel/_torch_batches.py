# SPDX-License-Identifier: Apache-2.0
"""Batches of systems as PyTorch differentiates them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ._batched import BatchedSystem, host_pattern
from ._batched_report import BatchedReport
from ._choices import real_number, whole_number
from ._torch_systems import register


class BatchedSolves:
    """The systems of a pattern, and of its transpose, which gradients need. Each is made when it is first needed."""

    def __init__(self, pattern: Any, precision: str, limits: dict[str, Any], options: dict[str, Any]) -> None:
        self._indices, self._indptr = host_pattern(pattern)
        self._rows = np.repeat(np.arange(self._indptr.size - 1), np.diff(self._indptr))
        self._precision, self._limits, self._options = precision, limits, options
        self._to_transpose = np.lexsort((self._rows, self._indices))  # a position for each entry of the transpose
        self._made: dict[bool, BatchedSystem] = {}
        self._places: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        self.reports: dict[bool, BatchedReport] = {}  # of the last solve with the matrices, and with their transposes
        self.handle = register(self)

    @property
    def entries(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The row and the column of each value, where the values of the last solve are."""
        assert self._places is not None
        return self._places[0], self._places[1]

    def solve_many(self, values: torch.Tensor, b: torch.Tensor, transposed: bool) -> torch.Tensor:
        """x, without derivatives; raises ConvergenceError if a system does not converge."""
        values, b = values.detach(), b.detach()
        if self._places is None or self._places[0].device != values.device:
            rows, columns, order = (torch.as_tensor(array.astype(np.int64), device=values.device)
                                    for array in (self._rows, self._indices, self._to_transpose))
            self._places = (rows, columns, order)
        if transposed:
            values = values.index_select(1, self._places[2])
        if transposed not in self._made:
            device = f"cuda:{values.get_device()}" if values.is_cuda else "host"
            self._made[transposed] = BatchedSystem(self._pattern(transposed), precision=self._precision, device=device,
                                                   **self._options)
        x, self.reports[transposed] = self._made[transposed].solve(values.contiguous(), b.contiguous(),
                                                                   raise_on_failure=True, **self._limits)
        return x  # type: ignore[no-any-return]

    def _pattern(self, transposed: bool) -> tuple[Any, Any]:
        if not transposed:
            return self._indices, self._indptr
        counts = np.bincount(self._indices, minlength=self._indptr.size - 1)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(self._indptr.dtype)
        return self._rows[self._to_transpose].astype(np.int32), indptr


def limits_of(rtol: Any, atol: Any, max_iterations: Any) -> dict[str, Any]:
    """The keywords of `BatchedSystem.solve`, checked."""
    limits: dict[str, Any] = {"atol": real_number(atol, "atol")}
    if rtol is not None:
        limits["rtol"] = real_number(rtol, "rtol")
    if max_iterations is not None:
        limits["max_iterations"] = whole_number(max_iterations, "max_iterations", 0)
    return limits
