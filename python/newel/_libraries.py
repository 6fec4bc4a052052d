# SPDX-License-Identifier: Apache-2.0
"""Arrays on a device: those of CuPy and PyTorch, and those of any library that exposes their memory.

A *library* creates arrays of its kind and describes them to the compiled part. CuPy and PyTorch are not imported
here: if an array of theirs exists, they are already imported.
"""

from __future__ import annotations

import sys

import numpy as np

from . import _core
from ._arrays import as_dtype, check_dtype, numpy_dtype, type_name
from ._device_array import DeviceArray, ForeignArray

# What DLPack calls CUDA's memory and managed memory, and what the host can read.
_CUDA_KINDS = (2, 13)
_HOST_KINDS = (1, 3, 11)


def library_of(value):
    """The library of a dense array on a CUDA device; None for everything on the host.

    Raises TypeError for arrays on other devices.
    """
    if type(value) is np.ndarray:
        return None
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.is_cuda:
            return _checked(_library(PyTorch, torch), value)
        if value.device.type != "cpu":
            raise TypeError(f"expected an array on the host or a CUDA device, found a tensor on {value.device}")
        return None
    if cupy is not None and isinstance(value, cupy.ndarray):
        return _checked(_library(CuPy, cupy), value)
    if hasattr(value, "__cuda_array_interface__"):
        return _checked(Foreign(), value)
    if hasattr(value, "__dlpack_device__"):
        kind = int(value.__dlpack_device__()[0])
        if kind in _CUDA_KINDS:
            return _checked(Foreign(), value)
        if kind not in _HOST_KINDS:
            raise TypeError(f"expected an array on the host or a CUDA device, found {type_name(value)} on another one")
    return None


_libraries = {}  # by the module that they are for


def _library(kind, module):
    library = _libraries.get(module)
    if library is None:
        library = _libraries[module] = kind(module)
    return library


def _checked(library, value):
    if not _core.has_cuda:
        raise RuntimeError(f"an array is on a device ({type_name(value)}), and this build of Newel has no CUDA: "
                           "install it where nvcc works, or pass arrays on the host")
    return library


class CuPy:
    """cupy.ndarray."""

    def __init__(self, cupy):
        self._cupy = cupy

    def device(self, array) -> int:
        """The device number of an array."""
        return array.device.id

    def stream(self, device: int) -> int:
        """The current stream of a device."""
        cuda = self._cupy.cuda
        if cuda.runtime.getDevice() == device:
            return cuda.get_current_stream().ptr
        with cuda.Device(device):
            return cuda.get_current_stream().ptr

    def dtype(self, array) -> np.dtype:
        return array.dtype

    def vectors(self, array, dtype: np.dtype, what: str):
        """The array itself if it has `dtype` and is contiguous in Fortran order; otherwise a copy."""
        if array.dtype == dtype and array.flags.f_contiguous:
            return array
        check_dtype(array.dtype, dtype, what)
        with array.device:
            return self._cupy.asfortranarray(array, dtype=dtype)

    def values(self, array, dtype: np.dtype, what: str):
        """The values of a matrix, flat: the array itself if it has `dtype` and is contiguous in C order; otherwise a
        copy."""
        check_dtype(array.dtype, dtype, what)
        with array.device:
            return self._cupy.ascontiguousarray(array, dtype=dtype).reshape(-1)

    def indices(self, array, what: str):
        """The array itself if it holds contiguous integers of 32 or 64 bits; otherwise a copy."""
        _check_indices(array.dtype, tuple(array.shape), what)
        if array.flags.c_contiguous:
            return array
        with array.device:
            return self._cupy.ascontiguousarray(array)

    def span(self, array, stream: int | None = None):
        """The argument for the compiled part: the values in memory order, valid in the order of `stream`; None: the
        current stream."""
        if stream is None:
            stream = self.stream(array.device.id)
        return _core.DeviceSpan(array, array.data.ptr, array.size, array.dtype.str[1:], stream)

    def columns(self, array) -> list:
        """`span` for each column of an array from `vectors`."""
        return _columns(self.span(array), tuple(array.shape), array.dtype)

    def new(self, like, x0, shape, dtype: np.dtype, device: int):
        """Memory for a result of that shape: uninitialised, or with the values of x0. `like` is b."""
        if x0 is None and self._cupy.cuda.runtime.getDevice() == device:
            return self._cupy.empty(shape, dtype=dtype, order="F")
        with self._cupy.cuda.Device(device):
            if x0 is None:
                return self._cupy.empty(shape, dtype=dtype, order="F")
            if library_of(x0) is None:
                x0 = as_dtype(x0, dtype, "x0")
            else:
                _wait_for(x0)
            return self._cupy.array(x0, dtype=dtype, order="F", copy=True)

    def argument(self, before, n: int, dtype: np.dtype, device: int):
        """Memory for an operator's argument. The memory of the previous product may still be in use."""
        with self._cupy.cuda.Device(device):
            return self._cupy.empty(n, dtype=dtype)

    def copy(self, array):
        """A completed copy."""
        with array.device:
            result = array.copy()
        _core.wait_for_stream(self.stream(array.device.id), array.device.id)
        return result

    def all_finite(self, array) -> bool:
        with array.device:
            return bool(self._cupy.isfinite(array).all())

    def host(self, array) -> np.ndarray:
        return array.get()


class PyTorch:
    """torch.Tensor on CUDA devices."""

    def __init__(self, torch):
        self._torch = torch
        self._devices = {}  # by number
        # What PyTorch's own generated code calls: no object is made for the stream.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def _device(self, number: int):
        device = self._devices.get(number)
        if device is None:
            device = self._devices[number] = self._torch.device("cuda", number)
        return device

    def device(self, array) -> int:
        return array.get_device()

    def stream(self, device: int) -> int:
        if self._raw_stream is not None:
            return self._raw_stream(device)
        return self._torch.cuda.current_stream(device).cuda_stream

    def dtype(self, array) -> np.dtype:
        return numpy_dtype(array.dtype)

    def _of(self, dtype: np.dtype):
        return getattr(self._torch, dtype.name)

    def _code(self, array) -> str:
        if array.dtype is self._torch.float64:  # the usual one, whose name takes long to be read
            return "f8"
        return numpy_dtype(array.dtype).str[1:]

    def vectors(self, array, dtype: np.dtype, what: str):
        torch = self._torch
        as_it_is = array.dtype is self._of(dtype) and array.layout is torch.strided and array.dim() == 1
        if as_it_is and array.is_contiguous() and not (array.is_neg() or array.is_conj()):
            return array.detach() if array.requires_grad else array
        array = array.detach()
        if array.layout is not self._torch.strided:
            raise TypeError(f"{what}: expected a dense array, found a tensor of the layout {array.layout}")
        check_dtype(array.dtype, dtype, what)
        array = array.resolve_conj().resolve_neg().to(self._of(dtype))
        return array.t().contiguous().t() if array.dim() == 2 else array.contiguous()

    def values(self, array, dtype: np.dtype, what: str):
        check_dtype(array.dtype, dtype, what)
        return array.detach().resolve_conj().resolve_neg().to(self._of(dtype)).contiguous().reshape(-1)

    def indices(self, array, what: str):
        _check_indices(numpy_dtype(array.dtype), tuple(array.shape), what)
        return array.detach().contiguous()

    def span(self, array, stream: int | None = None):
        if stream is None:
            stream = self.stream(array.get_device())
        return _core.DeviceSpan(array, array.data_ptr(), array.numel(), self._code(array), stream)

    def columns(self, array) -> list:
        return _columns(self.span(array), tuple(array.shape), numpy_dtype(array.dtype))

    def new(self, like, x0, shape, dtype: np.dtype, device: int):
        x = self._torch.empty(shape[::-1], dtype=self._of(dtype), device=self._device(device))
        x = x.t() if len(shape) == 2 else x
        if x0 is None:
            return x
        if library_of(x0) is None:
            x0 = self._torch.from_numpy(np.array(as_dtype(x0, dtype, "x0")))
        elif not isinstance(x0, self._torch.Tensor):
            _wait_for(x0)
            x0 = self._torch.as_tensor(x0, device=x.device)
        x.copy_(x0.detach())
        return x

    def argument(self, before, n: int, dtype: np.dtype, device: int):
        return self._torch.empty(n, dtype=self._of(dtype), device=self._device(device))

    def copy(self, array):
        result = array.clone()
        _core.wait_for_stream(self.stream(array.get_device()), array.get_device())
        return result

    def all_finite(self, array) -> bool:
        return bool(self._torch.isfinite(array.detach()).all())

    def host(self, array) -> np.ndarray:
        return array.detach().cpu().numpy()


class Foreign:
    """Any array with ``__cuda_array_interface__`` or DLPack; results are DeviceArrays.

    Such arrays are used as they are. A conversion of type or memory order would need their library, so it is
    refused.
    """

    def device(self, array) -> int:
        found = _core.device_of(ForeignArray.of(array).address)
        return 0 if found is None else found

    def dtype(self, array) -> np.dtype:
        return ForeignArray.of(array).dtype

    def vectors(self, array, dtype: np.dtype, what: str):
        taken = ForeignArray.of(array)
        check_dtype(taken.dtype, dtype, what)
        if taken.dtype != dtype or not taken.by_columns:
            raise TypeError(f"{what}: expected {dtype} with contiguous columns, found {taken.dtype} of shape "
                            f"{taken.shape} with strides {taken.strides} in {type_name(array)}; convert it with its "
                            "own library")
        return taken

    def values(self, array, dtype: np.dtype, what: str):
        taken = ForeignArray.of(array)
        check_dtype(taken.dtype, dtype, what)
        if taken.dtype != dtype or not taken.by_rows:
            raise TypeError(f"{what}: expected contiguous {dtype}, found {taken.dtype} with the strides "
                            f"{taken.strides} in {type_name(array)}; convert it with its own library")
        return taken

    def indices(self, array, what: str):
        taken = ForeignArray.of(array)
        _check_indices(taken.dtype, taken.shape, what)
        if not taken.by_columns:
            raise TypeError(f"{what}: expected contiguous integers, found strides {taken.strides}")
        return taken

    def span(self, array, stream: int | None = None):
        taken = ForeignArray.of(array)  # which knows its stream itself
        return _core.DeviceSpan(taken, taken.address, taken.size, taken.dtype.str[1:], taken.stream)

    def columns(self, array) -> list:
        return _columns(self.span(array), array.shape, array.dtype)

    def new(self, like, x0, shape, dtype: np.dtype, device: int):
        x = DeviceArray(shape, dtype, device, 0 if like is None else ForeignArray.of(like).stream)
        if x0 is None:
            return x
        if library_of(x0) is None:
            x._take(np.asfortranarray(as_dtype(x0, dtype, "x0")).ctypes.data)
        else:
            library = library_of(x0)
            guess = library.vectors(x0, dtype, "x0")
            _wait_for(x0)
            x._take(library.span(guess).address)
        return x

    def argument(self, before, n: int, dtype: np.dtype, device: int):
        # Whoever uses this memory holds the array. Here it has two names, and sys.getrefcount gives it a third.
        if before is not None and sys.getrefcount(before) <= 3:
            return before
        return DeviceArray((n,), dtype, device, 0)

    def copy(self, array):
        result = self.new(array, array, array.shape, array.dtype, array.device)
        _core.wait_for_stream(ForeignArray.of(result).stream, result.device)
        return result

    def all_finite(self, array) -> bool:
        return bool(np.isfinite(self.host(array)).all())

    def host(self, array) -> np.ndarray:
        return ForeignArray.of(array).get()


def _columns(span, shape, dtype: np.dtype) -> list:
    if len(shape) == 1:
        return [span]
    return [_core.DeviceSpan(span, span.address + column * shape[0] * dtype.itemsize, shape[0], dtype.str[1:],
                             span.stream)
            for column in range(shape[1])]


def _check_indices(dtype, shape, what: str) -> None:
    if len(shape) != 1:
        raise ValueError(f"{what}: expected one dimension, found the shape {shape}")
    if dtype.kind not in "iu" or dtype.itemsize < 4:
        raise TypeError(f"{what}: expected integers of 32 or 64 bits, found {dtype}")


def _wait_for(array) -> None:
    """Wait until an array is written that another library will read."""
    library = library_of(array)
    device = library.device(array)
    stream = ForeignArray.of(array).stream if isinstance(library, Foreign) else library.stream(device)
    _core.wait_for_stream(stream, device)
