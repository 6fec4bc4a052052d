# SPDX-License-Identifier: Apache-2.0
"""Newel as a solver of lineax, and sparse matrices as its operators. Needs lineax; `newel.jax` does not import this.

>>> import jax.numpy as jnp, lineax
>>> from jax.experimental.sparse import BCSR
>>> from newel.jax.lineax import Newel, SparseOperator
>>> operator = SparseOperator(BCSR.fromdense(2 * jnp.eye(3)))
>>> lineax.linear_solve(operator, jnp.ones(3), Newel()).value.tolist()
[0.5, 0.5, 0.5]
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax

from . import _call
from ._solver import Solver, SparseArrays, call_of_xla, matrix_of

__all__ = ["Newel", "SparseOperator"]


class SparseOperator(lineax.AbstractLinearOperator):
    """A sparse matrix as an operator of lineax.

    Parameters
    ----------
    A : BCSR, BCOO or tuple
        As for `newel.jax.Solver.solve`.
    tags : object or frozenset of objects
        What lineax is to know of A, such as ``lineax.symmetric_tag``.
    """

    values: jax.Array
    first: jax.Array
    second: jax.Array
    form: str = eqx.field(static=True)
    rows: int = eqx.field(static=True)
    transposed: bool = eqx.field(static=True)
    tags: frozenset[object] = eqx.field(static=True)

    def __init__(self, A: Any, tags: Any = ()) -> None:
        arrays = matrix_of(A)
        self.values, self.first, self.second = arrays.values, arrays.first, arrays.second
        self.form, self.rows, self.transposed = arrays.form, arrays.rows, False
        self.tags = frozenset(tags) if isinstance(tags, (tuple, list, set, frozenset)) else frozenset([tags])

    @property
    def arrays(self) -> SparseArrays:
        """The matrix, which is the transpose of this operator if `transposed` is set."""
        return SparseArrays(self.form, self.rows, self.first, self.second, self.values)

    def mv(self, vector: Any) -> Any:
        """The product with a vector."""
        return self.arrays.product(vector, self.transposed)

    def as_matrix(self) -> Any:
        """The dense matrix."""
        rows, columns = self._entries()
        return jnp.zeros((self.rows, self.rows), self.values.dtype).at[rows, columns].add(self.values)

    def transpose(self) -> SparseOperator:
        """The transpose, with the same arrays."""
        turned = {lineax.lower_triangular_tag: lineax.upper_triangular_tag,
                  lineax.upper_triangular_tag: lineax.lower_triangular_tag}
        result = object.__new__(SparseOperator)
        for name in ("values", "first", "second", "form", "rows"):
            object.__setattr__(result, name, getattr(self, name))
        object.__setattr__(result, "transposed", not self.transposed)
        object.__setattr__(result, "tags", frozenset(turned.get(tag, tag) for tag in self.tags))
        return result

    def in_structure(self) -> jax.ShapeDtypeStruct:
        """Shape and type of a vector."""
        return jax.ShapeDtypeStruct((self.rows,), self.values.dtype)

    def out_structure(self) -> jax.ShapeDtypeStruct:
        """The same, because the matrix is square."""
        return self.in_structure()

    def _entries(self) -> tuple[Any, Any]:
        rows, columns = self.arrays.entries()
        return (columns, rows) if self.transposed else (rows, columns)


class Newel(lineax.AbstractLinearSolver):
    """Solves by Newel, for a `SparseOperator`: ``lineax.linear_solve(operator, b, Newel(preconditioner="amg"))``.

    lineax differentiates, and asks for the solve with the transpose. A solve that does not converge gives the result
    ``max_steps_reached``, ``stagnation``, ``nonfinite_input`` or ``breakdown``, on which lineax acts. The statistics
    have ``num_steps``.

    Parameters
    ----------
    **options
        As for `newel.jax.Solver`.
    """

    solver: Solver = eqx.field(static=True)

    def __init__(self, **options: Any) -> None:
        self.solver = Solver(**options)

    def init(self, operator: Any, options: dict[str, Any]) -> Any:
        """The arrays of the operator. What Newel sets up is found by them in `compute`."""
        if options:
            raise ValueError(f"options: expected none, found {', '.join(options)}; pass options to Newel")
        while isinstance(operator, lineax.TaggedLinearOperator):
            operator = operator.operator
        if not isinstance(operator, SparseOperator):
            raise TypeError(f"operator: expected a newel.jax.lineax.SparseOperator, found {type(operator).__name__}")
        return operator

    def compute(self, state: Any, vector: Any, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        """x, how the solve ended, and its iterations."""
        x, status, iterations = call_of_xla(self.solver._handle, state.arrays, vector, state.transposed, False)
        result = lineax.RESULTS.breakdown
        for name, meant in (("max_iterations", lineax.RESULTS.max_steps_reached),
                            ("stagnation", lineax.RESULTS.stagnation),
                            ("not_finite", lineax.RESULTS.nonfinite_input)):
            result = lineax.RESULTS.where(status == 1 + _call.STATUSES.index(name), meant, result)
        return x, lineax.RESULTS.where(status == 0, lineax.RESULTS.successful, result), {"num_steps": iterations}

    def transpose(self, state: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The state of the transpose."""
        return state.transpose(), options

    def conj(self, state: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The same state, because the matrix is real."""
        return state, options

    def assume_full_rank(self) -> bool:
        """True: Newel solves square systems that have one solution."""
        return True


def _itself(operator: SparseOperator) -> SparseOperator:
    return operator


def _diagonal(operator: SparseOperator) -> Any:
    rows, columns = operator._entries()
    return jnp.zeros(operator.rows, operator.values.dtype).at[rows].add(jnp.where(rows == columns, operator.values, 0))


def _tridiagonal(operator: SparseOperator) -> Any:
    matrix = operator.as_matrix()
    return tuple(jnp.diag(matrix, offset) for offset in (0, -1, 1))


def _has(*names: str) -> Any:
    tags = {getattr(lineax, name) for name in names}
    return lambda operator: bool(tags & operator.tags)


_DEFINITE = ("positive_semidefinite_tag", "negative_semidefinite_tag")

for _function, _of_sparse in (
    (lineax.linearise, _itself),
    (lineax.materialise, _itself),
    (lineax.conj, _itself),
    (lineax.diagonal, _diagonal),
    (lineax.tridiagonal, _tridiagonal),
    (lineax.is_symmetric, _has("symmetric_tag", "diagonal_tag", *_DEFINITE)),
    (lineax.is_diagonal, _has("diagonal_tag")),
    (lineax.is_tridiagonal, _has("tridiagonal_tag", "diagonal_tag")),
    (lineax.has_unit_diagonal, _has("unit_diagonal_tag")),
    (lineax.is_lower_triangular, _has("lower_triangular_tag", "diagonal_tag")),
    (lineax.is_upper_triangular, _has("upper_triangular_tag", "diagonal_tag")),
    (lineax.is_positive_semidefinite, _has("positive_semidefinite_tag")),
    (lineax.is_negative_semidefinite, _has("negative_semidefinite_tag")),
):
    _function.register(SparseOperator)(_of_sparse)
