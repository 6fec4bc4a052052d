# SPDX-License-Identifier: Apache-2.0
"""The operators of PyTorch behind newel.torch: the solve, and the two that its derivatives of any order consist of.

With v the values of A, i and j the row and the column of an entry, and g the gradient of the result::

    solve     x = A^-1 b            b: y = A^-T g           v: -y_i x_j
    outer     p_ij = l_i r_j        l: G r                  r: G^T l           G: A's pattern with the values g
    product   y = A x               v: g_i x_j              x: A^T g

Forward, with a dot for a derivative: x. = A^-1 (b. - A. x), and the product rule for the two others. (Griewank and
Walther, Evaluating Derivatives, section 15.1: an implicit function.) Each is again one of the three, so that
derivatives of derivatives exist, and no dense matrix does.

Each exists twice. As an operator that is registered with PyTorch it is one node of a graph of ``torch.compile``. As a
function of ``torch.autograd`` it is what the transformations of ``torch.func`` take. Both have the same formulas.
"""

from __future__ import annotations

from typing import Any

import torch

from ._torch_mapped import SolveMany, added, outer_many, product_many
from ._torch_systems import systems_of


def _solved(values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    """x of A x = b, or of A^T x = b; A has these values."""
    return systems_of(system).solve(values, b, transposed)  # type: ignore[no-any-return]


def _outer_product(left: torch.Tensor, right: torch.Tensor, nonzeros: int, system: int) -> torch.Tensor:
    """left_i right_j on the pattern of the system, summed over columns."""
    return systems_of(system).pattern.outer(left, right)  # type: ignore[no-any-return]


def _multiplied(values: torch.Tensor, x: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    """A x, or A^T x, with these values on the pattern of the system."""
    return systems_of(system).pattern.product(values, x, transposed)  # type: ignore[no-any-return]


solve = torch.library.custom_op("newel::solve", _solved, mutates_args=())
outer = torch.library.custom_op("newel::outer", _outer_product, mutates_args=())
product = torch.library.custom_op("newel::product", _multiplied, mutates_args=())


@solve.register_fake
def _solve_shape(values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    return b.new_empty(b.shape) if b.dim() == 1 else b.new_empty(b.shape[1], b.shape[0]).t()


@outer.register_fake
def _outer_shape(left: torch.Tensor, right: torch.Tensor, nonzeros: int, system: int) -> torch.Tensor:
    return left.new_empty(nonzeros)


@product.register_fake
def _product_shape(values: torch.Tensor, x: torch.Tensor, system: int, transposed: bool) -> torch.Tensor:
    return torch.empty_like(x)


# Whether torch.func is at work, as torch.autograd.Function asks it.
_is_transforming = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


def call(operator: Any, *arguments: Any) -> torch.Tensor:
    """The operator, as a node of a graph that is being compiled, or else as a function that torch.func transforms.

    A function that torch.func cannot transform takes a third of the time, and without the checks of a registered
    operator.
    """
    if torch.compiler.is_compiling():
        return operator(*arguments)  # type: ignore[no-any-return]
    function, untransformed = _functions[operator]
    if not _is_transforming() and _has_memory(arguments[0]) and _has_memory(arguments[1]):
        function = untransformed
    return function.apply(*arguments)  # type: ignore[no-any-return]


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor is no other that stands for it in a trace or in a map."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return False
    try:
        tensor.data_ptr()
    except RuntimeError:
        return False
    return True


def _untransformed(function: Any, compute: Any) -> Any:
    """The Function for tensors with memory, whose results `compute` forms."""
    class Untransformed(torch.autograd.Function):
        backward, jvp = staticmethod(function.backward), staticmethod(function.jvp)

        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            result = compute(*arguments)
            function.setup_context(ctx, arguments, result)
            return result

    return Untransformed


def _of_entry(row: torch.Tensor, column: torch.Tensor, transposed: bool, like: torch.Tensor, system: int) -> Any:
    """The gradient of the values from the two factors of the matrix that multiplied, A or A^T."""
    left, right = (column, row) if transposed else (row, column)
    return call(outer, left, right, like.shape[0], system)


def _keep_for_solve(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    values, _, ctx.system, ctx.transposed = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(values, output)
    ctx.save_for_forward(values, output)


def _solve_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    values, x = ctx.saved_tensors
    y = call(solve, values, gradient, ctx.system, not ctx.transposed)
    of_values = None
    if ctx.needs_input_grad[0]:
        of_values = -_of_entry(y, x, ctx.transposed, values, ctx.system)
    return of_values, y if ctx.needs_input_grad[1] else None, None, None


def _keep_for_outer(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    left, right, ctx.nonzeros, ctx.system = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(left, right)
    ctx.save_for_forward(left, right)


def _outer_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    left, right = ctx.saved_tensors
    of_left = call(product, gradient, right, ctx.system, False) if ctx.needs_input_grad[0] else None
    of_right = call(product, gradient, left, ctx.system, True) if ctx.needs_input_grad[1] else None
    return of_left, of_right, None, None


def _keep_for_product(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    values, x, ctx.system, ctx.transposed = inputs
    ctx.kept = systems_of(ctx.system)
    ctx.save_for_backward(values, x)
    ctx.save_for_forward(values, x)


def _product_backward(ctx: Any, gradient: torch.Tensor) -> Any:
    values, x = ctx.saved_tensors
    of_values = None
    if ctx.needs_input_grad[0]:
        of_values = _of_entry(gradient, x, ctx.transposed, values, ctx.system)
    of_x = call(product, values, gradient, ctx.system, not ctx.transposed) if ctx.needs_input_grad[1] else None
    return of_values, of_x, None, None


solve.register_autograd(_solve_backward, setup_context=_keep_for_solve)
outer.register_autograd(_outer_backward, setup_context=_keep_for_outer)
product.register_autograd(_product_backward, setup_context=_keep_for_product)


def _of_bilinear(operator: Any, at: Any, tangents: Any, *rest: Any) -> Any:
    """The derivative of ``operator(left, right, *rest)``, which is linear in both; a tangent of None is zero."""
    (left, right), (of_left, of_right) = at, tangents
    return added(None if of_left is None else call(operator, of_left, right, *rest),
                 None if of_right is None else call(operator, left, of_right, *rest))


class _Solve(torch.autograd.Function):
    setup_context = staticmethod(_keep_for_solve)
    backward = staticmethod(_solve_backward)

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return solve(*arguments)

    @staticmethod
    def jvp(ctx: Any, of_values: Any, of_b: Any, *_: Any) -> Any:
        values, x = ctx.saved_tensors
        of_matrix = None if of_values is None else -call(product, of_values, x, ctx.system, ctx.transposed)
        return call(solve, values, added(of_b, of_matrix), ctx.system, ctx.transposed)

    @staticmethod
    def vmap(info: Any, axes: Any, values: Any, b: Any, system: int, transposed: bool) -> Any:
        if axes[0] is None:
            return _as_columns(_Solve.apply, axes, values, b, system, transposed)
        many, of_b = _first_axis(info, axes[:2], values, b)
        if of_b.dim() == 2:
            return SolveMany.apply(many, of_b, system, transposed), 0
        return torch.stack([_Solve.apply(one, other, system, transposed) for one, other in zip(many, of_b)]), 0


class _Outer(torch.autograd.Function):
    setup_context = staticmethod(_keep_for_outer)
    backward = staticmethod(_outer_backward)

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return outer(*arguments)

    @staticmethod
    def jvp(ctx: Any, of_left: Any, of_right: Any, *_: Any) -> Any:
        return _of_bilinear(outer, ctx.saved_tensors, (of_left, of_right), ctx.nonzeros, ctx.system)

    @staticmethod
    def vmap(info: Any, axes: Any, left: Any, right: Any, nonzeros: int, system: int) -> Any:
        rows, columns = systems_of(system).pattern.entries
        return outer_many(*_first_axis(info, axes, left, right), rows, columns), 0


class _Product(torch.autograd.Function):
    setup_context = staticmethod(_keep_for_product)
    backward = staticmethod(_product_backward)

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return product(*arguments)

    @staticmethod
    def jvp(ctx: Any, of_values: Any, of_x: Any, *_: Any) -> Any:
        return _of_bilinear(product, ctx.saved_tensors, (of_values, of_x), ctx.system, ctx.transposed)

    @staticmethod
    def vmap(info: Any, axes: Any, values: Any, x: Any, system: int, transposed: bool) -> Any:
        rows, columns = systems_of(system).pattern.entries
        if transposed:
            rows, columns = columns, rows
        return product_many(*_first_axis(info, axes, values, x), rows, columns), 0


_functions = {operator: (function, _untransformed(function, compute)) for operator, function, compute in (
    (solve, _Solve, _solved), (outer, _Outer, _outer_product), (product, _Product, _multiplied))}


def _first_axis(info: Any, axes: Any, *tensors: torch.Tensor) -> list[torch.Tensor]:
    """The tensors with the mapped axis in front; one without it is repeated, without a copy."""
    return [tensor.expand(info.batch_size, *tensor.shape) if axis is None else tensor.movedim(axis, 0)
            for tensor, axis in zip(tensors, axes)]


def _as_columns(function: Any, axes: Any, values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> Any:
    """How a solve is mapped over vectors that share a matrix."""
    columns = b.movedim(axes[1], 1)
    x = function(values, columns.reshape(columns.shape[0], -1), system, transposed)
    return x.reshape(columns.shape), 1


def _solve_mapped(info: Any, axes: Any, values: torch.Tensor, b: torch.Tensor, system: int, transposed: bool) -> Any:
    if axes[0] is None:
        return _as_columns(solve, axes, values, b, system, transposed)
    return _one_by_one(solve)(info, axes, values, b, system, transposed)


def _one_by_one(operator: Any) -> Any:
    """How `torch.func.vmap` applies an operator of a compiled graph along an axis of one or of both tensors."""
    def mapped(info: Any, axes: Any, first: torch.Tensor, second: torch.Tensor, *others: Any) -> Any:
        pairs = zip(*_first_axis(info, axes[:2], first, second))
        return torch.stack([operator(one, other, *others) for one, other in pairs]), 0

    return mapped


solve.register_vmap(_solve_mapped)
outer.register_vmap(_one_by_one(outer))
product.register_vmap(_one_by_one(product))
