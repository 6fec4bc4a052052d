# SPDX-License-Identifier: Apache-2.0
"""Checks and conversions of vectors; an array that already fits is passed on unchanged."""

from __future__ import annotations

import sys

import numpy as np

from . import _core

_core.import_numpy()  # the first result may be one of a solve while the interpreter ends, when nothing can be imported

double = np.dtype(np.float64)


def refuse_device_array(value, what: str) -> None:
    """Raise TypeError for an array on a device, if one on the host is needed."""
    if type(value) is np.ndarray:
        return
    on_device = hasattr(value, "__cuda_array_interface__")
    if not on_device and hasattr(value, "__dlpack_device__"):
        kind = int(value.__dlpack_device__()[0])
        on_device = kind not in (1, 3, 11, 13)  # what the host can read: CPU and the pinned and managed kinds
    if on_device:
        raise TypeError(f"{what} is on a device ({type_name(value)}): expected an array on the host, like NumPy's")


def type_name(value) -> str:
    """Module and name of the value's type, for messages."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def numpy_dtype(dtype) -> np.dtype:
    """A dtype of NumPy or PyTorch as a NumPy dtype; TypeError if there is none."""
    if isinstance(dtype, np.dtype):  # whose name takes NumPy longer than all else here
        return dtype
    name = str(dtype)
    return np.dtype(name[6:] if name.startswith("torch.") else dtype)


def number_dtype(dtype, what: str) -> np.dtype:
    """float32, float64, complex64 or complex128, whichever can represent `dtype`; raise TypeError if none can."""
    if dtype is double:
        return dtype
    try:
        found = numpy_dtype(dtype).newbyteorder("=")
    except TypeError:  # a bfloat16 of PyTorch, say
        raise TypeError(f"{what}: expected float64, float32 or integers, found {dtype}") from None
    if found in (np.complex64, np.complex128):
        return found
    if found == np.float32 or found == np.float16:
        return np.dtype(np.float32)
    if found.kind in "biu" or found == np.float64:
        return np.dtype(np.float64)
    raise TypeError(f"{what}: expected float64, float32 or integers, found {found}")


def real_dtype(dtype, what: str) -> np.dtype:
    """float32 or float64, whichever can represent `dtype`; raise TypeError if neither can."""
    found = number_dtype(dtype, what)
    if found.kind == "c":
        raise TypeError(f"{what} is complex ({found}): expected real values; a Solver for complex ones is made from a "
                        "complex matrix, A.astype(complex)")
    return found


def check_dtype(found, dtype: np.dtype, what: str) -> None:
    """Raise TypeError if values of the type `found` do not become values of `dtype`."""
    if dtype.kind == "c":
        number_dtype(found, what)
    else:
        real_dtype(found, what)


def first_not_finite(values: np.ndarray) -> int:
    """The position of the first value that is NaN or infinite; -1 if there is none."""
    if values.dtype.kind != "c":
        return _core.first_not_finite(values)
    found = _core.first_not_finite(values.view(np.float32 if values.dtype == np.complex64 else np.float64))
    return found if found < 0 else found // 2


def as_dtype(value, dtype: np.dtype, what: str) -> np.ndarray:
    """`value` as an array of `dtype`, real or complex, in native byte order; returned unchanged if it already is
    one."""
    if type(value) is np.ndarray and value.dtype == dtype and value.dtype.isnative:
        return value
    if hasattr(value, "tocsr"):
        raise TypeError(f"{what}: expected a dense array, found the sparse {type_name(value)}; use .toarray()")
    refuse_device_array(value, what)
    array = np.asarray(_imported(value))
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{what}: expected an array of numbers, found {type_name(value)} of {array.dtype}")
    check_dtype(array.dtype, dtype, what)
    return np.asarray(array, dtype=dtype)


def _imported(value):
    """Host memory of another library, imported by DLPack if NumPy has no other way to read it."""
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") and not hasattr(value, "__array__") else value


def check_shape(array: np.ndarray, rows: int, what: str) -> None:
    """Raise ValueError unless the array is one vector of `rows` values, or several as columns."""
    if array.ndim in (1, 2) and array.shape[0] == rows:
        return
    raise ValueError(f"{what}: expected shape ({rows},) or ({rows}, k), found {tuple(array.shape)}")


def as_kind_of(value, array: np.ndarray):
    """The array as a tensor that shares its memory, if `value` is a tensor; otherwise the array itself."""
    if type(value) is np.ndarray or type(array) is not np.ndarray:
        return array
    torch = sys.modules.get("torch")
    return torch.from_numpy(array) if torch is not None and isinstance(value, torch.Tensor) else array


def by_columns(array: np.ndarray) -> np.ndarray:
    """The values of a vector, or of columns one after another, as a flat array; a view if possible."""
    if array.ndim == 1:
        return array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return np.asfortranarray(array).reshape(-1, order="F")
