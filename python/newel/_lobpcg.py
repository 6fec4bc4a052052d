# SPDX-License-Identifier: Apache-2.0
"""LOBPCG: the smallest eigenvalues of a symmetric pencil by products and a preconditioner, in a basis that stays orthonormal.

A. Knyazev, Toward the optimal preconditioned eigensolver, SIAM J. Sci. Comput. 23(2), 2001, algorithm 4.1. The basis is
that of J. Duersch, M. Shao, C. Yang and M. Gu, A robust and efficient implementation of LOBPCG, SIAM J. Sci. Comput. 40(5),
2018: residuals are made orthonormal against X and P, and P against X by the coefficients alone (section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, np.dtype[np.float64]]
_EPS = float(np.finfo(np.float64).eps)


class Block:
    """Columns, and the products of A and of M with them."""

    def __init__(self, pencil: Pencil, columns: Array) -> None:
        self.columns, self.a, self.m = columns, pencil.stiffness(columns), pencil.mass(columns)

    @classmethod
    def joined(cls, blocks: list[Block]) -> Block:
        result = cls.__new__(cls)
        for name in ("columns", "a", "m"):
            setattr(result, name, np.concatenate([getattr(block, name) for block in blocks], axis=1))
        return result

    def part(self, columns: slice) -> Block:
        """Some of the columns, in the same memory."""
        result = Block.__new__(Block)
        for name in ("columns", "a", "m"):
            setattr(result, name, getattr(self, name)[:, columns])
        return result

    def times(self, coefficients: Array) -> Block:
        """The columns that are combinations of these, without a product of A or M."""
        result = Block.__new__(Block)
        coefficients = np.asfortranarray(coefficients)
        for name in ("columns", "a", "m"):
            setattr(result, name, np.asfortranarray(getattr(self, name) @ coefficients))
        return result


class Pencil:
    """A x = lambda M x, restricted to what is M-orthogonal to some given vectors.

    Parameters
    ----------
    stiffness, mass, precondition : functions of an array of n x j that return one of its shape
        The products with A and with M, and with the preconditioner, which is symmetric and positive definite.
    deflated : array of n x p
        Vectors to which all others stay M-orthogonal; p may be 0.
    """

    def __init__(self, stiffness: Callable[[Array], Array], mass: Callable[[Array], Array],
                 precondition: Callable[[Array], Array], deflated: Array) -> None:
        self.stiffness, self.mass, self._precondition = stiffness, mass, precondition
        self.deflated, self._m_deflated = deflated, np.zeros_like(deflated)
        if deflated.shape[1]:
            self.deflated = self.orthonormal(deflated, [])
            self._m_deflated = self.mass(self.deflated)

    def new_directions(self, residuals: Array, blocks: list[Block]) -> Array:
        """The preconditioned residuals, M-orthonormal to the blocks and to each other."""
        return self.orthonormal(np.asfortranarray(self._precondition(residuals)), blocks)

    def orthonormal(self, columns: Array, blocks: list[Block]) -> Array:
        """An M-orthonormal basis of what the columns have beyond the blocks; nearly dependent columns are dropped.

        Two rounds of classical Gram-Schmidt and of SVQB (A. Stathopoulos and K. Wu, SIAM J. Sci. Comput. 23(6), 2002).
        """
        for _ in range(2):
            lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", columns, self.mass(columns)), 0.0))
            columns = columns[:, lengths > 0] / lengths[lengths > 0]
            for block in blocks:
                columns = columns - block.columns @ (block.m.T @ columns)
            if self._m_deflated.shape[1]:
                columns = columns - self.deflated @ (self._m_deflated.T @ columns)
            gram = columns.T @ self.mass(columns)
            values, vectors = np.linalg.eigh((gram + gram.T) / 2)
            kept = values > 1e3 * _EPS * max(1.0, values[-1] if values.size else 1.0)
            columns = np.asfortranarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))
        return columns


class Iteration:
    """X with its Ritz values and the directions P of the last step.

    Attributes
    ----------
    values : array of m
        Ritz values, ascending.
    x : Block of n x m
    """

    def __init__(self, pencil: Pencil, start: Array, size: int) -> None:
        self._pencil = pencil
        self._p: list[Block] = []
        x, values = self._ritz(Block(pencil, pencil.orthonormal(start, [])))
        self.x, self.values = x.part(slice(0, size)), values[:size]

    def _ritz(self, basis: Block) -> tuple[Block, Array]:
        values, vectors = scipy.linalg.eigh(_symmetric(basis.columns.T @ basis.a))
        return basis.times(vectors), values

    def residuals(self) -> Array:
        """A x - lambda M x for each column, by the products that were carried along."""
        return np.asfortranarray(self.x.a - self.x.m * self.values)

    def compute_again(self) -> None:
        """Replace the products that were carried along, and the Ritz values, by new ones."""
        self.x, self.values = self._ritz(Block(self._pencil, self._pencil.orthonormal(self.x.columns, [])))
        self._p = []

    def step(self, active: Any) -> bool:
        """Improve X by the preconditioned residuals of the active columns; False if these add no direction."""
        size = self.x.columns.shape[1]
        others = [self.x, *self._p]
        found = self._pencil.new_directions(self.residuals()[:, active], others)
        if not found.shape[1]:
            return False
        basis = Block.joined([*others, Block(self._pencil, found)])
        values, vectors = scipy.linalg.eigh(_symmetric(basis.columns.T @ basis.a), subset_by_index=[0, size - 1])
        steps = _new_directions(vectors, vectors[:, active], size)
        both = basis.times(np.concatenate([vectors, steps], axis=1))  # one pass over the basis
        self.x, self.values = both.part(slice(0, size)), values
        self._p = [both.part(slice(size, None))] if steps.shape[1] else []
        return True


def _new_directions(vectors: Array, moved: Array, size: int) -> Array:
    """Orthonormal coefficients of what a step has added to X, orthogonal to those of the new X."""
    directions = moved.copy()
    directions[:size] = 0
    for _ in range(2):
        directions -= vectors @ (vectors.T @ directions)
    q, r, _ = scipy.linalg.qr(directions, mode="economic", pivoting=True)
    weights = np.abs(np.diag(r))
    q = q[:, :weights.size][:, weights > 1e2 * _EPS]
    q -= vectors @ (vectors.T @ q)
    return np.linalg.qr(q)[0]


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
