# SPDX-License-Identifier: Apache-2.0
"""Converts matrices of all forms to the arrays that the library reads; this file handles SciPy's and tuples of
arrays."""

from __future__ import annotations

import os

import numpy as np

from . import _core
from ._arrays import as_real, real_dtype, refuse_device_array, type_name
from ._device_matrices import device_arrays, host_copy, is_torch_sparse, parts_of
from ._libraries import library_of
from ._places import KeptPlaces, OtherPattern, Places


class GivenMatrix:
    """A matrix in the form in which it was given.

    Attributes
    ----------
    form : the storage form: "csr", "csc", "coo", "bsr" or "dia".
    shape, nonzeros : of the matrix; number of stored values.
    arrays : the arrays for the library. They are the caller's own if these fit.
    values : the values for a refresh: an array, or a DeviceSpan.
    values_size : number of values that a refresh expects.
    device : the number of the device that holds the arrays; None: the host.
    places : where the values belong; None: not known on the host.
    """

    def __init__(self, form: str, shape: tuple[int, int], arrays, values, dtype, gather=None, given_size=None,
                 device=None, places=None):
        self.form = form
        self.shape = shape
        self.arrays = arrays
        self.values = values
        self.dtype = dtype
        self.nonzeros = values.size
        self.gather = gather  # positions of the library's values in what the caller has
        self.values_size = values.size if given_size is None else given_size
        self.device = device
        self.places = places

    def value_map(self, system) -> ValueMap:
        """What a refresh needs, without the arrays, for the system that was made from them."""
        return ValueMap(self.form, self.shape, self.dtype, self.gather, self.nonzeros, self.values_size,
                        system.pattern_hash(self.arrays), self.places)


class ValueMap:
    """How to read new values for the matrix that a Solver was made from."""

    def __init__(self, form, shape, dtype, gather, nonzeros, values_size, pattern, places):
        self.form, self.shape, self.dtype, self.gather = form, shape, dtype, gather
        self.nonzeros, self.values_size, self.pattern = nonzeros, values_size, pattern
        self._places, self._kept = places, None

    def of_array(self, values):
        """The library's values from an array in the caller's order."""
        library = library_of(values)
        if library is not None:
            return self._of_device_array(library, values)
        array = as_real(values, self.dtype, "the values")
        self._check_size(array.size)
        flat = array.reshape(-1)
        taken = np.ascontiguousarray(flat[: self.nonzeros]) if self.gather is None else flat[self.gather]
        bad = _core.first_not_finite(taken)
        if bad >= 0:
            position = bad if self.gather is None else int(self.gather[bad])
            raise ValueError(f"the values: expected finite ones, found {taken[bad]} at position {position} "
                             "(counted from 0)")
        return taken

    def _of_device_array(self, library, values):
        if self.gather is not None:
            raise TypeError("the values: expected an array on the host, as the diagonals that the Solver was made from")
        span = library.span(library.values(values, self.dtype, "the values"))
        if span.size != self.nonzeros:
            raise ValueError(f"the values: expected {self.nonzeros}, as the matrix has, found {span.size}")
        return span

    def _check_size(self, size: int) -> None:
        fits = size == self.values_size or (size == self.nonzeros and self.gather is None)
        if not fits:
            raise ValueError(f"the values: expected {self.values_size}, as the matrix has, found {size}")

    def of_matrix(self, matrix, system):
        """The values of a matrix that has entries in no other places; ValueError if it has."""
        other = given_matrix(matrix, self.dtype)
        if other.shape != self.shape:
            raise OtherPattern(f"refresh: expected a matrix of shape {self.shape}, as the Solver was made from, found "
                             f"{other.shape}")
        if other.device is None:  # where it is known without a wait
            require_finite(other, matrix)
        same = other.form == self.form and other.nonzeros == self.nonzeros
        if same and system.pattern_hash(other.arrays) == self.pattern:
            return other.values
        if other.places is None or self._places is None:
            raise OtherPattern("refresh: the matrix has another pattern, or its entries in another order, than the one "
                             "that the Solver was made from; on a device they have to be the same: make a new Solver")
        if self._kept is None:
            self._kept = self._keep_places(system)
        return self._kept.values_of(other)

    def _keep_places(self, system) -> KeptPlaces:
        places = self._places
        sizes = tuple(size // places.block for size in places.shape)
        no_values = np.zeros(self.nonzeros, dtype=self.dtype)
        arrays = _make(places.form, sizes, places.block, places.first, places.second, no_values)
        if system.pattern_hash(arrays) != self.pattern:
            raise OtherPattern("refresh: the matrix has another pattern than the one that the Solver was made from, whose "
                             "index arrays have been changed since; make a new Solver, or use Solver.update")
        return KeptPlaces(places, self.nonzeros)


def given_matrix(a, dtype=None) -> GivenMatrix:
    """Convert a matrix.

    Parameters
    ----------
    a : SciPy sparse matrix or array, or a tuple (data, indices, indptr).
    dtype : float32 or float64, to which values are converted; None: keep float32, convert all else to float64.
    """
    parts = parts_of(a)
    if parts is not None:
        return _from_parts(parts, dtype)
    if isinstance(a, tuple):
        return _from_tuple(a, dtype)
    form = getattr(a, "format", None)
    if form in _forms and hasattr(a, "shape"):
        if len(a.shape) != 2:
            raise ValueError(f"A: expected a matrix, found the shape {a.shape}")
        refuse_device_array(getattr(a, "data", None), "A")
        return _forms[form](a, dtype)
    hint = ""
    if isinstance(a, (str, os.PathLike)):
        hint = "; newel.read reads a matrix from a file"
    elif isinstance(a, np.ndarray) and a.ndim == 1:
        hint = "; A comes first, then b"
    elif isinstance(a, (np.ndarray, list)):
        hint = "; a dense matrix becomes sparse by scipy.sparse.csr_array(A)"
    elif hasattr(a, "tocsr"):
        hint = "; convert it with A.tocsr()"
    elif hasattr(a, "to_sparse_csr"):
        hint = "; a dense tensor becomes sparse by A.to_sparse_csr()"
    raise TypeError(
        "A: expected a sparse matrix of SciPy (CSR, CSC, COO, BSR or DIA), CuPy or PyTorch, a tuple (data, indices, "
        f"indptr), a LinearOperator or a callable, found {type_name(a)}{hint}"
    )


def require_finite(given: GivenMatrix, a) -> None:
    """Raise ValueError for a NaN or an infinity in the matrix `a`; the message names its position."""
    if given.device is not None:
        parts = parts_of(a)
        if library_of(parts.values).all_finite(parts.values):
            return
        given = given_matrix(host_copy(parts), given.dtype)
    bad = _core.first_not_finite(given.values)
    if bad < 0:
        return
    row, column = given.arrays.place(bad)
    where = f" in row {row}, column {column}" if row >= 0 else ""
    raise ValueError(f"A: expected finite values of {given.dtype}, found {given.values[bad]}{where} (counted from 0)")


def is_matrix(a) -> bool:
    """Whether `given_matrix` should check A, rather than the code for operators."""
    if isinstance(a, (tuple, np.ndarray, list)):
        return True
    # Tensors of PyTorch have the second, and some throw where they are asked for the third.
    return hasattr(a, "tocsr") or hasattr(a, "__dlpack__") or hasattr(a, "__cuda_array_interface__")


def is_sparse(a) -> bool:
    """Whether this is a sparse matrix or a tuple of its arrays, not a dense array."""
    return isinstance(a, tuple) or hasattr(a, "format") or hasattr(a, "tocsr") or is_torch_sparse(a)


def matrix_on_host(a):
    """The matrix in SciPy or as a tuple; copied if it is on a device."""
    parts = parts_of(a)
    return a if parts is None else host_copy(parts)


def _from_parts(parts, dtype) -> GivenMatrix:
    """From a sparse matrix of CuPy or PyTorch, or a tuple on a device."""
    if library_of(parts.values) is None:  # a sparse tensor on the host
        values, dtype = _values(parts.values.reshape(-1), dtype)
        first, second = _indices(parts.first, "indptr"), _indices(parts.second, "indices")
        arrays = _make(parts.form, parts.sizes, parts.block, first, second, values)
        places = Places(parts.form, parts.shape, first, second, parts.block)
        return GivenMatrix(parts.form, parts.shape, arrays, values, dtype, places=places)
    arrays, values, dtype = device_arrays(parts, dtype)
    device = library_of(parts.values).device(parts.values)
    return GivenMatrix(parts.form, parts.shape, arrays, values, dtype, device=device)


def _indices(array, what: str) -> np.ndarray:
    refuse_device_array(array, what)
    array = np.asarray(array)
    if array.ndim != 1:
        raise ValueError(f"{what}: expected one dimension, found the shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what}: expected integers, found {array.dtype}")
    if array.dtype.itemsize < 4 or not array.dtype.isnative:
        array = array.astype(np.int32 if array.dtype.itemsize < 4 else array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array)


def _values(array, dtype, what="A") -> tuple[np.ndarray, np.dtype]:
    refuse_device_array(array, what)
    if not hasattr(array, "dtype"):
        array = np.asarray(array)
    dtype = real_dtype(array.dtype, what) if dtype is None else np.dtype(dtype)
    real_dtype(array.dtype, what)
    return np.ascontiguousarray(as_real(array, dtype, what)), dtype


def _make(form, sizes, block, first, second, values) -> _core.MatrixArrays:
    return _core.MatrixArrays(form, *sizes, block, first, second, values)


def _from_tuple(a, dtype) -> GivenMatrix:
    if len(a) != 3:
        raise ValueError(f"A: expected (data, indices, indptr), found a tuple of {len(a)}")
    values, dtype = _values(a[0], dtype, "data")
    if values.ndim != 1:
        raise ValueError(f"data: expected one dimension, found the shape {values.shape}")
    indices, indptr = _indices(a[1], "indices"), _indices(a[2], "indptr")
    if indptr.size == 0:
        raise ValueError("indptr: expected rows + 1 entries, found none")
    n = indptr.size - 1
    arrays = _make("csr", (n, n), 1, indptr, indices, values)
    return GivenMatrix("csr", (n, n), arrays, values, dtype, places=Places("csr", (n, n), indptr, indices))


def _compressed(a, dtype) -> GivenMatrix:
    indptr = _indices(a.indptr, "indptr")
    nonzeros = int(indptr[-1]) if indptr.size else 0
    given = a.data.size
    values, dtype = _values(a.data[:nonzeros], dtype)
    indices = _indices(a.indices[:nonzeros], "indices")
    arrays = _make(a.format, a.shape, 1, indptr, indices, values)
    places = Places(a.format, a.shape, indptr, indices)
    return GivenMatrix(a.format, a.shape, arrays, values, dtype, given_size=given, places=places)


def _coordinate(a, dtype) -> GivenMatrix:
    values, dtype = _values(a.data, dtype)
    row, column = _indices(a.row, "row"), _indices(a.col, "col")
    arrays = _make("coo", a.shape, 1, row, column, values)
    return GivenMatrix("coo", a.shape, arrays, values, dtype, places=Places("coo", a.shape, row, column))


def _blocks(a, dtype) -> GivenMatrix:
    height, width = a.blocksize
    indptr = _indices(a.indptr, "indptr")
    blocks = int(indptr[-1]) if indptr.size else 0
    if height != width:
        return _gathered_blocks(a, dtype, indptr, blocks)
    values, dtype = _values(a.data[:blocks], dtype)
    values = values.reshape(-1)
    sizes = (a.shape[0] // height, a.shape[1] // width)
    indices = _indices(a.indices[:blocks], "indices")
    arrays = _make("bsr", sizes, height, indptr, indices, values)
    places = Places("bsr", a.shape, indptr, indices, height)
    return GivenMatrix("bsr", a.shape, arrays, values, dtype, given_size=a.data.size, places=places)


def _gathered_blocks(a, dtype, indptr, blocks) -> GivenMatrix:
    """Non-square blocks as triplets, in storage order."""
    height, width = a.blocksize
    block_row = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
    rows = block_row[:, None, None] * height + np.arange(height)[None, :, None]
    columns = np.asarray(a.indices[:blocks], dtype=np.int64)[:, None, None] * width + np.arange(width)[None, None, :]
    shape = (blocks, height, width)
    values, dtype = _values(a.data[:blocks], dtype)
    values = values.reshape(-1)
    first = np.ascontiguousarray(np.broadcast_to(rows, shape)).reshape(-1)
    second = np.ascontiguousarray(np.broadcast_to(columns, shape)).reshape(-1)
    arrays = _make("coo", a.shape, 1, first, second, values)
    places = Places("coo", a.shape, first, second)
    return GivenMatrix("bsr", a.shape, arrays, values, dtype, given_size=a.data.size, places=places)


def _diagonals(a, dtype) -> GivenMatrix:
    """The positions on diagonals that are inside the matrix, zeros included: the pattern never depends on the
    values."""
    rows, columns = a.shape
    width = a.data.shape[1]
    column = np.broadcast_to(np.arange(width, dtype=np.int64), a.data.shape)
    row = column - np.asarray(a.offsets, dtype=np.int64)[:, None]
    inside = (row >= 0) & (row < rows) & (column < columns)
    gather = np.flatnonzero(inside.reshape(-1))
    values, dtype = _values(a.data, dtype)
    values = values.reshape(-1)[gather]
    first, second = row.reshape(-1)[gather], column.reshape(-1)[gather]
    arrays = _make("coo", a.shape, 1, first, second, values)
    places = Places("coo", a.shape, first, second)
    return GivenMatrix("dia", a.shape, arrays, values, dtype, gather=gather, given_size=a.data.size, places=places)


_forms = {"csr": _compressed, "csc": _compressed, "coo": _coordinate, "bsr": _blocks, "dia": _diagonals}
