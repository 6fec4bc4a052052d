# SPDX-License-Identifier: Apache-2.0
"""Operators of Python, as A or as M, in the form in which the library calls them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._arrays import as_real, type_name
from ._libraries import library_of


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


class DeviceProduct:
    """The same on a device: what the compiled part calls for y = A x, without waiting for either.

    Parameters
    ----------
    library : of the arrays that the operator is called with.
    """

    def __init__(self, operator, n: int, dtype: np.dtype, what: str, library, device: int):
        self._apply = _apply_of(operator, what)
        self._n, self._dtype, self._what = n, dtype, what
        self._library, self._device = library, device
        self._x = None

    def argument(self):
        """Where x is to be written."""
        self._x = self._library.argument(self._x, self._n, self._dtype, self._device)
        return self._library.span(self._x)

    def __call__(self):
        """Where y is; its values are there in the order of the stream that comes with them."""
        what = f"the product with {self._what}"
        y = self._apply(self._x)
        library = library_of(y)
        if library is None:
            raise TypeError(f"{what}: expected an array on the device, found {type_name(y)}")
        y = library.vectors(y, self._dtype, what)
        if tuple(y.shape) not in ((self._n,), (self._n, 1)):
            raise ValueError(f"{what}: expected shape ({self._n},), found {tuple(y.shape)}")
        return library.span(y)


def _apply_of(operator, what: str) -> Callable:
    if hasattr(operator, "matvec"):
        return operator.matvec
    if hasattr(operator, "tocsr") or isinstance(operator, np.ndarray):
        return operator.__matmul__
    if callable(operator):
        return operator
    if hasattr(operator, "__matmul__"):
        return operator.__matmul__
    raise TypeError(f"{what}: expected a LinearOperator, a matrix or a callable, found {type_name(operator)}")


class Sized:
    """A callable with the number of rows that it does not say."""

    def __init__(self, product: Callable, n: int):
        self.shape = (n, n)
        self._product = product

    def __call__(self, x):
        return self._product(x)


class Preconditioner:
    """The preconditioner of a Solver on a device, as CuPy's solvers take it."""

    def __init__(self, shape, dtype, apply: Callable):
        self.shape = shape
        self.dtype = dtype
        self._apply = apply

    def matvec(self, x):
        """M x, of the kind of x."""
        return self._apply(x)

    __matmul__ = __call__ = matvec


def is_operator(a) -> bool:
    """Whether A is an operator or a callable, and no matrix."""
    return hasattr(a, "matvec") or (callable(a) and not hasattr(a, "tocsr"))


def check_square(shape, what: str) -> int:
    """The number of rows; ValueError for a shape that is not square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what}: expected a square matrix, found the shape {tuple(shape)}")
    return int(shape[0])
