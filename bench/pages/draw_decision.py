#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the tables of docs/howto/which-solver.md as a decision: docs/pictures/which_solver.svg.

    bench/pages/draw_decision.py [FILE]      docs/pictures/which_solver.svg by default

The tables stand one below the other, as wide as a page of the site. A row is a branch: what you have, and what to take. Needs
nothing but Python.
"""
import html
import pathlib
import re
import sys
import textwrap

from page import DOCS

PAGE = DOCS / "howto/which-solver.md"
TABLES = (  # the heading of each table, what is asked in short, colours of a box
    ("The solver follows from the symmetry", "1. Which solver?", "#e3f2fd", "#1565c0"),
    ("The preconditioner follows from the equation", "2. Which preconditioner?", "#e8f5e9", "#2e7d32"),
    ("Scaled rows and matched columns", "3. Change the system first?", "#fff8e1", "#ef6c00"),
)
QUESTION, ANSWER, LINE = 60, 30, 16  # letters of a line of either, and its height
WIDE, NARROW, GAP, BETWEEN, TOP, BRANCH = 420, 236, 7, 14, 34, 18
LEFT, WIDTH = 12, 748  # of the picture: that of a page of the site


def plain(cell):
    """The words of a cell of Markdown."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)
    return re.sub(r"[`*]", "", words).strip()


def rows_of(heading, text=None):
    """(question, answer) of the first table below a heading."""
    text = PAGE.read_text(encoding="utf-8") if text is None else text
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[plain(cell) for cell in line.strip("|").split("|")] for line in table[2:]]
    return [(row[0], row[1]) for row in cells]


def wrapped(words, letters):
    return textwrap.wrap(words, letters, break_on_hyphens=False)


def box(x, y, width, height, words, fill, stroke, bold=False):
    weight = ' font-weight="bold"' if bold else ""
    first = y + (height - LINE * (len(words) - 1)) / 2 + 4
    lines = [f'<text x="{x + width / 2:g}" y="{first + LINE * k:g}" text-anchor="middle"{weight}>{html.escape(line)}</text>'
             for k, line in enumerate(words)]
    return [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}" stroke="{stroke}"/>', *lines]


def arrow(x, y, to_x):
    return [f'<path d="M{x:g} {y:g}H{to_x:g}" stroke="#37474f" marker-end="url(#tip)"/>']


def branches(top, heading, title, fill, stroke):
    """The parts of a table that begins at `top`, and its lower end."""
    x, y = LEFT, top + TOP
    parts = [f'<text x="{x}" y="{y - 14}" font-size="16" font-weight="bold">{title}</text>']
    first, left, right = y, x + BRANCH, x + BRANCH + WIDE + 26
    for question, answer in rows_of(heading):
        asked, taken = wrapped(question, QUESTION), wrapped(answer, ANSWER)
        height = LINE * max(len(asked), len(taken)) + 12
        middle = y + height / 2
        parts += box(left, y, WIDE, height, asked, fill, stroke)
        parts += box(right, y, NARROW, height, taken, "#ffffff", stroke, bold=True)
        parts += arrow(x, middle, left - 1) + arrow(left + WIDE, middle, right - 1)
        y += height + GAP
    parts.append(f'<path d="M{x} {first - 8}V{middle:g}" stroke="#37474f" fill="none"/>')
    return parts, y


def picture():
    """The text of the file."""
    parts, bottom = [], 0
    for heading, title, fill, stroke in TABLES:
        more, end = branches(bottom, heading, title, fill, stroke)
        parts, bottom = parts + more, end + BETWEEN
    width = WIDTH
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom}" viewBox="0 0 {width} {bottom}" '
            'font-family="sans-serif" font-size="13"><title>Which solver for my matrix</title>')
    tip = ('<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0L10 5L0 10z" fill="#37474f"/></marker></defs>')
    return "\n".join([head, tip, '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def main(path=DOCS / "pictures/which_solver.svg"):
    pathlib.Path(path).write_text(picture(), encoding="utf-8")
    print("written:", path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
