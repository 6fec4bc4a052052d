# SPDX-License-Identifier: Apache-2.0
"""Exact arithmetic for sums and products of floats, each of which is an integer times a power of two."""

import math
import struct
from fractions import Fraction


class Binary:
    """The number `digits` x 2^`exponent`, both integers of any length."""

    __slots__ = ("digits", "exponent")

    def __init__(self, digits, exponent=0):
        self.digits, self.exponent = digits, exponent

    @staticmethod
    def of(value):
        """A finite float, exactly."""
        mantissa, exponent = math.frexp(value)
        return Binary(int(math.ldexp(mantissa, 53)), exponent - 53)

    def __mul__(self, other):
        return Binary(self.digits * other.digits, self.exponent + other.exponent)

    def __add__(self, other):
        if self.exponent < other.exponent:
            self, other = other, self
        return Binary((self.digits << (self.exponent - other.exponent)) + other.digits, other.exponent)

    def __sub__(self, other):
        return self + Binary(-other.digits, other.exponent)

    def __abs__(self):
        return Binary(abs(self.digits), self.exponent)

    def __le__(self, other):
        return (self - other).digits <= 0

    def __lt__(self, other):
        return (self - other).digits < 0

    def root(self):
        """The square root to a relative error of 2^-100."""
        shift = max(0, 210 - self.digits.bit_length())
        shift += (self.exponent - shift) % 2
        return Binary(math.isqrt(self.digits << shift), (self.exponent - shift) // 2)

    def exponent_of_value(self):
        """The e of a value in [2^(e-1), 2^e); very small for 0."""
        return self.digits.bit_length() + self.exponent if self.digits else -(10**9)

    def __float__(self):
        """The nearest float, within an ulp; infinity above the range."""
        surplus = max(0, self.digits.bit_length() - 64)
        try:
            return math.ldexp(float(self.digits >> surplus), self.exponent + surplus)
        except OverflowError:
            return math.inf if self.digits > 0 else -math.inf


ZERO = Binary(0)
TINIEST = Binary(1, -1074)  # the smallest positive double


def rounded_to_float(value):
    """The nearest number in single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]


def largest(a, b):
    """The larger of two Binary numbers."""
    return b if a <= b else a


def scaled(values):
    """Integers and one exponent e with value = integer x 2^e, exactly."""
    parts = [math.frexp(value) for value in values]
    lowest = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    return [int(math.ldexp(mantissa, 53)) << (exponent - lowest) if mantissa else 0
            for mantissa, exponent in parts], lowest - 53


class Matrix:
    """A sparse matrix as integers with one exponent."""

    def __init__(self, rows):
        """`rows` has a list of (column, value) for each row; entries of one place are added."""
        digits, self.exponent = scaled([value for row in rows for _, value in row])
        digits = iter(digits)
        self.rows = [[(j, next(digits)) for j, _ in row] for row in rows]
        self.size = len(rows)

    def entries(self):
        """{(i, j): integer} without zeros, entries of one place added."""
        found = {}
        for i, row in enumerate(self.rows):
            for j, value in row:
                found[i, j] = found.get((i, j), 0) + value
        return {place: value for place, value in found.items() if value}

    def residuals(self, b, x):
        """(b - A x, |b| + |A||x|, their exponent): two lists of integers; b and x are lists of finite floats."""
        x, of_x = scaled(x)
        b, of_b = scaled(b)
        lowest = min(self.exponent + of_x, of_b)
        up_product, up_b = self.exponent + of_x - lowest, of_b - lowest
        differences, sizes = [], []
        for row, right in zip(self.rows, b):
            total = size = 0
            for j, value in row:
                product = value * x[j]
                total += product
                size += abs(product)
            differences.append((right << up_b) - (total << up_product))
            sizes.append((abs(right) << up_b) + (size << up_product))
        return differences, sizes, lowest

    def residual(self, b, x):
        """(|b - A x|, | |b| + |A||x| |), both 2-norms and Binary, to 2^-100."""
        differences, sizes, exponent = self.residuals(b, x)
        return tuple(Binary(sum(v * v for v in values), 2 * exponent).root() for values in (differences, sizes))

    def worst_row(self, b, x):
        """max |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|) over the rows, a float; 0 / 0 is 0."""
        differences, _, of_differences = self.residuals(b, x)
        sizes = Matrix([[(0, 0.0)]] * self.size)  # of the same rows, all entries positive, times the largest x
        sizes.rows = [[(0, sum(abs(value) for _, value in row))] for row in self.rows]
        sizes.exponent = self.exponent
        most = max(map(abs, x), default=0.0)
        _, denominators, exponent = sizes.residuals(b, [most] * self.size)
        shift = exponent - of_differences
        up, down = max(0, -shift), max(0, shift)
        return max(((abs(r) << up) / (d << down) for r, d in zip(differences, denominators) if d), default=0.0)


def norm(values):
    """The 2-norm of finite floats."""
    digits, exponent = scaled(values)
    return Binary(sum(d * d for d in digits), 2 * exponent).root()


_PRIME = 10**18 + 9  # a rank modulo it is the rank, but for a chance of about n 2000 / 10^18


def ranks(matrix, b):
    """The ranks of A and of [A b]."""
    right, _ = scaled(b)
    rows = [[0] * (matrix.size + 1) for _ in range(matrix.size)]
    for (i, j), value in matrix.entries().items():
        rows[i][j] = value % _PRIME
    for i, value in enumerate(right):
        rows[i][-1] = value % _PRIME
    rank = 0
    for column in range(matrix.size):
        pivot = next((k for k in range(rank, len(rows)) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        top = rows[rank]
        inverse = pow(top[column], -1, _PRIME)
        for row in rows[rank + 1:]:
            if row[column]:
                factor = row[column] * inverse % _PRIME
                for k in range(column, len(row)):
                    if top[k]:
                        row[k] = (row[k] - factor * top[k]) % _PRIME
        rank += 1
    return rank, rank + any(row[-1] for row in rows[rank:])


def left_null_vectors(matrix):
    """A basis of all y with y A = 0, as integers."""
    n = matrix.size
    rows = [[0] * n + [int(i == k) for k in range(n)] for i in range(n)]
    for (i, j), value in matrix.entries().items():
        rows[i][j] = value
    rank = 0
    for column in range(n):
        pivot = next((k for k in range(rank, n) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        top = rows[rank]
        for k in range(rank + 1, n):
            if rows[k][column]:
                p, q = top[column], rows[k][column]
                row = [p * v - q * t for v, t in zip(rows[k], top)]
                common = math.gcd(*row)
                rows[k] = [v // common for v in row]
        rank += 1
    return [row[n:] for row in rows[rank:]]


def least_residual(matrix, b):
    """A lower bound of |b - A x| over all x, Binary: the largest |y.b| / |y| of some y with y A = 0."""
    right, exponent = scaled(b)
    bound = ZERO
    for y in left_null_vectors(matrix):
        product, size = abs(sum(v * r for v, r in zip(y, right))), math.isqrt(sum(v * v for v in y) << 200) + 1
        bound = largest(bound, Binary((product << 300) // size, exponent - 200))
    return bound


def exact_least_residual(matrix, b):
    """The least |b - A x| over all x, Binary, from below to 2^-100: |P b|, P the projection onto all y with y A = 0."""
    right, exponent = scaled(b)
    basis = left_null_vectors(matrix)
    dot = lambda v, w: sum(p * q for p, q in zip(v, w))
    system = [[Fraction(dot(y, z)) for z in basis] + [Fraction(dot(y, right))] for y in basis]  # of P b = sum w_k y_k
    products = [row[-1] for row in system]
    for k, top in enumerate(system):  # positive definite, so without pivoting
        for row in system:
            if row is not top and row[k]:
                factor = row[k] / top[k]
                row[:] = [v - factor * t for v, t in zip(row, top)]
    square = sum(p * row[-1] / row[k] for k, (p, row) in enumerate(zip(products, system)))
    shift = 400
    return Binary(math.isqrt((square.numerator << shift) // square.denominator if square else 0), exponent - shift // 2)


def structural_rank(matrix):
    """The most rows that can be paired with different columns in which they have an entry: by augmenting paths."""
    columns = [[] for _ in range(matrix.size)]
    for i, j in matrix.entries():
        columns[i].append(j)
    row_of = {}

    def pair(i, tried):
        for j in columns[i]:
            if j not in tried:
                tried.add(j)
                if j not in row_of or pair(row_of[j], tried):
                    row_of[j] = i
                    return True
        return False

    return sum(pair(i, set()) for i in range(matrix.size))


def is_symmetric(matrix):
    """Whether a_ij = a_ji for all i and j, exactly."""
    entries = matrix.entries()
    return all(entries.get((j, i), 0) == value for (i, j), value in entries.items())


def is_positive_definite(matrix):
    """Whether p.Ap > 0 for all p, that is, whether A + A^T is positive definite: by elimination without fractions."""
    n = matrix.size
    a = [[0] * n for _ in range(n)]
    for (i, j), value in matrix.entries().items():
        a[i][j] += value
        a[j][i] += value
    before = 1
    for k in range(n):
        if a[k][k] <= 0:
            return False
        for i in range(k + 1, n):
            for j in range(i, n):
                a[i][j] = (a[i][j] * a[k][k] - a[k][i] * a[k][j]) // before  # of Bareiss: leaves no remainder
                a[j][i] = a[i][j]
        before = a[k][k]
    return True
