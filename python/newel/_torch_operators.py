# SPDX-License-Identifier: Apache-2.0
"""The operators of PyTorch behind newel.torch: the solve, and the two that its derivatives of any order consist of.

With v the values of A, i and j the row and the column of an entry, and g the gradient of the result::

    solve     x = A^-1 b            b: y = A^-T g           v: -y_i x_j
    outer     p_ij = l_i r_j        l: G r                  r: G^T l           G: A's pattern with the values g
    product   y = A x               v: g_i x_j              x: A^T g

(Griewank and Walther, Evaluating Derivatives, section 15.1: an implicit function.) Each is again one of the three, so
that derivatives of derivatives exist, and no dense matrix does.
"""

from __future__ import annotations

from typing import Any

import torch

from ._torch_systems import systems_of


@torch.library.custom_op("newel::solve", mutates_args=())
def solve(values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    """x of A x = b, or of A^T x = b; A has these values."""
    return systems_of(system).solve(values, b, transposed)


@torch.library.custom_op("newel::outer", mutates_args=())
def outer(left: torch.Tensor, right: torch.Tensor, nonzeros: int, system: int) -> torch.Tensor:
    """left_i right_j on the pattern of the system, summed over columns."""
    return systems_of(system).pattern.outer(left, right)


@torch.library.custom_op("newel::product", mutates_args=())
def product(values: torch.Tensor, x: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    """A x, or A^T x, with these values on the pattern of the system."""
    return systems_of(system).pattern.product(values, x, transposed)


@solve.register_fake
def _solve_shape(values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    return b.new_empty(b.shape) if b.dim() == 1 else b.new_empty(b.shape[1], b.shape[0]).t()


@outer.register_fake
def _outer_shape(left: torch.Tensor, right: torch.Tensor, nonzeros: int, system: int) -> torch.Tensor:
    return left.new_empty(nonzeros)


@product.register_fake
def _product_shape(values: torch.Tensor, x: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    return torch.empty_like(x)


def _of_entry(row: torch.Tensor, column: torch.Tensor, transposed: bool, like: torch.Tensor, system: int) -> Any:
    """The gradient of the values from the two factors of the matrix that multiplied, A or A^T."""
    left, right = (column, row) if transposed else (row, column)
    return outer(left, right, like.shape[0], system)


def _keep_for_solve(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    values, _, ctx.system, ctx.transposed = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(values, output)


def _solve_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    values, x = ctx.saved_tensors
    y = solve(values, gradient, ctx.system, not ctx.transposed)
    of_values = None
    if ctx.needs_input_grad[0]:
        of_values = -_of_entry(y, x, ctx.transposed, values, ctx.system)
    return of_values, y if ctx.needs_input_grad[1] else None, None, None


def _keep_for_outer(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    left, right, _, ctx.system = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(left, right)


def _outer_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    left, right = ctx.saved_tensors
    of_left = product(gradient, right, ctx.system, False) if ctx.needs_input_grad[0] else None
    of_right = product(gradient, left, ctx.system, True) if ctx.needs_input_grad[1] else None
    return of_left, of_right, None, None


def _keep_for_product(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    values, x, ctx.system, ctx.transposed = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(values, x)


def _product_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    values, x = ctx.saved_tensors
    of_values = None
    if ctx.needs_input_grad[0]:
        of_values = _of_entry(gradient, x, ctx.transposed, values, ctx.system)
    of_x = product(values, gradient, ctx.system, not ctx.transposed) if ctx.needs_input_grad[1] else None
    return of_values, of_x, None, None


solve.register_autograd(_solve_backward, setup_context=_keep_for_solve)
outer.register_autograd(_outer_backward, setup_context=_keep_for_outer)
product.register_autograd(_product_backward, setup_context=_keep_for_product)


def _solve_mapped(info: Any, axes: Any, values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> Any:
    if axes[0] is None and b.dim() == 2:  # one matrix: the vectors are columns
        return solve(values, b.movedim(axes[1], 1), system, transposed), 1
    return _one_by_one(solve)(info, axes, values, b, system, transposed)


def _one_by_one(operator: Any) -> Any:
    """How `torch.func.vmap` applies an operator of two tensors along an axis of one or of both."""
    def mapped(info: Any, axes: Any, first: torch.Tensor, second: torch.Tensor, *others: Any) -> Any:
        tensors = [[tensor] * info.batch_size if axis is None else tensor.unbind(axis)
                   for tensor, axis in zip((first, second), axes)]
        return torch.stack([operator(one, other, *others) for one, other in zip(*tensors)]), 0

    return mapped


solve.register_vmap(_solve_mapped)
outer.register_vmap(_one_by_one(outer))
product.register_vmap(_one_by_one(product))
