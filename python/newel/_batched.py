# SPDX-License-Identifier: Apache-2.0
"""Batches: many small systems of one pattern and different values, solved together."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import as_dtype, as_kind_of, real_dtype
from ._batched_report import BatchedReport, conclude_batch
from ._choices import a_name, check_threads, choose_device, real_number, stream_handle, whole_number
from ._device_array import DeviceArray, ForeignArray
from ._device_matrices import library_and_device_of
from ._keywords import names_keywords
from ._libraries import library_of
from ._matrices import given_matrix, matrix_on_host
from ._operators import check_square
from ._single import default_rtol, is_single
from ._vectors import settle


class BatchedSystem:
    """Systems ``A[s] x[s] = b[s]`` whose matrices have one pattern: set up once, solve for many values.

    Parameters
    ----------
    pattern : sparse matrix in CSR, or tuple (indices, indptr)
        The pattern, square, with ascending columns in each row: of SciPy, CuPy or PyTorch. Values of a matrix are not
        read. It is copied.
    solver : {"auto", "cg", "bicgstab", "gmres"}
        With ``"auto"`` systems that are symmetric with a positive diagonal use CG, all others BiCGStab; systems that
        fail are tried with the next of these, in this order.
    preconditioner : {"jacobi", "block-jacobi", "fsai", "ilu", "none"} or None
        ``"ilu"``: incomplete factors on the pattern, ILU(0) (Saad, Iterative Methods for Sparse Linear Systems, algorithm
        10.4). ``"fsai"``: G^T G with the pattern of the lower triangle, for systems that are symmetric positive definite.
    block_rows : int, optional
        Rows of a block of block Jacobi, at most 32; by default those of the pattern's dense node blocks.
    restart : int
        Iterations per cycle of GMRES, at most 100.
    precision : {"double", "single"}
    device : {"auto", "host", "cuda", "cuda:N"}
        Where to solve. ``"auto"``: where the pattern is.
    threads : int, optional
        Threads of the host.
    stream : stream of CuPy or PyTorch, or int, optional
        As in `Solver`.
    together : bool
        False: solve the systems one after another, as those that do not fit.

    Raises
    ------
    ValueError, TypeError, RuntimeError, MemoryError
        As `Solver` does.

    Notes
    -----
    On a device one block of threads solves a system of at most 2,048 rows in one kernel, which reads the values once
    if they fit into shared memory. On the host each thread works on eight systems at a time. Larger systems are solved
    one after another by ordinary solves. A system has the same result in every batch.

    Use it from one thread at a time.
    """

    @names_keywords()
    def __init__(self, pattern: Any, *, solver: str = "auto", preconditioner: str | None = "jacobi",
                 block_rows: int | None = None, restart: int = 20, precision: str = "double", device: str = "auto",
                 threads: int | None = None, stream: Any = None, together: bool = True) -> None:
        if precision not in ("double", "single"):
            raise ValueError(f'precision: expected "double" or "single", found {precision!r}')
        self._dtype: np.dtype[Any] = np.dtype(np.float32 if precision == "single" else np.float64)
        choices = {
            "solver": a_name(solver, "solver"),
            "preconditioner": "none" if preconditioner is None else a_name(preconditioner, "preconditioner"),
            "block_rows": 0 if block_rows is None else whole_number(block_rows, "block_rows", 1),
            "restart": whole_number(restart, "restart", 1),
            "together": bool(together),
        }
        arrays, of_pattern = _pattern_arrays(pattern, self._dtype)
        self._device = choose_device(device, of_pattern, None)
        handle = stream_handle(stream, self._device)
        if self._device is None:
            make, where = _core.batch_on_host, (check_threads(threads, None),)
        else:
            check_threads(threads, self._device)
            make, where = _core.batch_on_device, (self._device, handle, stream)
        self._batch = make(arrays, precision == "single", choices, *where)

    @property
    def rows(self) -> int:
        """Rows of one system."""
        return int(self._batch.rows)

    @property
    def nonzeros(self) -> int:
        """Stored entries of one system."""
        return int(self._batch.nonzeros)

    @property
    def fits(self) -> bool:
        """Whether the systems are solved together, and not one after another."""
        return bool(self._batch.fits)

    def _set_order(self, positions: np.ndarray[Any, Any]) -> None:
        """Take the values of each system in another order: entry e of the pattern is at position ``positions[e]``."""
        self._batch.set_order(np.ascontiguousarray(positions, np.int32))

    @names_keywords()
    def solve(self, values: Any, b: Any, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
              max_iterations: int | None = None, *, raise_on_failure: bool = False) -> tuple[Any, BatchedReport]:
        """Solve all systems.

        Parameters
        ----------
        values : array of k x nonzeros
            The values of each system, in the order of the pattern.
        b : array of k x rows
            The right-hand side of each system, on the host or the device of this object.
        x0 : array of k x rows, optional
            Guesses. A guess whose residual is larger than ``|b|`` is replaced by zero.
        rtol, atol : float
            A system has converged if ``|b - A x| <= max(rtol |b|, atol)``. By default rtol is 1e-8, in single
            precision 1e-5.
        max_iterations : int, optional
            Of each system; by default 10000.
        raise_on_failure : bool
            Raise ConvergenceError if a system does not converge, instead of a warning.

        Returns
        -------
        x : array of k x rows, of the same kind as b
        report : BatchedReport
        """
        rtol = default_rtol(self._dtype) if rtol is None else real_number(rtol, "rtol")
        limit = 10000 if max_iterations is None else whole_number(max_iterations, "max_iterations", 0)
        self._batch.set_limits(rtol, real_number(atol, "atol"), limit)
        b, systems = self._checked(b, "b", self.rows, None)
        values, _ = self._checked(values, "values", self.nonzeros, systems)
        if x0 is not None:
            x0, _ = self._checked(x0, "x0", self.rows, systems)
        library = library_of(b)
        if library is None:
            kind, b = b, self._flat(b, "b")
            x = np.empty(b.size, self._dtype) if x0 is None else np.array(self._flat(x0, "x0", to_host=True))
            fields = self._batch.solve(systems, self._flat(values, "values"), b, x, x0 is None)
            result = as_kind_of(kind, x.reshape(systems, self.rows))
        else:
            flat = library.values(b, self._dtype, "b")
            guess = None if x0 is None else self._flat(x0, "x0", to_host=False)
            x = library.new(flat, guess, (systems * self.rows,), self._dtype, self._device)
            fields = self._batch.solve(systems, self._flat(values, "values"), library.span(flat), library.span(x),
                                       x0 is None)
            settle(x)
            result = (x._rows_of if type(x) is DeviceArray else x.reshape)(systems, self.rows)
        return conclude_batch(result, BatchedReport(fields), raise_on_failure)

    def _checked(self, array: Any, what: str, width: int, systems: int | None) -> tuple[Any, int]:
        """The array and its number of systems; ValueError for another shape, TypeError for another place."""
        library = library_of(array)
        if library is None and not hasattr(array, "shape"):
            array = np.asarray(array)
        if library is not None and self._device is None:
            raise TypeError(f'{what} is on a device and this BatchedSystem on the host: make it with device="cuda", or '
                            "pass a copy on the host")
        shape = tuple((array if hasattr(array, "shape") else ForeignArray.of(array)).shape)
        if len(shape) != 2 or shape[1] != width or systems not in (None, shape[0]):
            raise ValueError(f"{what}: expected shape ({'k' if systems is None else systems}, {width}), found {shape}")
        return array, shape[0]

    def _flat(self, array: Any, what: str, to_host: bool | None = None) -> Any:
        """The values one after another: an array of the host, or with `to_host` None what the compiled part takes."""
        library = library_of(array)
        if library is None:
            real_dtype(getattr(array, "dtype", np.float64), what)
            return np.ascontiguousarray(as_dtype(array, self._dtype, what)).reshape(-1)
        if to_host:
            return self._flat(library.host(array), what)
        flat = library.values(array, self._dtype, what)
        if isinstance(flat, ForeignArray):
            flat = flat.flat()
        return library.span(flat) if to_host is None else flat


def host_pattern(pattern: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(indices, indptr) of a square pattern in CSR, on the host, as int32 and int64."""
    if isinstance(pattern, tuple) and len(pattern) == 2:
        indices, indptr = (array if library_of(array) is None else library_of(array).host(array) for array in pattern)
        pattern = (np.zeros(np.shape(indices)[0]), np.asarray(indices), np.asarray(indptr))
    else:
        pattern = matrix_on_host(pattern)
    given = given_matrix(pattern, np.float64)
    if given.form != "csr":
        raise TypeError(f"pattern: expected a matrix in CSR, found {given.form.upper()}; convert it with .tocsr()")
    check_square(given.shape, "pattern")
    places = given.places
    return np.ascontiguousarray(places.second, dtype=np.int32), np.ascontiguousarray(places.first, dtype=np.int64)


def _pattern_arrays(pattern: Any, dtype: np.dtype[Any]) -> tuple[Any, int | None]:
    """(arrays for the compiled part, device number or None)."""
    if isinstance(pattern, tuple) and len(pattern) == 2:
        library = library_of(pattern[0])
        device = None if library is None else library.device(pattern[0])
    else:
        device = library_and_device_of(pattern)[1]
    indices, indptr = host_pattern(pattern)
    n = indptr.size - 1
    return _core.MatrixArrays("csr", n, n, 1, indptr, indices, np.zeros(indices.size, dtype)), device


@names_keywords()
def solve_batch(pattern: Any, values: Any, b: Any, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
                max_iterations: int | None = None, *, raise_on_failure: bool = False, solver: str = "auto",
                preconditioner: str | None = "jacobi", block_rows: int | None = None, restart: int = 20,
                precision: str = "auto", device: str = "auto", threads: int | None = None, stream: Any = None,
                together: bool = True) -> tuple[Any, BatchedReport]:
    """Solve many small systems of one pattern in one call.

    Takes the parameters of `BatchedSystem` and of its `solve`; see there. ``precision="auto"`` is single if values and
    b are both float32, and ``device="auto"`` solves where b, values or the pattern are.

    Returns
    -------
    x : array of k x rows, of the same kind as b
    report : BatchedReport

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, newel
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(50, 50), format="csr")
    >>> values = A.data * np.linspace(1, 2, 100)[:, None]
    >>> x, report = newel.solve_batch(A, values, np.ones((100, 50)))
    >>> len(report), bool(report)
    (100, True)
    """
    if precision == "auto":
        precision = "single" if is_single(values) and is_single(b) else "double"
    if str(device) == "auto":
        for array in (b, values):
            library = library_of(array)
            if library is not None:
                device = f"cuda:{library.device(array)}"
                break
    system = BatchedSystem(pattern, solver=solver, preconditioner=preconditioner, block_rows=block_rows,
                           restart=restart, precision=precision, device=device, threads=threads, stream=stream,
                           together=together)
    return system.solve(values, b, x0, rtol, atol, max_iterations, raise_on_failure=raise_on_failure)
