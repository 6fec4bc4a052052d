# SPDX-License-Identifier: Apache-2.0
"""Solver: a system that is set up once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from . import _core
from ._arrays import type_name
from ._choices import a_function, choose_devices, real_number, rows_of_numbers, whole_number
from ._device_matrices import library_and_device_of
from ._keywords import names_keywords
from ._libraries import library_of
from ._matrices import is_sparse
from ._places import OtherPattern
from ._ranks import Ranks
from ._report import Report, conclude
from ._setup import Setup
from ._single import default_rtol
from ._vectors import Vectors, settle

if TYPE_CHECKING:
    from ._typing import Columns, Vector

_DEFAULT_ITERATIONS = 10000


def _of_a_solve() -> dict[str, Callable[..., Any]]:
    return {"Solver.solve": Solver.solve}


def _of_a_setup() -> dict[str, Callable[..., Any]]:
    return {"Solver": Solver.__init__}


class Solver(Setup):
    """A x = b for one sparsity pattern: set up once, solve for many b, with new values at any time.

    Parameters
    ----------
    A : sparse matrix, tuple, LinearOperator or callable
        A square matrix on the host or a CUDA device: of SciPy in CSR, CSC, COO, BSR or DIA; of CuPy in CSR, CSC or COO;
        of PyTorch in CSR, CSC, COO or BSR; or a tuple ``(data, indices, indptr)`` of CSR. Entries may be in any order;
        repeated ones are summed. Integers become float64. If the values of A are complex, so are b and x: the system is
        solved as a real one of twice the size, and reports are those of the complex one. An operator, or a function
        from x to A x, is called once or twice per iteration. Values are read, not kept; index arrays on the host are
        referred to, for `refresh`.
    solver : str
        ``"auto"`` or one of `newel.solvers`.
    preconditioner : str, LinearOperator, callable or None
        ``"auto"``, one of `newel.preconditioners`, None for none, or your own operator close to the inverse of A.
    format : str
        How the matrix is stored: ``"auto"``, ``"measure"`` or one of `newel.formats`.
    precision : {"auto", "double", "single", "mixed"}
        ``"auto"`` is ``"double"``; in `newel.solve` it is ``"single"`` if A and b are float32. ``"mixed"`` iterates in
        single precision, with format and preconditioner ``"auto"`` if that seems faster; residuals are in double.
    device : {"auto", "host", "cuda", "cuda:N"}
        Where to solve. ``"auto"``: where A is. ``"cuda"``: on A's device, or on the first one, to which A is copied.
    coordinates : array of points x 1, 2 or 3, optional
        Coordinates of the mesh nodes. Node i has the rows ``b i .. b i + b - 1``, or ``i, i + points, ...``. Algebraic
        multigrid derives rigid body modes from them. For ``"saddle"``, one point for each row of A.
    near_null_space : array of n x k, optional
        Vectors that A maps to almost zero, real ones, for multigrid; ``"saddle"`` uses rows that are no constraints.
    expected_solves : float, optional
        Number of right-hand sides for this setup; the more, the more time ``"auto"`` spends on the setup.
    threads : int, optional
        Host threads; by default OMP_NUM_THREADS, or the processors available. Not allowed for a Solver on a device.
    stream : stream of CuPy or PyTorch, or int, optional
        Where to queue work on a device, by default a stream of its own; an integer is a handle, which must outlive the
        Solver. Work is always ordered with the current stream of the library that owns the arrays.
    columns : int
        Expected number of right-hand sides per solve, if known.
    null_space : {None, "constant"}
        ``"constant"`` for matrices that map constant vectors to zero, such as pure Neumann problems.
    restart : int, optional
        Iterations per cycle of GMRES.
    deterministic : bool
        Refuse choices that may give different bits from run to run.
    plan_cache : str, optional
        A folder that stores row orders, measured choices, and what ``"auto"`` has learned from solves with a matrix.
    decision : str, optional
        The `decision` of a Solver for a matrix with the same pattern: start from its state.
    options : mapping, optional
        See `newel.preconditioner_options` and `newel.solver_options`. Options of other methods cause a warning.
    constraints : array of row numbers from 0, or mask of n truth values, optional
        Constraints of a saddle point, for ``"saddle"``; by default rows with a zero, missing or tiny diagonal entry.
    mass : sparse matrix of SciPy, optional
        Approximates the Schur complement of the constraints up to a factor, as a pressure's mass matrix does; rows as
        the constraints, ascending. Symmetric positive definite, which is not checked.
    rtol : float, optional
        The tolerance that ``"auto"`` chooses for; each solve has its own. By default 1e-8, in single precision 1e-5.
    comm : mpi4py.MPI.Intracomm, optional
        Processes that solve the system together: on the host, or with ``device="cuda"`` on GPUs, which consecutive
        ranks share if there are too few. Each rank passes its rows as A, which follow those of the previous rank: CSR
        with the columns of the whole matrix. Vectors, coordinates and near null spaces are parts, on the host. All
        ranks make the Solver and call its methods together, with the same options. No orders, no operators.
    devices : sequence of int, optional
        GPUs of this host, by number, that share the rows of a matrix on the host. Vectors are whole, and on the host.
        Preconditioners are Jacobi, ``l1-jacobi``, FSAI, SPAI, ``spai0``, AMG or none. No orders, formats, streams or
        operators. Of one number: the Solver on that GPU. `info` says how values travel.
    guess : {"given", "zero", "extrapolate", "project", "project:M", "auto"}, optional
        What the solves of a sequence start from: ``"given"``, the default, from ``x0``; ``"extrapolate"`` continues the
        last solutions; ``"project:M"`` combines the last M, 8 by default, as well as possible; ``"auto"`` does so while
        that saves time. If x0 or zero has a smaller residual, it is used: see `Report.guess`. 2 M + 2 vectors are kept.
    recycle : int or "auto", optional
        Eigenvectors that CG or GMRES keeps for the next solve, at most 32 (0); ``"auto"``: up to 32 while they pay.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments: the message states what was expected and what was found, and the row if there is one. A NaN
        or an infinity in A, the coordinates or the near null space raises ValueError, which names its position.
    RuntimeError
        If a device is requested but there is no device, no driver, or no CUDA in this build; the message says which.
    MemoryError
    RankFailed
        With ``comm``, in every method: another rank has raised an exception, which the message quotes.

    Notes
    -----
    With ``comm``, an exception on one rank ends the calls of all for this Solver, which cannot be used any more. `comm`
    itself can. A program that does not handle the exception on every rank should end with ``comm.Abort()``, as
    ``python -m mpi4py`` does.

    Use a Solver from one thread at a time; Solvers are independent of each other. A Solver may be used after
    ``fork``. It cannot be pickled. SciPy accepts it as the operator A:
    ``scipy.sparse.linalg.aslinearoperator(solver)``.
    """

    @classmethod
    def _made_for(cls, b, A, resident=True, **keywords) -> Solver:
        """A Solver for one call with b. If A does not, b decides the device and the arrays that operators receive."""
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
        constraints: Any = None,
        mass: Any = None,
        rtol: float | None = None,
        comm: Any = None,
        devices: Sequence[int] | None = None,
        guess: str | None = None,
        recycle: int | str | None = None,
    ) -> None:
        began = time.perf_counter()
        given = dict(A=A, solver=solver, preconditioner=preconditioner, format=format, precision=precision,
                     device=device, coordinates=coordinates, near_null_space=near_null_space,
                     expected_solves=expected_solves, threads=threads, stream=stream, columns=columns,
                     null_space=null_space, restart=restart, deterministic=deterministic, plan_cache=plan_cache,
                     decision=decision, options=options, constraints=constraints, mass=mass, rtol=rtol, guess=guess,
                     recycle=recycle)
        if devices is not None:
            if comm is not None:
                raise ValueError('devices: not possible with comm: pass device="cuda", and each rank takes a GPU')
            numbers = choose_devices(devices)
            if len(numbers) > 1:
                self._devices = numbers
            elif str(device) not in ("auto", "cuda", f"cuda:{numbers[0]}"):
                raise ValueError(f"device: expected none other than that of devices={numbers}, found {device!r}")
            else:
                given["device"] = f"cuda:{numbers[0]}"
        if comm is None:
            self._set_up(**given)
        else:
            self._ranks = Ranks(comm)
            with self._ranks.with_others():
                self._set_up(**given)
        del given["A"]
        self._options = given
        self._vectors = Vectors(self._rows, self._dtype, self._device, self._devices is not None)
        self._info: dict[str, Any] | None = None
        self._symmetric = {}
        self._setup_seconds = time.perf_counter() - began

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n); with ``comm``, this rank's rows and the columns of the whole matrix."""
        return self._rows, self._rows if self._ranks is None else self._all_rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the solutions: float32 or complex64 for single precision, otherwise float64 or complex128."""
        return self._dtype

    @property
    def device(self) -> str:
        """Where it solves: ``"host"``, ``"cuda:0"``, ...; several devices with commas between them."""
        if self._devices is not None:
            return ",".join(f"cuda:{number}" for number in self._devices)
        device = self._gpu_of_rank if self._ranks is not None else self._device
        return "host" if device is None else f"cuda:{device}"

    @property
    def decision(self) -> str:
        """What ``"auto"`` has decided and learned so far, as JSON: for ``Solver(A, decision=...)`` in a later run.

        A Solver made with it from the present values gives the same bits from then on, on the same machine. With AMG
        this holds only if the values have not changed since its setup, because AMG keeps its levels.
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
        b : array of shape (n,) or (n, k)
            One vector, or k vectors as columns; columns in Fortran order are not copied. For a Solver on a device: an
            array of CuPy, PyTorch or another library there, or a host array, which is copied.
        x0 : array of the shape of b, optional
            The initial guess, zero by default. It is not modified.
        rtol : float, optional
            1e-8 by default, in single precision 1e-5.
        atol : float
        max_iterations : int, optional
            10000 by default.
        time_limit : float, optional
            Seconds.
        callback : callable, optional
            Called with a `Progress` after every iteration. On a device it is called when the host polls: every 16
            iterations or fewer; in a small system after 32 iterations, then at intervals that grow by half, up to 256.
            If it returns False (of Python or an array library), the solve ends.
        raise_on_failure : bool
            Raise `ConvergenceError` if the solve does not converge, instead of a warning.

        Returns
        -------
        x : array
            Same kind, location and shape as b; several columns are in Fortran order. A `DeviceArray` if b is on a
            device and is not from CuPy or PyTorch.
        report : Report, or a list of reports, one per column, if b has two dimensions

        Warns
        -----
        ConvergenceWarning
            If the solve did not converge: every time.
        """
        return self._solve(b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure)

    def _with_others(self) -> Any:
        """The context of a call that all ranks make, if there are several."""
        return nullcontext() if self._ranks is None else self._ranks.with_others()

    def _solve(self, b, x0, rtol, atol, max_iterations, time_limit, callback, raise_on_failure):
        with self._with_others():
            x, reports, several = self._solved(b, x0, rtol, atol, max_iterations, time_limit, callback)
        if not several and reports[0].converged:
            return x, reports[0]
        return conclude(x, reports, several, raise_on_failure)

    def _solved(self, b, x0, rtol, atol, max_iterations, time_limit, callback):
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
        return x, self._reports(raw if type(raw) is list else [raw]), b.ndim == 2

    def _reports(self, raw: list[dict]) -> list[Report]:
        if self._info is None or any(fields["changed"] for fields in raw):
            self._info = self._facts()
        setup, self._setup_seconds = self._setup_seconds, 0.0
        for fields in raw:
            fields.update(self._info)
            fields["seconds"] = {"setup": setup, "solve": fields.pop("solve_seconds")}
        return [Report(fields) for fields in raw]

    def _facts(self) -> dict:
        info = self._system.info()
        return {  # what all reports of this system contain
            "format": info["matrix"]["name"] or "operator",
            "preconditioner": info["preconditioner"]["name"],
            "precision": self._precision,
            "rows": self._rows if self._ranks is None else self._all_rows,
            "device": self.device,
        }

    @names_keywords()
    def refresh(self, values: Any = None, *, keep_preconditioner: bool = False, coordinates: Any = None) -> None:
        """Replace the values; the pattern stays the same.

        Parameters
        ----------
        values : array or matrix
            An array: in the order of ``data`` of the matrix that the Solver was made from, in its storage form,
            including repeated entries and DIA padding. A matrix: with entries in the same places or in fewer, where
            those that are missing are zeros. Only the same form and order need no search; on a device they have to be
            the same. For an operator: omit it, and call `refresh` when the operator has changed.
        keep_preconditioner : bool
            Keep the preconditioner's values: for values that have changed little.
        coordinates : array of points x 1, 2 or 3, optional
            New coordinates of the nodes, if the Solver was made with coordinates. Algebraic multigrid uses them, unless
            the preconditioner is kept.

        Raises
        ------
        ValueError
            If the matrix has further entries, the number of values differs, or the preconditioner does not support the
            new values (a zero on the diagonal, for example). In the last case the Solver is unusable until the next
            refresh.
        """
        began = time.perf_counter()
        with self._with_others():
            self._refresh(values, keep_preconditioner, coordinates)
        self._symmetric = {}
        self._setup_seconds += time.perf_counter() - began

    @names_keywords()
    def update(self, A: Any, *, keep_preconditioner: bool = False) -> bool:
        """Take a matrix of any pattern, and set up again only what has to be.

        Parameters
        ----------
        A : sparse matrix or tuple
            As in `refresh` if it has no further entries. Otherwise, and if the number of rows differs, everything is
            set up again with the options of this Solver; what earlier solves have taught it is then lost.
        keep_preconditioner : bool
            As in `refresh`; without effect on a new setup.

        Returns
        -------
        bool
            Whether everything was set up again.

        Raises
        ------
        TypeError
            If the Solver was made with ``comm``, from an operator, or with a preconditioner of the caller's.
        ValueError
            As in `refresh`, and for a matrix or options that a new Solver would refuse.
        """
        own = self._options["preconditioner"]
        if self._ranks is not None or self._value_map is None or not (own is None or isinstance(own, str)):
            raise TypeError("update: not possible with comm, an operator, or a preconditioner of your own; call refresh, "
                            "or make a new Solver")
        if not is_sparse(A):
            raise TypeError(f"update: expected a sparse matrix, found {type_name(A)}")
        try:
            self.refresh(A, keep_preconditioner=keep_preconditioner)
        except OtherPattern:
            self.__dict__.update(Solver(A, devices=self._devices, **self._options).__dict__)
            return True
        return False

    def _refresh(self, values, keep_preconditioner, coordinates) -> None:
        moved = rows_of_numbers(coordinates, "coordinates")
        if self._ranks is not None:
            if values is None:
                raise TypeError("refresh: the values are missing")
            is_block = isinstance(values, tuple) or hasattr(values, "tocsr")
            own = self._own_rows.of_matrix(values) if is_block else self._own_rows.of_array(values)
            if moved is not None:
                self._system.move_nodes(moved)
            self._system.refresh(own, bool(keep_preconditioner))
            return
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Solver cannot be pickled or copied: what it has set up lies in this process. Pass A and the "
                        "arguments on; with solver.decision, Solver(A, decision=...) begins there where this one is")

    def info(self) -> dict[str, Any]:
        """Format, preconditioner and solver with the reasons for them, columns without entries, bytes and setup
        times. For a complex system also ``real_form``: ``"general"``, ``"symmetric"`` or ``"real_parts"``."""
        return dict(self._system.info())

    def __repr__(self) -> str:
        facts = self._facts()
        return (f"<newel.Solver: {facts['rows']:,} unknowns, format {facts['format']}, preconditioner "
                f"{facts['preconditioner']}, precision {facts['precision']}, on {facts['device']}>")
