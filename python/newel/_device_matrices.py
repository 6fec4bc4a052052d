# SPDX-License-Identifier: Apache-2.0
"""Converts matrices of CuPy and PyTorch, and tuples of device arrays, to the arrays that the library reads."""

from __future__ import annotations

import sys

import numpy as np

from . import _core
from ._arrays import number_dtype, type_name
from ._device_array import shape_of
from ._libraries import CuPy, library_of

# Forms by PyTorch's layouts, and the methods that name the two arrays of indices.
_torch_forms = {
    "torch.sparse_csr": ("csr", "crow_indices", "col_indices"),
    "torch.sparse_csc": ("csc", "ccol_indices", "row_indices"),
    "torch.sparse_bsr": ("bsr", "crow_indices", "col_indices"),
    "torch.sparse_coo": ("coo", None, None),
}


class Parts:
    """The arrays of a matrix from any library, with the fields of MatrixArrays."""

    def __init__(self, form, shape, block, first, second, values):
        self.form, self.shape, self.block = form, tuple(shape), block
        self.first, self.second, self.values = first, second, values

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows and columns; counted in blocks if there are blocks."""
        return self.shape[0] // self.block, self.shape[1] // self.block


def is_torch_sparse(a) -> bool:
    """Whether A is a sparse tensor, on any device."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor) and a.layout is not torch.strided


def parts_of(a) -> Parts | None:
    """The arrays of a sparse tensor, a sparse CuPy matrix, or a tuple on a device; None for everything else."""
    if isinstance(a, Parts):
        return a
    if is_torch_sparse(a):
        return _of_torch(a)
    if isinstance(a, tuple):
        return _of_tuple(a)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(getattr(a, "data", None), cupy.ndarray) and hasattr(a, "tocsr"):
        return _of_cupy(a)
    return None


def _of_torch(a) -> Parts:
    layout = str(a.layout)
    if layout not in _torch_forms:
        raise TypeError(f"A: expected a sparse tensor in CSR, CSC, COO or BSR, found the layout {layout}")
    if a.dim() != 2 or a.dense_dim() != 0:
        raise ValueError(f"A: expected a matrix, found a tensor of the shape {tuple(a.shape)} with {a.dense_dim()} "
                         "dense dimensions")
    form, first, second = _torch_forms[layout]
    a = a.detach()
    if form == "coo":
        rows, columns = a._indices()  # also where repeated entries have not been summed
        return Parts(form, a.shape, 1, rows, columns, a._values())
    values = a.values()
    block = 1
    if form == "bsr":
        block, width = values.shape[1:]
        if block != width:
            raise TypeError(f"A: expected square blocks, found blocks of {block} x {width}; use A.to_sparse_csr()")
    return Parts(form, a.shape, block, getattr(a, first)(), getattr(a, second)(), values)


def _of_cupy(a) -> Parts:
    if len(a.shape) != 2:
        raise ValueError(f"A: expected a matrix, found the shape {a.shape}")
    if a.format in ("csr", "csc"):
        return Parts(a.format, a.shape, 1, a.indptr, a.indices, a.data)
    if a.format == "coo":
        return Parts("coo", a.shape, 1, a.row, a.col, a.data)
    raise TypeError(f"A: expected a sparse matrix in CSR, CSC or COO, found {type_name(a)}; use A.tocsr()")


def _of_tuple(a) -> Parts | None:
    if len(a) != 3 or library_of(a[0]) is None:
        return None
    if library_of(a[1]) is None or library_of(a[2]) is None:
        raise TypeError("A: expected data, indices and indptr on one device, found some on the host")
    shape = shape_of(a[2])
    if len(shape) != 1 or shape[0] == 0:
        raise ValueError(f"indptr: expected rows + 1 entries in one dimension, found the shape {shape}")
    n = shape[0] - 1
    return Parts("csr", (n, n), 1, a[2], a[1], a[0])


def library_and_device_of(a):
    """The library and device number of a matrix's values, of the arrays of a CuPy operator, or of an array. (None,
    None) on the host, and if they are not known."""
    parts = parts_of(a)
    values = a if parts is None else parts.values
    library = library_of(values)
    if library is not None:
        return library, library.device(values)
    operators = sys.modules.get("cupyx.scipy.sparse.linalg")
    if operators is not None and isinstance(a, operators.LinearOperator):
        cupy = sys.modules["cupy"]
        return CuPy(cupy), cupy.cuda.runtime.getDevice()
    return None, None


def device_arrays(parts: Parts, dtype):
    """(arrays for the compiled part, values as passed to it, dtype); with `dtype` None, float32 is kept."""
    library = library_of(parts.values)
    own = number_dtype(library.dtype(parts.values), "A")
    dtype = own if dtype is None else np.dtype(dtype)
    values = library.span(library.values(parts.values, dtype, "A"))
    first, second = (library_of(array).span(library_of(array).indices(array, what))
                     for array, what in ((parts.first, "indptr"), (parts.second, "indices")))
    arrays = _core.DeviceMatrixArrays(parts.form, *parts.sizes, parts.block, first, second, values)
    return arrays, values, dtype


def host_copy(parts: Parts):
    """The same matrix in SciPy; arrays on a device are copied."""
    from scipy import sparse

    first, second, values = (_on_host(array) for array in (parts.first, parts.second, parts.values))
    if parts.form == "coo":
        return sparse.coo_array((values, (first, second)), shape=parts.shape)
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[parts.form]
    return make((values, second, first), shape=parts.shape)


def _on_host(array) -> np.ndarray:
    library = library_of(array)
    if library is not None:
        return library.host(array)
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)


def sparse_of_dense(a):
    """A dense device array as a sparse matrix of its library; TypeError for libraries without sparse matrices."""
    library = library_of(a)
    if isinstance(library, CuPy):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(a)
    if hasattr(a, "to_sparse_csr"):
        return a.to_sparse_csr()
    raise TypeError(f"A: expected a sparse matrix or a tuple (data, indices, indptr), found the dense {type_name(a)}")
