# SPDX-License-Identifier: Apache-2.0
"""Reasons that a report gives, against what exact arithmetic says of the matrix. Asked for only where one is given."""

import math
import re
from functools import cached_property

from .direct import Elimination
from .exact import (Binary, is_positive_definite, is_symmetric, largest, least_residual, exact_least_residual, norm, ranks,
                    rounded_to_float, structural_rank)

_SYMMETRIC_PRECONDITIONERS = ("none", "jacobi", "fsai")


class Facts:
    """What is so of a matrix, found out when it is first asked."""

    def __init__(self, matrix):
        self.matrix = matrix

    @cached_property
    def symmetric(self):
        return is_symmetric(self.matrix)

    @cached_property
    def positive(self):
        return is_positive_definite(self.matrix)

    @cached_property
    def elimination(self):
        return Elimination(self.matrix)

    @cached_property
    def condition(self):
        plain = Elimination(self.matrix, by_columns=False)
        return math.inf if plain.singular else plain.condition()

    @cached_property
    def scaled_condition(self):
        """Of the matrix with rows and columns scaled so that their largest entries are about 1; infinite: singular."""
        return math.inf if self.elimination.singular else self.elimination.condition()

    @cached_property
    def columns_sum_to_zero(self):
        """As far as the product looks for it where the null space was named."""
        sums = [0] * self.matrix.size
        for (_, j), value in self.matrix.entries().items():
            sums[j] += value
        largest_entry = max(map(abs, self.matrix.entries().values()), default=0)
        return max(map(abs, sums), default=0) * 10**3 <= largest_entry

    def has_solution(self, b):
        rank, extended = ranks(self.matrix, b)
        return rank == extended


def _wrong_about_matrix(facts, reasons):
    """Kinds of wrong statements in sentences about symmetry and definiteness, of the report and of its attempts.

    What rounding has made of AMG, a product of many matrices in single precision, is not known: it is called indefinite
    "as computed". It must be definite where the matrix is and is well conditioned.
    """
    well_conditioned = 1e3
    if "the matrix is not symmetric" in reasons and facts.symmetric:
        yield "symmetric matrix called not symmetric", ""
    if "the matrix is not positive definite" in reasons and facts.positive:
        yield "positive definite matrix called not positive definite", ""
    symmetric_m = "|".join(_SYMMETRIC_PRECONDITIONERS)
    if re.search(f"the preconditioner ({symmetric_m}) is not symmetric", reasons) and facts.symmetric:
        yield "symmetric preconditioner called not symmetric", ""
    for name in re.findall(r"r\.Mr <= 0: the preconditioner (jacobi|fsai|amg), as computed, is not", reasons):
        if facts.symmetric and facts.positive and (name != "amg" or facts.condition < well_conditioned):
            yield f"{name} of a positive definite matrix called not positive definite", ""


def _wrong_about_zeros(facts, reason):
    """Rows and columns that are said to hold zeros alone. Interfaces count them from 0 or from 1."""
    entries = facts.matrix.entries()
    for what, part in (("row", 0), ("column", 1)):
        said = re.search(rf"\b{what} (\d+) of A( \(the first of \d+\))? holds no value other than 0", reason)
        if said and {int(said[1]) - 1, int(said[1])} <= {place[part] for place in entries}:
            yield f"{what} with values said to hold none", reason
    if re.search(r"\bA holds no value other than 0", reason) and not re.search(r"of A", reason) and entries:
        yield "matrix with values said to hold none", reason


def _wrong_about_singularity(facts, reasons):
    """Of what a direct solver says: a structural rank, a zero pivot, a condition."""
    for rank in map(int, re.findall(r"at most (\d+) rows can be paired", reasons)):
        if rank != structural_rank(facts.matrix) or rank >= facts.matrix.size:
            yield "wrong structural rank", f"{rank}, by a matching {structural_rank(facts.matrix)}"
    worse = [float(number) for number in re.findall(r"its condition number is about ([0-9.e+]+)", reasons)]
    if "meets a zero pivot" in reasons:
        worse.append(math.inf)
    if worse and facts.scaled_condition < 1e13:  # an upper bound; what is said is at least 4.5e15
        yield "regular matrix called singular to working precision", f"condition at most {facts.scaled_condition:.1e}"


def _wrong_about_what_remains(facts, reasons, b):
    """Of a structurally singular matrix: what it says to remain for every x, against the least that does."""
    for level in set(re.findall(r"; ([0-9.e+-]+) of \|b\| or more remains for every x", reasons)):
        least = exact_least_residual(facts.matrix, b)
        if Binary(1001) * least < Binary(1000) * Binary.of(float(level)) * norm(b):
            yield "more said to remain for every x than does", f"{level} of |b|, of which {float(least):.3e} has to"


def _wrong_about_limits(facts, fields, b, limits, single):
    """The same of causes: rounding, range, singularity."""
    cause, attempts = fields["cause"], str(fields.get("attempt_reasons", ""))
    tolerance, rounding = limits
    if cause == "rounding":
        named = fields["attainable_residual"]
        if not facts.has_solution(b):
            least = least_residual(facts.matrix, b)
            # More than the rounding of b and of A x: else both are the reason, and nothing less is attainable.
            if largest(largest(tolerance, Binary(64, -23 if single else -52) * norm(b)), Binary(8) * rounding) < least:
                yield "rounding blamed for a system without a solution", \
                    f"attainable {named:.2e}, no x leaves less than {float(least):.2e}"
            return
        if facts.elimination.singular:
            return
        x, _ = facts.elimination.solution(b, rounded_to_float if single else float)
        if x is not None and all(map(math.isfinite, x)):
            left, magnitude = facts.matrix.residual(b, x)
            least = largest(left, Binary(1, -23 if single else -52) * magnitude)
            if least * Binary(1000) <= Binary.of(named):
                yield "rounding blamed where a direct solver attains much less", \
                    f"attainable {named:.2e}, a direct solver leaves {float(left):.2e}, rounding {float(least):.2e}"
    if cause == "inconsistent" and facts.condition < (1e3 if single else 1e9):
        yield "regular matrix called singular or nearly so", f"condition at most {facts.condition:.1e}"
    named = fields["null_space"] == "constant" and facts.columns_sum_to_zero  # as good as, and so it was called
    if cause in ("zero_row", "outside_range") and not facts.elimination.singular and not named:
        # "remains for every x", "cannot produce": not where a direct solver leaves a tenth of it.
        level = re.search(r"([0-9.e+-]+) of \|b\|", fields["reason"])
        x, _ = facts.elimination.solution(b, rounded_to_float if single else float)
        if level and x is not None and all(map(math.isfinite, x)):
            left, _ = facts.matrix.residual(b, x)
            if left * Binary(10) <= Binary.of(float(level[1])) * norm(b):
                yield "said to remain for every x, and a direct solver leaves less", \
                    f"{fields['reason'][:120]}; it leaves {float(left):.2e}"
    # A preconditioner that is a sparse matrix, factors, blocks or a cycle may be singular, or nearly so where the units
    # of rows differ, and the matrix, preconditioned, with it.
    may_be_singular = re.search(r"(spai|fsai|amg|block-jacobi|ilu|ilut|ic|saddle|operator|custom|auto)\w*: the Krylov space",
                                attempts)
    if cause == "krylov_space_exhausted" and not may_be_singular and facts.condition < (1e2 if single else 1e6):
        yield "regular matrix called singular", f"condition at most {facts.condition:.1e}"
    if cause == "solution_out_of_range" and not facts.elimination.singular:
        x, top = facts.elimination.solution(b, rounded_to_float if single else float)
        fits = x is not None and facts.matrix.residual(b, x)[0] <= tolerance
        if fits and top is not None and abs(top) < (100 if single else 900):
            yield "solution within the range called out of range", f"the largest element is about 2^{top}"
    if cause == "outside_range" and not named and facts.has_solution(b) and facts.condition < (1e4 if single else 1e10):
        yield "right-hand side called outside the range of a matrix that reaches it", ""


def _wrong_about_inputs(fields, b, guess, single):
    """Norms that are said to overflow or to underflow, NaN that is said to be there."""
    cause, reason = fields["cause"], fields["reason"]
    vector = guess if "initial guess" in reason else b
    if vector is None:
        if cause in ("not_finite_input", "norm_overflows", "norm_underflows"):
            yield "a guess blamed that was not given", reason
        return
    finite = all(map(math.isfinite, vector))
    if cause == "not_finite_input" and "holds NaN" in reason and finite:
        yield "finite vector said to hold NaN or infinity", reason
    if not finite or cause not in ("norm_overflows", "norm_underflows"):
        return
    size = norm(vector)
    if cause == "norm_overflows" and size < Binary(1, 1000 if not single else 120):
        yield "norm within the range said to overflow", f"{reason}; it is {float(size):.3e}"
    if cause == "norm_underflows" and Binary(1, -1060) < size:
        yield "norm within the range said to underflow", f"{reason}; it is {float(size):.3e}"


def wrong_claims(facts, fields, b, guess, limits, single):
    """(kind, detail) of each wrong statement about the matrix, b or the guess; `limits` are the tolerance and the
    rounding of the products with the x that was returned, both exact."""
    reason = fields.get("reason", "")
    if not isinstance(reason, str):
        reason = str(reason)
    attempts = str(fields.get("attempt_reasons", ""))
    fields = dict(fields, reason=reason)
    yield from _wrong_about_matrix(facts, reason + "; " + attempts)
    yield from _wrong_about_zeros(facts, reason)
    yield from _wrong_about_singularity(facts, reason + "; " + attempts)
    yield from _wrong_about_inputs(fields, b, guess, single)
    if all(map(math.isfinite, b)):
        yield from _wrong_about_what_remains(facts, reason + "; " + attempts, b)
        yield from _wrong_about_limits(facts, fields, b, limits, single)
    if fields["status"] == "diverged" and str(fields.get("solver", "")).endswith("cg") \
            and not str(fields["solver"]).startswith("bi") and facts.symmetric and facts.positive:
        yield "CG said to diverge on a positive definite matrix", reason
