# SPDX-License-Identifier: Apache-2.0
"""The rows of a matrix that a rank has, and what is not possible for them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from . import _core
from ._arrays import as_dtype, refuse_device_array
from ._choices import shown
from ._matrices import _indices, _values


def refuse_on_ranks(choices: dict[str, Any], device: Any, stream: Any, preconditioner: Any) -> None:
    """Raise ValueError for what belongs to the whole matrix or to a caller's device."""
    refuse_of_whole(choices, preconditioner, "comm")
    if str(device) not in ("auto", "host", "cpu", "cuda"):
        raise ValueError(f'device: expected "host" with comm, or "cuda" for a GPU of each rank\'s host, found {device!r}')
    if stream is not None:
        raise ValueError("stream: not possible with comm, whose vectors are on the host")


def refuse_of_whole(choices: dict[str, Any], preconditioner: Any, keyword: str) -> None:
    """Raise ValueError for what belongs to the whole matrix, and not to rows that are shared."""
    for name in ("plan_cache", "decision", "constraints", "mass"):
        if choices[name] is not None:
            raise ValueError(f"{name}: not possible with {keyword}, because it belongs to the whole matrix")
    if not (preconditioner is None or isinstance(preconditioner, str)):
        raise ValueError(f"preconditioner: expected a name or None with {keyword}")


class OwnRows:
    """A rank's rows of a matrix: CSR whose columns ascend, and how new values come to it."""

    def __init__(self, A: Any, dtype: np.dtype[Any]) -> None:
        data, indices, indptr, self.columns = _csr_parts(A)
        self._given = data.size if hasattr(data, "size") else len(data)
        self._dtype = dtype
        indptr = _indices(indptr, "indptr").astype(np.int64)
        if indptr.size == 0 or indptr[0] != 0 or np.any(np.diff(indptr) < 0) or indptr[-1] > self._given:
            raise ValueError("indptr: expected rows + 1 numbers that begin with 0, ascend and end with at most as many "
                             "entries as there are values")
        self._entries = int(indptr[-1])
        indices = _indices(indices, "indices")[: self._entries].astype(np.int64)
        if indices.size != self._entries:
            raise ValueError(f"indices: expected {self._entries}, as indptr says, found {indices.size}")
        self._pattern = _hash_of(indptr, indices)
        self._order = self._first = None
        row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        ascends = (np.diff(row) > 0) | (np.diff(indices) > 0)
        if not np.all(ascends):
            self._order = np.lexsort((indices, row))
            row, indices = row[self._order], indices[self._order]
            new = np.ones(row.size, dtype=bool)
            new[1:] = (np.diff(row) != 0) | (np.diff(indices) != 0)
            self._first = np.flatnonzero(new)
            row, indices = row[new], indices[new]
            indptr = np.searchsorted(row, np.arange(indptr.size))
        self.indptr, self.indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
        self.values = self.of_array(data)

    @property
    def rows(self) -> int:
        """The number of this rank's rows."""
        return self.indptr.size - 1

    def of_array(self, values: Any) -> np.ndarray[Any, Any]:
        """The values in the library's order, from those in the order of ``data``."""
        refuse_device_array(values, "the values")
        flat = np.asarray(as_dtype(values, self._dtype, "the values")).reshape(-1)
        if flat.size not in (self._given, self._entries):
            raise ValueError(f"the values: expected {self._given}, as this rank's rows have, found {flat.size}")
        taken = np.ascontiguousarray(flat[: self._entries])
        bad = _core.first_not_finite(taken)
        if bad >= 0:
            raise ValueError(f"the values: expected finite ones, found {taken[bad]} at position {bad} of this rank "
                             "(counted from 0)")
        if self._order is None:
            return taken
        return np.add.reduceat(taken[self._order], self._first) if taken.size else taken

    def system(self, single: bool, choices: dict[str, Any], threads: int, ranks: Any, on_gpus: bool) -> Any:
        """The System of all ranks, and the number of this rank's GPU or None."""
        return _core.system_of_rows(self.indptr, self.indices, self.values, single, choices, threads, ranks, on_gpus)

    def check_columns(self, all_rows: int) -> None:
        """Raise ValueError if A has not as many columns as the ranks have rows."""
        if self.columns not in (None, all_rows):
            raise ValueError(f"A: expected as many columns as the ranks have rows together, {all_rows}, found "
                             f"{self.columns}")

    def of_matrix(self, A: Any) -> np.ndarray[Any, Any]:
        """The values of another block of rows with the same pattern."""
        data, indices, indptr, columns = _csr_parts(A)
        indptr = _indices(indptr, "indptr").astype(np.int64)
        indices = _indices(indices, "indices")[: self._entries].astype(np.int64)
        if columns != self.columns or _hash_of(indptr, indices) != self._pattern:
            raise ValueError("refresh: the rows have another pattern, or their entries in another order, than those "
                             "that the Solver was made from; make a new Solver")
        return self.of_array(data)


def _csr_parts(A: Any) -> tuple[Any, Any, Any, int | None]:
    """(data, indices, indptr, columns of the whole matrix if they are known)."""
    if isinstance(A, tuple) and len(A) == 3:
        return (_values(A[0], None, "data")[0], *A[1:], None)
    if getattr(A, "format", None) != "csr" or len(getattr(A, "shape", ())) != 2:
        raise TypeError("A: with comm, expected this rank's rows as a SciPy matrix in CSR with the columns of the whole "
                        f"matrix, or as a tuple (data, indices, indptr), found {shown(A)}")
    return _values(A.data, None)[0], A.indices, A.indptr, A.shape[1]


def _hash_of(indptr: np.ndarray[Any, Any], indices: np.ndarray[Any, Any]) -> bytes:
    digest = hashlib.blake2b(indptr.tobytes(), digest_size=16)
    digest.update(indices.tobytes())
    return digest.digest()
