# SPDX-License-Identifier: Apache-2.0
"""Ranks that solve a system together, by messages of mpi4py: whichever MPI that was built with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._choices import shown

_MOST_TAGS = 32768  # that MPI promises
_TESTS_BETWEEN_LOOKS = 64
_NEVER_ENDED: list[Any] = []  # requests whose messages may still come or go after a rank has failed, with their memory


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
        self._begin(MPI, comm.Dup(), None)

    def _begin(self, mpi: Any, calls: Any, all_ranks: Ranks | None) -> None:
        self._mpi, self._calls, self._all = mpi, calls, all_ranks
        self._calls.Set_errhandler(mpi.ERRORS_RETURN)
        self.rank, self.size = calls.rank, calls.size
        self.number = self.rank if all_ranks is None else all_ranks.number
        self._why = ""  # empty: none has failed, as far as is known
        self._exchanges = 0
        if all_ranks is None:
            self._failures = calls.Dup()
            self._failures.Set_errhandler(mpi.ERRORS_RETURN)

    def group(self, number: int) -> Ranks:
        """The ranks that pass the same number. A failure is one of all ranks."""
        self.require_all()
        made = Ranks.__new__(Ranks)
        made._begin(self._mpi, self._calls.Split(number, self.rank), self if self._all is None else self._all)
        return made

    def all_gather(self, mine: memoryview, all: memoryview) -> None:
        """all = the bytes of every rank, in the order of ranks."""
        self.require_all()
        own, gathered = bytes(mine), bytearray(all.nbytes)  # which outlive a call that never ends
        self.wait([self._calls.Iallgather([own, self._mpi.BYTE], [gathered, self._mpi.BYTE])])
        all[:] = gathered

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
        if self._all is not None:
            self._all.fail(why)
            return
        if self._why:
            return
        self._why = f"rank {self.rank}: {why}"
        text = self._why.encode(errors="replace")
        _NEVER_ENDED.extend(self._failures.Isend([text, self._mpi.BYTE], dest=r)
                            for r in range(self.size) if r != self.rank)

    def require_all(self) -> None:
        """Raise RankFailed if a rank has failed."""
        if self._all is not None:
            self._all.require_all()
        if self._why:
            raise RankFailed(self._why)

    def wait(self, requests: list[Any]) -> None:
        """Return when all requests are done; raise RankFailed if a rank fails meanwhile."""
        self.require_all()
        tests = 0
        try:
            while not self._mpi.Request.Testall(requests):
                tests += 1
                if tests % _TESTS_BETWEEN_LOOKS == 0:
                    self._look()
                    os.sched_yield()
        except RankFailed:
            _NEVER_ENDED.extend(requests)
            raise

    def _look(self) -> None:
        if self._all is not None:
            self._all._look()
            return
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

    @contextmanager
    def with_others(self) -> Iterator[None]:
        """A context in which an exception of this rank ends the calls of the others."""
        try:
            yield
        except RankFailed:
            raise
        except BaseException as error:
            self.fail(f"{type(error).__name__}: {error}")
            raise

    def __del__(self) -> None:
        # With calls that are never answered, nothing can be freed.
        if not hasattr(self, "_why") or self._mpi.Is_finalized() or (self if self._all is None else self._all)._why:
            return
        self._calls.Free()
        if self._all is None:
            self._failures.Free()


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
