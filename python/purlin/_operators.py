# SPDX-License-Identifier: Apache-2.0
"""Operators of Python, as A or as M, in the form in which the library calls them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._arrays import _type_name, as_real


def product_of(operator, n: int, dtype: np.dtype, what: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function from a vector of n values of `dtype` to another, made from an operator or a callable.

    It checks what comes back, since a vector of another length would be read beyond its end.
    """
    apply = _apply_of(operator, what)

    def product(x: np.ndarray) -> np.ndarray:
        y = as_real(apply(x), dtype, f"the product with {what}")
        if y.shape != (n,):
            if y.shape != (n, 1):
                raise ValueError(f"the product with {what}: expected shape ({n},), found {y.shape}")
            y = y.reshape(n)
        return np.ascontiguousarray(y)

    return product


def _apply_of(operator, what: str) -> Callable:
    if hasattr(operator, "matvec"):
        return operator.matvec
    if hasattr(operator, "tocsr") or isinstance(operator, np.ndarray):
        return operator.__matmul__
    if callable(operator):
        return operator
    raise TypeError(f"{what}: expected a LinearOperator, a matrix or a callable, found {_type_name(operator)}")


class Sized:
    """A callable with the number of rows that it does not tell."""

    def __init__(self, product: Callable, n: int):
        self.shape = (n, n)
        self._product = product

    def __call__(self, x):
        return self._product(x)


def is_operator(a) -> bool:
    """Whether A is an operator or a callable, and no matrix."""
    return hasattr(a, "matvec") or (callable(a) and not hasattr(a, "tocsr"))


def check_square(shape, what: str) -> int:
    """The number of rows; ValueError for a shape that is not square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what}: expected a square matrix, found the shape {tuple(shape)}")
    return int(shape[0])
