# SPDX-License-Identifier: Apache-2.0
"""Judges the answers to a case: each number and word of the reports against the x that was returned, exactly."""

import math

from .claims import Facts, wrong_claims
from .exact import TINIEST, ZERO, Binary, Matrix, largest, norm

_SLACK = Binary((1 << 60) + (1 << 20), -60)  # 1 + 2^-40, about 1e-12: for the last comparison
_HUGE = {False: Binary(1, 1000), True: Binary(1, 120)}  # sums of this size may overflow on the way
_UNDERFLOW = Binary(1, -1000)  # of numbers in units in which others are near 1
_SUBNORMAL = Binary(1, -1020)  # numbers of this size have few digits
_LARGEST = Binary.of(1.7976931348623157e308)
_WELL_CONDITIONED = 1e12  # a matrix that has to be solved if the user chooses nothing


class Judge:
    """All rounds of one case."""

    def __init__(self, case):
        self.case = case
        self.found = []  # (kind, detail)
        self.single = case.single

    def judge(self, answers):
        for number, answer in enumerate(answers):
            if answer.code not in (0, 1, 9):
                if self.case.easy:
                    self._say("an easy system was refused", answer.error.strip()[:200])
                continue
            matrix = Matrix(self.case.rows(number))
            facts = Facts(matrix)
            one = self.case.rounds[number]
            converged = [fields.get("converged") == 1.0 for fields in answer.reports]
            if answer.code != 9 and (answer.code == 0) != all(converged):
                self._say("status of the call and reports differ", f"{answer.code}, {converged}")
            for c, (fields, b, x) in enumerate(zip(answer.reports, one.b, answer.x)):
                # If any solve of a case has a guess, solves without one start from zeros that are passed as one.
                guess = one.guess[c] if one.guess is not None else None
                self._judge_column(facts, fields, b, guess, x)
        return self.found

    def _say(self, kind, detail=""):
        if all(kind != other for other, _ in self.found):  # one of a kind is enough of a case
            self.found.append((kind, detail))

    def _judge_column(self, facts, fields, b, guess, x):
        options = self.case.options
        converged = fields.get("converged") == 1.0
        operator = " (operator)" if fields.get("way") == "operator" else ""
        finite_b, finite_x = all(map(math.isfinite, b)), all(map(math.isfinite, x))
        if converged and not finite_x:
            return self._say("converged with NaN or infinity in x" + operator)
        if converged and not finite_b:
            return self._say("converged with NaN or infinity in b" + operator)
        tolerance = ZERO
        if finite_b:
            size = norm(b)
            tolerance = largest(Binary.of(options["rtol"]) * size, Binary.of(options["atol"]))
            exact = magnitude = None
            if finite_x:
                exact, magnitude = facts.matrix.residual(b, x)
            if converged and not exact <= tolerance * _SLACK + TINIEST:
                self._say("converged with a residual above the tolerance" + operator,
                          f"exact {_text(exact)}, tolerance {_text(tolerance)}, |b| {_text(size)}")
            if "status" in fields:
                self._judge_numbers(facts, fields, b, guess, size, tolerance)
                self._judge_true_residual(fields, exact, magnitude)
                if finite_x:
                    self._judge_rows(facts, fields, b, x)
        if "status" in fields:
            self._judge_words(fields, converged)
            rounding = magnitude * Binary(1, -23 if self.single else -52) if finite_b and finite_x else ZERO
            fields = dict(fields, null_space=options["null_space"])
            # C and Fortran list no attempts: what was asked for stands for the preconditioner.
            fields.setdefault("attempt_reasons", f"{options['preconditioner']}: {fields.get('reason', '')}")
            for kind, detail in wrong_claims(facts, fields, b, guess, (tolerance, rounding), self.single):
                self._say(kind + operator, detail)
        if self.case.easy and not converged:
            self._say("an easy system did not converge" + operator,
                      f"{fields.get('status')}: {fields.get('reason')}, exact residual {_text(exact)} of "
                      f"{_text(tolerance)}")

        if self.case.plain and not converged and facts.condition < _WELL_CONDITIONED:
            x, _ = facts.elimination.solution(b)
            if x is not None and facts.matrix.residual(b, x)[0] <= tolerance:
                self._say("a well-conditioned system was not solved",
                          f"condition at most {facts.condition:.1e}; {fields.get('status')}: {fields.get('reason')}, "
                          f"exact residual {_text(exact)} of {_text(tolerance)}")

    def _judge_words(self, fields, converged):
        status, options = fields["status"], self.case.options
        if not (converged == (status == "converged") == (fields["cause"] == "none") == (fields["reason"] == "")):
            self._say("status, cause and reason differ",
                      f"{converged}, {status}, {fields['cause']}, {fields['reason']}")
        refused = status == "not_finite" and fields["iterations"] == 0
        if fields["history_length"] != fields["iterations"] + 1 and not refused:
            self._say("history has not one entry for the start and one for each iteration",
                      f"{fields['history_length']:.0f} entries, {fields['iterations']:.0f} iterations")
        if fields["iterations"] > options["max_iterations"]:
            self._say("more iterations than allowed", f"{fields['iterations']:.0f} of {options['max_iterations']}")
        if status == "max_iterations" and fields["iterations"] < options["max_iterations"]:
            self._say("iteration limit named before it was reached",
                      f"{fields['iterations']:.0f} of {options['max_iterations']}")
        if status == "time_limit" and not options["time_limit"]:
            self._say("time limit named that was not given")
        if status == "stopped_by_caller":
            self._say("stopped by a caller who did not")

    def _judge_numbers(self, facts, fields, b, guess, size, tolerance):
        n = len(b)
        # The mean of b is taken out in the working precision.
        digits = 23 if self.single and self.case.options["null_space"] == "constant" else 52
        self._compare("rhs_norm", fields["rhs_norm"], size, self._rounding(n, size, digits), size)
        self._compare("tolerance", fields["tolerance"], tolerance, self._rounding(n, tolerance, digits), size)
        if guess is not None and not all(map(math.isfinite, guess)):
            return
        guess = guess if guess is not None else [0.0] * n
        exact, magnitude = facts.matrix.residual(b, guess)
        bound = self._of_residual(magnitude)
        if self.case.options["null_space"] == "constant":  # then the mean is taken out of the guess
            mean = math.fsum(value / n for value in guess)
            of_mean, _ = facts.matrix.residual([0.0] * n, [mean] * n)
            parts, _, exponent = facts.matrix.residuals([0.0] * n, guess)  # and b split, as if A x had no mean
            bound = bound + of_mean + Binary(abs(sum(parts)), exponent)
        self._compare("initial_residual", fields["initial_residual"], exact, bound, magnitude)

    def _judge_true_residual(self, fields, exact, magnitude):
        relative = fields.get("relative_true_residual")
        reported = fields.get("true_residual")
        if reported is None:  # of the command line: over |b| where that is not 0
            reported = relative * fields["rhs_norm"] if fields["rhs_norm"] > 0 else relative
            size = Binary.of(fields["rhs_norm"]) if math.isfinite(fields["rhs_norm"]) else ZERO
            if exact is not None and not math.isfinite(relative) and _LARGEST * size <= exact * Binary(2):
                return None  # over |b| it leaves the range
        if exact is None:
            if math.isfinite(reported):
                self._say("finite residual reported for an x with NaN or infinity", f"{reported:.3e}")
            return None
        working = self._of_residual(magnitude)  # if it was formed without more digits
        own = fields.get("residual_error_bound")
        if own is None or fields.get("way") == "operator":  # whose entries are not known: its bound is an estimate
            return self._compare("true_residual", reported, exact, working + self._rounding(8, exact, 52), magnitude)
        if not math.isfinite(own):
            if magnitude < _HUGE[self.single]:
                self._say("residual_error_bound is not finite", f"exact {_text(exact)}")
            return None
        bound = Binary.of(own) * _SLACK + self._rounding(8, exact, 52) + magnitude * _UNDERFLOW
        if not bound <= working * Binary(64) + _SUBNORMAL:
            self._say("residual_error_bound is too large to say anything", f"{own:.2e}, rounding {_text(working)}")
        return self._compare("true_residual", reported, exact, bound, magnitude)

    def _judge_rows(self, facts, fields, b, x):
        reported = fields.get("row_residual", -1.0)
        if reported < 0:  # not known
            return
        exact = facts.matrix.worst_row(b, x)
        entries = max((len(row) for row in facts.matrix.rows), default=0)
        if not abs(reported - exact) <= 1e-6 * exact + (4 + entries) * 2.0 ** (-23 if self.single else -52):
            self._say("row_residual is wrong", f"reported {reported:.6e}, exact {exact:.6e}")

    def _rounding(self, terms, value, digits):
        return Binary(terms + 8, -digits) * value + TINIEST * Binary(4)

    def _of_residual(self, magnitude):
        """What forming b - A x in the working precision may round."""
        entries = max((len(row) for row in self.case.rows(0)), default=0)
        return self._rounding(4 * entries, magnitude, 23 if self.single else 52) + (
            Binary(self.case.n * 4, -149) if self.single else ZERO)

    def _compare(self, name, reported, exact, bound, magnitude):
        if not math.isfinite(reported):
            if magnitude < _HUGE[self.single]:
                self._say(f"{name} is not finite", f"exact {_text(exact)}")
            return
        if _LARGEST <= exact and reported > 1e308:
            return
        if not abs(Binary.of(reported) - exact) <= bound:
            self._say(f"{name} is wrong", f"reported {reported:.6e}, exact {_text(exact)}, allowed {_text(bound)}")


def _text(number):
    """Also of a number outside the range of floats."""
    if number is None:
        return "not finite"
    value = float(number)
    if number.digits and (value == 0 or math.isinf(value)):
        return f"2^{number.exponent_of_value()}"
    return f"{value:.6e}"
