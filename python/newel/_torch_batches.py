# SPDX-License-Identifier: Apache-2.0
"""Batches of systems as a function that PyTorch differentiates."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ._batched import BatchedSystem, host_pattern
from ._batched_report import BatchedReport
from ._choices import real_number, whole_number


class BatchedSolves:
    """The systems of a pattern and of its transpose, whose gradients are each other's solves."""

    def __init__(self, pattern: Any, precision: str, limits: dict[str, Any], options: dict[str, Any]) -> None:
        self.indices, self.indptr = host_pattern(pattern)
        self._rows = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        self._precision, self._limits, self._options = precision, limits, options
        self._forward: BatchedSystem | None = None
        self._transpose: BatchedSolves | None = None
        self._places: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        self._to_transpose = np.lexsort((self._rows, self.indices))  # a position for each entry of the transpose
        self.report: BatchedReport | None = None

    def solve(self, values: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """x, without derivatives; raises ConvergenceError if a system does not converge."""
        if self._forward is None:
            device = f"cuda:{values.get_device()}" if values.is_cuda else "host"
            self._forward = BatchedSystem((self.indices, self.indptr), precision=self._precision, device=device,
                                          **self._options)
        x, self.report = self._forward.solve(values, b, raise_on_failure=True, **self._limits)
        return x

    def transpose(self) -> BatchedSolves:
        if self._transpose is None:
            order = self._to_transpose
            counts = np.bincount(self.indices, minlength=self.indptr.size - 1)
            indptr = np.concatenate(([0], np.cumsum(counts))).astype(self.indptr.dtype)
            pattern = (self._rows[order].astype(np.int32), indptr)
            self._transpose = BatchedSolves(pattern, self._precision, self._limits, self._options)
        return self._transpose

    def places(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Rows and columns of the entries, and the order of the transpose's, where `like` is."""
        if self._places is None or self._places[0].device != like.device:
            rows, columns, order = (torch.as_tensor(array.astype(np.int64), device=like.device)
                                    for array in (self._rows, self.indices, self._to_transpose))
            self._places = (rows, columns, order)
        return self._places


class SolveBatch(torch.autograd.Function):
    """x of A[s] x[s] = b[s]. With y of A[s]^T y[s] = g[s], the gradients are y, and -y_i x_j on the pattern."""

    @staticmethod
    def forward(ctx: Any, solves: BatchedSolves, values: torch.Tensor, b: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        x = solves.solve(values.detach().contiguous(), b.detach().contiguous())
        ctx.solves = solves
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:  # type: ignore[override]
        values, x = ctx.saved_tensors
        rows, columns, order = ctx.solves.places(values)
        y = SolveBatch.apply(ctx.solves.transpose(), values[:, order], g)
        of_values = -y[:, rows] * x[:, columns] if ctx.needs_input_grad[1] else None
        return None, of_values, y if ctx.needs_input_grad[2] else None


def limits_of(rtol: Any, atol: Any, max_iterations: Any) -> dict[str, Any]:
    """The keywords of `BatchedSystem.solve`, checked."""
    limits: dict[str, Any] = {"atol": real_number(atol, "atol")}
    if rtol is not None:
        limits["rtol"] = real_number(rtol, "rtol")
    if max_iterations is not None:
        limits["max_iterations"] = whole_number(max_iterations, "max_iterations", 0)
    return limits
