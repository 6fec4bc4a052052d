# SPDX-License-Identifier: Apache-2.0
"""Whether the arrays of a call are those that something was set up for."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


class Exact:
    """Arrays of the host, and what belongs to them; equal to others of the same bits.

    Comparing takes less time than a hash, and is never wrong. NumPy's operators would take longer than the comparison.
    `kept` makes copies, because the memory of a call has other values later.
    """

    def __init__(self, facts: tuple[Any, ...], arrays: tuple[np.ndarray, ...]):
        self._facts, self._arrays = facts, arrays

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact) or self._facts != other._facts:
            return False
        return all(_core.same_bytes(one, two) for one, two in zip(self._arrays, other._arrays))

    __hash__ = None  # type: ignore[assignment]

    def kept(self) -> Exact:
        return Exact(self._facts, tuple(array.copy() for array in self._arrays))


class Hash:
    """The same for arrays of a device, which are compared by a hash, so that nothing has to be kept there."""

    def __init__(self, value: Any):
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hash) and self._value == other._value

    __hash__ = None  # type: ignore[assignment]

    def kept(self) -> Hash:
        return self
