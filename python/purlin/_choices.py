# SPDX-License-Identifier: Apache-2.0
"""Checks of what a Solver is asked for."""

from __future__ import annotations

import operator

import numpy as np

from ._arrays import as_real


def check_device(device, stream) -> None:
    if device not in ("auto", "host", "cpu"):
        raise ValueError(
            f'device: expected "auto" or "host", found {device!r}: the Python package solves on the host only so far'
        )
    if stream is not None:
        raise ValueError("stream: a stream belongs to a device, and the Python package solves on the host only so far")


def a_name(value, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a name, found {value!r}")
    return value


def whole_number(value, what: str, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: expected a whole number, found {value!r}") from None
    if not least <= number < 2**31:
        raise ValueError(f"{what}: expected a whole number from {least}, found {value!r}")
    return number


def number_of_solves(value) -> float:
    """0 where it is not known."""
    if value is None:
        return 0.0
    if not 0 < value < float("inf"):
        raise ValueError(f"expected_solves: expected a positive number, found {value!r}")
    return float(value)


def rows_of_numbers(array, what: str):
    """Rows of numbers, or None."""
    if array is None:
        return None
    array = as_real(array, np.dtype(np.float64), what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{what}: expected two dimensions, found the shape {array.shape}")
    return np.ascontiguousarray(array)


def check_rows(choices: dict, n: int) -> None:
    points, vectors = choices["coordinates"], choices["near_null_space"]
    if vectors is not None and vectors.shape[0] != n:
        raise ValueError(f"near_null_space: expected {n} rows, as A has, found {vectors.shape[0]}")
    if points is not None and (points.shape[0] == 0 or n % points.shape[0] or not 1 <= points.shape[1] <= 3):
        raise ValueError(f"coordinates: expected points x 1, 2 or 3 with a number of points that divides the {n} rows "
                         f"of A, found the shape {points.shape}")


def first_guess(x0, shape, dtype) -> np.ndarray:
    """x as the library begins with it: memory of its own, columns after each other."""
    if x0 is None:
        return np.zeros(shape, dtype=dtype, order="F")
    guess = as_real(x0, dtype, "x0")
    if guess.shape != shape:
        raise ValueError(f"x0: expected the shape of b, {shape}, found {guess.shape}")
    return np.array(guess, dtype=dtype, order="F", copy=True)
