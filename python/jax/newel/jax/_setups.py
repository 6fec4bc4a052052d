# SPDX-License-Identifier: Apache-2.0
"""What is set up for the matrices of calls by XLA, and kept: a Solver for each pattern and for its transpose."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from newel import Solver, _core
from newel._batched import BatchedSystem
from newel._batched_report import BatchedReport
from newel._device_matrices import Parts
from newel._mapped_values import MOST_ROWS, MappedValues
from newel._report import Report
from newel._same_bits import Exact, Hash

from ._arrays import XlaArray

KEPT_PATTERNS = 2  # on each device, for one set of options

_transposed_form = {"csr": "csc", "coo": "coo"}
_precisions = {np.dtype(np.float64): "double", np.dtype(np.float32): "single"}


class Matrix:
    """A matrix of a call to these setups: its pattern, and where its values begin in those of the call."""

    def __init__(self, setups: Setups, form: str, rows: int, first: XlaArray, second: XlaArray, values: XlaArray,
                 begin: int, size: int):
        self.form, self.rows, self.first, self.second = form, rows, first, second
        self.values, self.begin, self.size = values, begin, size
        self._setups = setups
        self._found: list[tuple[int, int]] | None = None

    @property
    def given_values(self):
        return self.values.part(self.begin, self.size)

    def parts(self, transposed: bool) -> Parts:
        form, first, second = self.form, self.first.part(), self.second.part()
        if transposed:
            form = _transposed_form[form]
            if form == "coo":
                first, second = second, first
        return Parts(form, (self.rows, self.rows), 1, first, second, self.given_values)

    @property
    def pattern(self) -> Exact | Hash:
        """What two matrices of one pattern have in common."""
        if self.first.on_host:
            return Exact((self.form, self.rows), (self.first.part(), self.second.part()))
        return Hash((self.form, self.rows, self.first.size, self.second.size, *self._sums()[:2]))

    @property
    def value_bits(self) -> Exact | Hash:
        """The same for matrices of equal values."""
        if self.first.on_host:
            return Exact((), (self.values.part(self.begin, self.size),))
        return Hash(self._sums()[2])

    def _sums(self) -> list[tuple[int, int]]:
        if self._found is None:  # all at once, because the host waits for them
            spans = [self.first.argument(0, self.first.size), self.second.argument(0, self.second.size),
                     self.values.argument(self.begin, self.size)]
            self._found = self._setups.sums_on(self.values.device).of(spans)
        return self._found

    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The row and the column of each value, on the host."""
        first, second = self.first.get(), self.second.get()
        if self.form == "csr":
            first = np.repeat(np.arange(self.rows), np.diff(first))
        return first.astype(np.int64), second.astype(np.int64)


class Setup:
    """The Solvers of one pattern: of A and of its transpose, or one of both while A is symmetric."""

    def __init__(self, matrix: Matrix, symmetric: bool | None, options: Mapping[str, Any]):
        self._symmetric, self._options = symmetric, options
        self._solvers: dict[bool, Solver] = {}
        self._held: dict[bool, Exact | Hash] = {}  # the values of each
        self._seen: tuple[Exact | Hash, bool] | None = None  # whether the latest values were symmetric
        self._partner: np.ndarray | None = None
        self._checked = False
        self._mapped: MappedValues | None = None
        self._new(matrix, False)
        self.pattern = matrix.pattern.kept()
        self._held[False] = matrix.value_bits.kept()

    @property
    def system(self):
        """The compiled part of the Solver of A."""
        return self._solvers[False]._system

    def load(self, matrix: Matrix, transposed: bool) -> Solver:
        """The Solver of A, or of its transpose, with the values of the matrix."""
        bits = matrix.value_bits
        if transposed and self._is_symmetric(matrix, bits):
            transposed = False
        if self._held.get(transposed) != bits:
            self._held.pop(transposed, None)  # in case that the values are refused
            if transposed in self._solvers:
                self._solvers[transposed].refresh(matrix.given_values)
            else:
                self._new(matrix, transposed)
            self._held[transposed] = bits.kept()
        return self._solvers[transposed]

    def batch(self, matrix: Matrix, transposed: bool) -> BatchedSystem | None:
        """What solves systems of this pattern together (`MappedValues.of`), or None."""
        if self._mapped is None:
            options = {**self._options, "precision": self._options.get("precision", "auto")}
            if options["precision"] == "auto":
                options["precision"] = _precisions[matrix.values.dtype]
            self._mapped = MappedValues(*matrix.entries(), matrix.rows, self._symmetric, options,
                                        matrix.values.device)
        return self._mapped.of(transposed)

    def _new(self, matrix: Matrix, transposed: bool) -> None:
        options = self._options if not transposed else {**self._options, "decision": None}  # which is of A
        precision, own = options.get("precision", "auto"), _precisions[matrix.values.dtype]
        if precision == "auto":
            precision = own
        elif (precision == "single") != (own == "single"):
            raise ValueError(f"precision: expected that of the arrays, {own}, found {precision}")
        self._solvers[transposed] = Solver(matrix.parts(transposed), **{**options, "precision": precision})

    def _is_symmetric(self, matrix: Matrix, bits) -> bool:
        if self._symmetric is not None:
            return self._symmetric
        if self._seen is None or self._seen[0] != bits:
            self._seen = bits.kept(), self._values_are_symmetric(matrix)
        return self._seen[1]

    def _values_are_symmetric(self, matrix: Matrix) -> bool:
        if not self._checked:
            self._partner, self._checked = partners(*matrix.entries(), matrix.rows), True
        if self._partner is None:
            return False
        values = matrix.values.get(matrix.begin, matrix.size)
        return bool(np.allclose(values, values[self._partner], rtol=4 * np.finfo(values.dtype).eps, atol=0.0))


class Setups:
    """Solves the systems of calls that have the same options: one after the other, or together as a batch.

    Parameters
    ----------
    symmetric : None: see from the values, before a solve with the transpose.
    limits : rtol, atol and max_iterations of a solve.
    options : keywords of `newel.Solver`.
    """

    def __init__(self, symmetric: bool | None, limits: tuple[float | None, float, int], options: Mapping[str, Any]):
        self._symmetric, self._limits, self._options = symmetric, limits, dict(options)
        self._kept: dict[int | None, list[Setup]] = {}  # by device, the latest first
        self._sums: dict[int | None, _core.ArraySums] = {}  # by device
        self._lock = threading.RLock()
        self.reports: dict[bool, Any] = {}  # of the latest call, of A and of the transpose

    def clear(self) -> None:
        """Free what is set up."""
        with self._lock:
            self._kept.clear()

    def solve(self, matrix: Matrix, transposed: bool, b: XlaArray, begin: int, x: XlaArray, to: int, columns: int
              ) -> list[Report]:
        """Solve for consecutive vectors, and return their reports."""
        with self._lock:
            solver = self._setup(matrix).load(matrix, transposed)
            n = matrix.rows
            raw = solver._system.solve(b.argument(begin, columns * n), x.argument(to, columns * n), columns,
                                       *self._limits_for(solver.dtype), 0.0, None, 0, True)
            return solver._reports(raw if type(raw) is list else [raw])

    def solve_many(self, count: int, matrix: Callable[[int], Matrix], transposed: bool, b: XlaArray,
                   vectors: np.ndarray | None, x: XlaArray) -> BatchedReport | list[Any] | None:
        """Solve for one vector of each of `count` matrices together; None if that is not possible.

        `vectors` has the number of each system's vector of b; None: system s has vector s. The values of all matrices
        follow each other. Systems that fail are solved again one by one, by the solvers that an ordinary solve has.
        """
        first = matrix(0)
        if first.rows > MOST_ROWS:
            return None
        with self._lock:
            batch = self._setup(first).batch(first, transposed)
            if batch is None:
                return None
            n, values = first.rows, first.values
            batch._batch.set_limits(*self._limits_for(values.dtype))
            report = BatchedReport(batch._batch.solve(count, values.argument(0, values.size), b.argument(0, b.size),
                                                      x.argument(0, x.size), True, vectors))
            if report:
                return report
            reports: list[Any] = list(report)
            for system in np.flatnonzero(~report.converged).tolist():
                vector = system if vectors is None else int(vectors[system])
                (reports[system],) = self.solve(matrix(system), transposed, b, vector * n, x, system * n, 1)
            return reports

    def sums_on(self, device: int | None) -> _core.ArraySums:
        """What compares the arrays of a device."""
        sums = self._sums.get(device)
        if sums is None:
            sums = self._sums[device] = _core.ArraySums(device)
        return sums

    def _limits_for(self, dtype: Any) -> tuple[float, float, int]:
        rtol, atol, most = self._limits
        if rtol is None:
            rtol = 1e-5 if dtype == np.float32 else 1e-8
        return rtol, atol, most

    def _setup(self, matrix: Matrix) -> Setup:
        kept = self._kept.setdefault(matrix.values.device, [])
        pattern = matrix.pattern if kept else None
        for place, setup in enumerate(kept):
            if setup.pattern == pattern and setup.system.single == (matrix.values.dtype == np.float32):
                kept.insert(0, kept.pop(place))
                return setup
        setup = Setup(matrix, self._symmetric, self._options)
        kept.insert(0, setup)
        del kept[KEPT_PATTERNS:]
        return setup


def partners(rows: np.ndarray, columns: np.ndarray, n: int) -> np.ndarray | None:
    """For each entry the position of that in the transposed place; None if there is none for some."""
    place, transposed = rows * n + columns, columns * n + rows
    by_place, by_transposed = np.argsort(place, kind="stable"), np.argsort(transposed, kind="stable")
    if not np.array_equal(place[by_place], transposed[by_transposed]):
        return None
    partner = np.empty_like(by_place)
    partner[by_place] = by_transposed
    return partner
