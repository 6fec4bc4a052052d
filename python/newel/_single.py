# SPDX-License-Identifier: Apache-2.0
"""The precision to use for given arrays, and whether they are complex."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import numpy_dtype
from ._libraries import library_of

_names = ("auto", "double", "single", "mixed")


def choose_precision(precision: Any, A: Any, b: Any) -> str:
    """"double", "single" or "mixed". "auto" means single if A and b are in single precision; b None: not known."""
    if not isinstance(precision, str) or precision not in _names:
        raise ValueError(f'precision: expected "auto", "double", "single" or "mixed", found {precision!r}')
    if precision != "auto":
        return precision
    return "single" if b is not None and is_single(A) and is_single(b) else "double"


def default_rtol(dtype: np.dtype[Any]) -> float:
    """The default tolerance of a solve."""
    return 1e-5 if dtype in (np.float32, np.complex64) else 1e-8


def is_complex(value: Any) -> bool:
    """Whether the values of a matrix, an operator or a vector are complex."""
    dtype = _dtype_of(value)
    return dtype is not None and bool(dtype.kind == "c")


def is_single(value: Any) -> bool:
    """Whether the values of a matrix, an operator or a vector are in single precision."""
    return bool(_dtype_of(value) in (np.float32, np.float16, np.complex64))


def _dtype_of(value: Any) -> np.dtype[Any] | None:
    """None if it has none, or one that NumPy does not have, which is refused elsewhere."""
    array = value[0] if isinstance(value, tuple) and value else value
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        library = library_of(array)
        dtype = None if library is None else library.dtype(array)
    if dtype is None and isinstance(array, (list, tuple, complex)):
        try:
            dtype = np.asarray(array).dtype
        except ValueError:  # rows of different lengths, which are refused elsewhere
            return None
    try:
        return None if dtype is None else numpy_dtype(dtype)
    except TypeError:
        return None
