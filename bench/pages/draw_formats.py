#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how the small matrix of docs/formats.md lies in memory in each format: docs/pictures/format_NAME.svg.

    bench/pages/draw_formats.py [FOLDER]      docs/pictures by default

A warp has two lanes here, a part four rows, and ELL ends at three entries a row; everything else is as the formats' own
pages say it. Needs nothing but Python.
"""
import pathlib
import sys

ROWS = 8
EDGES = ((0, 1), (0, 2), (1, 2), (1, 3), (1, 6), (3, 4), (4, 5), (4, 6))
LANES = 2
PART_ROWS = 4
LONGEST_ELL_ROW = 3
COLOURS = ("#f4b8b0", "#b5d3f0", "#fbe3a2", "#c5e3b8", "#d9c6ee", "#f7cfa0", "#a9e0da", "#d8d8d8")  # of each row
CELL = 20


def entries():
    """{row: {column: letter}}, letters in the order of the rows."""
    pattern = sorted({(i, i) for i in range(ROWS)} | {(i, j) for i, j in EDGES} | {(j, i) for i, j in EDGES})
    rows = {i: {} for i in range(ROWS)}
    for letter, (i, j) in zip("abcdefghijklmnopqrstuvwxyz", pattern):
        rows[i][j] = letter
    return rows


MATRIX = entries()


def length(row):
    return len(MATRIX[row])


class Picture:
    """Cells and words, and how far they reach."""

    def __init__(self):
        self.parts, self.right, self.bottom = [], 0, 0

    def cell(self, x, y, text, row=None, column=False):
        """A slot with a value of that row; without a row, padding or an empty place of the matrix."""
        fill = "white" if row is None else COLOURS[row]
        self.parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#888" stroke-width="0.7"'
                          + (' fill-opacity="0.45"' if column else "") + "/>")
        self.words(x + CELL / 2, y + 14, text, "middle")
        self.reach(x + CELL, y + CELL)

    def words(self, x, y, text, anchor="start"):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>')
        self.reach(x + (0 if anchor == "end" else 6.6 * len(str(text)) * (0.5 if anchor == "middle" else 1)), y + 4)

    def reach(self, x, y):
        self.right, self.bottom = max(self.right, x), max(self.bottom, y)

    def strip(self, x, y, label, cells, column=False):
        """An array: (text, row) one after the other, None for a gap. Returns where the next one may stand."""
        self.words(x - 6, y + 14, label, "end")
        at = x
        for cell in cells:
            if cell is None:
                at += 6
                continue
            self.cell(at, y, *cell, column=column)
            at += CELL
        return y + CELL + 6

    def save(self, path, title):
        width, height = round(self.right + 10), round(self.bottom + 8)
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12"><title>{title}</title><rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")
        print("written:", path)


def with_matrix(marked=lambda i, j: True):
    """A picture with the matrix on its left; entries that are not marked are shown without colour."""
    picture = Picture()
    for k in range(ROWS):
        picture.words(34 + CELL * k + CELL / 2, 16, k, "middle")
        picture.words(26, 36 + CELL * k, k, "end")
    for i in range(ROWS):
        for j in range(ROWS):
            letter = MATRIX[i].get(j, "")
            picture.cell(34 + CELL * j, 22 + CELL * i, letter, i if letter and marked(i, j) else None)
    return picture


LEFT = 34 + CELL * ROWS + 140  # where arrays begin


def columns_of(value_rows):
    """Slots column by column: (row, k) for the k-th entry of each row of a group as wide as its longest row; k is None
    for padding."""
    wide = max((length(row) for row in value_rows), default=0)
    return [(row, k if k < length(row) else None) for k in range(wide) for row in value_rows]


def slot(row, k):
    return ("*", None) if k is None else (list(MATRIX[row].values())[k], row)


def column(row, k):
    """Padding repeats the last column of its row."""
    return (list(MATRIX[row])[-1 if k is None else k], row)


def grouped(groups, how):
    """The slots of all groups with gaps between them."""
    return [cell for group in groups for cell in [*(how(row, k) for row, k in columns_of(group)), None]]


def csr():
    picture = with_matrix()
    y = picture.strip(LEFT, 40, "value", [slot(i, k) for i in range(ROWS) for k in range(length(i))])
    y = picture.strip(LEFT, y, "column", [column(i, k) for i in range(ROWS) for k in range(length(i))], column=True)
    bounds = [sum(length(i) for i in range(k)) for k in range(ROWS + 1)]
    picture.strip(LEFT, y, "row_ptr", [(bound, None) for bound in bounds])
    return picture


def in_groups(groups, label):
    picture = with_matrix()
    y = picture.strip(LEFT, 40, label, [cell for group in groups for cell in [*((row, row) for row in group), None]])
    y = picture.strip(LEFT, y, "value", grouped(groups, slot))
    picture.strip(LEFT, y, "column", grouped(groups, column), column=True)
    return picture


def by_length(rows=range(ROWS)):
    return sorted(rows, key=lambda row: -length(row))


def cut(rows, size):
    rows = list(rows)
    return [rows[k : k + size] for k in range(0, len(rows), size)]


def ellwarp():
    return in_groups(cut(by_length(), LANES), "rows, two a warp")


def bce_sets():
    """Runs of widths with the fewest slots, where a set counts as two rows at least: C[m] = min C[j] + T(j + 1 .. m)."""
    widths = sorted({length(row) for row in range(ROWS)})

    def slots(some):
        return some[-1] * max(LANES, sum(length(row) in some for row in range(ROWS)))

    best = [(0, [])]
    for m in range(1, len(widths) + 1):
        best.append(min((best[j][0] + slots(widths[j:m]), [*best[j][1], widths[j:m]]) for j in range(m)))
    return best[-1][1]


def bce():
    blocks = [[row for row in range(ROWS) if length(row) in widths] for widths in bce_sets()]
    return in_groups(sorted(blocks), "rows, a block each")


def evchyb():
    """Lengths up to three as ELL, shortest first, in whole warps; what is longer as CSR, padded to whole warps."""
    picture = with_matrix()
    short = sorted((row for row in range(ROWS) if length(row) <= LONGEST_ELL_ROW), key=lambda row: (length(row), min(MATRIX[row])))
    long = sorted((row for row in range(ROWS) if length(row) > LONGEST_ELL_ROW), key=length)
    groups = cut(short, LANES)
    padded = [[(row, k) for k in range(length(row))] + [(row, None)] * (-length(row) % LANES) for row in long]
    y = picture.strip(LEFT, 30, "ELL: rows", [cell for group in groups for cell in [*((row, row) for row in group), None]])
    y = picture.strip(LEFT, y, "value", grouped(groups, slot))
    y = picture.strip(LEFT, y, "column", grouped(groups, column), column=True)
    y = picture.strip(LEFT, y + 10, "CSR: rows", [(row, row) for row in long])
    y = picture.strip(LEFT, y, "value", [cell for row in padded for cell in [*(slot(*place) for place in row), None]])
    picture.strip(LEFT, y, "column", [cell for row in padded for cell in [*(column(*place) for place in row), None]], column=True)
    return picture


def parts():
    """For each part: its rows by length, and what it caches of x: its own, then what it reads of others."""
    own = [by_length(range(first, first + PART_ROWS)) for first in range(0, ROWS, PART_ROWS)]
    new = {row: k for k, row in enumerate(row for part in own for row in part)}
    return [(part, part + sorted({j for row in part for j in MATRIX[row]} - set(part), key=new.get)) for part in own]


def draw_parts(picture, y, kept):
    """The slices of each part with the entries for which kept(i, j); columns are positions in the part's cache."""
    for number, (rows, cache) in enumerate(parts()):
        picture.words(LEFT - 120, y + 12, f"part {number}")
        y = picture.strip(LEFT, y, "x cached", [(f"x{row}", row) for row in cache])
        values, columns = [], []
        for lanes in cut(rows, LANES):
            of_row = {row: sorted(cache.index(j) for j in MATRIX[row] if kept(row, j)) for row in lanes}
            wide = max(len(found) for found in of_row.values())
            for k in range(wide):
                for row in lanes:
                    there = k < len(of_row[row])
                    values.append((MATRIX[row][cache[of_row[row][k]]], row) if there else ("*", None))
                    columns.append((of_row[row][k] if there else (of_row[row] or [0])[-1], row))
            values.append(None)
            columns.append(None)
        y = picture.strip(LEFT, y, "value", values)
        y = picture.strip(LEFT, y, "column", columns, column=True) + 8
    return y


def ehyb():
    picture = with_matrix()
    draw_parts(picture, 22, lambda i, j: True)
    return picture


def rounds():
    """For each part its pairs, in rounds in which no row occurs twice."""
    found = []
    for rows, _ in parts():
        left, of_part = [(i, j) for i, j in EDGES if i in rows and j in rows], []
        while left:
            now, used = [], set()
            for pair in left:
                if used.isdisjoint(pair):
                    now.append(pair)
                    used.update(pair)
            left = [pair for pair in left if pair not in now]
            of_part.append(now)
        found.append(of_part)
    return found


def ehyb_symmetric():
    paired = {pair for part in rounds() for one in part for pair in one}
    both = paired | {(j, i) for i, j in paired}
    picture = with_matrix(lambda i, j: (j, i) not in paired)
    y = 22
    for number, of_part in enumerate(rounds()):
        pairs = [pair for one in of_part for pair in [*one, None]]
        picture.words(LEFT - 120, y + 12, f"part {number}")
        y = picture.strip(LEFT, y, "pairs", [None if pair is None else (MATRIX[pair[0]][pair[1]], pair[0]) for pair in pairs])
        y = picture.strip(LEFT, y, "i", [None if pair is None else (pair[0], pair[0]) for pair in pairs], column=True)
        y = picture.strip(LEFT, y, "j", [None if pair is None else (pair[1], pair[1]) for pair in pairs], column=True) + 8
    picture.words(LEFT - 120, y + 8, "what is left, as EHYB:")
    draw_parts(picture, y + 16, lambda i, j: (i, j) not in both)
    return picture


PICTURES = {"csr": csr, "ellwarp": ellwarp, "bce": bce, "evchyb": evchyb, "ehyb": ehyb, "ehyb-symmetric": ehyb_symmetric}


def main(words=()):
    default = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/pictures"
    folder = pathlib.Path(words[0]) if words else default
    for name, draw in PICTURES.items():
        draw().save(folder / f"format_{name}.svg", f"a small matrix in {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
