# SPDX-License-Identifier: Apache-2.0
"""Families of small matrices, regular and singular, good and bad, each drawn from a random generator."""


class Draft:
    """What a family makes: {(i, j): value}, with zeros that are to be stored, and what it wants of the rest."""

    def __init__(self, n):
        self.n = n
        self.entries = {}
        self.easy = False  # well conditioned: solved by every method, at tolerances above rounding
        self.neumann = False  # an option that names the null space makes sense

    def add(self, i, j, value):
        self.entries[i, j] = self.entries.get((i, j), 0.0) + value

    def spring(self, i, j, stiffness):
        """A spring between i and j; to the ground where j is None."""
        self.add(i, i, stiffness)
        if j is not None:
            self.add(j, j, stiffness)
            self.add(i, j, -stiffness)
            self.add(j, i, -stiffness)

    def drop_zeros(self):
        self.entries = {place: value for place, value in self.entries.items() if value}
        return self


def small_integer(rng):
    return float(round(rng.gauss(0, 4)))


def sparse_integers(rng):
    n = rng.randint(1, 45)
    draft, density = Draft(n), rng.uniform(1.5, 6) / n
    for i in range(n):
        for j in range(n):
            if rng.random() < density:
                draft.entries[i, j] = small_integer(rng)
    return draft.drop_zeros()


def empty_columns(rng):
    draft = sparse_integers(rng)
    gone = {rng.randrange(draft.n) for _ in range(rng.randint(1, 2))}
    draft.entries = {place: value for place, value in draft.entries.items() if place[1] not in gone}
    for i in range(draft.n):
        if not any(place[0] == i for place in draft.entries):
            others = [j for j in range(draft.n) if j not in gone]
            if others:
                draft.entries[i, rng.choice(others)] = rng.choice((-2.0, -1.0, 1.0, 3.0))
    return draft


def unpaired(rng):
    """Rows and columns that cannot all be paired: three columns in two rows, and rows and columns without an entry."""
    draft = rng.choice((sparse_integers, dominant, convection))(rng)
    draft.easy = False
    if draft.n > 3:
        rows, columns = rng.sample(range(draft.n), 2), rng.sample(range(draft.n), 3)
        draft.entries = {place: value for place, value in draft.entries.items() if place[1] not in columns}
        draft.entries.update({(i, j): small_integer(rng) for i in rows for j in columns})
    for part in (0, 1):
        gone = rng.randrange(draft.n)
        if rng.random() < 0.3:
            draft.entries = {place: value for place, value in draft.entries.items() if place[part] != gone}
    return draft


def zero_rows(rng):
    draft = rng.choice((sparse_integers, springs, dominant))(rng)
    draft.easy = False
    for _ in range(rng.randint(1, 2)):
        gone = rng.randrange(draft.n)
        for place in list(draft.entries):
            if place[0] == gone:
                draft.entries[place] = 0.0
        if rng.random() < 0.85:
            draft.entries.setdefault((gone, gone), 0.0)
        if rng.random() < 0.5:
            for place in list(draft.entries):
                if place[1] == gone:
                    draft.entries[place] = 0.0
    return draft


def graph_laplacian(rng):
    """Rows and columns sum to zero: singular, disconnected at times."""
    n = rng.choice((2, 3, 3, 4, 4, 5, rng.randint(2, 12), rng.randint(2, 45)))
    draft, density = Draft(n), rng.choice((1.0, 0.8, 3.0 / n, 1.5 / n))
    for i in range(n):
        draft.entries.setdefault((i, i), 0.0)
        for j in range(i):
            if rng.random() < density:
                draft.spring(i, j, float(rng.randint(1, rng.choice((1, 3, 9)))))
    draft.neumann = rng.random() < 0.4
    return draft


def skew(rng):
    """A^T = -A: singular for odd n."""
    n = rng.randint(2, 15)
    draft, density = Draft(n), rng.choice((1.0, 0.5, 2.5 / n))
    for i in range(n):
        for j in range(i):
            if rng.random() < density:
                value = small_integer(rng)
                draft.entries[i, j], draft.entries[j, i] = value, -value
        if rng.random() < 0.5:
            draft.entries[i, i] = 0.0
    return draft if rng.random() < 0.5 else draft.drop_zeros()


def nilpotent(rng):
    """Nothing on and below the diagonal of a numbering."""
    n = rng.randint(2, 20)
    order = list(range(n))
    rng.shuffle(order)
    draft = Draft(n)
    for i in range(n):
        draft.entries[order[i], order[i]] = 0.0
        for j in range(i + 1, n):
            if rng.random() < 3.0 / n:
                draft.entries[order[i], order[j]] = small_integer(rng)
    return draft


def springs(rng):
    """Grounded chains and grids of springs: symmetric positive definite, with a contrast of up to 1e12."""
    contrast = 10.0 ** rng.choice((0, 0, 1, 4, 7, 8, 10, 12)) * rng.choice((1.0, 1.0, 1.37))
    if rng.random() < 0.5:
        n = rng.randint(2, 45)
        draft = Draft(n)
        for i in range(n - 1):
            draft.spring(i, i + 1, contrast if rng.random() < 0.5 else 1.0)
        draft.spring(0, None, 1.0)
        if rng.random() < 0.5:
            draft.spring(n - 1, None, rng.choice((1.0, contrast)))
        return draft
    k = rng.randint(2, 6)
    draft = Draft(k * k)
    inside = lambda i: k // 3 <= i % k < 2 * k // 3 + 1 and k // 3 <= i // k < 2 * k // 3 + 1
    for i in range(k * k):
        for step, there in ((1, i % k < k - 1), (k, i // k < k - 1)):
            if there:
                draft.spring(i, i + step, contrast if inside(i) and inside(i + step) else 1.0)
        if i % k == 0:
            draft.spring(i, None, 1.0)
    return draft


def neumann(rng):
    """Springs without ground, of any stiffness: rows sum to zero but for rounding."""
    n = rng.randint(2, 45)
    draft, rough = Draft(n), rng.random() < 0.6
    stiffness = lambda: rng.uniform(0.1, 3) if rough else float(rng.randint(1, 5))
    for i in range(n - 1):
        draft.spring(i, i + 1, stiffness())
    for _ in range(rng.randint(0, n)):
        i, j = rng.randrange(n), rng.randrange(n)
        if i != j:
            draft.spring(i, j, stiffness())
    if rng.random() < 0.25:  # regular, whatever the options say
        draft.spring(rng.randrange(n), None, rng.choice((1.0, 1e-4, 1e-9, 1e-12)))
    draft.neumann = True
    return draft


def dominant(rng):
    """Strictly diagonally dominant: easy."""
    n = rng.randint(1, 45)
    draft, symmetric = Draft(n), rng.random() < 0.5
    for _ in range(rng.randint(0, 4 * n)):
        i, j = rng.randrange(n), rng.randrange(n)
        if i != j:
            value = rng.gauss(0, 1)
            draft.entries[i, j] = value
            if symmetric:
                draft.entries[j, i] = value
    sizes = [0.0] * n
    for (i, j), value in draft.entries.items():
        sizes[i] += abs(value)
    for i in range(n):
        draft.entries[i, i] = 1.0 + 2.0 * sizes[i]
    draft.easy = True
    return draft


def graded(rng):
    """Rows, columns or both of another family in very different units."""
    draft = rng.choice((dominant, dominant, springs, sparse_integers, convection))(rng)
    reach = rng.choice((3, 6, 10))
    rows = [2.0 ** round(rng.uniform(-reach, reach) * 3.3) for _ in range(draft.n)]
    columns = [2.0 ** round(rng.uniform(-reach, reach) * 3.3) for _ in range(draft.n)]
    which = rng.randrange(4)
    ones = [1.0] * draft.n
    rows, columns = ((rows, ones), (ones, columns), (rows, rows), (rows, columns))[which]
    draft.entries = {(i, j): value * rows[i] * columns[j] for (i, j), value in draft.entries.items()}
    draft.easy = False
    return draft


def convection(rng):
    """A wind over a line or a grid."""
    k = rng.randint(2, 6)
    draft, wind = Draft(k * k), rng.choice((0.1, 0.5, 1.0, 5.0))
    for i in range(k * k):
        draft.entries[i, i] = 4.0 + wind
        for step, there, value in ((1, i % k < k - 1, -1.0), (-1, i % k > 0, -1.0 - wind), (k, i // k < k - 1, -1.0),
                                   (-k, i // k > 0, -1.0)):
            if there:
                draft.entries[i, i + step] = value
    return draft


def penalty(rng):
    """Values on the boundary prescribed by huge diagonal entries."""
    draft = rng.choice((springs, convection))(rng)
    for i in range(draft.n):
        if rng.random() < 0.25:
            draft.entries[i, i] = draft.entries.get((i, i), 0.0) + 10.0 ** rng.choice((8, 15, 20, 30))
    return draft


def diagonal(rng):
    n = rng.randint(1, 40)
    draft = Draft(n)
    for i in range(n):
        draft.entries[i, i] = rng.choice((1.0, small_integer(rng), rng.gauss(0, 1), 10.0 ** rng.randint(-12, 12)))
    return draft


def low_rank(rng):
    """A product of thin integer matrices: dense, and singular to the last digit."""
    n = rng.randint(2, 9)
    rank = rng.randint(1, n)
    left = [[float(rng.randint(-3, 3)) for _ in range(rank)] for _ in range(n)]
    right = left if rng.random() < 0.5 else [[float(rng.randint(-3, 3)) for _ in range(rank)] for _ in range(n)]
    draft = Draft(n)
    for i in range(n):
        for j in range(n):
            draft.entries[i, j] = sum(p * q for p, q in zip(left[i], right[j]))
    return draft if rng.random() < 0.5 else draft.drop_zeros()


def saddle(rng):
    """Symmetric and indefinite, with zeros on the diagonal, stored or not."""
    n, m = rng.randint(1, 20), rng.randint(1, 8)
    draft, stored = Draft(n + m), rng.random() < 0.5
    for i in range(n):
        draft.entries[i, i] = float(rng.randint(1, 5))
    for i in range(n, n + m):
        for _ in range(rng.randint(1, 3)):
            j = rng.randrange(n)
            draft.entries[i, j] = draft.entries[j, i] = float(rng.choice((-2, -1, 1, 2)))
        if stored:
            draft.entries[i, i] = 0.0
    return draft


def indefinite(rng):
    """Symmetric and indefinite: a shifted chain or grid, or random entries on both sides of the diagonal."""
    n = rng.randint(2, 60)
    draft = Draft(n)
    if rng.random() < 0.5:
        width = rng.choice((1, 1, rng.randint(2, 8)))
        shift = rng.choice((0.5, 1.0, 1.9, 2.0, 2.0 * rng.random(), 2.0 + 2.0 * rng.random()))
        for i in range(n):
            draft.entries[i, i] = 2.0 * (1 if width == 1 else 2) - shift
            for j in {i + 1, i + width}:
                if j < n:
                    draft.entries[i, j] = draft.entries[j, i] = -1.0
        return draft
    density = rng.uniform(1, 6) / n
    for i in range(n):
        if rng.random() < 0.7:
            draft.entries[i, i] = rng.gauss(0, 1)
        for j in range(i):
            if rng.random() < density:
                draft.entries[i, j] = draft.entries[j, i] = rng.gauss(0, 1)
    return draft


def permutation(rng):
    """One entry in each row and column."""
    n = rng.randint(1, 12)
    order = list(range(n))
    rng.shuffle(order)
    draft = Draft(n)
    for i, j in enumerate(order):
        draft.entries[i, j] = rng.choice((1.0, -1.0, small_integer(rng) or 1.0))
    return draft


FAMILIES = (sparse_integers, sparse_integers, empty_columns, unpaired, zero_rows, graph_laplacian, graph_laplacian, skew,
            nilpotent, springs, springs, neumann, dominant, dominant, graded, convection, penalty, diagonal, low_rank,
            saddle, permutation, indefinite)
