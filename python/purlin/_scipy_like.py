# SPDX-License-Identifier: Apache-2.0
"""cg, bicgstab and gmres with the arguments and the info codes of scipy.sparse.linalg."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._arrays import as_kind_of, as_real, real_dtype
from ._choices import whole_number
from ._device_array import shape_of
from ._device_matrices import sparse_of_dense
from ._libraries import library_of
from ._matrices import is_sparse
from ._operators import Sized, is_operator
from ._solver import Solver
from ._vectors import settle

_breakdowns = {"rho_vanished": -10, "omega_vanished": -11}


def cg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback: Callable | None = None):
    """Solve A x = b by conjugate gradients, for a symmetric positive definite A.

    Parameters
    ----------
    A : sparse matrix, array or LinearOperator
        On the host or a CUDA device: see `purlin.Solver`.
    b : array of shape (n,) or (n, 1)
        Where it is on a device, so is x, and operators and callbacks get arrays of its kind.
    x0 : array, optional
        The guess.
    rtol, atol : float
        The solve ends at ``|b - A x| <= max(rtol |b|, atol)``.
    maxiter : int, optional
        10 n by default.
    M : LinearOperator, matrix or str, optional
        An operator close to the inverse of A; as a name, one of `purlin.preconditioners`. None by default.
    callback : callable, optional
        Called as ``callback(xk)`` after each iteration, with a copy of the iterate.

    Returns
    -------
    x : array of shape (n,), of the kind of b
    info : int
        0 where b - A x, formed from this x, meets the tolerance; else the iterations that were made.
    """
    problem = _Problem(A, b, x0, M)
    most = _most_iterations(maxiter, 10 * problem.rows)
    watch = _LateIterates(callback) if callback is not None else None
    x, report = problem.solve("cg", rtol, atol, most, watch)
    if watch is not None and report.iterations > 0:
        watch.see(x)
    return x, _info(report)


def bicgstab(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback: Callable | None = None):
    """Solve A x = b by the stabilised bi-conjugate gradient method, for any square A.

    Parameters and results are those of `cg`. ``info`` is -10 or -11 where the method broke down because rho or omega
    vanished.
    """
    problem = _Problem(A, b, x0, M)
    most = _most_iterations(maxiter, 10 * problem.rows)
    watch = _Iterates(callback) if callback is not None else None
    x, report = problem.solve("bicgstab", rtol, atol, most, watch)
    return x, _info(report)


def gmres(A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None,
          callback: Callable | None = None, callback_type: str | None = None):
    """Solve A x = b by restarted GMRES, for any square A; preconditioned from the right.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`.
    restart : int, optional
        The length of a cycle, 20 by default.
    maxiter : int, optional
        Cycles, 10 n by default; iterations where there is a callback of the type ``"legacy"``, as in SciPy.
    callback : callable, optional
        Called with the relative residual after each iteration.
    callback_type : {"legacy", "pr_norm"}, optional

    Returns
    -------
    x : array of shape (n,), of the kind of b
    info : int
        0 where b - A x, formed from this x, meets the tolerance, else `maxiter` or the iterations that were made.
    """
    if callback_type not in (None, "legacy", "pr_norm"):
        raise ValueError(f'callback_type: expected "legacy" or "pr_norm", found {callback_type!r}; iterates are not '
                         "formed within a cycle")
    problem = _Problem(A, b, x0, M)
    length = max(1, min(20 if restart is None else whole_number(restart, "restart", 1), problem.rows))
    cycles = _most_iterations(maxiter, 10 * problem.rows)
    legacy = callback is not None and callback_type != "pr_norm"
    watch = None if callback is None else lambda progress: _ignore(callback(progress.relative_residual))
    most = cycles if legacy else min(cycles * length, 2**31 - 1)
    x, report = problem.solve("gmres", rtol, atol, most, watch, restart=length)
    if report.status == "max_iterations":
        return x, max(1, cycles)
    return x, _info(report)


class _Problem:
    """The arguments as SciPy reads them."""

    def __init__(self, A, b, x0, M):
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
        self.rows = _length(A[2]) - 1 if shape is None else shape[0]
        if found not in ((self.rows,), (self.rows, 1)):
            raise ValueError(f"b: expected shape ({self.rows},) or ({self.rows}, 1), found {found}")
        of_b = b.dtype if self.library is None else self.library.dtype(b)
        self.single = _is_single(A) and real_dtype(of_b, "b") == np.float32
        self.dtype = np.dtype(np.float32 if self.single else np.float64)
        if self.library is None:
            self.b = np.ascontiguousarray(as_real(b, self.dtype, "b").reshape(-1))
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
            x0 = as_real(x0, self.dtype, "x0")
        if shape_of(x0) not in ((self.rows,), (self.rows, 1)):
            raise ValueError(f"x0: expected shape ({self.rows},), found {shape_of(x0)}")
        return x0.reshape(-1) if hasattr(x0, "reshape") else x0

    def solve(self, method, rtol, atol, most, watch, restart=None):
        """x and its report."""
        sees_iterates = watch is not None and hasattr(watch, "watch")
        solver = Solver._made_for(
            self.given,
            self.A,
            resident=not sees_iterates,
            solver=method,
            preconditioner=self.M,
            # Iterates are seen where they lie in the caller's numbering.
            format="auto" if watch is None or is_operator(self.A) else "csr",
            precision="single" if self.single else "double",
            restart=restart,
            rtol=rtol,
        )
        if self.library is not None:
            x = self.library.new(self.b, self.x0, (self.rows,), self.dtype, solver._device)
            given, taken, copy = self.library.span(self.b), self.library.span(x), self.library.copy
        else:
            if sees_iterates and solver.device != "host":
                raise TypeError("b: expected an array on the device, where A is and iterates are made for the callback")
            x = np.empty_like(self.b) if self.x0 is None else np.array(as_real(self.x0, self.dtype, "x0"))
            given, taken, copy = self.b, x, np.copy
        if sees_iterates:
            watch.watch(x, copy)
        raw = solver._system.solve(given, taken, 1, rtol, atol, most, 0.0, watch, 0 if watch is None else 1,
                                   self.x0 is None)
        settle(x)
        return as_kind_of(self.given, x), solver._reports([raw])[0]


class _Iterates:
    """Hands copies of x on, which the solver has updated when it reports an iteration."""

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
    """The same for CG, which updates x in the iteration after: the last iterate is the result."""

    def __call__(self, progress) -> None:
        if progress.iteration > 1:
            super().__call__(progress)


def _ignore(_) -> None:
    """SciPy's callbacks end nothing by what they return."""


def _length(array) -> int:
    return len(array) if hasattr(array, "__len__") else shape_of(array)[0]


def _is_single(A) -> bool:
    dtype = getattr(A, "dtype", None)
    if dtype is None and isinstance(A, tuple):
        library = library_of(A[0])
        dtype = getattr(A[0], "dtype", None) if library is None else library.dtype(A[0])
    return dtype is not None and real_dtype(dtype, "A") == np.float32


def _most_iterations(maxiter, default: int) -> int:
    return min(default, 2**31 - 1) if maxiter is None else whole_number(maxiter, "maxiter", 0)


def _info(report) -> int:
    if report.converged:
        return 0
    return _breakdowns.get(report.cause, max(1, report.iterations))
