# SPDX-License-Identifier: Apache-2.0
"""A direct solver in floating point, refined by exact residuals: what can be attained, and how large x is."""

import math

from .exact import Binary


class Elimination:
    """P A = L U with rows, and columns if that is wanted, in units that make their largest entries about 1."""

    def __init__(self, matrix, by_columns=True):
        n = self.size = matrix.size
        self.matrix = matrix
        entries = matrix.entries()
        bits = {place: abs(value).bit_length() for place, value in entries.items()}
        top = max(bits.values(), default=0)
        self.of_row = [max((b for (i, _), b in bits.items() if i == k), default=top) for k in range(n)]
        if not by_columns:
            self.of_row = [top] * n
        self.of_column = [0] * n
        if by_columns:
            relative = [(j, b - self.of_row[i]) for (i, j), b in bits.items()]
            self.of_column = [max((b for j, b in relative if j == k), default=0) for k in range(n)]
        self.a = [[0.0] * n for _ in range(n)]
        for (i, j), value in entries.items():
            self.a[i][j] = float(Binary(value, -self.of_row[i] - self.of_column[j]))
        self.order = list(range(n))
        self.singular = not self._eliminate()

    def _eliminate(self):
        a, n = self.a, self.size
        for k in range(n):
            pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
            if abs(a[pivot][k]) < 1e-15:
                return False
            a[k], a[pivot] = a[pivot], a[k]
            self.order[k], self.order[pivot] = self.order[pivot], self.order[k]
            for i in range(k + 1, n):
                if a[i][k]:
                    factor = a[i][k] = a[i][k] / a[k][k]
                    for j in range(k + 1, n):
                        a[i][j] -= factor * a[k][j]
        return True

    def solve(self, right):
        """y with (R A C) y = right, for floats."""
        y = [right[i] for i in self.order]
        for i in range(self.size):
            y[i] -= sum(self.a[i][j] * y[j] for j in range(i))
        for i in reversed(range(self.size)):
            y[i] = (y[i] - sum(self.a[i][j] * y[j] for j in range(i + 1, self.size))) / self.a[i][i]
        return y

    def condition(self):
        """An upper bound of the condition number in the 2-norm, of the matrix in its units; before elimination."""
        entries = self.matrix.entries()
        size = math.sqrt(sum(float(Binary(v, -self.of_row[i] - self.of_column[j])) ** 2
                             for (i, j), v in entries.items()))
        unit = lambda k: [1.0 if i == k else 0.0 for i in range(self.size)]
        return size * math.sqrt(sum(v * v for k in range(self.size) for v in self.solve(unit(k))))

    def solution(self, b, rounded=float, steps=3):
        """x in floats, each `rounded`, refined; and the exponent of its largest element. None where x overflows."""
        x = [0.0] * self.size
        largest = None
        for _ in range(steps):
            r, _, exponent = self.matrix.residuals(b, x)
            shift = max((abs(v).bit_length() - self.of_row[i] for i, v in enumerate(r)), default=0)
            y = self.solve([float(Binary(v, -self.of_row[i] - shift)) for i, v in enumerate(r)])
            up = exponent - self.matrix.exponent + shift
            if largest is None:
                largest = max((math.frexp(v)[1] + up - self.of_column[j] for j, v in enumerate(y) if v), default=-9999)
            try:
                x = [rounded(v + math.ldexp(d, up - self.of_column[j])) for j, (v, d) in enumerate(zip(x, y))]
            except OverflowError:
                return None, largest
            if not all(map(math.isfinite, x)):
                return None, largest
        return x, largest
