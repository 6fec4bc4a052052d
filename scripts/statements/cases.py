# SPDX-License-Identifier: Apache-2.0
"""A case: a small system with right-hand sides, guesses and options, all drawn from one seed."""

import math
import random

from . import families
from .exact import rounded_to_float

INTERFACES = ("python", "c", "cpp", "fortran", "command")
_SOLVERS = ("auto",) * 6 + ("cg", "cg", "bicgstab", "gmres", "gmres", "minres", "idrs", "fgmres")
_PRECONDITIONERS = ("auto",) * 6 + ("none", "none", "jacobi", "jacobi", "l1-jacobi", "block-jacobi",
                                    "spai0", "spai", "fsai", "amg", "amg", "ilu", "ilut", "ic")
_FORMATS = ("auto",) * 8 + ("csr", "ehyb", "ehyb-symmetric", "bce", "ellwarp", "evchyb")
_TOLERANCES = (1e-8,) * 6 + (0.0, 1e-17, 1e-15, 1e-13, 1e-12, 1e-10, 1e-6, 1e-5, 1e-3, 1e-2, 0.5)
_LIMITS = (10000, 10000, 3000, 1000, 1000, 300, 300, 100, 50, 20, 5, 3, 2, 1, 0)
_DEFAULTS = {"solver": "auto", "preconditioner": "auto", "format": "auto", "precision": "double", "rtol": 1e-8,
             "atol": 0.0, "max_iterations": 10000, "time_limit": 0.0, "null_space": "none", "restart": 0}


class Round:
    """Values of the matrix, right-hand sides and guesses of one solve."""

    def __init__(self, values, b, guess):
        self.values = values  # one for each place
        self.b = b  # a list for each column
        self.guess = guess  # the same, or None


class Case:
    """A pattern, rounds of values on it, and options by the names of newel.h."""

    def __init__(self, seed, interface=None, plain=False):
        """With `plain`, the user has chosen nothing: no option, no guess, only finite right-hand sides."""
        rng = random.Random(seed)
        self.seed = seed
        self.plain = plain
        self.interface = rng.choice(INTERFACES)
        self.interface = interface or self.interface
        make = rng.choice(families.FAMILIES)
        self.family = make.__name__
        draft = make(rng)
        self.n = draft.n
        self.options = _options(rng, draft)
        self.single = self.options["precision"] == "single"
        self.way = rng.randrange(2**31)  # which of its ways an interface goes
        if plain:
            self._choose_nothing()
        elif seed % 13 == 0:
            self._use_direct()
        self.places = sorted(draft.entries)
        self.columns = rng.choice((1,) * 8 + (2, 3, 9))
        self.rounds = []
        of_matrix, of_rhs = _unit(rng, self.single), _unit(rng, self.single)
        for number in range(rng.choice((1,) * 7 + (2, 3))):
            self.rounds.append(self._round(rng, draft, of_matrix, of_rhs, number))
        self._choose_form(rng)
        limits = 100 if not self.single else 10
        self.easy = (draft.easy and abs(math.log10(of_matrix)) < limits and abs(math.log10(of_rhs)) < limits
                     and self._nothing_hinders())

    def _use_direct(self):
        """Factors of the matrix, which take no preconditioner, null space or operator. Draws no number."""
        self.options.update(solver="direct", preconditioner="auto", null_space="none")
        while any(self.way % ways == 0 for ways in (5, 9, 11, 17)):
            self.way += 1

    def _choose_nothing(self):
        """The defaults of every interface, by a way that passes the matrix itself and sets nothing else."""
        self.options = dict(_DEFAULTS)
        self.single = False
        while any(self.way % ways == 0 for ways in (4, 5, 9, 11, 13, 17)) or self.way % 16 == 1:
            self.way += 1

    def _nothing_hinders(self):
        o = self.options
        return (o["rtol"] >= (1e-4 if self.single else 1e-10) and o["max_iterations"] >= 300 and not o["time_limit"]
                and o["null_space"] == "none" and o["solver"] not in ("cg", "minres")
                and o["preconditioner"] not in ("fsai", "amg", "ic")
                and o["restart"] in (0, 50)
                and all(r.guess is None or all(abs(v) < 1e3 for c in r.guess for v in c) for r in self.rounds)
                and all(math.isfinite(v) for r in self.rounds for c in r.b for v in c))

    def _round(self, rng, draft, of_matrix, of_rhs, number):
        values = [draft.entries[place] for place in self.places]
        if number > 0:
            change = rng.choice((2.0, 0.5, -1.0, 1.0 + rng.random(), 2.0 ** rng.randint(-40, 40)))
            values = [value * change for value in values]
        values = [self._rounded(value * of_matrix) for value in values]
        rows = [[] for _ in range(self.n)]
        for i, j in self.places:
            rows[i].append((j, draft.entries[i, j]))
        b = [[self._rounded(value * of_rhs) for value in _right_hand_side(rng, rows)] for _ in range(self.columns)]
        if rng.random() < 0.005 and not self.plain:
            b[-1][rng.randrange(self.n)] = rng.choice((math.nan, math.inf))
        return Round(values, b, self._guess(rng, of_rhs / of_matrix if of_matrix > 1e-290 else 1.0)
                     if not self.plain else None)

    def _guess(self, rng, unit):
        kind = rng.choice(("none",) * 12 + ("zero", "random", "random", "unit", "huge", "nan"))
        if kind == "none":
            return None
        largest = 30 if self.single else 300
        size = {"zero": 0.0, "random": 1.0, "unit": unit, "huge": 10.0 ** rng.randint(8, largest), "nan": 1.0}[kind]
        guess = [[self._rounded(rng.gauss(0, 1) * size) for _ in range(self.n)] for _ in range(self.columns)]
        if kind == "nan":
            column = rng.randrange(self.n)
            empty = sorted(set(range(self.n)) - {j for _, j in self.places})
            guess[0][rng.choice(empty) if empty and rng.random() < 0.7 else column] = rng.choice((math.nan, math.inf))
        return guess

    def _rounded(self, value):
        """In the precision of the arrays, and finite."""
        if not self.single:
            return max(-1e300, min(1e300, value))
        return rounded_to_float(max(-1e38, min(1e38, value)))

    def _choose_form(self, rng):
        """Entries in two halves, whose sum is exact, and in any order, for forms that allow both."""
        self.form = rng.choice(("csr", "csr", "csr", "csc", "coo"))
        self.entries = list(range(len(self.places)))  # stored entry -> place
        self.halved = False
        if rng.random() < 0.1:
            self.halved = all(v == 2 * (v / 2) and abs(v) > 1e-30 for r in self.rounds for v in r.values if v)
            if self.halved:
                self.entries += self.entries
        if rng.random() < 0.2 or self.halved:
            rng.shuffle(self.entries)

    def stored(self):
        """(first indices, second indices, list of values for each round), as `form` has them; from zero."""
        order = self.entries
        share = 0.5 if self.halved else 1.0
        if self.form == "coo":
            first = [self.places[k][0] for k in order]
            second = [self.places[k][1] for k in order]
        else:
            major, minor = (0, 1) if self.form == "csr" else (1, 0)
            order = sorted(order, key=lambda k: self.places[k][major])
            first, second = [0] * (self.n + 1), [self.places[k][minor] for k in order]
            for k in order:
                first[self.places[k][major] + 1] += 1
            for i in range(self.n):
                first[i + 1] += first[i]
        return first, second, [[r.values[k] * share for k in order] for r in self.rounds]

    def rows(self, number):
        """Lists of (column, value) for the rows of a round."""
        rows = [[] for _ in range(self.n)]
        for (i, j), value in zip(self.places, self.rounds[number].values):
            rows[i].append((j, value))
        return rows


def _options(rng, draft):
    options = {
        "solver": rng.choice(_SOLVERS),
        "preconditioner": rng.choice(_PRECONDITIONERS),
        "format": rng.choice(_FORMATS),
        "precision": rng.choice(("double",) * 6 + ("single", "mixed")),
        "rtol": rng.choice(_TOLERANCES),
        "atol": 0.0 if rng.random() < 0.8 else 10.0 ** rng.uniform(-20, 2),
        "max_iterations": rng.choice(_LIMITS),
        "time_limit": rng.choice((0.0,) * 30 + (1e-9, 1e-4, 10.0)),
        "null_space": "constant" if rng.random() < (0.7 if draft.neumann else 0.03) else "none",
        "restart": rng.choice((0,) * 8 + (1, 3, 10, 50)),
    }
    if options["rtol"] == 0.0 and rng.random() < 0.7:
        options["atol"] = 10.0 ** rng.uniform(-20, 2)
    return options


def _unit(rng, single):
    """A factor for all values: 1, or one that leads to the ends of the range, a power of two or not."""
    if rng.random() < 0.6:
        return 1.0
    if rng.random() < 0.6:
        return 2.0 ** rng.randint(*((-100, 100) if single else (-1030, 990)))
    return 10.0 ** rng.randint(*((-30, 30) if single else (-309, 299)))


def _right_hand_side(rng, rows):
    n = len(rows)
    kind = rng.choice(("image", "image", "image", "near", "ones", "unit", "random", "integers", "balanced", "zero"))
    if kind in ("image", "near"):
        x = [families.small_integer(rng) if rng.random() < 0.8 else rng.gauss(0, 1) for _ in range(n)]
        b = [sum(value * x[j] for j, value in row) for row in rows]
        if kind == "near":
            size = 10.0 ** rng.randint(-17, -2) * (max(map(abs, b)) or 1.0)
            b = [value + size * rng.gauss(0, 1) for value in b]
        return b
    if kind == "balanced":
        b = [families.small_integer(rng) for _ in range(n)]
        b[-1] -= sum(b)
        return b
    draws = {"ones": lambda: 1.0, "unit": lambda: 0.0, "random": lambda: rng.gauss(0, 1),
             "integers": lambda: families.small_integer(rng), "zero": lambda: 0.0}
    b = [draws[kind]() for _ in range(n)]
    if kind == "unit":
        b[rng.randrange(n)] = 1.0
    return b
