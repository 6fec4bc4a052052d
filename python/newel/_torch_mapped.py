# SPDX-License-Identifier: Apache-2.0
"""Solves with many values of one pattern, as PyTorch differentiates and maps them, and what their derivatives consist of."""

from __future__ import annotations

from typing import Any

import torch

from ._torch_systems import systems_of


class SolveMany(torch.autograd.Function):
    """x of k x n with A[s] x[s] = b[s], from values of k x nonzeros and b of k x n; or the same with the transposes.

    The derivatives are those of one solve (`_torch_operators`), for all systems together.
    """

    @staticmethod
    def forward(values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
        return systems_of(system).solve_many(values, b, transposed)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        values, _, ctx.system, ctx.transposed = inputs
        ctx.kept = systems_of(ctx.system)
        ctx.save_for_backward(values, output)
        ctx.save_for_forward(values, output)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        values, x = ctx.saved_tensors
        y = SolveMany.apply(values, gradient, ctx.system, not ctx.transposed)
        of_values = None
        if ctx.needs_input_grad[0]:
            of_values = -outer_many(y, x, *_places(ctx))
        return of_values, y if ctx.needs_input_grad[1] else None, None, None

    @staticmethod
    def jvp(ctx: Any, of_values: Any, of_b: Any, *_: Any) -> Any:
        values, x = ctx.saved_tensors
        of_matrices = None if of_values is None else -product_many(of_values, x, *_places(ctx))
        return SolveMany.apply(values, added(of_b, of_matrices), ctx.system, ctx.transposed)

    @staticmethod
    def vmap(info: Any, axes: Any, values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> Any:
        many = [tensor.expand(info.batch_size, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
                for tensor, axis in zip((values, b), axes)]
        x = SolveMany.apply(*(tensor.flatten(0, 1) for tensor in many), system, transposed)
        return x.unflatten(0, many[1].shape[:2]), 0


def _places(ctx: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The row and the column of each value in the matrices that were solved with."""
    rows, columns = ctx.kept.entries
    return (columns, rows) if ctx.transposed else (rows, columns)


def outer_many(left: torch.Tensor, right: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """left[s]_i right[s]_j for each entry (i, j) of each system s, summed over a third axis if there is one."""
    result = left.index_select(1, rows) * right.index_select(1, columns)
    return result if result.dim() == 2 else result.sum(2)


def product_many(values: torch.Tensor, x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """A[s] x[s] for each system s, whose values[s] belong to these rows and columns; x[s] has one axis or two."""
    weights = values if x.dim() == 2 else values.unsqueeze(2)
    return torch.zeros_like(x).index_add(1, rows, weights * x.index_select(1, columns))


def added(one: Any, other: Any) -> Any:
    """The sum of two derivatives, of which one may be None for zero."""
    if one is None or other is None:
        return other if one is None else one
    return one + other
