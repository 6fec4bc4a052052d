# SPDX-License-Identifier: Apache-2.0
"""cuSOLVER's batched QR, `cusolverSpDcsrqrsvBatched`, called from Python: one pattern, many values, a direct solve of each."""
import ctypes
import ctypes.util
import os


class NoBatchedQr(Exception):
    """The library or its function is not there."""


def _load(name, versions):
    folders = [os.environ.get("CUDA_PATH", "/usr/local/cuda") + folder for folder in ("/lib64", "/lib")]
    names = [f"lib{name}.so{version}" for version in versions]
    for candidate in [*names, *(f"{folder}/{file}" for folder in folders for file in names)]:
        try:
            return ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise NoBatchedQr(f"lib{name} cannot be loaded")


class BatchedQr:
    """The analysis of a pattern (row pointers and columns: int32 arrays of CuPy) and the memory for batches.

    A batch that needs more memory than `share` of what is free is solved in several parts.
    """

    def __init__(self, cupy, indptr, indices, share=0.8):
        self._sparse, self._solver = _load("cusparse", (".12", ".11", "")), _load("cusolver", (".12", ".11", ""))
        if not hasattr(self._solver, "cusolverSpDcsrqrsvBatched"):
            raise NoBatchedQr("libcusolver has no cusolverSpDcsrqrsvBatched")
        self._cupy, self._indptr, self._indices, self._share = cupy, indptr, indices, share
        self._n, self._nonzeros = indptr.size - 1, indices.size
        self._handle, self._description, self._info = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cusolverSpCreate", ctypes.byref(self._handle))
        if self._sparse.cusparseCreateMatDescr(ctypes.byref(self._description)) != 0:
            raise RuntimeError("cusparseCreateMatDescr failed")
        self._call("cusolverSpCreateCsrqrInfo", ctypes.byref(self._info))
        self._call("cusolverSpXcsrqrAnalysisBatched", *self._sizes(), self._description, *self._pattern(), self._info)
        self._work, self._part = None, 0

    def solve(self, values, b, x):
        """Overwrites x; values: k x nonzeros, b and x: k x n, float64 arrays of CuPy. Waits for the device."""
        count = b.shape[0]
        if self._part == 0:
            self._reserve(values, count)
        for begin in range(0, count, self._part):
            part = slice(begin, min(begin + self._part, count))
            size = part.stop - part.start
            self._call("cusolverSpDcsrqrsvBatched", *self._sizes(), self._description, _at(values[part]), *self._pattern(),
                       _at(b[part]), _at(x[part]), ctypes.c_int(size), self._info, _at(self._work))
        self._cupy.cuda.Device().synchronize()

    @property
    def part(self):
        """The systems that are solved at a time."""
        return self._part

    def _reserve(self, values, count):
        while True:
            internal, work = ctypes.c_size_t(), ctypes.c_size_t()
            self._call("cusolverSpDcsrqrBufferInfoBatched", *self._sizes(), self._description, _at(values),
                       *self._pattern(), ctypes.c_int(count), self._info, ctypes.byref(internal), ctypes.byref(work))
            if count == 1 or internal.value + work.value <= self._share * self._cupy.cuda.Device().mem_info[0]:
                break
            count = (count + 1) // 2
        self._work, self._part = self._cupy.empty(work.value, self._cupy.uint8), count

    def _sizes(self):
        return self._handle, ctypes.c_int(self._n), ctypes.c_int(self._n), ctypes.c_int(self._nonzeros)

    def _pattern(self):
        return _at(self._indptr), _at(self._indices)

    def _call(self, name, *arguments):
        status = getattr(self._solver, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")


def _at(array):
    return ctypes.c_void_p(array.data.ptr)
