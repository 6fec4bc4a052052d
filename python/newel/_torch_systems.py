# SPDX-License-Identifier: Apache-2.0
"""A system and its transpose, for the derivatives of a solve: what is set up, and the values that each has."""

from __future__ import annotations

import itertools
import threading
import warnings
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from . import _core
from ._libraries import library_of
from ._mapped_values import MappedValues
from ._report import ConvergenceError, ConvergenceWarning
from ._same_bits import Exact, Hash
from ._solver import Solver
from ._torch_pattern import Pattern


class Systems:
    """A x = b and A^T y = c for one pattern. Both are one Solver while A is symmetric.

    The transpose is set up when it is first needed, from the same arrays of indices and values.

    Parameters
    ----------
    A : the tensor with the pattern and the first values.
    symmetric : None: see from the values, before a solve with the transpose.
    limits : keywords of `newel.Solver.solve`.
    options : keywords of `newel.Solver`.
    """

    def __init__(self, A: torch.Tensor, symmetric: bool | None, limits: Mapping[str, Any], options: Mapping[str, Any]):
        self.pattern = Pattern(A)
        self.reports: dict[bool, Any] = {}  # the last of A and of the transpose
        self._symmetric, self._limits, self._options = symmetric, dict(limits), dict(options)
        self._found: bool | None = None  # whether the values of A that `_held` has are symmetric
        self._solvers: dict[bool, Solver] = {}
        self._held: dict[bool, Exact | Hash] = {}  # the values that each has
        self._first: tuple[torch.Tensor, Exact | Hash] | None = None
        device = self.pattern.device
        self._sums = _core.ArraySums(device.index) if device.type == "cuda" else None
        self._lock = threading.RLock()  # one solve at a time: its values stay until its end
        self._mapped: MappedValues | None = None
        self.handle = register(self)

    @property
    def entries(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The row and the column of each value."""
        return self.pattern.entries

    def first_values(self, values: torch.Tensor) -> torch.Tensor:
        """Set A up with these values. Returns a copy of them that is kept, and never written to."""
        copy = _detached(values).clone()
        self._first = copy, self._bits_of(copy)
        self.load(copy, False)
        return copy

    def load(self, values: torch.Tensor, transposed: bool) -> Solver:
        """The Solver of A, or of its transpose, with these values."""
        with self._lock:
            values = _detached(values)
            bits = self._bits(values)
            if transposed and self._is_symmetric(values, bits):
                transposed = False
            if self._held.get(transposed) == bits:
                return self._solvers[transposed]
            solver = self._solvers.get(transposed)
            self._held.pop(transposed, None)  # in case that the values are refused
            if solver is not None:
                solver.refresh(values)
            else:
                solver = self._solvers[transposed] = self._new(values, transposed)
            self._held[transposed] = self._kept(bits)
            if not transposed:
                self._found = None
            return solver

    def solve(self, values: torch.Tensor, b: torch.Tensor, transposed: bool) -> torch.Tensor:
        """x of A x = b, or of A^T x = b; ConvergenceError if a solve does not converge."""
        with self._lock:
            solver = self.load(values, transposed)
            try:
                x, report = solver.solve(_detached(b), **self._limits, raise_on_failure=True)
            except ConvergenceError as error:
                self.reports[transposed] = error.report
                what = "the system with the transpose of A, which gradients need" if transposed else "A x = b"
                raise ConvergenceError(f"{what}: {error}", error.x, error.report) from None
            self.reports[transposed] = report
            return x if x.dtype is b.dtype else x.to(b.dtype)

    def solve_many(self, values: torch.Tensor, b: torch.Tensor, transposed: bool) -> torch.Tensor:
        """x of k x n for values of k x nonzeros and b of k x n; ConvergenceError if a system does not converge.

        Systems that a batch takes are solved together. Those that fail there, and all others, are solved one by one.
        """
        values, b = _detached(values), _detached(b)
        with self._lock:
            batch = self._batches().of(transposed)
            if batch is None or b.shape[0] == 1:
                return self._one_by_one(values, b, transposed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # such systems are solved again below
                x, report = batch.solve(values.contiguous(), b.contiguous(), **self._limits)
            reports = report if report else list(report)
            for system in np.flatnonzero(~report.converged):
                x[system] = self.solve(values[system], b[system], transposed)
                reports[system] = self.reports[transposed]
            self.reports[transposed] = reports
            return x  # type: ignore[no-any-return]

    def _one_by_one(self, values: torch.Tensor, b: torch.Tensor, transposed: bool) -> torch.Tensor:
        found, reports = [], []
        for one, other in zip(values, b):
            found.append(self.solve(one, other, transposed))
            reports.append(self.reports[transposed])
        self.reports[transposed] = reports
        return torch.stack(found) if found else torch.empty_like(b)

    def _batches(self) -> MappedValues:
        if self._mapped is None:
            rows, columns = (part.cpu().numpy().astype(np.int64) for part in self.pattern.entries)
            device = self.pattern.device.index if self.pattern.device.type == "cuda" else None
            self._mapped = MappedValues(rows, columns, self.pattern.rows, self._symmetric, self._options, device)
        return self._mapped

    def _new(self, values: torch.Tensor, transposed: bool) -> Solver:
        options = self._options if not transposed else {**self._options, "decision": None}  # which is of A
        return Solver(self.pattern.parts(values, transposed), **options)

    def _bits(self, values: torch.Tensor) -> Exact | Hash:
        if self._first is not None and values.data_ptr() == self._first[0].data_ptr():
            return self._first[1]
        return self._bits_of(values)

    def _bits_of(self, values: torch.Tensor) -> Exact | Hash:
        values = values.contiguous()
        if self._sums is None:
            return Exact((), (values.numpy(),))
        return Hash(self._sums.of([library_of(values).span(values)])[0])

    def _kept(self, bits: Exact | Hash) -> Exact | Hash:
        """The same, which remains when the caller's memory has other values, perhaps with the same version."""
        if self._first is not None and bits is self._first[1]:
            return bits
        for held in self._held.values():
            if held == bits:
                return held
        return bits.kept()

    def _is_symmetric(self, values: torch.Tensor, bits: Exact | Hash) -> bool:
        if self._symmetric is not None:
            return self._symmetric
        if self._held.get(False) != bits:
            return self.pattern.is_symmetric(values)
        if self._found is None:
            self._found = self.pattern.is_symmetric(values)
        return self._found


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.requires_grad:
        tensor = tensor.detach()
    return tensor.resolve_neg() if tensor.is_neg() else tensor


# By number, because an operator of PyTorch takes no other objects than tensors and numbers.
_systems: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_handles = itertools.count(1)


def register(systems: Any) -> int:
    """A number for these systems, which are not kept alive by it."""
    handle = next(_handles)
    _systems[handle] = systems
    return handle


def systems_of(handle: int) -> Any:
    """What was registered with this number; RuntimeError if it exists no longer."""
    found = _systems.get(handle)
    if found is None:
        raise RuntimeError("the newel.torch.Solver of this graph exists no longer: keep it as long as the graph is "
                           "used")
    return found
