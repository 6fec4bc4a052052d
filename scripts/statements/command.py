# SPDX-License-Identifier: Apache-2.0
"""The command line: a case in files, a process for each round."""

import json
import os
import subprocess
import tempfile

from .drivers import Answer, Silence
from .exact import rounded_to_float

_FLAGS = {"solver": "--solver", "preconditioner": "--precond", "format": "--format", "precision": "--precision",
          "rtol": "--rtol", "atol": "--atol", "max_iterations": "--max-iterations", "null_space": "--null-space"}


class Command:
    """`program` solve A.mtx --rhs b.mtx --out x.mtx --report r.json, with the options of a case."""

    def __init__(self, program, limit):
        self.program, self.limit = program, limit
        self.folder = tempfile.TemporaryDirectory(prefix="statements")

    def answers(self, case):
        return [self._answer(case, number) for number in range(len(case.rounds))]

    def arguments(self, case, number, folder):
        """Writes the files into `folder`, and returns the arguments without the program."""
        one = case.rounds[number]
        _write_matrix(os.path.join(folder, "A.mtx"), case, number)
        _write_columns(os.path.join(folder, "b.mtx"), one.b)
        found = ["solve", "A.mtx", "--rhs", "b.mtx", "--out", "x.mtx", "--report", "r.json", "--threads", "1",
                 "--quiet"]
        if one.guess is not None:
            _write_columns(os.path.join(folder, "x0.mtx"), one.guess)
            found += ["--guess", "x0.mtx"]
        for name, flag in _FLAGS.items():
            found += [flag, str(case.options[name])]
        if case.options["time_limit"] > 0:
            found += ["--time-limit", str(case.options["time_limit"])]
        if case.options["restart"] > 0:
            found += ["--restart", str(case.options["restart"])]
        if case.way % 4 == 0:
            found += ["--left"]
        if case.way % 16 == 1:
            found += ["--basis", "single"]
        return found

    def _answer(self, case, number):
        folder = self.folder.name
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        command = [self.program] + self.arguments(case, number, folder)
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=self.limit, check=False)
        except subprocess.TimeoutExpired:
            raise Silence(f"no answer within {self.limit} s") from None
        if done.returncode not in (0, 1, 2):
            raise Silence(f"ended with status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
        if done.returncode == 2:
            return Answer(2, [], [], done.stderr.decode(errors="replace"))
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
        x = _read_columns(os.path.join(folder, "x.mtx"), case.n, case.columns)
        if case.single:  # with the digits that a float needs, and not those of its value as a double
            x = [[rounded_to_float(value) for value in column] for column in x]
        return Answer(done.returncode, [_fields(r) for r in report.get("columns", [report])], x)

    def close(self):
        self.folder.cleanup()


def _fields(report):
    """A report of the command line with the names of the library. What is not finite is null there."""
    nan = float("nan")
    number = lambda name: nan if report.get(name) is None else report[name]
    unit = number("rhs_norm") if number("rhs_norm") > 0 else 1.0
    fields = {name: report[name] for name in ("status", "cause", "reason", "solver", "iterations")}
    fields["converged"] = 1.0 if report["converged"] else 0.0
    for name in ("rhs_norm", "tolerance", "initial_residual"):
        fields[name] = number(name)
    fields["relative_true_residual"] = number("true_relative_residual")
    for name in ("residual_error_bound", "row_residual"):
        if report.get(name) is not None:
            fields[name] = number(name)
    fields["attainable_residual"] = (report.get("attainable_relative_residual") or 0.0) * unit
    fields["history_length"] = len(report["history"])
    fields["attempt_reasons"] = "; ".join(f"{a['preconditioner']}: {a['reason']}" for a in report["attempts"])
    return fields


def _write_matrix(path, case, number):
    order = case.entries
    share = 0.5 if case.halved else 1.0
    values = case.rounds[number].values
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{case.n} {case.n} {len(order)}\n")
        for k in order:
            file.write(f"{case.places[k][0] + 1} {case.places[k][1] + 1} {values[k] * share!r}\n")


def _write_columns(path, columns):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{len(columns[0])} {len(columns)}\n")
        for column in columns:
            file.write("".join(f"{value!r}\n" for value in column))


def _read_columns(path, n, columns):
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if not line.startswith("%")]
    numbers = [float(line) for line in lines[1:]]
    assert len(numbers) == n * columns, f"{path} has {len(numbers)} numbers"
    return [numbers[c * n:(c + 1) * n] for c in range(columns)]
