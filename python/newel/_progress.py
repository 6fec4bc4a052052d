# SPDX-License-Identifier: Apache-2.0
"""Progress of a solve in a terminal."""

from __future__ import annotations

import sys
from typing import TextIO

from ._choices import real_number
from ._core import Progress
from ._keywords import names_keywords


def _after(iteration: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50, ..."""
    return iteration * 5 // 2 if str(iteration)[0] == "2" else 2 * iteration


class TerminalProgress:
    """A callback that shows the progress of a solve in a terminal.

    It writes a line after iterations 1, 2, 5, 10, 20, 50, ... and at least every few seconds. A line shows the
    iterations, the relative residual, the seconds, and an estimate of the remaining iterations if there is one. One
    object may be used for many solves, one after another.

    Parameters
    ----------
    file : text stream, optional
        Where to write; standard error by default. Nothing is written if it is not a terminal.
    every : float
        Write a line at least every so many seconds.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, newel
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, report = newel.solve(A, np.ones(100), callback=newel.TerminalProgress())
    """

    @names_keywords()
    def __init__(self, file: TextIO | None = None, every: float = 5.0) -> None:
        self._file, self._every = file, real_number(every, "every")
        self._start()

    def _start(self) -> None:
        self._next: dict[int, int] = {}  # by column: the iteration whose line is due
        self._before: dict[int, int] = {}  # and the one that was reported before
        self._shown = 0.0  # when the last line was written, in seconds of the solve

    def __call__(self, progress: Progress) -> None:
        """Receive progress from the solve; write a line if one is due."""
        column, iteration = progress.column, progress.iteration
        if iteration <= self._before.get(column, 0):
            self._start()  # another solve
        self._before[column] = iteration
        file = sys.stderr if self._file is None else self._file
        if not file.isatty():
            return
        due = self._next.get(column, 1)
        if iteration < due and progress.seconds - self._shown < self._every:
            return
        while due <= iteration:
            due = _after(due)
        self._next[column], self._shown = due, progress.seconds
        which = f"  column {column + 1} of {progress.columns}" if progress.columns > 1 else ""
        left = f"  about {progress.iterations_left:,} to go" if progress.iterations_left else ""
        print(f"{progress.solver:8} {iteration:8,} iterations  |r| / |b| = {progress.relative_residual:.2e}  "
              f"{progress.seconds:.1f} s{which}{left}", file=file, flush=True)
