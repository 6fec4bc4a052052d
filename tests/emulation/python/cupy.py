# SPDX-License-Identifier: Apache-2.0
"""The part of CuPy that Newel and its tests call, on the memory of the emulated device, by NumPy.

Streams are those of the emulation, and what is done here is done at once: NEWEL_EMU_LAZY has to be 0.
"""

import contextlib
import ctypes
import threading
import types

import numpy as np

import newel._core as _core

_local = threading.local()


class ndarray:
    def __init__(self, values, memory):
        self.values = values  # a view of the memory
        self.memory = memory

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self.values.shape)
    strides = property(lambda self: self.values.strides)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    flags = property(lambda self: self.values.flags)
    data = property(lambda self: types.SimpleNamespace(ptr=self.values.__array_interface__["data"][0]))
    device = property(lambda self: cuda.Device(0))

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "strides": self.strides,
                "data": (self.data.ptr, False), "stream": cuda.get_current_stream().ptr or 1}

    def get(self):
        return self.values.copy(order="K")

    def copy(self):
        return array(self.values, order="F")

    def reshape(self, *shape):
        return ndarray(self.values.reshape(*shape), self.memory)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return ndarray(self.values[place], self.memory)

    def __setitem__(self, place, value):
        self.values[place] = value.values if isinstance(value, ndarray) else value

    def __mul__(self, other):
        return array(self.values * other)

    __rmul__ = __mul__

    def __array__(self, *arguments, **keywords):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def empty(shape, dtype=float, order="C"):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    memory = _core.DeviceMemory(0, count * dtype.itemsize)
    raw = np.ctypeslib.as_array((ctypes.c_byte * (count * dtype.itemsize)).from_address(memory.address or 1)) \
        if count else np.empty(0, dtype=np.int8)
    return ndarray(raw.view(dtype).reshape(shape, order=order), memory)


def zeros(shape, dtype=float, order="C"):
    result = empty(shape, dtype, order)
    result.values[...] = 0
    return result


def array(values, dtype=None, order="K", copy=True):
    values = values.values if isinstance(values, ndarray) else values
    if hasattr(values, "__cuda_array_interface__"):
        from newel._device_array import ForeignArray

        values = ForeignArray.of(values).get()
    values = np.array(values, dtype=dtype, order=order)
    order = "F" if values.flags.f_contiguous and not values.flags.c_contiguous else "C"
    result = empty(values.shape, values.dtype, order)
    result.values[...] = values
    return result


asarray = array


def asfortranarray(a, dtype=None):
    fits = a.flags.f_contiguous and (dtype is None or dtype == a.dtype)
    return a if fits else array(np.asfortranarray(a.values, dtype=dtype), order="F")


def ascontiguousarray(a, dtype=None):
    fits = a.flags.c_contiguous and (dtype is None or dtype == a.dtype)
    return a if fits else array(np.ascontiguousarray(a.values, dtype=dtype), order="C")


def isfinite(a):
    return np.isfinite(a.values)


class RawKernel:
    def __init__(self, code, name):
        pass

    def __call__(self, grid, block, arguments):
        pass


class _Stream:
    def __init__(self, non_blocking=False, null=False):
        self.ptr = 0
        if not null:
            handle = ctypes.c_void_p()
            ctypes.CDLL("libnewel_emulation.so").cudaStreamCreateWithFlags(ctypes.byref(handle), int(non_blocking))
            self.ptr = handle.value

    done = False  # which a stream on which something waits would say

    def __enter__(self):
        _local.streams = [*getattr(_local, "streams", []), self]
        return self

    def __exit__(self, *_):
        _local.streams.pop()


class _Device(contextlib.nullcontext):
    def __init__(self, number=0):
        super().__init__()
        self.id = number

    def synchronize(self):
        pass


_null = _Stream(null=True)
cuda = types.SimpleNamespace(
    Device=_Device, Stream=_Stream, runtime=types.SimpleNamespace(getDevice=lambda: 0),
    get_current_stream=lambda: (getattr(_local, "streams", None) or [_null])[-1])
