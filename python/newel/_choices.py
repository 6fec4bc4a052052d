# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of a Solver."""

from __future__ import annotations

import math
import operator
import os
import reprlib

import numpy as np

from . import _core
from ._arrays import as_dtype
from ._device_array import shape_of


def choose_device(device, of_matrix: int | None, of_vectors: int | None) -> int | None:
    """Where to solve: the number of a device, or None for the host.

    Parameters
    ----------
    device : the caller's choice.
    of_matrix, of_vectors : location of A, and of b if it is known; None for the host.
    """
    found = of_matrix if of_matrix is not None else of_vectors
    name = str(device)
    if name == "auto":
        return found
    if name in ("host", "cpu"):
        if of_matrix is not None:
            raise TypeError(f'device="{name}": A is on a device; pass a copy on the host (CuPy: A.get(), PyTorch: '
                            "A.cpu())")
        return None
    kind, _, number = name.partition(":")
    if kind != "cuda" or (number and not number.isdecimal()) or name == "cuda:":
        raise ValueError(f'device: expected "auto", "host", "cuda" or "cuda:N", found {device!r}')
    if not _core.has_cuda:
        raise RuntimeError(f'device="{name}": this build of Newel has no CUDA; install it where nvcc works')
    if not number:
        return 0 if found is None else found
    if of_matrix not in (None, int(number)):
        raise ValueError(f'device="{name}": A is on device {of_matrix}')
    return int(number)


def choose_devices(devices) -> list[int]:
    """The numbers of the devices that share a system."""
    try:
        numbers = [whole_number(number, "devices", 0) for number in devices]
    except TypeError:
        raise TypeError(f"devices: expected numbers of devices, such as [0, 1], found {shown(devices)}") from None
    if not numbers:
        raise ValueError("devices: expected at least one number of a device")
    if not _core.has_cuda:
        raise RuntimeError(f"devices={numbers}: this build of Newel has no CUDA; install it where nvcc works")
    return numbers


def stream_handle(stream, device: int | None) -> int | None:
    """The handle of a stream of CuPy, PyTorch or CUDA Python, or a handle itself; None for None."""
    if stream is None:
        return None
    if device is None:
        raise ValueError("stream: a stream belongs to a device, and this system is solved on the host")
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    try:
        return operator.index(stream)
    except TypeError:
        raise TypeError("stream: expected a stream of CuPy or PyTorch, or its handle as an integer, found "
                        f"{shown(stream)}") from None


def check_threads(threads, device: int | None) -> int:
    """The number of threads; 0 for the default."""
    if threads is None:
        return 0
    if device is not None:
        raise ValueError("threads: not available on a device, whose setup uses OMP_NUM_THREADS host threads, by "
                         "default all")
    return whole_number(threads, "threads", 1)


def a_name(value, what: str) -> str:
    if not isinstance(value, str):
        vector = what == "solver" and (hasattr(value, "shape") or isinstance(value, (list, tuple)))
        hint = "; pass a right-hand side to solve(b), not to Solver(A)" if vector else ""
        raise TypeError(f"{what}: expected a name, found {shown(value)}{hint}")
    return _in_utf8(value, what)


def a_count_or_name(value, what: str) -> str:
    """A whole number of 0 or more, or a name, as text."""
    return a_name(value, what) if isinstance(value, str) else str(whole_number(value, what, 0))


def a_path(value, what: str) -> str | None:
    if value is None:
        return None
    try:
        path = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{what}: expected a path, found {shown(value)}") from None
    return _in_utf8(path, what)


def _in_utf8(text: str, what: str) -> str:
    """The text, checked to be valid UTF-8. In Python, file names that are not UTF-8 contain surrogates."""
    if not is_utf8(text):
        raise ValueError(f"{what}: expected text that UTF-8 can encode, found {shown(text)}")
    return text


def is_utf8(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def a_function(value, what: str):
    if value is not None and not callable(value):
        raise TypeError(f"{what}: expected a function, found {shown(value)}")
    return value


def finite_number(value, what: str) -> float:
    """A finite number of either sign."""
    if isinstance(value, (str, bytes)) or np.ndim(value) > 0 or not np.isfinite(value):
        raise ValueError(f"{what}: expected a finite number, found {value!r}")
    return float(value)


def real_number(value, what: str) -> float:
    """A non-negative number, from Python or any array library."""
    if type(value) is not float:
        is_none = isinstance(value, (str, bytes, bytearray, bool, np.bool_)) or np.ndim(value) > 0
        try:
            found = None if is_none else float(value)
        except (TypeError, ValueError):  # None, complex numbers and all else
            found = None
        except OverflowError:  # an integer beyond the range
            found = math.inf if value > 0 else -math.inf
        if found is None:
            raise TypeError(f"{what}: expected a number, found {shown(value)}")
        value = found
    if not value >= 0:
        raise ValueError(f"{what}: expected a number that is not negative, found {value!r}")
    return value


def shown(value) -> str:
    """A value for a message, shortened."""
    text = reprlib.repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def whole_number(value, what: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: expected a whole number, found {shown(value)}") from None
    if not least <= number < 2**31:
        raise ValueError(f"{what}: expected a whole number from {least} to {2**31 - 1}, found {shown(value)}")
    return number


def number_of_solves(value) -> float:
    """The number as a float; 0 if it is not given."""
    if value is None:
        return 0.0
    number = real_number(value, "expected_solves")
    if not 0 < number < math.inf:
        raise ValueError(f"expected_solves: expected a positive number, found {value!r}")
    return number


def rows_of_numbers(array, what: str):
    """A two-dimensional array of finite numbers, or None."""
    if array is None:
        return None
    array = as_dtype(array, np.dtype(np.float64), what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{what}: expected two dimensions, found the shape {array.shape}")
    array = np.ascontiguousarray(array)
    bad = _core.first_not_finite(array.reshape(-1))
    if bad >= 0:
        row, column = divmod(bad, array.shape[1])
        raise ValueError(f"{what}: expected finite values, found {array[row, column]} in row {row}, column {column}")
    return array


def check_rows(choices: dict, n: int) -> None:
    points, vectors = choices["coordinates"], choices["near_null_space"]
    if vectors is not None and vectors.shape[0] != n:
        raise ValueError(f"near_null_space: expected {n} rows, as A has, found {vectors.shape[0]}")
    if points is not None and (points.shape[0] == 0 or n % points.shape[0] or not 1 <= points.shape[1] <= 3):
        raise ValueError(f"coordinates: expected points x 1, 2 or 3, with a number of points that divides the {n} rows "
                         f"of A, found the shape {points.shape}")
    rows, mass = choices["constraints"], choices["mass"]
    if rows is not None and not (rows[0] >= 0 and rows[-1] < n):
        raise ValueError(f"constraints: expected rows from 0 to {n - 1}, found {rows[0] if rows[0] < 0 else rows[-1]}")
    if rows is not None and mass is not None and mass[0].size - 1 != rows.size:
        raise ValueError(f"mass: expected {rows.size} rows, as there are constraints, found {mass[0].size - 1}")


def check_guess(x0, shape) -> None:
    """Raise ValueError for a guess of another shape than b; None is allowed."""
    if x0 is not None and shape_of(x0) != tuple(shape):
        raise ValueError(f"x0: expected the shape of b, {tuple(shape)}, found {shape_of(x0)}")


def first_guess(x0, shape, dtype) -> np.ndarray:
    """The initial x for the library: its own memory, column after column; uninitialised without a guess."""
    if x0 is None:
        return np.empty(shape, dtype=dtype, order="F")
    guess = as_dtype(x0, dtype, "x0")
    check_guess(guess, shape)
    return np.array(guess, dtype=dtype, order="F", copy=True)
