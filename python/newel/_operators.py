# SPDX-License-Identifier: Apache-2.0
"""Python operators, as A or as M, in the form in which the library calls them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._arrays import as_real, type_name
from ._libraries import library_of

_MOST_ROWS = 2**31 - 1


class HostProduct:
    """Computes y = A x for the compiled part, from an operator or a callable: maps a vector of n values of `dtype` to
    another.

    It checks the result, because a vector of another length would be read beyond its end.
    """

    def __init__(self, operator, n: int, dtype: np.dtype, what: str):
        self._apply = apply_of(operator, what)
        self._n, self._dtype, self._what = n, dtype, f"the product with {what}"

    def argument(self) -> np.ndarray:
        """The address for x."""
        return np.empty(self._n, dtype=self._dtype)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y = as_real(self._apply(x), self._dtype, self._what)
        if y.shape != (self._n,):
            if y.shape != (self._n, 1):
                raise ValueError(f"{self._what}: expected shape ({self._n},), found {y.shape}")
            y = y.reshape(self._n)
        return np.ascontiguousarray(y)


class DeviceProduct:
    """The same on a device, without waiting for x or y.

    Parameters
    ----------
    library : the library of the arrays that the operator is called with.
    """

    def __init__(self, operator, n: int, dtype: np.dtype, what: str, library, device: int):
        self._apply = apply_of(operator, what)
        self._n, self._dtype, self._what = n, dtype, what
        self._library, self._device = library, device
        self._x = None

    def argument(self):
        """The address for x."""
        self._x = self._library.argument(self._x, self._n, self._dtype, self._device)
        return self._library.span(self._x)

    def __call__(self):
        """The address of y; its values are valid in the order of the returned stream."""
        what = f"the product with {self._what}"
        y = self._apply(self._x)
        library = library_of(y)
        if library is None:
            raise TypeError(f"{what}: expected an array on the device, found {type_name(y)}")
        y = library.vectors(y, self._dtype, what)
        if tuple(y.shape) not in ((self._n,), (self._n, 1)):
            raise ValueError(f"{what}: expected shape ({self._n},), found {tuple(y.shape)}")
        return library.span(y)


def apply_of(operator, what: str) -> Callable:
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
    """A callable without a shape, together with its number of rows."""

    def __init__(self, product: Callable, n: int):
        self.shape = (n, n)
        self._product = product

    def __call__(self, x):
        return self._product(x)


class Preconditioner:
    """The preconditioner of a Solver on a device, with the interface that CuPy's solvers expect."""

    def __init__(self, shape, dtype, apply: Callable, require_symmetric: Callable):
        self.shape = shape
        self.dtype = dtype
        self._apply = apply
        self._require_symmetric = require_symmetric

    def matvec(self, x):
        """M x, of the same kind of array as x."""
        return self._apply(x.reshape(-1) if x.ndim == 2 and x.shape[1] == 1 else x)

    def rmatvec(self, x):
        """The same if M is symmetric; NotImplementedError if it is not."""
        self._require_symmetric()
        return self.matvec(x)

    __matmul__ = __call__ = matvec


def is_operator(a) -> bool:
    """Whether A is an operator or a callable, and not a matrix."""
    return hasattr(a, "matvec") or (callable(a) and not hasattr(a, "tocsr"))


def check_square(shape, what: str) -> int:
    """The number of rows; ValueError if the shape is not square, or has more rows than the library supports."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what}: expected a square matrix, found the shape {tuple(shape)}")
    if shape[0] > _MOST_ROWS:
        raise ValueError(f"{what}: expected at most {_MOST_ROWS:,} rows, found {shape[0]:,}")
    return int(shape[0])
