# SPDX-License-Identifier: Apache-2.0
"""The arrays of a call by XLA, in the memory of the host or of a device, as newel takes them."""

from __future__ import annotations

import math

import numpy as np

from newel import _core
from newel._device_array import ForeignArray

_LEGACY_STREAM = 1  # as the array interface calls the default stream


class DeviceMemory:
    """Consecutive values on a device, as ``__cuda_array_interface__`` describes them; valid for one call."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype, stream: int):
        self.address, self.shape, self.dtype, self.stream = address, shape, dtype, stream

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "strides": None,
                "data": (self.address, False), "stream": self.stream or _LEGACY_STREAM}

    def span(self, begin: int, size: int):
        """The argument of the compiled part for some of the values."""
        address = self.address + begin * self.dtype.itemsize
        return _core.DeviceSpan(self, address, size, self.dtype.str[1:], self.stream)


class XlaArray:
    """One array of a call.

    Attributes
    ----------
    shape : with the axes over which JAX has mapped the call in front.
    dtype : of NumPy.
    """

    def __init__(self, stream: int | None, memory, shape: tuple[int, ...], kind: str):
        if not kind:
            raise TypeError("newel.jax: expected float32, float64 or integers of 32 or 64 bits")
        self.shape, self.dtype, self.size = shape, np.dtype(kind), math.prod(shape)
        self.on_host = stream is None
        if self.on_host:
            self._memory = np.frombuffer(memory, self.dtype) if self.size else np.empty(0, self.dtype)
        else:
            self._memory = DeviceMemory(memory, (self.size,), self.dtype, stream)

    @property
    def device(self) -> int | None:
        """The number of the device; None: the host."""
        return None if self.on_host else _core.device_of(self._memory.address) or 0

    def part(self, begin: int = 0, size: int | None = None):
        """Some of the values, flat, as a Solver takes them."""
        size = self.size - begin if size is None else size
        if self.on_host:
            return self._memory[begin:begin + size]
        address = self._memory.address + begin * self.dtype.itemsize
        return DeviceMemory(address, (size,), self.dtype, self._memory.stream)

    def argument(self, begin: int, size: int):
        """The same for the compiled part."""
        return self._memory[begin:begin + size] if self.on_host else self._memory.span(begin, size)

    def get(self, begin: int = 0, size: int | None = None) -> np.ndarray:
        """Some of the values on the host."""
        part = self.part(begin, size)
        return part if self.on_host else ForeignArray.of(part).get()

    def set(self, values: np.ndarray) -> None:
        """Write all values."""
        if self.on_host:
            self._memory[:] = values.reshape(-1)
        else:
            values = np.ascontiguousarray(values, dtype=self.dtype)
            _core.upload(values.ctypes.data, self._memory.address, values.nbytes, self._memory.stream)
