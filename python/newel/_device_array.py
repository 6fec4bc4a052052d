# SPDX-License-Identifier: Apache-2.0
"""Device arrays without a known library: arrays from the caller, and arrays that are returned."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from . import _core
from ._arrays import type_name

_LEGACY_STREAM = 1  # CUDA's handle of the default stream; 0 means the same, but not in the array interface


class ForeignArray:
    """Location of an array from an unknown library; keeps the array alive.

    Attributes
    ----------
    address, shape, strides, dtype : as in NumPy; strides in bytes.
    stream : int
        The stream in whose order the values are valid.
    """

    __slots__ = ("owner", "address", "shape", "strides", "dtype", "stream")

    @classmethod
    def of(cls, value) -> ForeignArray:
        """Read the array's interface. A ForeignArray is returned unchanged.

        An interface that names no stream does not say when the values are there (JAX computes them in streams of its
        own), so DLPack is preferred then: its export makes the default stream wait for them.
        """
        if type(value) is cls:
            return value
        interface = getattr(value, "__cuda_array_interface__", None)
        if interface is None or (interface.get("stream") is None and hasattr(value, "__dlpack__")):
            return cls._from_dlpack(value)
        return cls._from_interface(value, interface)

    @classmethod
    def _from_interface(cls, value, interface) -> ForeignArray:
        if interface.get("mask") is not None:
            raise TypeError(f"expected an array without a mask, found {type_name(value)} with one")
        self = cls()
        self.owner = value
        self.address = interface["data"][0] or 0
        self.dtype = np.dtype(interface["typestr"])
        self.shape = tuple(interface["shape"])
        self.strides = _row_strides(self.shape, self.dtype) if interface.get("strides") is None else tuple(
            interface["strides"])
        stream = interface.get("stream")
        self.stream = 0 if stream is None or stream == _LEGACY_STREAM else stream
        return self

    @classmethod
    def _from_dlpack(cls, value) -> ForeignArray:
        self = cls()
        taken = _core.DlpackArray(value.__dlpack__(stream=_LEGACY_STREAM))
        self.owner = taken
        self.address = taken.address
        try:
            self.dtype = np.dtype(taken.type)
        except TypeError:
            raise TypeError(f"expected a number type of NumPy, found {type_name(value)} of another type") from None
        self.shape, self.strides = tuple(taken.shape), tuple(taken.strides)
        self.stream = 0
        return self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def by_columns(self) -> bool:
        """Whether the array is contiguous in Fortran order."""
        return _follow_each_other(self.shape, self.strides, self.dtype)

    @property
    def by_rows(self) -> bool:
        """Whether the array is contiguous in C order."""
        return _follow_each_other(self.shape[::-1], self.strides[::-1], self.dtype)

    def flat(self) -> ForeignArray:
        """The same values, contiguous in C order, as a vector."""
        vector = ForeignArray()
        vector.owner, vector.address, vector.dtype, vector.stream = self.owner, self.address, self.dtype, self.stream
        vector.shape, vector.strides = (self.size,), (self.dtype.itemsize,)
        return vector

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False),
                "strides": self.strides, "stream": self.stream or _LEGACY_STREAM}

    def get(self) -> np.ndarray:
        """The values, copied to the host."""
        if not self.by_columns and not self.by_rows:
            raise TypeError(f"expected a contiguous array, found the strides {self.strides}")
        result = np.empty(self.shape, dtype=self.dtype, order="F" if self.by_columns else "C")
        _core.download(self.address, result.ctypes.data, result.nbytes, self.stream)
        return result


class DeviceArray:
    """An array in device memory. A solve returns it if b is on a device and is not from CuPy or PyTorch.

    Its ``__cuda_array_interface__`` lets other libraries use it without a copy: ``cupy.asarray(x)``,
    ``torch.as_tensor(x, device="cuda")``, ``numba.cuda.as_cuda_array(x)``. Several columns are stored one after another
    (Fortran order), the systems of a batch too (C order).

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    device : int
        The number of the device.
    """

    def __init__(self, shape: Iterable[int], dtype: Any, device: int, stream: int = 0) -> None:
        self.shape = tuple(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.device = device
        self._stream = stream
        self._by_rows = False
        self._memory = _core.DeviceMemory(device, math.prod(self.shape) * self.dtype.itemsize)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def _rows_of(self, rows: int, length: int) -> DeviceArray:
        """Make a vector an array of `rows` rows, one after another."""
        self.shape, self._by_rows = (rows, length), True
        return self

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._by_rows:
            strides = list(_row_strides(self.shape, self.dtype))
        else:
            strides = list(_row_strides(self.shape[::-1], self.dtype))[::-1]
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": (self._memory.address, False),
                "strides": tuple(strides), "stream": self._stream or _LEGACY_STREAM}

    def _take(self, address: int) -> None:
        """Copy all values from `address`, on the host or the device."""
        self._memory.copy_from(address, self._stream)

    def _settle(self) -> None:
        """Wait for the values, because their stream may no longer exist when they are read."""
        _core.wait_for_stream(self._stream, self.device)
        self._stream = 0

    def get(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy on the host."""
        return ForeignArray.of(self).get()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DeviceArray cannot be pickled: it lies in the memory of a device; pass array.get() on")

    def __repr__(self) -> str:
        return f"<newel.DeviceArray: {self.dtype} of shape {self.shape} on device {self.device}>"


def shape_of(array) -> tuple[int, ...]:
    """The shape of an array of any library, or of anything that NumPy can convert."""
    if hasattr(array, "shape"):
        return tuple(array.shape)
    on_device = hasattr(array, "__cuda_array_interface__") or hasattr(array, "__dlpack__")
    return ForeignArray.of(array).shape if on_device else np.shape(array)


def _follow_each_other(shape, strides, dtype) -> bool:
    step = dtype.itemsize
    for length, stride in zip(shape, strides):
        if length > 1 and stride != step:
            return 0 in shape
        step *= length
    return True


def _row_strides(shape, dtype) -> tuple:
    strides, step = [], dtype.itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))
