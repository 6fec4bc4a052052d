#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small systems of docs/howto/solve-failed.md, each of which ends a solve in its own way.

    make_systems.py FOLDER

All are made up, from textbook formulas, and rounded to six digits, so that every machine writes the same files."""

import math
import pathlib
import random
import sys


def write(folder, name, comment, entries, n):
    """Entries {(i, j): value} from 0. A symmetric matrix is written as its lower triangle, a skew-symmetric one too."""
    rounded = {at: float(f"{value:.6g}") for at, value in entries.items() if value != 0}
    kind = next((kind for kind, sign in (("symmetric", 1), ("skew-symmetric", -1))
                 if all(rounded.get((j, i)) == sign * value for (i, j), value in rounded.items())), "general")
    kept = sorted((j, i, value) for (i, j), value in rounded.items() if kind == "general" or i >= j)
    lines = [f"%%MatrixMarket matrix coordinate real {kind}", *(f"% {line}" for line in comment), f"{n} {n} {len(kept)}"]
    lines += [f"{i + 1} {j + 1} {value:.6g}" for j, i, value in kept]
    (pathlib.Path(folder) / name).write_text("\n".join([*lines, ""]), encoding="utf-8")


def add(entries, rows, values):
    """Adds an element's matrix; rows below 0 are held."""
    for i, row in zip(rows, values):
        for j, value in zip(rows, row):
            if i >= 0 and j >= 0:
                entries[i, j] = entries.get((i, j), 0.0) + value


def bending_beam():
    """Deflections and slopes of a beam of 120 elements, clamped at both ends, by cubic elements."""
    count, h = 120, 1.0 / 120
    element = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
               [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]
    entries = {}
    for k in range(count):
        rows = [2 * node - 2 + d if 0 < node < count else -1 for node in (k, k + 1) for d in (0, 1)]
        add(entries, rows, [[value / h**3 for value in row] for row in element])
    return entries, 2 * (count - 1)


def truss():
    """Displacements of a tower of pin-jointed bars, 2 x 17 joints of which the lowest two are held."""
    entries, joints = {}, [(x, y) for y in range(17) for x in (0, 1)]
    for a, (xa, ya) in enumerate(joints):
        for b, (xb, yb) in enumerate(joints[:a]):
            length = math.hypot(xa - xb, ya - yb)
            if length < 1.5:
                u = ((xa - xb) / length, (ya - yb) / length)
                rows = [2 * joint - 4 + d if joint > 1 else -1 for joint in (a, b) for d in (0, 1)]
                along = [*u, -u[0], -u[1]]
                add(entries, rows, [[1e6 * p * q / length for q in along] for p in along])
    return entries, 2 * (len(joints) - 2)


def recycle():
    """Flows through a plant of 225 stages: what a stage gets is what the one before leaves, and a twentieth of what
    the one two places on sends back; the last feeds the first. No stage knows its own flow: the diagonal is empty."""
    n, entries = 225, {}
    for k in range(n):
        entries[k, (k + 1) % n] = 1.0
        entries[k, (k + 3) % n] = -0.05
    return entries, n


def lossless_line():
    """Currents and voltages of a line of 100 coils and capacitors without any resistance: skew-symmetric."""
    n, entries = 100, {}
    for k in range(n):
        for coil, capacitor, value in ((k, k, 1.0), (k, k - 1, -1.0)):
            if capacitor >= 0:
                entries[coil, n + capacitor], entries[n + capacitor, coil] = value, -value
    return entries, 2 * n


def reactions():
    """A step of backward Euler for 60 substances that turn into each other at rates from 1e-4 to 1e6."""
    chance, n, entries = random.Random(3), 60, {}
    for k in range(n):
        entries[k, k] = 1.0
    for k in range(3 * n):
        a, b, rate = chance.randrange(n), chance.randrange(n), 10 ** chance.uniform(-4, 6)
        if a != b:
            entries[a, a] += rate
            entries[b, a] = entries.get((b, a), 0.0) - rate
    return entries, n


SYSTEMS = (bending_beam, truss, recycle, lossless_line, reactions)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_systems.py FOLDER")
    for make in SYSTEMS:
        entries, n = make()
        write(sys.argv[1], f"{make.__name__}.mtx", [line.strip() for line in make.__doc__.splitlines()], entries, n)


if __name__ == "__main__":
    main()
