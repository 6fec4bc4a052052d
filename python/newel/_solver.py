# SPDX-License-Identifier: Apache-2.0
"""Solver: a system that is set up once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from . import _core
from ._arrays import real_dtype
from ._choices import (
    a_function,
    a_name,
    a_path,
    check_rows,
    check_threads,
    choose_device,
    number_of_solves,
    real_number,
    rows_of_numbers,
    stream_handle,
    whole_number,
)
from ._device_matrices import library_and_device_of
from ._keywords import names_keywords
from ._libraries import Foreign, library_of
from ._matrices import ValueMap, given_matrix, is_matrix, is_sparse, require_finite
from ._operators import DeviceProduct, HostProduct, check_square, is_operator
from ._options import check_options, warn_of_unused
from ._products import Products
from ._report import Report, conclude
from ._single import choose_precision, default_rtol
from ._vectors import Vectors, settle

if TYPE_CHECKING:
    from ._typing import Columns, Vector

_DEFAULT_ITERATIONS = 10000


def _of_a_solve() -> dict[str, Callable[..., Any]]:
    return {"Solver.solve": Solver.solve}


def _of_a_setup() -> dict[str, Callable[..., Any]]:
    return {"Solver": Solver.__init__}


class Solver(Products):
    """A x = b for one sparsity pattern: set up once, solved for many b, with new values as often as wanted.

    Parameters
    ----------
    A : sparse matrix, tuple, LinearOperator or callable
        A square matrix or array of SciPy in CSR, CSC, COO, BSR or DIA, of CuPy in CSR, CSC or COO, of PyTorch in CSR,
        CSC, COO or BSR, or ``(data, indices, indptr)`` of CSR, on the host or a CUDA device. Entries may come in any
        order; repeated ones are summed. Integers become float64; complex values are refused. An operator, or a function
        from x to A x, is called once or twice an iteration. Arrays are read, not kept.
    solver : str
        ``"auto"`` or one of `newel.solvers`.
    preconditioner : str, LinearOperator, callable or None
        ``"auto"``, one of `newel.preconditioners`, None for none, or an operator of your own that is close to the
        inverse of A.
    format : str
        How the matrix is stored: ``"auto"``, ``"measure"`` or one of `newel.formats`.
    precision : {"auto", "double", "single", "mixed"}
        ``"auto"`` is ``"double"``, and in `newel.solve` ``"single"`` where A and b are both of float32. ``"mixed"``
        iterates in single precision and forms residuals in double; with format and preconditioner ``"auto"`` only where
        that is expected to be faster.
    device : {"auto", "host", "cuda", "cuda:N"}
        Where to solve. ``"auto"``: where A lies. ``"cuda"``: on the device where A lies, else the first one, to which
        A is copied.
    coordinates : array of points x 1, 2 or 3, optional
        Where the nodes lie; node i has the rows ``b i .. b i + b - 1``, or ``i, i + points, ...``. Algebraic multigrid
        makes rigid body modes of them.
    near_null_space : array of n x k, optional
        Vectors that A maps to almost nothing, for algebraic multigrid, in the place of those it makes itself.
    expected_solves : float, optional
        How many right-hand sides the setup will be used for: with more, ``"auto"`` takes more time for it.
    threads : int, optional
        Of the host; by default OMP_NUM_THREADS, else as many as the process may use. A setup on a device leaves no
        choice of them.
    stream : stream of CuPy or PyTorch, or int, optional
        Where to queue the work on a device; an integer is a handle, which outlives the Solver. By default the Solver
        has a stream of its own. Either takes turns with the current stream of the library that arrays belong to.
    columns : int
        Right-hand sides that a solve will bring at once, where that is known.
    null_space : {None, "constant"}
        ``"constant"`` for matrices that map constant vectors to zero, such as pure Neumann problems.
    restart : int, optional
        The length of a cycle of GMRES.
    deterministic : bool
        Refuse what may give other bits from run to run.
    plan_cache : str, optional
        A folder that keeps orders, measured choices, and what ``"auto"`` has learnt from the solves of a matrix.
    decision : str, optional
        The `decision` of a Solver for a matrix of the same pattern: begin where that one was.
    options : mapping, optional
        Options of the preconditioner and the solver: see `newel.preconditioner_options` and `newel.solver_options`. Those
        of another one are warned about.
    rtol : float, optional
        The tolerance that ``"auto"`` chooses for; each solve names its own. By default 1e-8, in single precision 1e-5.

    Raises
    ------
    ValueError, TypeError
        With what was expected and what came, and with the row where there is one. A NaN or an infinity in A, the
        coordinates or the near null space is a ValueError that names its place.
    RuntimeError
        For a device where there is none, no driver, or no CUDA in this build; it says which.
    MemoryError

    Notes
    -----
    A Solver is used by one thread at a time; Solvers are independent of each other. It may be used after ``fork``. It
    cannot be pickled. SciPy takes it for an operator, A: ``scipy.sparse.linalg.aslinearoperator(solver)``.
    """

    _value_map: ValueMap | None = None  # of an operator: none
    _like = None  # a vector that will be solved for, where it is known: `_made_for` sets it
    _once = False  # whether it serves one call, so that no new values come; `_made_for` sets it
    _resident = True  # whether a solve may keep its vectors on the chip, where callbacks do not see them

    @classmethod
    def _made_for(cls, b, A, resident=True, **keywords) -> Solver:
        """A Solver for one call with b, which decides about the device and the arrays of operators where A does not."""
        self = cls.__new__(cls)
        self._like, self._resident, self._once = b, resident, True
        self.__init__(A, **keywords)
        self._like = None
        return self

    @names_keywords(_of_a_solve)
    def __init__(
        self,
        A: Any,
        solver: str = "auto",
        preconditioner: Any = "auto",
        format: str = "auto",
        precision: str = "auto",
        device: str = "auto",
        coordinates: Any = None,
        near_null_space: Any = None,
        expected_solves: float | None = None,
        threads: int | None = None,
        stream: Any = None,
        *,
        columns: int = 1,
        null_space: str | None = None,
        restart: int | None = None,
        deterministic: bool = False,
        plan_cache: str | os.PathLike[str] | None = None,
        decision: str | None = None,
        options: Mapping[str, Any] | None = None,
        rtol: float | None = None,
    ) -> None:
        began = time.perf_counter()
        if null_space is not None and null_space not in ("none", "constant"):
            raise ValueError(f'null_space: expected None or "constant", found {null_space!r}')
        self._precision = choose_precision(precision, A, self._like)
        self._dtype = np.dtype(np.float32 if self._precision == "single" else np.float64)
        choices = {
            "solver": a_name(solver, "solver"),
            "format": a_name(format, "format"),
            "mixed": self._precision == "mixed",
            "deterministic": bool(deterministic),
            "columns": whole_number(columns, "columns", 1),
            "rtol": default_rtol(self._dtype) if rtol is None else real_number(rtol, "rtol"),
            "null_space": "constant" if null_space == "constant" else None,
            "restart": restart,
            "plan_cache": a_path(plan_cache, "plan_cache"),
            "decision": a_name(decision, "decision") if decision is not None else None,
            "coordinates": rows_of_numbers(coordinates, "coordinates"),
            "near_null_space": rows_of_numbers(near_null_space, "near_null_space"),
            "options": check_options(options),
            "expected_solves": number_of_solves(expected_solves),
        }
        warn_of_unused(choices, preconditioner)
        if restart is not None:
            choices["options"]["restart"] = whole_number(restart, "restart", 1)
        if not self._resident:
            choices["options"]["resident"] = False
        self._place(A, device, stream, threads)
        if is_operator(A) and not is_matrix(A):
            self._set_up_operator(A, preconditioner, choices)
        else:
            self._set_up_matrix(A, preconditioner, choices)
        self._vectors = Vectors(self._rows, self._dtype, self._device)
        self._info: dict[str, Any] | None = None
        self._symmetric = {}
        self._setup_seconds = time.perf_counter() - began

    def _place(self, A, device, stream, threads) -> None:
        """Decide where the system is, and whose arrays its operators take."""
        of_matrix = library_and_device_of(A)
        of_vectors = library_and_device_of(self._like)
        self._library = of_matrix[0] or of_vectors[0] or Foreign()
        self._device = choose_device(device, of_matrix[1], of_vectors[1])
        threads, handle = check_threads(threads, self._device), stream_handle(stream, self._device)
        self._where = (threads,) if self._device is None else (self._device, handle, stream)

    def _set_up_matrix(self, A, preconditioner, choices) -> None:
        given = given_matrix(A, self._dtype)
        n = self._rows = check_square(given.shape, "A")
        require_finite(given, A)
        check_rows(choices, n)
        choices["preconditioner"], own = self._preconditioner_of(preconditioner, n)
        make = _core.system_of_matrix if self._device is None else _core.device_system_of_matrix
        self._system = make(given.arrays, self._precision == "single", choices, *self._where, own)
        if not (self._once and self._device is None):  # a hash of the pattern takes as long as some products
            self._value_map = given.value_map(self._system)

    def _set_up_operator(self, A, preconditioner, choices) -> None:
        if self._precision == "mixed":
            raise ValueError('precision="mixed" needs the entries of A, and an operator has none')
        if not hasattr(A, "shape"):
            raise ValueError("A: a callable does not say how many rows it has; make it a scipy.sparse.linalg."
                             "LinearOperator((n, n), matvec=A)")
        n = self._rows = check_square(A.shape, "A")
        check_rows(choices, n)
        if getattr(A, "dtype", None) is not None:
            real_dtype(A.dtype, "A")
        choices["preconditioner"], own = self._preconditioner_of(preconditioner, n)
        if choices["format"] != "auto":
            raise ValueError("format: an operator is multiplied as it is; a format needs the entries of a matrix")
        make = _core.system_of_operator if self._device is None else _core.device_system_of_operator
        self._system = make(n, self._product_of(A, n, "A"), self._precision == "single", choices, *self._where, own)

    def _product_of(self, operator, n: int, what: str):
        """What the compiled part calls for a product."""
        if self._device is None:
            return HostProduct(operator, n, self._dtype, what)
        library = library_and_device_of(operator)[0] or self._library
        return DeviceProduct(operator, n, self._dtype, what, library, self._device)

    def _preconditioner_of(self, preconditioner, n: int):
        """The name for the library, and a product or None."""
        if preconditioner is None:
            return "none", None
        if isinstance(preconditioner, str):
            return preconditioner, None
        if isinstance(preconditioner, Solver):
            raise TypeError("preconditioner: a Solver stands for its matrix; pass solver.as_preconditioner()")
        if self._precision == "mixed":
            raise ValueError('precision="mixed" takes preconditioners by name only')
        if hasattr(preconditioner, "shape") and tuple(preconditioner.shape) != (n, n):
            raise ValueError(f"preconditioner: expected the shape {(n, n)}, found {tuple(preconditioner.shape)}")
        if getattr(preconditioner, "dtype", None) is not None:
            real_dtype(preconditioner.dtype, "preconditioner")
        return "none", self._product_of(preconditioner, n, "preconditioner")

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self._rows, self._rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the solutions: float32 for single precision, else float64."""
        return self._dtype

    @property
    def device(self) -> str:
        """Where it solves: ``"host"``, ``"cuda:0"``, ..."""
        return "host" if self._device is None else f"cuda:{self._device}"

    @property
    def decision(self) -> str:
        """What ``"auto"`` has decided and learnt up to now, in JSON: for ``Solver(A, decision=...)`` in a later run.

        A Solver that is made with it from the present values goes on with the same bits on the same machine; with AMG
        only if the values have not changed, because its levels stay those of its setup.
        """
        return str(self._system.decision())

    @overload
    def solve(self, b: Vector, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
              max_iterations: int | None = None, time_limit: float | None = None,
              callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False,
              ) -> tuple[Vector, Report]: ...
    @overload
    def solve(self, b: Columns, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
              max_iterations: int | None = None, time_limit: float | None = None,
              callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False,
              ) -> tuple[Columns, list[Report]]: ...
    @overload
    def solve(self, b: Any, x0: Any = None, rtol: float | None = None, atol: float = 0.0,
              max_iterations: int | None = None, time_limit: float | None = None,
              callback: Callable[[_core.Progress], Any] | None = None, *, raise_on_failure: bool = False,
              ) -> tuple[Any, Report]: ...
    @names_keywords(_of_a_setup)
    def solve(
        self,
        b: Any,
        x0: Any = None,
        rtol: float | None = None,
        atol: float = 0.0,
        max_iterations: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[_core.Progress], Any] | None = None,
        *,
        raise_on_failure: bool = False,
    ) -> tuple[Any, Any]:
        """Solve A x = b until ``|b - A x| <= max(rtol |b|, atol)``.

        Parameters
        ----------
        b : array of n, or of n x k
            One vector, or k of them as columns; columns after each other (Fortran's order) are not copied. For a Solver
            on a device, an array there of CuPy, PyTorch or another library, or one of the host, which is copied.
        x0 : array of the shape of b, optional
            The guess, zero by default. It is not written to.
        rtol : float, optional
            1e-8 by default, in single precision 1e-5.
        atol : float
        max_iterations : int, optional
            10000 by default.
        time_limit : float, optional
            Seconds.
        callback : callable, optional
            Called with a `Progress` after every iteration, on a device as often as the host looks: after every 16
            iterations or fewer, in a small system after 32 and then half as many again, up to 256. If it returns False,
            Python's or an array library's, the solve ends.
        raise_on_failure : bool
            Raise `ConvergenceError` where the solve does not converge, rather than warn.

        Returns
        -------
        x : array
            Of the kind of b, where b is, and of its shape; of several columns in Fortran's order. A `DeviceArray` where
            b is on a device and neither of CuPy nor of PyTorch.
        report : Report, or a list of them, one for each column, where b has two dimensions

        Warns
        -----
        ConvergenceWarning
            Where the solve did not converge: every time.
        """
        return self._solve(b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure)

    def _solve(self, b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure):
        rtol = default_rtol(self._dtype) if rtol is None else real_number(rtol, "rtol")
        atol, limit = real_number(atol, "atol"), 0.0 if time_limit is None else real_number(time_limit, "time_limit")
        a_function(callback, "callback")
        b, x, given, taken = self._vectors.pair(b, x0)
        columns = 1 if b.ndim == 1 else b.shape[1]
        most = _DEFAULT_ITERATIONS if max_iterations is None else whole_number(max_iterations, "max_iterations", 0)
        raw = []
        if columns > 0:
            raw = self._system.solve(given, taken, columns, rtol, atol, most, limit, callback, 0, x0 is None)
        settle(x)
        reports = self._reports(raw if type(raw) is list else [raw])
        if len(reports) == 1 and b.ndim == 1 and reports[0].converged:
            return x, reports[0]
        return conclude(x, reports, b.ndim == 2, raise_on_failure)

    def _reports(self, raw: list[dict]) -> list[Report]:
        if self._info is None or any(fields["changed"] for fields in raw):
            self._info = self._facts()
        setup, self._setup_seconds = self._setup_seconds, 0.0
        for fields in raw:
            fields.update(self._info)
            fields["seconds"] = {"setup": setup, "solve": fields.pop("solve_seconds")}
        return [Report(fields) for fields in raw]

    def _facts(self) -> dict:
        """What every report of this system says of it."""
        info = self._system.info()
        return {
            "format": info["matrix"]["name"] or "operator",
            "preconditioner": info["preconditioner"]["name"],
            "precision": self._precision,
            "rows": self._rows,
            "device": self.device,
        }

    @names_keywords()
    def refresh(self, values: Any = None, *, keep_preconditioner: bool = False, coordinates: Any = None) -> None:
        """Take new values on the same pattern.

        Parameters
        ----------
        values : array, or a matrix with the same pattern
            As an array: in the order of the ``data`` of the matrix that the Solver was made from, whatever its form;
            repeated entries, padding of DIA and all. As a matrix: of the same form, with its entries in the same
            order. For an operator nothing: call it when the operator has changed.
        keep_preconditioner : bool
            Leave the preconditioner as it is: for values that have changed little.
        coordinates : array of points x 1, 2 or 3, optional
            Where the nodes lie now, of a Solver that was made with coordinates. Algebraic multigrid takes them into
            account, unless the preconditioner is kept.

        Raises
        ------
        ValueError
            Where the pattern or the number of values differs, or the preconditioner does not take the new values (a
            zero on the diagonal, say). After the latter the Solver is of no use until the next refresh.
        """
        began = time.perf_counter()
        moved = rows_of_numbers(coordinates, "coordinates")
        if self._value_map is None:
            if values is not None:
                raise TypeError("refresh: an operator has no values; call refresh() when it has changed")
        elif values is None:
            raise TypeError("refresh: the values are missing")
        elif type(values) is np.ndarray or not is_sparse(values):
            if library_of(values) is not None:
                self._vectors.check_on_device("the values")
            values = self._value_map.of_array(values)
        else:
            if library_and_device_of(values)[0] is not None:
                self._vectors.check_on_device("the matrix")
            values = self._value_map.of_matrix(values, self._system)
        if moved is not None:
            self._system.move_nodes(moved)
        if self._value_map is None:
            self._system.operator_changed(bool(keep_preconditioner))
        else:
            self._system.refresh(values, bool(keep_preconditioner))
        self._symmetric = {}
        self._setup_seconds += time.perf_counter() - began

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Solver cannot be pickled or copied: what it has set up lies in this process. Pass A and the "
                        "arguments on; with solver.decision, Solver(A, decision=...) begins there where this one is")

    def info(self) -> dict[str, Any]:
        """Format, preconditioner and solver with their grounds, columns without entries, bytes and setup times."""
        return dict(self._system.info())

    def __repr__(self) -> str:
        facts = self._facts()
        return (
            f"<newel.Solver: {self._rows:,} unknowns, format {facts['format']}, preconditioner "
            f"{facts['preconditioner']}, precision {facts['precision']}, on {facts['device']}>"
        )
