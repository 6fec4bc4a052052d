# SPDX-License-Identifier: Apache-2.0
"""The kinds of arrays on a device that the tests hand over, each behind the same few functions."""

import importlib

import numpy as np
import pytest

import newel

# A kernel that waits: streams are busy for as long as the tests need them to be.
_WAIT = r"""
extern "C" __global__ void wait(unsigned long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}
"""


class CuPyKind:
    name = "cupy"

    def __init__(self, cupy):
        self.lib = cupy

    def array(self, values, order="C"):
        return self.lib.array(values, order=order)

    def host(self, x):
        assert type(x) is self.lib.ndarray
        return x.get()

    def address(self, x):
        return x.data.ptr

    def sparse(self, A, form="csr"):
        from cupyx.scipy import sparse

        A = A.asformat(form)
        data = self.lib.array(A.data)
        if form == "coo":
            row, col = (self.lib.array(part.astype(np.int32)) for part in (A.row, A.col))
            return sparse.coo_matrix((data, (row, col)), shape=A.shape)
        parts = (data, self.lib.array(A.indices.astype(np.int32)), self.lib.array(A.indptr.astype(np.int32)))
        return (sparse.csr_matrix if form == "csr" else sparse.csc_matrix)(parts, shape=A.shape)

    def arrays_of(self, A):
        """Pointers or rows, indices or columns, values."""
        return (A.row, A.col, A.data) if A.format == "coo" else (A.indptr, A.indices, A.data)

    forms = ("csr", "csc", "coo")

    def new_stream(self):
        return self.lib.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def wait(self, seconds):
        """Keep the current stream busy."""
        kernel = self.lib.RawKernel(_WAIT, "wait")
        kernel((1,), (1,), (np.uint64(seconds * 1e9),))

    def is_done(self, stream):
        return stream.done

    def copy_into(self, to, values):
        """In the order of the current stream."""
        to[...] = values

    def synchronize(self):
        self.lib.cuda.Device().synchronize()


class PyTorchKind:
    name = "torch"

    def __init__(self, torch):
        if not torch.cuda.is_available():
            raise ImportError("PyTorch finds no CUDA device")
        self.lib = torch

    def array(self, values, order="C"):
        values = np.asarray(values)
        if order == "F":
            return self.lib.from_numpy(np.array(values.T, order="C")).to("cuda").t()
        return self.lib.from_numpy(np.array(values)).to("cuda")

    def host(self, x):
        assert isinstance(x, self.lib.Tensor) and x.is_cuda
        return x.cpu().numpy()

    def address(self, x):
        return x.data_ptr()

    def sparse(self, A, form="csr"):
        torch = self.lib
        A = A.tobsr((2, 2)) if form == "bsr" else A.asformat(form)
        data = torch.from_numpy(A.data.copy()).to("cuda")
        if form == "coo":
            places = torch.from_numpy(np.stack([A.row, A.col]).astype(np.int64)).to("cuda")
            return torch.sparse_coo_tensor(places, data, A.shape, check_invariants=False)
        make = {"csr": torch.sparse_csr_tensor, "csc": torch.sparse_csc_tensor, "bsr": torch.sparse_bsr_tensor}[form]
        first, second = (torch.from_numpy(part.astype(np.int64)).to("cuda") for part in (A.indptr, A.indices))
        return make(first, second, data, size=A.shape, check_invariants=False)

    def arrays_of(self, A):
        layout = str(A.layout)
        if layout == "torch.sparse_coo":
            return A._indices()[0], A._indices()[1], A._values()
        if layout == "torch.sparse_csc":
            return A.ccol_indices(), A.row_indices(), A.values()
        return A.crow_indices(), A.col_indices(), A.values()

    forms = ("csr", "csc", "coo", "bsr")

    def new_stream(self):
        return self.lib.cuda.Stream()

    def on(self, stream):
        return self.lib.cuda.stream(stream)

    def wait(self, seconds):
        self.lib.cuda._sleep(int(seconds * 2e9))  # cycles, of which a GPU makes at most that many

    def is_done(self, stream):
        return stream.query()

    def copy_into(self, to, values):
        to.copy_(values)

    def synchronize(self):
        self.lib.cuda.synchronize()


class Foreign:
    """An array of a library that Newel does not know: memory on the device, and an interface."""

    def __init__(self, values, order="C"):
        self._values = np.array(values, order=order)
        self._memory = newel._core.DeviceMemory(0, self._values.nbytes)
        self._memory.copy_from(self._values.ctypes.data, 0)

    @property
    def __cuda_array_interface__(self):
        v = self._values
        return {"version": 3, "shape": v.shape, "typestr": v.dtype.str, "strides": v.strides,
                "data": (self._memory.address, False), "stream": 1}


class ForeignKind:
    name = "foreign"

    def array(self, values, order="C"):
        return Foreign(values, order)

    def host(self, x):
        assert type(x) is newel.DeviceArray
        return x.get()

    def address(self, x):
        return x.__cuda_array_interface__["data"][0]

    def sparse(self, A, form="csr"):
        A = A.tocsr()
        return tuple(Foreign(part) for part in (A.data, A.indices, A.indptr))

    def arrays_of(self, A):
        return A[2], A[1], A[0]

    forms = ("csr",)

    def synchronize(self):
        pass


def kinds():
    """Those whose libraries are there, and why others are not."""
    found, missing = [ForeignKind()], []
    for name, kind in (("cupy", CuPyKind), ("torch", PyTorchKind)):
        try:
            found.append(kind(importlib.import_module(name)))
        except ImportError as error:
            missing.append(f"{name}: {error}")
    return found, missing


KINDS, _ = kinds() if newel.devices() else ([], [])
every_kind = pytest.mark.parametrize("kind", KINDS or [None], ids=lambda kind: getattr(kind, "name", "none"))
