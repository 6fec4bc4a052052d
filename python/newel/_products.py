# SPDX-License-Identifier: Apache-2.0
"""Products with the matrix and the preconditioner of a Solver, and the Solver as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._keywords import names_keywords
from ._operators import Preconditioner

if TYPE_CHECKING:
    from ._vectors import Vectors


class Products:
    """The methods of a Solver that multiply."""

    _system: Any
    _vectors: Vectors
    _device: int | None
    _symmetric: dict[str, bool]  # what has been found out since the last refresh

    def _with_others(self) -> Any:
        """The context of a call that all ranks make, if there are several."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the solutions: float32 or complex64 for single precision, otherwise float64 or complex128."""
        raise NotImplementedError

    def __matmul__(self, x: Any) -> Any:
        """A @ x for a vector or for columns; the result is of the same kind of array as x."""
        with self._with_others():
            return self._vectors.apply(self._system.multiply, x)

    def matvec(self, x: Any) -> Any:
        """A @ x, under the name that `scipy.sparse.linalg.aslinearoperator` expects."""
        return self @ x

    def rmatvec(self, x: Any) -> Any:
        """The product with the conjugate transpose of A, if A is symmetric, or Hermitian if it is complex. Products with
        two vectors test that.

        Raises
        ------
        NotImplementedError
            If A is not symmetric, or not Hermitian.
        """
        self._require_symmetric("A", self._system.matrix_is_symmetric)
        return self @ x

    matmat = matvec
    rmatmat = rmatvec

    def _require_symmetric(self, name: str, ask: Any) -> None:
        if name not in self._symmetric:
            self._symmetric[name] = ask()
        if not self._symmetric[name]:
            raise NotImplementedError(f"rmatvec: {name} is not symmetric, and its transpose is not stored")

    def _precondition(self, x: Any) -> Any:
        return self._vectors.apply(self._system.precondition, x)

    def _require_symmetric_preconditioner(self) -> None:
        self._require_symmetric("the preconditioner", self._system.preconditioner_is_symmetric)

    @names_keywords()
    def as_preconditioner(self) -> Any:
        """The preconditioner of this system, x -> M x, as an operator that keeps the Solver alive.

        Use it with the solvers of SciPy, or for a Solver on a device with those of CuPy; for example with
        ``preconditioner="amg"``. Without a preconditioner it is the identity. After this call, formats and
        preconditioners that ``"auto"`` has chosen do not change any more. Not possible for complex systems. It has ``rmatvec`` if M is symmetric, as it
        is for a symmetric A with AMG, FSAI and Jacobi.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator, for a Solver on the host
        object, for one on a device
            With ``shape``, ``dtype``, ``matvec``, ``rmatvec`` and ``@``, for all kinds of vectors that `solve`
            accepts.
        """
        if self._device is not None:
            return Preconditioner(self.shape, self.dtype, self._precondition, self._require_symmetric_preconditioner)
        from ._scipy_operator import SolverPreconditioner

        return SolverPreconditioner(self, self._precondition, self._require_symmetric_preconditioner)
