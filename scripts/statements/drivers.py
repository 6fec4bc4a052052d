# SPDX-License-Identifier: Apache-2.0
"""Programs that solve cases from their standard input: what is written to them, and what they answer.

A request, little-endian: the bytes of the options as int32, the options as lines "name=value"; int32 numbers n, stored
entries, columns, rounds, single, form (0: csr, 1: csc, 2: coo), guess (0: zero, 1: given); the two arrays of indices,
which count from zero; and for each round in double precision the values, b and x, column after column.
An answer for each round: int32 status as in newel.h, or 9 for a program that does not know its status, the bytes of
the report as int32, the report as lines "column.name=value", and x unless the status is 2 to 8; then nothing follows.
"""

import os
import select
import struct
import subprocess
import time
from array import array

FORMS = {"csr": 0, "csc": 1, "coo": 2}


class Answer:
    """What an interface says of a round."""

    def __init__(self, code, reports, x, error=""):
        self.code = code  # 0 converged, 1 not, 2 and more: refused; 9: only the reports say
        self.reports = reports  # a dictionary for each column
        self.x = x  # a list of floats for each column
        self.error = error


class Silence(Exception):
    """A program has ended, or does not answer."""


def encode(case):
    """The request of a case."""
    options = dict(case.options, way=case.way)
    text = "".join(f"{name}={value!r}\n" if isinstance(value, float) else f"{name}={value}\n"
                   for name, value in options.items()).encode()
    first, second, values = case.stored()
    given = any(r.guess is not None for r in case.rounds)
    parts = [struct.pack("<i", len(text)), text,
             struct.pack("<7i", case.n, len(second), case.columns, len(case.rounds), case.single, FORMS[case.form],
                         given),
             array("i", first).tobytes(), array("i", second).tobytes()]
    for one, stored in zip(case.rounds, values):
        guess = one.guess or [[0.0] * case.n] * case.columns
        parts += [array("d", stored).tobytes()] + [array("d", c).tobytes() for c in one.b + guess]
    return b"".join(parts)


def number_of(text):
    """A float from decimal or hexadecimal digits."""
    return float.fromhex(text) if "x" in text else float(text)


def reports_of(text, columns):
    """The reports in an answer, and the error, if any."""
    reports, error = [{} for _ in range(columns)], ""
    for line in text.decode(errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name == "error":
            error = value
            continue
        column, _, name = name.partition(".")
        try:
            reports[int(column)][name] = number_of(value)
        except ValueError:
            reports[int(column)][name] = value
    return reports, error


class Driver:
    """One program, started when it is needed, and again after its end."""

    def __init__(self, command, limit):
        self.command, self.limit = command, limit
        self.process = None

    def answers(self, case):
        """An Answer for each round that was answered. Raises Silence."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        try:
            return self._converse(case)
        except (Silence, BrokenPipeError):
            self.process.kill()
            code = self.process.wait()
            self.process = None
            raise Silence(f"no answer within {self.limit} s" if code == -9 else f"ended with status {code}") from None

    def _converse(self, case):
        self.process.stdin.write(encode(case))
        self.process.stdin.flush()
        until = time.monotonic() + self.limit
        found = []
        for _ in case.rounds:
            code, size = struct.unpack("<ii", self._read(8, until))
            reports, error = reports_of(self._read(size, until), case.columns)
            x = []
            if code in (0, 1, 9):
                numbers = array("d", self._read(8 * case.n * case.columns, until))
                x = [list(numbers[c * case.n:(c + 1) * case.n]) for c in range(case.columns)]
            found.append(Answer(code, reports, x, error))
            if code not in (0, 1, 9):
                break
        return found

    def _read(self, size, until):
        found, descriptor = b"", self.process.stdout.fileno()
        while len(found) < size:
            if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
                raise Silence
            part = os.read(descriptor, size - len(found))
            if not part:
                self.process.wait(10)
                raise Silence
            found += part
        return found

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait(10)
            self.process = None
