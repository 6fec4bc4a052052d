# SPDX-License-Identifier: Apache-2.0
"""Converts the vectors of a Solver, b, the guess and x, on the host and on a device."""

from __future__ import annotations

import numpy as np

from ._arrays import as_kind_of, as_dtype, by_columns, check_shape
from ._choices import check_guess, first_guess
from ._device_array import DeviceArray
from ._libraries import library_of


class Vectors:
    """Vectors of `rows` values of `dtype`, for a system on a device, or on the host if `device` is None.

    A system that several devices share takes vectors of the host."""

    def __init__(self, rows: int, dtype: np.dtype, device: int | None, shared: bool = False):
        self._rows, self._dtype, self._device, self._shared = rows, dtype, device, shared

    def pair(self, b, x0):
        """(b, x with the guess in it, and both as arguments for the compiled part). Without a guess, x is
        uninitialised: the library fills it with zeros."""
        library = library_of(b)
        if library is not None:
            self.check_on_device("b")
            b = library.vectors(b, self._dtype, "b")
            check_shape(b, self._rows, "b")
            check_guess(x0, b.shape)
            x = library.new(b, x0, tuple(b.shape), self._dtype, self._device)
            given = library.span(b)
            return b, x, given, library.span(x, given.stream)
        kind = b
        b = as_dtype(b, self._dtype, "b")
        check_shape(b, self._rows, "b")
        x = first_guess(x0, b.shape, self._dtype)
        taken = x if x.ndim == 1 else x.reshape(-1, order="F")
        return b, as_kind_of(kind, x), by_columns(b), taken

    def apply(self, product, x):
        """The result of `product` from the compiled part for x, a vector or columns; the same kind of array as x."""
        library = library_of(x)
        if library is not None:
            self.check_on_device("x")
            x = library.vectors(x, self._dtype, "x")
            check_shape(x, self._rows, "x")
            y = library.new(x, None, tuple(x.shape), self._dtype, self._device)
            for given, taken in zip(library.columns(x), library.columns(y)):
                product(given, taken)
            settle(y)
            return y
        kind = x
        x = as_dtype(x, self._dtype, "x")
        check_shape(x, self._rows, "x")
        y = np.empty(x.shape, dtype=self._dtype, order="F")
        if x.ndim == 1:
            product(by_columns(x), y)
        for column in range(x.shape[1] if x.ndim == 2 else 0):
            product(by_columns(x[:, column]), y[:, column])
        return as_kind_of(kind, y)

    def check_on_device(self, what: str) -> None:
        """Raise TypeError if the system takes arrays of the host alone."""
        if self._shared:
            raise TypeError(f"{what} is on a device, and a Solver on several devices takes arrays of the host: pass a "
                            "copy (CuPy: .get(), PyTorch: .cpu())")
        if self._device is None:
            raise TypeError(f'{what} is on a device and this Solver on the host: make it with device="cuda", or pass a '
                            "copy on the host (CuPy: .get(), PyTorch: .cpu())")


def settle(x) -> None:
    """Wait for a DeviceArray result, because no library would order later work after it."""
    if type(x) is DeviceArray:
        x._settle()
