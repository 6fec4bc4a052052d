# SPDX-License-Identifier: Apache-2.0
"""Properties of a matrix, and the recommended solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._choices import check_threads
from ._keywords import names_keywords
from ._matrices import given_matrix, matrix_on_host


class MatrixInfo(dict[str, Any]):
    """Properties of a matrix, by name; prints as a table."""

    def __repr__(self) -> str:
        lines = [f"{self['rows']:,} x {self['columns']:,}, {self['nonzeros']:,} stored values, {self['dtype']}"]
        shortest, mean, longest = self["row_length"]
        lines.append(f"row length      {shortest:,} to {longest:,}, mean {mean:.1f}")
        if "symmetric" in self:
            lines += self._of_square()
        low, high = self["magnitudes"]
        lines.append(f"sizes           |a_ij| from {low:.3g} to {high:.3g}, zeros not counted")
        lines.append(f"recommendation  {self['recommendation']}")
        return "\n".join(lines)

    def _of_square(self) -> list[str]:
        pattern = "symmetric" if self["pattern_symmetric"] else "not symmetric"
        values = "symmetric" if self["symmetric"] else f"not symmetric, by up to {self['largest_asymmetry']:.3g}"
        diagonal = "all there and positive" if self["positive_diagonal"] else ", ".join(
            f"{self[name]['count']:,} {name.split('_')[0]} (first in row {self[name]['first']})"
            for name in ("missing_diagonal", "zero_diagonal", "negative_diagonal") if self[name]["count"])
        lines = [f"symmetry        pattern {pattern}; values {values}", f"diagonal        {diagonal}"]
        if self["rows_sum_to_zero"]:
            lines.append("null space      rows sum to zero: constant vectors are in it")
        if self["node_block"] > 1:
            block = self["node_block"]
            lines.append(f"blocks          the pattern is made of full {block} x {block} blocks")
        return lines


@names_keywords()
def info(A: Any, *, threads: int | None = None) -> MatrixInfo:
    """Describe a matrix and recommend how to solve with it.

    Parameters
    ----------
    A : sparse matrix or tuple
        As for `newel.Solver`, except operators. A matrix on a device is copied to the host.
    threads : int, optional

    Returns
    -------
    MatrixInfo
        A dictionary whose `repr` is a table. Rows and columns are counted from 0.
    """
    A = matrix_on_host(A)
    given = given_matrix(A)
    if given.dtype.kind == "c":
        raise TypeError(f"A is complex ({given.dtype}): newel.info describes real matrices; newel.solve solves with both")
    result = MatrixInfo(
        form=given.form,
        rows=int(given.shape[0]),
        columns=int(given.shape[1]),
        nonzeros=int(given.nonzeros),
        dtype=str(given.dtype),
    )
    facts = _core.matrix_facts(given.arrays, given.dtype == np.float32, check_threads(threads, None))
    result.update(facts)
    result.update(_counts(A, given))
    if given.shape[0] != given.shape[1]:
        for name in ("symmetric", "pattern_symmetric", "positive_diagonal"):
            result.pop(name)
    result["recommendation"] = _recommendation(result)
    return result


def _counts(A: Any, given: Any) -> dict[str, Any]:
    """Row lengths, zero rows and columns, magnitudes of entries and row sums; repeated entries are summed first."""
    if isinstance(A, tuple):
        from scipy.sparse import csr_array

        A = csr_array((A[0], A[1], A[2]), shape=given.shape)
    csr = A.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    lengths = np.diff(csr.indptr)
    sizes = np.abs(csr.data[csr.data != 0].astype(np.float64))
    sums = np.asarray(csr.sum(axis=1)).reshape(-1)
    absolute = np.asarray(abs(csr).sum(axis=1)).reshape(-1)
    square = csr.shape[0] == csr.shape[1]
    zero = np.flatnonzero(absolute == 0)
    occurs = np.zeros(csr.shape[1], dtype=bool)
    occurs[csr.indices[csr.data != 0]] = True
    not_finite = np.unique(np.repeat(np.arange(lengths.size), lengths)[~np.isfinite(csr.data)])
    return {
        "zero_rows": _rows(zero),
        "zero_columns": _rows(np.flatnonzero(~occurs)),
        "not_finite_rows": _rows(not_finite),
        "row_length": (int(lengths.min(initial=0 if lengths.size == 0 else lengths[0])),
                       float(lengths.mean()) if lengths.size else 0.0, int(lengths.max(initial=0))),
        "magnitudes": (float(sizes.min()), float(sizes.max())) if sizes.size else (0.0, 0.0),
        "rows_sum_to_zero": bool(square and absolute.any() and (abs(sums) <= 1e-12 * absolute).all()),
    }


def _rows(numbers: np.ndarray) -> dict:
    return {"count": int(numbers.size), "first": int(numbers[0]) if numbers.size else None}


def _recommendation(facts: MatrixInfo) -> str:
    if facts["rows"] != facts["columns"]:
        return "none: the matrix is not square, and newel.solve needs a square one"
    if facts["empty_rows"]["count"]:
        return f"none: the matrix is singular, row {facts['empty_rows']['first']} is empty"
    if facts["not_finite_rows"]["count"]:
        return f"none: row {facts['not_finite_rows']['first']} of the matrix holds NaN or infinity"
    if facts["zero_rows"]["count"]:
        return f"none: the matrix is singular, row {facts['zero_rows']['first']} holds no value other than 0"
    if facts["zero_columns"]["count"]:
        return f"none: the matrix is singular, column {facts['zero_columns']['first']} holds no value other than 0"
    call = "newel.solve(A, b"
    if facts["rows_sum_to_zero"]:
        call += ', null_space="constant"'
    return f"{call}): {facts['reason']}, so it tries {', then '.join(facts['solvers'])}"
