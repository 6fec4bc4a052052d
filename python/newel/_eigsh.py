# SPDX-License-Identifier: Apache-2.0
"""The smallest eigenvalues and eigenvectors of symmetric matrices and pencils."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from ._choices import real_number, whole_number
from ._device_matrices import library_and_device_of
from ._keywords import names_keywords
from ._lobpcg import Array, Iteration, Pencil
from ._report import ConvergenceError
from ._solver import Solver

_EPS = float(np.finfo(np.float64).eps)


class EigenReport(NamedTuple):
    """What `eigsh` reports. Residuals and the tolerance are comparable with eigenvalues.

    With d the diagonal of M, or 1 without M, the residual of x with ``x.M x = 1`` is the 2-norm of
    ``(A x - lambda M x) / sqrt(d)``. Without M it bounds the distance to an eigenvalue (B. Parlett, The Symmetric Eigenvalue
    Problem, theorem 4.5.1). The error of lambda itself is about its square divided by the distance to the next eigenvalue.

    Attributes
    ----------
    converged : bool
        Whether all residuals, computed from the returned vectors, meet the tolerance.
    iterations : int
    residuals : array of k
    tolerance : float
    block : int
        Columns that were iterated: k and some more.
    seconds : dict
        ``"setup"`` of the preconditioner, and ``"solve"``.
    """

    converged: bool
    iterations: int
    residuals: Array
    tolerance: float
    block: int
    seconds: dict[str, float]

    def __bool__(self) -> bool:
        return self.converged


@names_keywords()
def eigsh(A: Any, k: int = 6, M: Any = None, sigma: float | None = None, *, null_space: Any = None, tol: float = 1e-6,
          max_iterations: int = 500, X: Any = None, preconditioner: str | Callable[[Array], Array] | None = "amg",
          coordinates: Any = None, near_null_space: Any = None, options: Mapping[str, Any] | None = None,
          threads: int | None = None, return_report: bool = False) -> Any:
    """The k smallest eigenvalues lambda and eigenvectors x of ``A x = lambda M x``, by LOBPCG with multigrid.

    Nothing is factorised, so that matrices of three-dimensional bodies, whose factors are large, need little memory. Works on
    the host.

    Parameters
    ----------
    A : sparse matrix of SciPy, or tuple (data, indices, indptr)
        Symmetric, n x n, real.
    k : int
        Number of eigenpairs.
    M : sparse matrix of SciPy, optional
        Symmetric and positive definite; by default the identity.
    sigma : float, optional
        A number below all eigenvalues that are sought. The preconditioner is made for ``A - sigma M``, which has to be
        positive definite; by default for A. A singular A, such as the stiffness of a free body, needs a negative one, or
        `null_space`. The result does not depend on it, except for rounding.
    null_space : "constant" or array of n x p, optional
        Vectors of the null space of A, which are left out: the eigenvectors found are M-orthogonal to them.
    tol : float
        A pair has converged if its residual (`EigenReport`) is at most tol times the largest of the k eigenvalues.
    max_iterations : int
    X : array of n x j, optional
        Guesses of eigenvectors. By default random columns from a fixed seed, so that calls repeat.
    preconditioner : str, function or None
        The name of a symmetric preconditioner of Newel, or a function of an array of n x j, such as a LinearOperator.
    coordinates, near_null_space, options, threads
        As for `newel.Solver`, for the preconditioner. Give the coordinates of nodes for elasticity.
    return_report : bool
        Return an `EigenReport` as a third value.

    Returns
    -------
    w : array of k
        Eigenvalues, ascending.
    V : array of n x k
        Eigenvectors with ``V.T @ M @ V`` the identity. The largest entry of each is positive.

    Raises
    ------
    newel.ConvergenceError
        If a pair does not converge. ``x`` is then (w, V) as they are, ``report`` an `EigenReport`.
    ValueError
        For a matrix that is not square or not symmetric, an M that is not positive definite, a sigma that is not below the
        eigenvalues, and as for `newel.Solver`.
    TypeError
        For complex matrices, and arrays on a device.

    Notes
    -----
    LOBPCG (A. Knyazev, SIAM J. Sci. Comput. 23(2), 2001) with a basis as in Duersch et al. (SIAM J. Sci. Comput. 40(5),
    2018). Pairs that have converged stay in the basis, and get no new directions (soft locking). An iteration takes one
    product with A, with M and with the preconditioner for each pair that has not converged. At most n = 5 (k + 3)
    rows are solved by LAPACK.

    SciPy's function of this name returns the largest eigenvalues by default, and those nearest to sigma.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, newel
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(1000, 1000), format="csr")
    >>> w, V = newel.eigsh(A, 3)
    >>> np.allclose(w, 4 * np.sin(np.pi * np.arange(1, 4) / 2002) ** 2)
    True
    """
    A, M = _symmetric_matrix(A, "A"), None if M is None else _symmetric_matrix(M, "M")
    n = A.shape[0]
    if M is not None and M.shape != A.shape:
        raise ValueError(f"M: expected shape {A.shape}, as A has, found {M.shape}")
    k, most = whole_number(k, "k", 1), whole_number(max_iterations, "max_iterations", 0)
    deflated, tol = _null_space(null_space, n), real_number(tol, "tol")
    sigma = None if sigma is None else _finite(sigma, "sigma")
    if k > n - deflated.shape[1]:
        raise ValueError(f"k: expected at most {n - deflated.shape[1]}, the rows less the null space, found {k}")
    diagonal = np.ones(n) if M is None else M.diagonal()
    if not (diagonal > 0).all():
        raise ValueError("M: expected a positive definite matrix, found a diagonal entry that is not positive")
    block = k + max(3, k // 4)
    began = time.perf_counter()
    if n <= 5 * block + deflated.shape[1]:
        return _by_lapack(A, M, k, deflated, return_report)
    choices = {"coordinates": coordinates, "near_null_space": near_null_space, "options": options, "threads": threads}
    apply = _preconditioner(A, M, sigma, deflated, preconditioner, choices)
    times_a = Solver(A, solver="cg", preconditioner=None, format="csr", threads=threads)
    times_m = None if M is None else Solver(M, solver="cg", preconditioner=None, format="csr", threads=threads)
    setup = time.perf_counter() - began

    pencil = Pencil(times_a.__matmul__, (lambda x: x) if times_m is None else times_m.__matmul__, apply, deflated)
    roots = np.sqrt(diagonal)[:, None]
    rounding = 10 * _EPS * float((abs(A).sum(axis=1) / diagonal).max())
    found = _iterate(pencil, _start(X, n, block), block, k, roots, tol, rounding, most)
    iteration, iterations, residuals, tolerance = found
    w, V = iteration.values[:k].copy(), np.asfortranarray(iteration.x.columns[:, :k])
    if sigma is not None and w[0] < sigma - tolerance:
        raise ValueError(f"sigma: expected a number below all eigenvalues, found {sigma:g}, and an eigenvalue of at most "
                         f"{w[0]:g}")
    V *= np.where(np.take_along_axis(V, abs(V).argmax(axis=0)[None], 0) < 0, -1.0, 1.0)
    converged = bool((residuals <= tolerance).all())
    report = EigenReport(converged, iterations, residuals, tolerance, block,
                         {"setup": setup, "solve": time.perf_counter() - began - setup})
    if not converged:
        worst = int(np.argmax(~(residuals <= tolerance)))
        raise ConvergenceError(f"{int((residuals <= tolerance).sum())} of {k} eigenpairs converged in {iterations} iterations; "
                               f"the residual of pair {worst} is {residuals[worst]:.2e}, the tolerance {tolerance:.2e}",
                               (w, V), report)
    return (w, V, report) if return_report else (w, V)


def _iterate(pencil: Pencil, start: Array, block: int, k: int, roots: Array, tol: float, rounding: float, most: int
             ) -> tuple[Iteration, int, Array, float]:
    """(the last state, iterations, residuals of the first k pairs by new products, tolerance)."""
    iteration, fresh, count = Iteration(pencil, start, block), True, 0
    while True:
        lengths = np.linalg.norm(iteration.residuals() / roots, axis=0)
        tolerance = max(tol * float(abs(iteration.values[:k]).max()), rounding)
        done = lengths[:k] <= tolerance
        ended = done.all() or count >= most or not np.isfinite(lengths).all()
        if ended and fresh:
            return iteration, count, lengths[:k], tolerance
        if not ended:
            active = np.concatenate([~done, np.ones(lengths.size - k, bool)])
            ended, fresh, count = not iteration.step(active), False, count + 1
        if ended:
            iteration.compute_again()
            fresh = True


def _symmetric_matrix(matrix: Any, what: str) -> Any:
    """The matrix in CSR, in double; TypeError or ValueError for one that is not real and symmetric."""
    if library_and_device_of(matrix)[1] is not None:
        raise TypeError(f"{what} is on a device: eigsh works on the host; pass a copy on the host")
    if isinstance(matrix, tuple) and len(matrix) == 3:
        matrix = scipy.sparse.csr_array(matrix, shape=(len(matrix[2]) - 1,) * 2)
    if not scipy.sparse.issparse(matrix):
        raise TypeError(f"{what}: expected a sparse matrix of SciPy, found {type(matrix).__name__}")
    if np.issubdtype(matrix.dtype, np.complexfloating):
        raise TypeError(f"{what} is complex: eigsh takes real matrices")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{what}: expected a square matrix, found the shape {matrix.shape}")
    matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
    largest = abs(matrix).max() if matrix.nnz else 0.0
    if not np.isfinite(largest):
        raise ValueError(f"{what} has an entry that is NaN or infinite")
    difference = abs(matrix - matrix.T)
    if difference.nnz and difference.max() > 1e-12 * largest:
        raise ValueError(f"{what}: expected a symmetric matrix, found entries that differ by {difference.max():.2e} from those "
                         "in the transposed places")
    return matrix


def _finite(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)) or not np.isfinite(value):
        raise ValueError(f"{what}: expected a finite number, found {value!r}")
    return float(value)


def _null_space(given: Any, n: int) -> Array:
    if given is None:
        return np.zeros((n, 0))
    if isinstance(given, str):
        if given != "constant":
            raise ValueError(f'null_space: expected "constant" or an array, found {given!r}')
        return np.ones((n, 1))
    vectors = np.array(given, dtype=np.float64, order="F")
    vectors = vectors[:, None] if vectors.ndim == 1 else vectors
    if vectors.ndim != 2 or vectors.shape[0] != n:
        raise ValueError(f"null_space: expected shape ({n}, p), found {vectors.shape}")
    return vectors


def _start(given: Any, n: int, block: int) -> Array:
    start = np.asfortranarray(np.random.default_rng(20010).standard_normal((n, block)))
    if given is None:
        return start
    vectors = np.array(given, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[0] != n:
        raise ValueError(f"X: expected shape ({n}, j), found {vectors.shape}")
    return np.asfortranarray(np.concatenate([vectors[:, :block], start], axis=1))  # guesses may depend on each other


def _preconditioner(A: Any, M: Any, sigma: float | None, deflated: Array, preconditioner: Any,
                    choices: dict[str, Any]) -> Callable[[Array], Array]:
    if preconditioner is None:
        return lambda x: x
    if not isinstance(preconditioner, str):
        return preconditioner.__matmul__ if hasattr(preconditioner, "matvec") else preconditioner
    n, shifted = A.shape[0], A
    if sigma:
        shifted = A - sigma * (scipy.sparse.eye_array(n, format="csr") if M is None else M)
    elif deflated.shape[1]:  # regular, while the large components in the null space are removed afterwards
        shifted = A + 1e-6 * scipy.sparse.diags_array(A.diagonal(), format="csr")
    return Solver(scipy.sparse.csr_array(shifted), solver="cg", preconditioner=preconditioner, format="csr",
                  **choices).as_preconditioner().__matmul__


def _by_lapack(A: Any, M: Any, k: int, deflated: Array, return_report: bool) -> Any:
    """The eigenpairs of a small pencil, by a dense solver."""
    began = time.perf_counter()
    a, m = A.toarray(), np.eye(A.shape[0]) if M is None else M.toarray()
    basis = np.eye(A.shape[0])
    if deflated.shape[1]:
        basis = scipy.linalg.null_space((m @ deflated).T)
    try:
        w, coefficients = scipy.linalg.eigh(basis.T @ a @ basis, basis.T @ m @ basis, subset_by_index=[0, k - 1])
    except scipy.linalg.LinAlgError:
        raise ValueError("M: expected a positive definite matrix; its Cholesky factorisation failed") from None
    V = np.asfortranarray(basis @ coefficients)
    V *= np.where(np.take_along_axis(V, abs(V).argmax(axis=0)[None], 0) < 0, -1.0, 1.0)
    residuals = np.linalg.norm((a @ V - m @ V * w) / np.sqrt(np.diag(m))[:, None], axis=0)
    report = EigenReport(True, 0, residuals, float(residuals.max()), k, {"setup": 0.0, "solve": time.perf_counter() - began})
    return (w, V, report) if return_report else (w, V)
