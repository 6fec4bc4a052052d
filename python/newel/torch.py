# SPDX-License-Identifier: Apache-2.0
"""Solves that PyTorch differentiates: in the values of A and in b, as often as needed, on the host and on CUDA devices.

>>> import torch, newel.torch
>>> A = torch.eye(3, dtype=torch.float64).mul(2).to_sparse_coo().coalesce().requires_grad_()
>>> b = torch.ones(3, dtype=torch.float64, requires_grad=True)
>>> newel.torch.solve(A, b).sum().backward()
>>> b.grad
tensor([0.5000, 0.5000, 0.5000], dtype=torch.float64)

PyTorch 2.5 or newer is needed. ``import newel`` alone does not import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"newel.torch needs PyTorch 2.5 or newer, found {torch.__version__}")

from ._batched_report import BatchedReport, BatchedResult
from ._choices import real_number, whole_number
from ._torch_batches import BatchedSolves, limits_of
from ._torch_mapped import SolveMany
from ._torch_operators import call
from ._torch_operators import solve as _solve
from ._torch_systems import Systems

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._report import Report
    from ._typing import SolverKeywords

__all__ = ["BatchedSystem", "Solver", "solve", "solve_batch"]

_precisions = {torch.float64: "double", torch.float32: "single"}


class Solver:
    """A x = b for one sparsity pattern, differentiable in the values of A and in b.

    The first gradient takes one solve with the transpose of A. While A is symmetric, that is one with A, and nothing
    else is set up. Otherwise a second setup, of the transpose, is made at the first gradient, kept, and refreshed when
    the values change. Both read the tensors where they are. The gradient of the values is computed on the pattern
    alone. Gradients that are not asked for cost nothing.

    Parameters
    ----------
    A : torch.Tensor
        A square sparse tensor in CSR or COO, float64 or float32, on the host or a CUDA device; COO coalesced. It
        gives the pattern and the first values. Its index tensors are referred to and must not change.
    symmetric : bool, optional
        Whether A is and remains symmetric. By default the values are compared with those in the transposed places
        before a gradient, exactly but for a rounding error of a sum.
    rtol, atol, max_iterations
        As in `newel.Solver.solve`, for the solves with A and with its transpose.
    **options
        As for `newel.Solver`. ``precision`` is that of A by default. Preconditioners are given by name; ``comm`` and
        ``devices`` are not possible.

    Raises
    ------
    ValueError, TypeError
        For a tensor that is dense, blocked, not square or not coalesced, and as for `newel.Solver`.

    Notes
    -----
    A solve makes no copy of A or b. It sees whether the values are new: on the host by a copy of the last ones, on a
    device by a hash of 128 bits.

    Inside a function that ``torch.compile`` compiles, `solve` is one operator and breaks no graph; make the Solver
    outside. The transformations of ``torch.func`` work too, in any order: ``grad``, ``jvp``, ``jacrev``, ``jacfwd``,
    ``hessian`` and ``vmap``. Under ``vmap`` vectors that share a matrix are solved together as columns, and matrices with
    different values as a batch, as `BatchedSystem` does. The batch takes at most 2,048 rows, the solvers "cg", "bicgstab"
    and "gmres", and the preconditioners "jacobi", "block-jacobi", "fsai", "ilu" and none; "auto" counts as "jacobi".
    Systems that fail there, and all others, are solved one after another. On a device, second derivatives add in an order that varies,
    unless ``torch.use_deterministic_algorithms(True)`` is set.
    """

    def __init__(self, A: torch.Tensor, *, symmetric: bool | None = None, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, **options: Unpack[SolverKeywords]) -> None:
        limits: dict[str, Any] = {"atol": real_number(atol, "atol")}
        if rtol is not None:
            limits["rtol"] = real_number(rtol, "rtol")
        if max_iterations is not None:
            limits["max_iterations"] = whole_number(max_iterations, "max_iterations", 0)
        self._systems = Systems(A, symmetric, limits, _checked(A, options, rtol))
        self._handle = self._systems.handle
        self._rows, self._nonzeros = self._systems.pattern.rows, self._systems.pattern.nonzeros
        self._dtype, self._device, self._layout = A.dtype, A.device, A.layout
        self._values = self._systems.first_values(_values_of(A))

    def solve(self, values: torch.Tensor | None, b: torch.Tensor, *, transpose: bool = False) -> torch.Tensor:
        """x of A x = b.

        Parameters
        ----------
        values : torch.Tensor or None
            The values of A: one dimension, in the order of ``A.values()``; or a sparse tensor with the pattern and the
            layout of A. None: those of the A that the Solver was made from, which get no gradient.
        b : torch.Tensor of shape (n,) or (n, k)
            One vector, or k vectors as columns, of the type and on the device of A.
        transpose : bool
            Solve with the transpose of A instead.

        Returns
        -------
        torch.Tensor
            x, with the shape of b.

        Raises
        ------
        newel.ConvergenceError
            If the solve does not converge; the same in the computation of a gradient.
        ValueError, TypeError
            For tensors of another size, type or device, and values that a refresh refuses.
        """
        if values is None:
            values = self._values
        elif values.layout is not torch.strided:
            self._systems.pattern.check_same(values)
            values = _values_of(values)
        self._check(values, "the values")
        self._check(b, "b")
        if values.dim() != 1 or values.shape[0] != self._nonzeros:
            raise ValueError(f"the values: expected shape ({self._nonzeros},), found {tuple(values.shape)}")
        if b.dim() not in (1, 2) or b.shape[0] != self._rows:
            raise ValueError(f"b: expected shape ({self._rows},) or ({self._rows}, k), found {tuple(b.shape)}")
        return call(_solve, values, b, self._handle, bool(transpose))

    def _check(self, tensor: torch.Tensor, what: str) -> None:
        if tensor.layout is not torch.strided:
            raise TypeError(f"{what}: expected a dense tensor, found one of the layout {tensor.layout}")
        if tensor.dtype is not self._dtype:
            raise TypeError(f"{what}: expected {self._dtype}, as A has, found {tensor.dtype}")
        if tensor.device != self._device:
            raise TypeError(f"{what}: expected a tensor on {self._device}, where A is, found one on {tensor.device}")

    @property
    def report(self) -> Report | list[Report | BatchedResult] | BatchedReport | None:
        """The report of the latest solve with A. A list for columns and for matrices of ``vmap``, or a `BatchedReport`
        if these were solved together and have converged. None: there was none."""
        return self._systems.reports.get(False)

    @property
    def transpose_report(self) -> Report | list[Report | BatchedResult] | BatchedReport | None:
        """The report of the latest solve with the transpose of A, as gradients need it."""
        return self._systems.reports.get(True)


def solve(A: torch.Tensor, b: torch.Tensor, *, symmetric: bool | None = None, rtol: float | None = None,
          atol: float = 0.0, max_iterations: int | None = None, **options: Unpack[SolverKeywords]) -> torch.Tensor:
    """x of A x = b, differentiable in the values of A and in b.

    For several solves with one pattern, make a `Solver`, which keeps its setup.

    Parameters
    ----------
    A : torch.Tensor
        A sparse tensor as for `Solver`. COO that is not coalesced is coalesced first, in a way that is differentiated
        too.
    b : torch.Tensor of shape (n,) or (n, k)
    symmetric, rtol, atol, max_iterations, **options
        As for `Solver`.

    Returns
    -------
    torch.Tensor
        x, with the shape of b. The gradient of A is a sparse tensor with the layout of A.

    Raises
    ------
    newel.ConvergenceError, ValueError, TypeError
        As in `Solver` and `Solver.solve`.
    """
    if isinstance(A, torch.Tensor) and A.layout is torch.sparse_coo:
        A = A.coalesce()
    if isinstance(b, torch.Tensor) and b.dim() == 2 and b.shape[1] > 1:
        options.setdefault("columns", b.shape[1])
    solver = Solver(A, symmetric=symmetric, rtol=rtol, atol=atol, max_iterations=max_iterations, **options)
    return solver.solve(A, b)


def _values_of(A: torch.Tensor) -> torch.Tensor:
    values: torch.Tensor = A.values()  # type: ignore[no-untyped-call]
    return values


def _checked(A: torch.Tensor, options: SolverKeywords, rtol: float | None) -> dict[str, Any]:
    """The keywords for a `newel.Solver`, after those that have no meaning here have been refused."""
    result: dict[str, Any] = dict(options)
    for name in ("comm", "devices"):
        if result.get(name) is not None:
            raise ValueError(f"{name}: not possible with newel.torch, which solves where the tensors are")
    preconditioner = result.get("preconditioner")
    if preconditioner is not None and not isinstance(preconditioner, str):
        raise TypeError("preconditioner: expected a name or None, because a gradient needs that of the transpose too")
    if isinstance(A, torch.Tensor) and A.layout is not torch.strided:
        if A.dtype not in _precisions:
            raise TypeError(f"A: expected float64 or float32, found {A.dtype}")
        if result.get("precision", "auto") == "auto":
            result["precision"] = _precisions[A.dtype]
    if rtol is not None:
        result.setdefault("rtol", rtol)
    return result


class BatchedSystem:
    """Systems ``A[s] x[s] = b[s]`` of one pattern, solved together and differentiable in all values and in b.

    Gradients are solves with the transposes, together too, as often as derivatives are taken, backward or forward.
    ``torch.func.vmap`` over k batches solves the systems of all of them together.

    Parameters
    ----------
    pattern : sparse tensor in CSR, or tuple (indices, indptr)
        As in `newel.BatchedSystem`.
    dtype : torch.float64 or torch.float32
        Of values, b and x.
    rtol, atol, max_iterations
        As in `newel.BatchedSystem.solve`, for solves and gradients.
    **options
        ``solver``, ``preconditioner``, ``block_rows``, ``restart``, ``threads``, ``stream`` and ``together`` of
        `newel.BatchedSystem`.
    """

    def __init__(self, pattern: Any, *, dtype: torch.dtype = torch.float64, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, **options: Any) -> None:
        if dtype not in _precisions:
            raise TypeError(f"dtype: expected torch.float64 or torch.float32, found {dtype}")
        self._dtype = dtype
        self._solves = BatchedSolves(pattern, _precisions[dtype], limits_of(rtol, atol, max_iterations), options)

    def solve(self, values: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """x of k x rows, for values of k x nonzeros and b of k x rows, on the host or the device of the first call.

        Raises ConvergenceError if a system does not converge, here or in a gradient.
        """
        for what, tensor in (("values", values), ("b", b)):
            if tensor.dtype is not self._dtype:
                raise TypeError(f"{what}: expected {self._dtype}, found {tensor.dtype}")
        return SolveMany.apply(values, b, self._solves.handle, False)  # type: ignore[no-any-return]

    @property
    def report(self) -> BatchedReport | None:
        """The report of the last solve, not of a gradient; None before the first."""
        return self._solves.reports.get(False)


def solve_batch(pattern: Any, values: torch.Tensor, b: torch.Tensor, *, rtol: float | None = None, atol: float = 0.0,
                max_iterations: int | None = None, **options: Any) -> torch.Tensor:
    """Solve many small systems of one pattern; a `BatchedSystem` for one call, with its parameters.

    Examples
    --------
    >>> import torch, newel.torch
    >>> indices, indptr = torch.tensor([0, 1]), torch.tensor([0, 1, 2])
    >>> values = torch.tensor([[2.0, 4.0], [1.0, 5.0]], dtype=torch.float64, requires_grad=True)
    >>> x = newel.torch.solve_batch((indices, indptr), values, torch.ones(2, 2, dtype=torch.float64))
    >>> x.sum().backward()
    >>> values.grad
    tensor([[-0.2500, -0.0625],
            [-1.0000, -0.0400]], dtype=torch.float64)
    """
    system = BatchedSystem(pattern, dtype=values.dtype, rtol=rtol, atol=atol, max_iterations=max_iterations, **options)
    return system.solve(values, b)
