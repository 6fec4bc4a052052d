# SPDX-License-Identifier: Apache-2.0
"""The functions of newel.jax: a solve with its derivatives, which are again solves and products on the pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.sparse import BCOO, BCSR

from newel import Report
from newel._choices import real_number, whole_number

from . import _call
from ._setups import Setups

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from newel._batched_report import BatchedResult
    from newel._typing import SolverKeywords


class Solver:
    """Solves A x = b with fixed options. It keeps what is set up for the last two patterns on each device.

    All functions may be used under ``jit``, ``grad``, ``jvp``, ``vmap`` and each other. A gradient takes one solve with
    the transpose of A: while A is symmetric with the same setup, otherwise with one of its own, which is made at the
    first gradient and kept. The gradient of the values is computed on the pattern alone.

    Parameters
    ----------
    symmetric : bool, optional
        Whether all A are symmetric. By default the values are compared with those in the transposed places before a
        gradient, exactly but for a rounding error of a sum; those of a device are copied to the host for it.
    rtol, atol, max_iterations
        As in `newel.Solver.solve`, for the solves with A and with its transpose.
    **options
        As for `newel.Solver`. ``precision`` is that of A by default. Preconditioners are given by name; ``comm``,
        ``device``, ``devices`` and ``stream`` are not possible.

    Notes
    -----
    A Solver has to exist as long as compiled functions that use it are called. Calls run one after the other.
    """

    def __init__(self, *, symmetric: bool | None = None, rtol: float | None = None, atol: float = 0.0,
                 max_iterations: int | None = None, **options: Unpack[SolverKeywords]) -> None:
        given: dict[str, Any] = dict(options)
        for name in ("comm", "device", "devices", "stream"):
            if name in given:
                raise ValueError(f"{name}: not possible with newel.jax, which solves where the arrays are")
        preconditioner = given.get("preconditioner")
        if preconditioner is not None and not isinstance(preconditioner, str):
            raise TypeError("preconditioner: expected a name or None, because a gradient needs that of the transpose "
                            "too")
        if rtol is not None:
            given["rtol"] = real_number(rtol, "rtol")
        limits = (given.get("rtol"), real_number(atol, "atol"),
                  10000 if max_iterations is None else whole_number(max_iterations, "max_iterations", 0))
        self._setups = Setups(symmetric, limits, given)
        self._handle = _call.handle_of(self._setups)

    def solve(self, A: Any, b: Any, *, transpose: bool = False) -> jax.Array:
        """x of A x = b, differentiable in the values of A and in b, forward and backward, as often as needed.

        Parameters
        ----------
        A : BCSR, BCOO or tuple
            A square matrix: ``jax.experimental.sparse.BCSR`` or ``BCOO`` without batched or dense axes, or ``(data,
            indices, indptr)``, float64 or float32. Repeated entries are summed. All its arrays may be traced.
            The index arrays of a BCOO are copied.
        b : array of shape (n,) or (n, k)
            One vector, or k vectors as columns, of the type of A. Under ``vmap`` vectors that share a matrix are solved
            together as columns. Matrices of one pattern with different values, and one vector each, are solved as
            a batch, as `newel.BatchedSystem` does. The batch takes at most 2,048 rows, the solvers "cg",
            "bicgstab" and "gmres", and the preconditioners "jacobi", "block-jacobi", "fsai", "ilu", none; "auto" counts as
            "jacobi". Systems that fail there, and all others, are solved one after another.
        transpose : bool
            Solve with the transpose of A instead.

        Returns
        -------
        jax.Array
            x, with the shape of b.

        Raises
        ------
        jax.errors.JaxRuntimeError or ValueError, as JAX passes it on
            When the function runs: if a solve does not converge, one for a gradient included, and for values that
            `newel.Solver` refuses. The message has the reason and what to try.
        ValueError, TypeError
            For shapes and types, when the function is traced.
        """
        return _solve_columns(self._handle, matrix_of(A), jnp.asarray(b), transpose)

    def clear(self) -> None:
        """Free what is set up; a later solve sets up again."""
        self._setups.clear()

    @property
    def reports(self) -> list[Report | BatchedResult]:
        """The reports of the latest call with A that has ended, one for each vector; those of a batch as
        `newel.BatchedReport` has them."""
        return list(self._setups.reports.get(False, []))

    @property
    def transpose_reports(self) -> list[Report | BatchedResult]:
        """The reports of the latest call with the transpose of A that has ended."""
        return list(self._setups.reports.get(True, []))


_solvers: dict[Any, Solver] = {}  # of `solve`, by their options


def solve(A: Any, b: Any, *, symmetric: bool | None = None, rtol: float | None = None, atol: float = 0.0,
          max_iterations: int | None = None, **options: Unpack[SolverKeywords]) -> jax.Array:
    """x of A x = b: `Solver.solve` of a Solver that is kept for these options.

    What is set up for the last two patterns remains for the next call with the same options; `clear` frees it.

    Parameters
    ----------
    A, b
        As for `Solver.solve`.
    symmetric, rtol, atol, max_iterations, **options
        As for `Solver`.

    Returns
    -------
    jax.Array
        x, with the shape of b.
    """
    given = dict(symmetric=symmetric, rtol=rtol, atol=atol, max_iterations=max_iterations, **options)
    key = _frozen(given)
    solver = _solvers.get(key)
    if solver is None:
        solver = _solvers[key] = Solver(**given)
    return solver.solve(A, b)


def clear() -> None:
    """Free what `solve` has set up; a later call sets up again."""
    for solver in _solvers.values():
        solver.clear()


def _frozen(value: Any) -> Any:
    """The value as part of a key."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), _frozen(one)) for name, one in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(one) for one in value)
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return array.shape, array.dtype.str, array.tobytes()
    return value if value is None else (type(value).__name__, value)


class SparseArrays:
    """The arrays of a matrix of n rows: pointers and columns of CSR, or rows and columns."""

    def __init__(self, form: str, rows: int, first: Any, second: Any, values: Any):
        self.form, self.rows, self.first, self.second, self.values = form, rows, first, second, values

    def entries(self) -> tuple[Any, Any]:
        """The row and the column of each value."""
        if self.form == "coo":
            return self.first, self.second
        lengths = jnp.diff(self.first)
        rows = jnp.repeat(jnp.arange(self.rows, dtype=self.second.dtype), lengths,
                          total_repeat_length=self.values.shape[0])
        return rows, self.second

    def product(self, x: Any, transposed: bool) -> Any:
        """A x, or A^T x, for a vector."""
        rows, columns = self.entries()
        if transposed:
            rows, columns = columns, rows
        return jnp.zeros_like(x).at[rows].add(self.values * x[columns])


def matrix_of(A: Any) -> SparseArrays:
    """The arrays of a matrix; TypeError or ValueError for what is none."""
    if isinstance(A, (BCSR, BCOO)):
        if A.n_batch or A.n_dense:
            raise ValueError(f"A: expected a matrix without batched or dense axes, found {A.n_batch} and {A.n_dense}")
        shape = A.shape
        parts = ("csr", A.indptr, A.indices) if isinstance(A, BCSR) else ("coo", A.indices[:, 0], A.indices[:, 1])
        values = A.data
    elif isinstance(A, tuple) and len(A) == 3:
        values, parts = jnp.asarray(A[0]), ("csr", jnp.asarray(A[2]), jnp.asarray(A[1]))
        shape = (parts[1].shape[0] - 1,) * 2
    else:
        raise TypeError(f"A: expected a BCSR, a BCOO or a tuple (data, indices, indptr), found {type(A).__name__}")
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"A: expected a square matrix, found the shape {tuple(shape)}")
    if values.dtype not in (np.float32, np.float64):
        raise TypeError(f"A: expected float64 or float32, found {values.dtype}")
    return SparseArrays(parts[0], shape[0], parts[1], parts[2], values)


def _solve_columns(handle: int, A: SparseArrays, b: Any, transposed: bool) -> Any:
    if b.ndim not in (1, 2) or b.shape[0] != A.rows:
        raise ValueError(f"b: expected shape ({A.rows},) or ({A.rows}, k), found {b.shape}")
    if b.dtype != A.values.dtype:
        raise TypeError(f"b: expected {A.values.dtype}, as A has, found {b.dtype}")
    if b.ndim == 1:
        return _solve_vector(handle, A, b, transposed)
    return jax.vmap(lambda one: _solve_vector(handle, A, one, transposed), in_axes=1, out_axes=1)(b)


def _solve_vector(handle: int, A: SparseArrays, b: Any, transposed: bool) -> Any:
    return jax.lax.custom_linear_solve(
        lambda y: A.product(y, transposed), b, lambda _, one: call_of_xla(handle, A, one, transposed, True)[0],
        lambda _, one: call_of_xla(handle, A, one, not transposed, True)[0])


def call_of_xla(handle: int, A: SparseArrays, b: Any, transposed: bool, raises: bool) -> tuple[Any, Any, Any]:
    """x, its status and its iterations for a vector, without derivatives."""
    number = jax.ShapeDtypeStruct((), jnp.int32)
    call = jax.ffi.ffi_call(_call.TARGET, (jax.ShapeDtypeStruct(b.shape, b.dtype), number, number),
                            vmap_method="expand_dims")
    x, status, iterations = call(A.first, A.second, jax.lax.stop_gradient(A.values), b, setups=np.int64(handle),
                                 form=A.form, transposed=bool(transposed), raises=bool(raises))
    return x, status, iterations
