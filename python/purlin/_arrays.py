# SPDX-License-Identifier: Apache-2.0
"""Checks of vectors, and the conversions that the library needs; an array that fits already is passed on as it is."""

from __future__ import annotations

import numpy as np


def refuse_device_array(value, what: str) -> None:
    """Raise TypeError for an array on a device, which this version does not take."""
    on_device = hasattr(value, "__cuda_array_interface__")
    if not on_device and hasattr(value, "__dlpack_device__"):
        kind = int(value.__dlpack_device__()[0])
        on_device = kind not in (1, 3, 11, 13)  # what the host can read: CPU and the pinned and managed kinds
    if on_device:
        raise TypeError(
            f"{what} is on a device ({_type_name(value)}): the Python package solves on the host only so far; pass a "
            "NumPy array (CuPy: .get(), PyTorch: .cpu()), or use the C++ library on the device"
        )


def _type_name(value) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def real_dtype(dtype, what: str) -> np.dtype:
    """float32 or float64, whichever holds what `dtype` holds; raise TypeError where neither does."""
    dtype = np.dtype(dtype).newbyteorder("=")
    if dtype.kind == "c":
        raise TypeError(
            f"{what} is complex ({dtype}): Purlin solves real systems only; write a complex one as a real one of twice "
            "the size"
        )
    if dtype == np.float32 or dtype == np.float16:
        return np.dtype(np.float32)
    if dtype.kind in "biu" or dtype == np.float64:
        return np.dtype(np.float64)
    raise TypeError(f"{what}: expected float64, float32 or integers, found {dtype}")


def as_real(value, dtype: np.dtype, what: str) -> np.ndarray:
    """`value` as an array of `dtype`, of native byte order; the same array where it is one."""
    if type(value) is np.ndarray and value.dtype == dtype and value.dtype.isnative:
        return value
    if hasattr(value, "tocsr"):
        raise TypeError(f"{what}: expected a dense array, found the sparse {_type_name(value)}; use .toarray()")
    refuse_device_array(value, what)
    array = np.asarray(_imported(value))
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{what}: expected an array of numbers, found {_type_name(value)} of {array.dtype}")
    real_dtype(array.dtype, what)
    return np.asarray(array, dtype=dtype)


def _imported(value):
    """Host memory of another library, where it has no other way into NumPy."""
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") and not hasattr(value, "__array__") else value


def check_shape(array: np.ndarray, rows: int, what: str) -> None:
    """Raise ValueError unless the array is one vector of `rows` values or several as columns."""
    if array.ndim in (1, 2) and array.shape[0] == rows:
        return
    raise ValueError(f"{what}: expected shape ({rows},) or ({rows}, k), found {array.shape}")


def by_columns(array: np.ndarray) -> np.ndarray:
    """The values of a vector, or of columns one after the other, flat; a view where that is possible."""
    if array.ndim == 1:
        return array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return np.asfortranarray(array).reshape(-1, order="F")
