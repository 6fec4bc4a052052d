# SPDX-License-Identifier: Apache-2.0
"""The smallest eigenvalues and eigenvectors of symmetric matrices and pencils."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._arrays import refuse_device_array
from ._choices import finite_number, real_number, whole_number
from ._device_array import shape_of
from ._device_matrices import host_copy, library_and_device_of, parts_of
from ._keywords import names_keywords
from ._libraries import library_of
from ._report import ConvergenceError
from ._single import is_complex
from ._solver import Solver

Array = np.ndarray[Any, np.dtype[np.float64]]


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
    residuals : array of k, on the host
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
          max_iterations: int = 500, X: Any = None, preconditioner: str | Callable[[Any], Any] | None = "amg",
          device: str = "auto", coordinates: Any = None, near_null_space: Any = None,
          options: Mapping[str, Any] | None = None, threads: int | None = None, return_report: bool = False) -> Any:
    """The k smallest eigenvalues lambda and eigenvectors x of ``A x = lambda M x``, by LOBPCG with multigrid.

    Nothing is factorised, so that matrices of three-dimensional bodies, whose factors are large, need little memory.

    Parameters
    ----------
    A : sparse matrix, or tuple (data, indices, indptr)
        Symmetric, n x n, real, on the host or a device, of any library that `newel.Solver` takes.
    k : int
        Number of eigenpairs.
    M : the same, optional
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
    preconditioner : str, function, LinearOperator or None
        The name of a symmetric preconditioner of Newel, or your own, as for `newel.Solver`.
    device : {"auto", "host", "cuda", "cuda:N"}
        Where to iterate, as for `newel.Solver`: by default where A is.
    coordinates, near_null_space, options, threads
        As for `newel.Solver`, for the preconditioner. Give the coordinates of nodes for elasticity.
    return_report : bool
        Return an `EigenReport` as a third value.

    Returns
    -------
    w : array of k
        Eigenvalues, ascending, on the host.
    V : array of n x k
        Eigenvectors with ``V.T @ M @ V`` the identity, where A is: of CuPy or PyTorch if A is, a `DeviceArray` for
        other libraries. The largest entry of each is positive.

    Raises
    ------
    newel.ConvergenceError
        If a pair does not converge. ``x`` is then (w, V) as they are, ``report`` an `EigenReport`.
    ValueError
        For a matrix that is not square or not symmetric, an M that is not positive definite, a sigma that is not below the
        eigenvalues, and as for `newel.Solver`.
    TypeError
        For complex matrices, and as for `newel.Solver`.

    Notes
    -----
    LOBPCG (A. Knyazev, SIAM J. Sci. Comput. 23(2), 2001) with a basis as in Duersch et al. (SIAM J. Sci. Comput. 40(5),
    2018). Pairs that have converged stay in the basis, and get no new directions (soft locking). An iteration takes one
    product with A, two with M and one with the preconditioner for each pair that has not converged, up to eight at once.
    A matrix on a device is copied to the host once if `sigma` or `null_space` is given, to be changed there. That A and
    M are symmetric is tested by products with two vectors.

    SciPy's function of this name returns the largest eigenvalues by default, and those nearest to sigma.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, newel
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(1000, 1000), format="csr")
    >>> w, V = newel.eigsh(A, 3)
    >>> np.allclose(w, 4 * np.sin(np.pi * np.arange(1, 4) / 2002) ** 2)
    True
    """
    began = time.perf_counter()
    for matrix, name in ((A, "A"), (M, "M")):
        if is_complex(matrix):
            raise TypeError(f"{name} is complex: eigsh takes real matrices")
    k, most = whole_number(k, "k", 1), whole_number(max_iterations, "max_iterations", 0)
    tol, sigma = real_number(tol, "tol"), None if sigma is None else finite_number(sigma, "sigma")
    n = _rows(A, "A")
    if M is not None and _rows(M, "M") != n:
        raise ValueError(f"M: expected shape {(n, n)}, as A has, found {(_rows(M, 'M'),) * 2}")
    deflated = _null_space(null_space, n)
    left_out = 0 if deflated is None else deflated.shape[1]
    if k > n - left_out:
        raise ValueError(f"k: expected at most {n - left_out}, the rows less the null space, found {k}")
    library = library_and_device_of(A)[0]
    common = {"solver": "cg", "format": "csr", "precision": "double", "threads": threads}
    own = {"preconditioner": preconditioner, "coordinates": coordinates, "near_null_space": near_null_space,
           "options": options, **common}
    plain = not sigma and deflated is None
    stiffness = Solver(A, device=device, **(own if plain else {"preconditioner": None, **common}))
    preconditioned = stiffness if plain else Solver(_shifted(A, M, sigma), device=stiffness.device, **own)
    _require_symmetric(stiffness, "A")
    mass = None if M is None else _mass(M, device=stiffness.device, **common)
    setup = time.perf_counter() - began

    V, vectors = _memory(library if stiffness.device != "host" else None, (n, k), stiffness._device)
    guesses = None if X is None else _columns(X, n, stiffness)
    found = stiffness._system.eigenpairs(None if mass is None else mass._system, preconditioned._system,
                                         None if deflated is None else deflated.reshape(-1, order="F"), guesses, vectors,
                                         k, tol, most)
    w, residuals, tolerance = found["values"], found["residuals"], found["tolerance"]
    if sigma is not None and w[0] < sigma - tolerance:
        raise ValueError(f"sigma: expected a number below all eigenvalues, found {sigma:g}, and an eigenvalue of at most "
                         f"{w[0]:g}")
    report = EigenReport(found["converged"], found["iterations"], residuals, tolerance, found["block"],
                         {"setup": setup, "solve": time.perf_counter() - began - setup})
    if not report:
        worst = int(np.argmax(~(residuals <= tolerance)))
        raise ConvergenceError(f"{int((residuals <= tolerance).sum())} of {k} eigenpairs converged in {report.iterations} "
                               f"iterations; the residual of pair {worst} is {residuals[worst]:.2e}, the tolerance "
                               f"{tolerance:.2e}", (w, V), report)
    return (w, V, report) if return_report else (w, V)


def _rows(matrix: Any, what: str) -> int:
    """The rows of a square matrix; TypeError or ValueError for what is none."""
    if isinstance(matrix, tuple) and len(matrix) == 3:
        return int(shape_of(matrix[2])[0]) - 1
    if parts_of(matrix) is None and not hasattr(matrix, "tocsr"):
        refuse_device_array(matrix, what)
        raise TypeError(f"{what}: expected a sparse matrix or a tuple (data, indices, indptr), found "
                        f"{type(matrix).__name__}")
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what}: expected a square matrix, found the shape {shape}")
    return int(shape[0])


def _require_symmetric(solver: Solver, what: str) -> None:
    if not solver._system.matrix_is_symmetric():
        raise ValueError(f"{what}: expected a symmetric matrix, found one whose products with two vectors differ from those "
                         "of its transpose")


def _mass(M: Any, **choices: Any) -> Solver:
    try:
        solver = Solver(M, preconditioner="jacobi", **choices)
    except ValueError as error:
        raise ValueError(f"M: {error}") from None
    _require_symmetric(solver, "M")
    return solver


def _shifted(A: Any, M: Any, sigma: float | None) -> Any:
    """A - sigma M on the host; without sigma A and some of its diagonal, which is regular: the large components in the null
    space are removed afterwards."""
    import scipy.sparse as sp

    A, M = (matrix if matrix is None else _on_host(matrix) for matrix in (A, M))
    if not sigma:
        return sp.csr_array(A + 1e-6 * sp.diags_array(A.diagonal(), format="csr"))
    return sp.csr_array(A - sigma * (sp.eye_array(A.shape[0], format="csr") if M is None else M))


def _on_host(matrix: Any) -> Any:
    import scipy.sparse as sp

    parts = parts_of(matrix)
    if parts is not None:
        matrix = host_copy(parts)
    elif isinstance(matrix, tuple):
        matrix = sp.csr_array(matrix, shape=(len(matrix[2]) - 1,) * 2)
    return sp.csr_array(matrix, dtype=np.float64)


def _memory(library: Any, shape: tuple[int, int], device: int | None) -> tuple[Any, Any]:
    """An array of n x k, uninitialised, and the same as argument of the compiled part."""
    if library is None:
        V = np.empty(shape, order="F")
        return V, V.reshape(-1, order="F")
    V = library.new(None, None, shape, np.dtype(np.float64), device)
    return V, library.span(V)


def _columns(X: Any, n: int, solver: Solver) -> Any:
    library = library_of(X)
    if library is not None:
        solver._vectors.check_on_device("X")
        X = library.vectors(X, np.dtype(np.float64), "X")
    else:
        X = np.array(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] != n:
        raise ValueError(f"X: expected shape ({n}, j), found {tuple(X.shape)}")
    return X.reshape(-1, order="F") if library is None else library.span(X)


def _null_space(given: Any, n: int) -> Array | None:
    if given is None:
        return None
    if isinstance(given, str):
        if given != "constant":
            raise ValueError(f'null_space: expected "constant" or an array, found {given!r}')
        return np.ones((n, 1))
    library = library_of(given)
    vectors = np.array(given if library is None else library.host(given), dtype=np.float64, order="F")
    vectors = vectors[:, None] if vectors.ndim == 1 else vectors
    if vectors.ndim != 2 or vectors.shape[0] != n:
        raise ValueError(f"null_space: expected shape ({n}, p), found {vectors.shape}")
    return vectors
