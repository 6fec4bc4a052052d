# SPDX-License-Identifier: Apache-2.0
"""cg, minres, bicgstab, gmres, idrs and fgmres with the arguments and the info codes of scipy.sparse.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import as_dtype, as_kind_of, number_dtype
from ._choices import a_function, real_number, whole_number
from ._device_array import shape_of
from ._device_matrices import sparse_of_dense
from ._keywords import names_keywords
from ._libraries import library_of
from ._matrices import given_matrix, is_sparse
from ._operators import Sized, is_operator
from ._report import Report
from ._scipy_minres import printed, require_symmetric, shifted
from ._single import is_complex, is_single
from ._solver import Solver
from ._vectors import settle
from ._warn import warn

_breakdowns = {"rho_vanished": -10, "omega_vanished": -11}


@names_keywords()
def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
       M: Any = None, callback: Callable[[Any], Any] | None = None) -> tuple[Any, int]:
    """Solve A x = b by conjugate gradients, for a symmetric positive definite A.

    Parameters
    ----------
    A : sparse matrix, array or LinearOperator
        On the host or a CUDA device: see `newel.Solver`.
    b : array of shape (n,) or (n, 1)
        If b is on a device, so is x, and operators and callbacks receive arrays of its kind.
    x0 : array, optional
        The initial guess.
    rtol, atol : float
        The solve ends when ``|b - A x| <= max(rtol |b|, atol)``.
    maxiter : int, optional
        10 n by default.
    M : LinearOperator, matrix or str, optional
        An operator close to the inverse of A, or one of the names in `newel.preconditioners`. None by default.
    callback : callable, optional
        Called as ``callback(xk)`` after each iteration, with a copy of the iterate.

    Returns
    -------
    x : array of shape (n,), of the same kind as b
    info : int
        0 if b - A x, computed from this x, meets the tolerance; otherwise the number of iterations.
    """
    problem = _Problem(A, b, x0, M)
    most = _most_iterations(maxiter, 10 * problem.rows)
    watch = _LateIterates(callback) if a_function(callback, "callback") is not None else None
    x, report = problem.solve("cg", rtol, atol, most, watch)
    if watch is not None and report.iterations > 0:
        watch.see(x)
    return x, _info(report)


@names_keywords()
def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None,
           M: Any = None, callback: Callable[[Any], Any] | None = None, show: bool = False, check: bool = False
           ) -> tuple[Any, int]:
    """Solve (A - shift I) x = b by the minimal residual method, for a symmetric A that may be indefinite or singular.

    Parameters
    ----------
    A, b, x0, M, callback
        As for `cg`. M must be positive definite.
    rtol : float
        The solve ends when ``|b - (A - shift I) x| <= rtol |b|``. SciPy compares with ``|A| |x|`` instead, which ends
        earlier.
    shift : float
        A multiple of the identity is subtracted from A.
    maxiter : int, optional
        5 n by default.
    show : bool
        Print a line for each iteration, and one for the result.
    check : bool
        Raise ValueError if products with a vector show that A or M is not symmetric.

    Returns
    -------
    x : array of shape (n,), of the same kind as b; in double precision, as in SciPy
    info : int
        0 if b - (A - shift I) x, computed from this x, meets the tolerance; otherwise the number of iterations.
    """
    problem = _Problem(shifted(A, shift), b, x0, M, in_double=True)
    if check:
        require_symmetric(problem.A, problem.b, problem.dtype, "A")
        if M is not None and not isinstance(M, str):
            require_symmetric(M, problem.b, problem.dtype, "M")
    most = _most_iterations(maxiter, 5 * problem.rows)
    watch = _Iterates(callback) if a_function(callback, "callback") is not None else None
    x, report = problem.solve("minres", rtol, 0.0, most, printed("minres", watch) if show else watch)
    if show:
        print(f"minres: {report.status} after {report.iterations} iterations, |b - A x| = {report.true_residual:.3e}")
    return x, _info(report)


@names_keywords()
def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
             M: Any = None, callback: Callable[[Any], Any] | None = None) -> tuple[Any, int]:
    """Solve A x = b by the stabilised bi-conjugate gradient method, for any square A.

    Parameters and results are those of `cg`. ``info`` is -10 or -11 if the method broke down because rho or omega
    vanished.
    """
    problem = _Problem(A, b, x0, M)
    most = _most_iterations(maxiter, 10 * problem.rows)
    watch = _Iterates(callback) if a_function(callback, "callback") is not None else None
    x, report = problem.solve("bicgstab", rtol, atol, most, watch)
    return x, _info(report)


@names_keywords()
def idrs(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
         M: Any = None, callback: Callable[[Any], Any] | None = None, s: int = 4) -> tuple[Any, int]:
    """Solve A x = b by induced dimension reduction, IDR(s), for any square A. SciPy has no such function.

    Parameters and results are those of `bicgstab`. An iteration is one product with A. ``s`` is the number of shadow
    vectors, 1 to 8.
    """
    problem = _Problem(A, b, x0, M)
    most = _most_iterations(maxiter, 10 * problem.rows)
    watch = _Iterates(callback) if a_function(callback, "callback") is not None else None
    x, report = problem.solve("idrs", rtol, atol, most, watch, options={"idr_s": whole_number(s, "s", 1)})
    return x, _info(report)


@names_keywords()
def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
          maxiter: int | None = None, M: Any = None, callback: Callable[[Any], Any] | None = None,
          callback_type: str | None = None) -> tuple[Any, int]:
    """Solve A x = b by restarted GMRES, for any square A; preconditioned from the right.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`.
    restart : int, optional
        Iterations per cycle, 20 by default; twice as many if the system is complex.
    maxiter : int, optional
        Maximum number of cycles, 10 n by default; of iterations if there is a callback of the type ``"legacy"``, as in
        SciPy.
    callback : callable, optional
        Called with the relative residual after each iteration, or with a copy of the iterate after each cycle. This
        residual is unpreconditioned, because M is applied from the right; SciPy's is preconditioned.
    callback_type : {"legacy", "pr_norm", "x"}, optional
        ``"x"`` for iterates. ``"legacy"`` is the default; it warns like SciPy, which will change the default.

    Returns
    -------
    x : array of shape (n,), of the same kind as b
    info : int
        0 if b - A x, computed from this x, meets the tolerance; otherwise `maxiter`, or the number of iterations.
    """
    if callback_type is not None and callback_type not in ("legacy", "pr_norm", "x"):
        raise ValueError(f'callback_type: expected "legacy", "pr_norm" or "x", found {callback_type!r}')
    if callback is not None and callback_type is None:
        warn("gmres called without specifying `callback_type`. As in SciPy the default is \"legacy\", by which maxiter "
             "counts iterations, and SciPy will change it; name \"pr_norm\", \"x\" or \"legacy\"", DeprecationWarning)
    problem = _Problem(A, b, x0, M)
    length, cycles = _cycles(restart, maxiter, problem)
    a_function(callback, "callback")
    if callback is not None and callback_type == "x":
        x, report = problem.solve_by_cycles(rtol, atol, cycles, callback, length)
    else:
        legacy = callback is not None and callback_type != "pr_norm"
        watch = None if callback is None else _relative_residuals(callback)
        most = cycles if legacy else min(cycles * length, 2**31 - 1)
        x, report = problem.solve("gmres", rtol, atol, most, watch, restart=length)
    if report.status == "max_iterations":
        return x, max(1, cycles)
    return x, _info(report)


@names_keywords()
def fgmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
           maxiter: int | None = None, M: Any = None, callback: Callable[[Any], Any] | None = None) -> tuple[Any, int]:
    """Solve A x = b by flexible GMRES: M may be another operator in every iteration. SciPy has no such function.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`. M may be a function that itself solves a system inexactly.
    restart : int, optional
        Iterations per cycle, 20 by default; twice as many if the system is complex. A cycle keeps two vectors for each.
    maxiter : int, optional
        Maximum number of cycles, 10 n by default.
    callback : callable, optional
        Called with the relative residual after each iteration.

    Returns
    -------
    x : array of shape (n,), of the same kind as b
    info : int
        0 if b - A x, computed from this x, meets the tolerance; otherwise `maxiter`, or the number of iterations.
    """
    problem = _Problem(A, b, x0, M)
    length, cycles = _cycles(restart, maxiter, problem)
    watch = None if a_function(callback, "callback") is None else _relative_residuals(callback)
    x, report = problem.solve("fgmres", rtol, atol, min(cycles * length, 2**31 - 1), watch, restart=length)
    return x, max(1, cycles) if report.status == "max_iterations" else _info(report)


class _Problem:
    """The arguments as SciPy interprets them."""

    def __init__(self, A, b, x0, M, in_double=False):
        if isinstance(A, (np.ndarray, list)):
            from scipy.sparse import csr_array

            A = csr_array(np.asarray(A))
        elif not is_sparse(A) and library_of(A) is not None:
            A = sparse_of_dense(A)
        self.library = library_of(b)
        self.given = b
        b = np.asanyarray(b) if self.library is None else b
        found = b.shape if self.library is None else shape_of(b)
        if is_operator(A) and not hasattr(A, "shape"):
            A = Sized(A, found[0] if found else 0)
        shape = getattr(A, "shape", None)
        if shape is None and not (isinstance(A, tuple) and len(A) == 3):
            given_matrix(A)  # which says what is wrong
        self.rows = _length(A[2]) - 1 if shape is None else shape[0] if shape else 0
        if found not in ((self.rows,), (self.rows, 1)):
            raise ValueError(f"b: expected shape ({self.rows},) or ({self.rows}, 1), found {found}")
        of_b = b.dtype if self.library is None else self.library.dtype(b)
        of_b = number_dtype(of_b, "b")
        self.single = not in_double and is_single(A) and of_b in (np.float32, np.complex64)
        if is_complex(A) or of_b.kind == "c" or (is_complex(x0) and not isinstance(x0, str)):
            self.dtype = np.dtype(np.complex64 if self.single else np.complex128)
        else:
            self.dtype = np.dtype(np.float32 if self.single else np.float64)
        if self.library is None:
            self.b = np.ascontiguousarray(as_dtype(b, self.dtype, "b").reshape(-1))
        else:
            self.b = self.library.values(b, self.dtype, "b")
        self.x0 = self._guess(x0, M)
        self.A, self.M = A, M

    def _guess(self, x0, M):
        if isinstance(x0, str):
            if x0 != "Mb":
                raise ValueError(f'x0: expected an array or "Mb", found {x0!r}')
            x0 = self.b if M is None else M @ self.b
        if x0 is None:
            return None
        if library_of(x0) is None:
            x0 = as_dtype(x0, self.dtype, "x0")
            if x0.shape in ((self.rows,), (self.rows, 1)) and not x0.any():  # saves a product with A, as in SciPy
                return None
        if shape_of(x0) not in ((self.rows,), (self.rows, 1)):
            raise ValueError(f"x0: expected shape ({self.rows},), found {shape_of(x0)}")
        return x0.reshape(-1) if hasattr(x0, "reshape") else x0

    def solve(self, method: str, rtol: Any, atol: Any, most: int, watch: Any, restart: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[Any, Report]:
        """x and its report."""
        rtol, atol = _tolerances(rtol, atol)
        sees_iterates = watch is not None and hasattr(watch, "watch")
        # Iterates are seen where they lie in the caller's numbering.
        solver = self._solver(method, rtol, restart, "auto" if watch is None else "csr", not sees_iterates, options)
        x, given, taken, copy = self._vectors(solver, sees_iterates)
        if sees_iterates:
            watch.watch(x, copy)
        raw = solver._system.solve(given, taken, 1, rtol, atol, most, 0.0, watch, 0 if watch is None else 1,
                                   self.x0 is None)
        settle(x)
        return as_kind_of(self.given, x), solver._reports([raw])[0]

    def solve_by_cycles(self, rtol: Any, atol: Any, cycles: int, callback: Callable[[Any], Any], restart: int
                        ) -> tuple[Any, Report]:
        """The same by GMRES in separate cycles; the callback is called with the iterate after each cycle."""
        rtol, atol = _tolerances(rtol, atol)
        solver = self._solver("gmres", rtol, restart, "auto", resident=True)
        x, given, taken, copy = self._vectors(solver, True)
        report = None
        for cycle in range(max(1, cycles)):
            from_zero = cycle == 0 and self.x0 is None
            raw = solver._system.solve(given, taken, 1, rtol, atol, min(restart, cycles * restart), 0.0, None, 0,
                                       from_zero)
            settle(x)
            report = solver._reports([raw])[0]
            if report.iterations > 0:
                callback(as_kind_of(self.given, copy(x)))
            if report.status != "max_iterations":
                break
        return as_kind_of(self.given, x), report

    def _solver(self, method: str, rtol: float, restart: int | None, format: str, resident: bool,
                options: dict[str, Any] | None = None) -> Solver:
        return Solver._made_for(
            self.b if self.library is None else self.given,
            self.A,
            resident=resident,
            solver=method,
            preconditioner=self.M,
            format="auto" if is_operator(self.A) else format,
            precision="single" if self.single else "double",
            restart=restart,
            options=options,
            rtol=rtol,
        )

    def _vectors(self, solver: Solver, sees_iterates: bool) -> tuple[Any, Any, Any, Callable[[Any], Any]]:
        """x with the guess in it; b and x as arguments for the compiled part; a function that copies x."""
        if self.library is not None:
            x = self.library.new(self.b, self.x0, (self.rows,), self.dtype, solver._device)
            return x, self.library.span(self.b), self.library.span(x), self.library.copy
        if sees_iterates and solver.device != "host":
            raise TypeError("b: expected an array on the device, where A is and iterates are made for the callback")
        x = np.empty_like(self.b) if self.x0 is None else np.array(as_dtype(self.x0, self.dtype, "x0"))
        return x, self.b, x, np.copy


class _Iterates:
    """Passes on copies of x, which is up to date whenever the solver reports an iteration."""

    def __init__(self, callback):
        self._callback = callback
        self._x = self._copy = None

    def watch(self, x, copy) -> None:
        self._x, self._copy = x, copy

    def see(self, x) -> None:
        self._callback(self._copy(x))

    def __call__(self, progress) -> None:
        self.see(self._x)


class _LateIterates(_Iterates):
    """The same for CG, which updates x one iteration late; the last iterate is the result."""

    def __call__(self, progress) -> None:
        if progress.iteration > 1:
            super().__call__(progress)


def _relative_residuals(callback: Callable[[Any], Any]) -> Callable[[Any], None]:
    """A watch that calls `callback` as SciPy does; what it returns never ends a solve."""
    def watch(progress) -> None:
        callback(np.float64(progress.relative_residual))

    return watch


def _cycles(restart, maxiter, problem: _Problem) -> tuple[int, int]:
    """Iterations of a cycle of GMRES, and the maximum number of cycles. The real system of a complex one has twice the
    unknowns, and needs twice the iterations to end in one cycle."""
    length = max(1, min(20 if restart is None else whole_number(restart, "restart", 1), problem.rows))
    return length * (2 if problem.dtype.kind == "c" else 1), _most_iterations(maxiter, 10 * problem.rows)


def _length(array) -> int:
    return len(array) if hasattr(array, "__len__") else shape_of(array)[0]


def _tolerances(rtol: Any, atol: Any) -> tuple[float, float]:
    """The tolerances as numbers. SciPy formerly accepted None and "legacy" for atol; both raise ValueError now."""
    if atol is None or isinstance(atol, str):
        raise ValueError(f"atol: expected a number that is not negative, found {atol!r}")
    return real_number(rtol, "rtol"), real_number(atol, "atol")


def _most_iterations(maxiter, default: int) -> int:
    return min(default, 2**31 - 1) if maxiter is None else whole_number(maxiter, "maxiter", 0)


def _info(report) -> int:
    if report.converged:
        return 0
    return _breakdowns.get(report.cause, max(1, report.iterations))
