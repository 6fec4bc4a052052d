#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a notebook from a page: its text, and its ```python and ```py blocks as cells. Outputs are left to Jupyter.

    notebook.py PAGE...           writes PAGE.ipynb beside each page
    notebook.py --check PAGE...   ends with 1 if one is missing or not that of its page

What a page shows that a block prints is left out, because the cell prints it."""

import argparse
import json
import pathlib
import re
import sys

BLOCK = re.compile(r"^```(?:python|py)\n(?P<code>.*?)^```\n(?:\n(?: {4}[^\n]*\n)+)?", re.MULTILINE | re.DOTALL)


def cell(kind, text, number):
    result = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
    return result | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(page):
    """The notebook of a page's text, as the text of a file."""
    cells, end = [], 0
    for match in [*BLOCK.finditer(page), None]:
        text = page[end:match.start() if match else len(page)].strip()
        if text:
            cells.append(cell("markdown", text, len(cells)))
        if match:
            cells.append(cell("code", match["code"].rstrip(), len(cells)))
            end = match.end()
    content = {"cells": cells, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                            "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    settings = parser.parse_args()
    old = []
    for page in settings.pages:
        path, text = page.with_suffix(".ipynb"), notebook(page.read_text(encoding="utf-8"))
        if not settings.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            old.append(f"{path} is not that of {page}: run scripts/docs/notebook.py {page}")
    if old:
        sys.exit("\n".join(old))


if __name__ == "__main__":
    main()
