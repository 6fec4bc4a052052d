#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bone.mesh.gz: a thin, curved bone in millimetres, made up, for the tutorial on elasticity.

    make_bone.py FOLDER

A shaft of oval cross-section along an arc that also leans out of its plane, thicker towards both ends, as tetrahedra.
A cross-section is a grid of squares bent to the oval; six tetrahedra fill each cell between two of them. The inner
nodes are shifted a little, and all are numbered at random, as a mesh generator might. Rounded to a micrometre, so that
every machine writes the same file."""

import gzip
import math
import pathlib
import random
import sys

ALONG, ACROSS = 74, 4  # cells
LENGTH = 60.0


def axis(t):
    """Where the axis of the bone is at t from 0 to 1, and its directions: along it, and two across."""
    turn = math.radians(100) * t
    radius = LENGTH / math.radians(100)
    point = (radius * (1 - math.cos(turn)), 6 * math.sin(math.pi * t) ** 2, radius * math.sin(turn))
    along = (math.sin(turn), 0.0, math.cos(turn))
    return point, (along[2], 0.0, -along[0]), (0.0, 1.0, 0.0)


def half_axes(t):
    """Half the width and half the depth of a cross-section: a thin shaft, a broad foot and a round head."""
    foot, head = math.exp(-((t / 0.10) ** 2)), math.exp(-(((1 - t) / 0.09) ** 2))
    return 1.6 + 2.4 * foot + 2.2 * head, 1.1 + 1.2 * foot + 2.4 * head


def in_disc(u, v):
    """The square [-1, 1]^2 mapped onto the unit disc."""
    return u * math.sqrt(1 - v * v / 2), v * math.sqrt(1 - u * u / 2)


def nodes(chance):
    found = []
    for k in range(ALONG + 1):
        for j in range(ACROSS + 1):
            for i in range(ACROSS + 1):
                inside = 0 < k < ALONG and 0 < j < ACROSS and 0 < i < ACROSS
                shift = [0.18 * (2 * chance.random() - 1) if inside else 0.0 for _ in range(3)]
                t = (k + shift[0]) / ALONG
                u, v = in_disc(2 * (i + shift[1]) / ACROSS - 1, 2 * (j + shift[2]) / ACROSS - 1)
                (point, across, depth), (a, b) = axis(t), half_axes(t)
                found.append([p + a * u * c + b * v * d for p, c, d in zip(point, across, depth)])
    return found


def tetrahedra():
    """Six around the diagonal of each cell; two cells share the same diagonal of their common side."""
    def node(i, j, k):
        return (k * (ACROSS + 1) + j) * (ACROSS + 1) + i

    steps = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
    for k in range(ALONG):
        for j in range(ACROSS):
            for i in range(ACROSS):
                for order in steps:
                    at = [i, j, k]
                    corners = [node(*at)]
                    for direction in order:
                        at[direction] += 1
                        corners.append(node(*at))
                    yield corners


def volume(a, b, c, d):
    u, v, w = ([q - p for p, q in zip(a, other)] for other in (b, c, d))
    return sum(u[i] * (v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2]) for i in range(3)) / 6


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_bone.py FOLDER")
    chance = random.Random(1)
    points, tets = nodes(chance), list(tetrahedra())
    order = list(range(len(points)))
    chance.shuffle(order)
    number = {old: new + 1 for new, old in enumerate(order)}
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(points))]
    lines += [" ".join(f"{x:.3f}" for x in points[old]) + " 0" for old in order]
    lines += ["Tetrahedra", str(len(tets))]
    for tet in tets:
        if volume(*(points[i] for i in tet)) < 0:
            tet[2], tet[3] = tet[3], tet[2]
        lines.append(" ".join(str(number[i]) for i in tet) + " 0")
    text = "\n".join([*lines, "End", ""])
    with gzip.GzipFile(pathlib.Path(sys.argv[1]) / "bone.mesh.gz", "wb", mtime=0) as file:
        file.write(text.encode())


if __name__ == "__main__":
    main()
