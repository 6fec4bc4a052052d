# SPDX-License-Identifier: Apache-2.0
"""Ranks that solve a system together, by messages of mpi4py: whichever MPI that was built with."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np

from . import _core
from ._arrays import as_real, refuse_device_array
from ._choices import shown
from ._matrices import _indices, _values

_MOST_TAGS = 32768  # that MPI promises
_TESTS_BETWEEN_LOOKS = 64


class RankFailed(RuntimeError):
    """Another rank of a Solver with ``comm`` has raised an exception, which the message quotes."""


class Ranks:
    """What the compiled part calls to send and receive, and to end the others.

    Two communicators are made from the caller's: one for calls, one on which a rank says that it has failed. A call
    waits by tests, between which it looks for such a message.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI  # the caller has it

        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm: expected a communicator of mpi4py, such as MPI.COMM_WORLD, found {shown(comm)}")
        self._mpi = MPI
        self._calls, self._failures = comm.Dup(), comm.Dup()
        for own in (self._calls, self._failures):
            own.Set_errhandler(MPI.ERRORS_RETURN)
        self.rank, self.size = self._calls.rank, self._calls.size
        self._why = ""  # empty: none has failed, as far as is known
        self._told: list[Any] = []
        self._exchanges = 0

    def all_gather(self, mine: memoryview, all: memoryview) -> None:
        """all = the bytes of every rank, in the order of ranks."""
        self.require_all()
        self.wait([self._calls.Iallgather([mine, self._mpi.BYTE], [all, self._mpi.BYTE])])

    def all_to_all(self, sent: list[bytes]) -> list[bytes]:
        """Sends sent[r] to rank r; what each rank sent to this one."""
        self.require_all()
        out_bytes = np.array([len(text) for text in sent], dtype=np.int64)
        in_bytes = np.empty_like(out_bytes)
        self.wait([self._calls.Ialltoall(out_bytes, in_bytes)])
        tag, byte = self._next_tag(), self._mpi.BYTE
        received = [bytearray(int(count)) for count in in_bytes]
        requests = [self._calls.Irecv([text, byte], source=r, tag=tag) for r, text in enumerate(received) if text]
        requests += [self._calls.Isend([text, byte], dest=r, tag=tag) for r, text in enumerate(sent) if text]
        self.wait(requests)
        return [bytes(text) for text in received]

    def exchange(self, out: list[tuple[int, memoryview]], into: list[tuple[int, memoryview]]) -> Exchange:
        """A repeated exchange of the same memory."""
        tag, byte = self._next_tag(), self._mpi.BYTE
        requests = [self._calls.Recv_init([memory, byte], source=rank, tag=tag) for rank, memory in into]
        requests += [self._calls.Send_init([memory, byte], dest=rank, tag=tag) for rank, memory in out]
        return Exchange(self, requests)

    def fail(self, why: str) -> None:
        """Tell the others, once, that this rank cannot continue."""
        if self._why:
            return
        self._why = f"rank {self.rank}: {why}"
        text = self._why.encode(errors="replace")
        self._told = [text, *(self._failures.Isend([text, self._mpi.BYTE], dest=r)
                              for r in range(self.size) if r != self.rank)]

    def require_all(self) -> None:
        """Raise RankFailed if a rank has failed."""
        if self._why:
            raise RankFailed(self._why)

    def wait(self, requests: list[Any]) -> None:
        """Return when all requests are done; raise RankFailed if a rank fails meanwhile."""
        self.require_all()
        tests = 0
        while not self._mpi.Request.Testall(requests):
            tests += 1
            if tests % _TESTS_BETWEEN_LOOKS == 0:
                self._look()
                os.sched_yield()

    def _look(self) -> None:
        status = self._mpi.Status()
        if not self._failures.Iprobe(source=self._mpi.ANY_SOURCE, status=status):
            return
        text = bytearray(status.Get_count(self._mpi.BYTE))
        self._failures.Recv([text, self._mpi.BYTE], source=status.Get_source())
        self._why = text.decode()
        self.require_all()

    def _next_tag(self) -> int:
        self._exchanges = (self._exchanges + 1) % _MOST_TAGS
        return self._exchanges

    def together(self) -> _Together:
        """A context in which an exception of this rank ends the calls of the others."""
        return _Together(self)

    def __del__(self) -> None:
        # With calls that are never answered, nothing can be freed.
        if not hasattr(self, "_why") or self._why or self._mpi.Is_finalized():
            return
        self._calls.Free()
        self._failures.Free()


class _Together:
    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None and not isinstance(error, RankFailed):
            self._ranks.fail(f"{kind.__name__}: {error}")


class Exchange:
    """Persistent requests of `Ranks.exchange`."""

    def __init__(self, ranks: Ranks, requests: list[Any]) -> None:
        self._ranks, self._requests, self._under_way = ranks, requests, False

    def start(self) -> None:
        """Begin a round."""
        self._ranks.require_all()
        if self._requests:
            self._ranks._mpi.Prequest.Startall(self._requests)
            self._under_way = True

    def finish(self) -> None:
        """Return when everything has been received."""
        if self._requests:
            self._ranks.wait(self._requests)
        self._under_way = False

    def __del__(self) -> None:
        if not self._under_way and not self._ranks._mpi.Is_finalized():
            for request in self._requests:
                request.Free()


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
        flat = np.asarray(as_real(values, self._dtype, "the values")).reshape(-1)
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
