# SPDX-License-Identifier: Apache-2.0
"""Places of the stored values of a matrix, for a refresh by a matrix that lacks some of the entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class OtherPattern(ValueError):
    """A matrix has entries in other places than another one, as far as can be found out."""


class Places(NamedTuple):
    """The index arrays of a matrix, which are the caller's own if these fit."""

    form: str  # "csr", "csc", "coo" or "bsr"
    shape: tuple[int, int]
    first: np.ndarray
    second: np.ndarray
    block: int = 1

    def by_rows(self, values):
        """A CSR matrix of SciPy with these values, columns ascending, and values of one place added."""
        import scipy.sparse as sp

        if self.form == "bsr":
            shape = (self.second.size, self.block, self.block)
            made = sp.bsr_array((values.reshape(shape), self.second, self.first), shape=self.shape).tocsr()
        elif self.form == "coo":
            made = sp.coo_array((values, (self.first, self.second)), shape=self.shape).tocsr()
        else:
            kind = sp.csr_array if self.form == "csr" else sp.csc_array
            made = kind((values, self.second, self.first), shape=self.shape).tocsr()
            if made.data is values or made.indices is self.second:
                made = made.copy()  # what follows works in place
        made.sum_duplicates()
        return made


class KeptPlaces:
    """The places of the matrix that a Solver was made from, by rows."""

    def __init__(self, places: Places, nonzeros: int):
        self._nonzeros = nonzeros
        self._position = places.by_rows(np.arange(1, nonzeros + 1, dtype=np.int64))  # counted from 1
        if self._position.nnz != nonzeros:
            raise OtherPattern("refresh: the matrix has another pattern, or its entries in another order, than the one "
                             "that the Solver was made from, which has several values in one place; make a new Solver, "
                             "or use Solver.update")

    def values_of(self, given) -> np.ndarray:
        """The library's values for a matrix with entries in some of these places: zeros in the others."""
        other = given.places.by_rows(given.values)
        ones = other.copy()
        ones.data = np.ones(other.nnz, dtype=np.int64)
        found = self._position.multiply(ones).tocsr()
        found.sum_duplicates()
        if found.nnz != other.nnz:
            found.data = np.ones(found.nnz, dtype=np.int64)
            extra = (ones - found).tocoo()
            k = np.flatnonzero(extra.data)
            raise OtherPattern(f"refresh: the matrix has {k.size:,} entries where the pattern of the one that the Solver "
                             f"was made from has none, the first in row {extra.row[k[0]]}, column {extra.col[k[0]]} "
                             "(counted from 0); make a new Solver, or use Solver.update")
        values = np.zeros(self._nonzeros, dtype=given.dtype)
        values[found.data - 1] = other.data
        return values
