# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices as CuPy has them, with SciPy's products."""

import cupy
from scipy import sparse


class _Matrix:
    def __init__(self, parts, shape=None):
        if isinstance(parts, cupy.ndarray) or sparse.issparse(parts):
            full = sparse.csr_matrix(getattr(parts, "values", parts))
            parts, shape = tuple(cupy.array(part) for part in (full.data, full.indices, full.indptr)), full.shape
        self.data = parts[0]
        self.shape = shape
        self._take(parts)

    dtype = property(lambda self: self.data.dtype)

    def _take(self, parts):
        self.indices, self.indptr = parts[1:]

    def get(self):
        parts = tuple(part.values for part in (self.data, self.indices, self.indptr))
        return getattr(sparse, f"{self.format}_matrix")(parts, shape=self.shape)

    def tocsr(self):
        raise NotImplementedError

    def __matmul__(self, x):
        return cupy.array(self.get() @ x.values)


class csr_matrix(_Matrix):
    format = "csr"


class csc_matrix(_Matrix):
    format = "csc"


class coo_matrix(_Matrix):
    format = "coo"

    def _take(self, parts):
        self.row, self.col = parts[1]

    def get(self):
        return sparse.coo_matrix((self.data.values, (self.row.values, self.col.values)), shape=self.shape)
