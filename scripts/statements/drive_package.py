# SPDX-License-Identifier: Apache-2.0
"""Solves the cases of drivers.py through the Python package: `solve`, `Solver`, operators, and SciPy's functions."""

import struct
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import newel


def exactly(size):
    """That many bytes of the standard input; ends the program at its end."""
    found = sys.stdin.buffer.read(size)
    if len(found) < size:
        sys.exit(0)
    return found


def read_request():
    (size,) = struct.unpack("<i", exactly(4))
    options = dict(line.split("=", 1) for line in exactly(size).decode().splitlines())
    n, entries, columns, rounds, single, form, given = struct.unpack("<7i", exactly(28))
    first = np.frombuffer(exactly(4 * (entries if form == 2 else n + 1)), np.int32)
    second = np.frombuffer(exactly(4 * entries), np.int32)
    numbers = []
    for _ in range(rounds):
        values = np.frombuffer(exactly(8 * entries))
        b = np.frombuffer(exactly(8 * n * columns)).reshape(columns, n).T
        x = np.frombuffer(exactly(8 * n * columns)).reshape(columns, n).T
        numbers.append((values, b, x))
    return options, n, columns, np.float32 if single else np.float64, form, given, first, second, numbers


def matrix_of(form, n, first, second, values):
    if form == 2:
        return sp.coo_array((values, (first, second)), shape=(n, n))
    return (sp.csr_array, sp.csc_array)[form]((values, second, first), shape=(n, n))


def answer(code, text, x=None):
    text = text.encode()
    sys.stdout.buffer.write(struct.pack("<ii", code, len(text)) + text)
    if x is not None:
        sys.stdout.buffer.write(np.asarray(x, dtype=np.float64).T.tobytes())
    sys.stdout.buffer.flush()


_NUMBERS = ("iterations", "true_residual", "initial_residual", "rhs_norm", "tolerance", "attainable_residual",
            "residual_error_bound", "row_residual")


def report_lines(column, report):
    fields = report.to_dict()
    lines = [f"{column}.converged={int(report.converged)}", f"{column}.history_length={len(report.history)}"]
    lines += [f"{column}.{name}={float(fields[name])!r}" for name in _NUMBERS
              if fields.get(name) is not None]
    lines += [f"{column}.{name}={fields[name]}" for name in ("status", "cause", "reason", "solver", "preconditioner")]
    reasons = "; ".join(f"{a['preconditioner']}: {a['reason']}" for a in report.attempts)
    return "\n".join(lines + [f"{column}.attempt_reasons={reasons}"]) + "\n"


def diagonal_operator(n, seed, dtype):
    """A preconditioner of the caller's, good for nothing, and indefinite at times."""
    diagonal = np.random.default_rng(seed).standard_normal(n).astype(dtype)
    diagonal = diagonal if seed % 2 else abs(diagonal)
    return LinearOperator((n, n), matvec=lambda v: diagonal * v.reshape(-1), dtype=dtype)


class Case:
    """A request, and the way it is solved."""

    def __init__(self):
        options, self.n, self.columns, self.dtype, self.form, given, first, second, self.numbers = read_request()
        self.matrices = [matrix_of(self.form, self.n, first, second, values.astype(self.dtype))
                         for values, _, _ in self.numbers]
        way = int(options["way"])
        self.limits = {"rtol": float(options["rtol"]), "atol": float(options["atol"])}
        self.most = int(options["max_iterations"])
        self.time_limit = float(options["time_limit"]) or None
        self.choices = {name: options[name] for name in ("solver", "preconditioner", "format", "precision")}
        self.choices["null_space"] = None if options["null_space"] == "none" else options["null_space"]
        self.choices["restart"] = int(options["restart"]) or None
        self.given = bool(given)
        plain = self.choices["precision"] != "mixed" and self.choices["null_space"] is None and self.columns == 1
        self.like_scipy = plain and way % 5 == 0 and self.choices["solver"] in ("auto", "cg", "bicgstab", "gmres",
                                                                                  "idrs", "fgmres")
        self.operator = plain and not self.like_scipy and way % 11 == 0
        self.in_one_call = len(self.numbers) == 1 and way % 2 == 0
        self.default = way % 7 == 0
        if self.choices["precision"] != "mixed" and way % 17 == 0:
            self.choices["preconditioner"] = diagonal_operator(self.n, way, self.dtype)

    def vectors(self, number):
        _, b, x = self.numbers[number]
        b, x = (np.asfortranarray(v.astype(self.dtype)) for v in (b, x))
        if self.columns == 1:
            b, x = b[:, 0], x[:, 0]
        return b, x if self.given else None

    def solve_all(self):
        solver = None
        for number, A in enumerate(self.matrices):
            b, x0 = self.vectors(number)
            if self.like_scipy:
                self.solve_like_scipy(A, b, x0)
                continue
            if self.operator:
                B = A.tocsr()
                A = LinearOperator(A.shape, matvec=lambda v, B=B: B @ v, dtype=self.dtype)
                preconditioner = self.choices["preconditioner"]
                if isinstance(preconditioner, str) and preconditioner != "auto":
                    preconditioner = "none"
                solver = newel.Solver(A, solver=self.choices["solver"], preconditioner=preconditioner,
                                       precision=self.choices["precision"], threads=1)
            elif self.in_one_call:
                few = self.default and self.choices["precision"] == "double"
                keywords = {} if few else dict(self.choices, threads=1)
                self.report(*newel.solve(A, b, x0, max_iterations=self.most, time_limit=self.time_limit,
                                          **self.limits, **keywords))
                continue
            elif solver is None:
                solver = newel.Solver(A, threads=1, columns=self.columns, **self.choices)
            else:
                solver.refresh(A if self.most % 2 else A.data)
            self.report(*solver.solve(b, x0, max_iterations=self.most, time_limit=self.time_limit, **self.limits))

    def solve_like_scipy(self, A, b, x0):
        name = self.choices["solver"] if self.choices["solver"] != "auto" else "gmres"
        M = self.choices["preconditioner"]
        M = None if isinstance(M, str) and M == "auto" else M
        most = min(max(1, self.most), 1000)
        x, info = getattr(newel, name)(A, b, x0, maxiter=most, M=M, **self.limits)
        answer(9, f"0.converged={int(info == 0)}\n", x)

    def report(self, x, reports):
        reports = reports if isinstance(reports, list) else [reports]
        way = "operator" if self.operator else "matrix"
        answer(9, "".join(f"{c}.way={way}\n" + report_lines(c, report) for c, report in enumerate(reports)), x)


def main():
    warnings.simplefilter("ignore")
    while True:
        case = Case()
        try:
            case.solve_all()
        except (ValueError, TypeError, MemoryError) as error:
            answer(2, f"error={error}")


if __name__ == "__main__":
    main()
