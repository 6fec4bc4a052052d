#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pastes the Python of pages, their ```python blocks, into an interpreter, and compares what the pages say it prints.

    run_python.py PAGE...     by a Python that has the package; ends with 1 where a block fails or prints something else

The blocks of a page are pasted one after the other into one interactive interpreter, line by line, which is stricter
than a file: a blank line ends a function. Warnings are errors. An indented block or one named text that follows with
nothing between is what the block printed; figures vary as those of run_commands.py may."""

import argparse
import code
import contextlib
import io
import pathlib
import re
import sys
import textwrap
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_commands  # noqa: E402

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n+(?P<shown>(?: {4}[^\n]*\n)+|```text\n.*?^```\n))?",
                   re.MULTILINE | re.DOTALL)


class Console(code.InteractiveConsole):
    """An interpreter that knows whether what it was given has failed."""

    failed = False

    def showtraceback(self):
        self.failed = True
        super().showtraceback()

    def showsyntaxerror(self, *args, **options):
        self.failed = True
        super().showsyntaxerror(*args, **options)


def paste(block, names):
    """What an interpreter with these names prints when the block and an empty line are pasted, and whether it fails."""
    console, printed = Console(names), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        for line in [*block.splitlines(), ""]:
            console.push(line)
    return printed.getvalue(), console.failed


def shown_lines(shown):
    """The lines of an output, without its fence or indentation."""
    text = shown.partition("\n")[2].rpartition("```")[0] if shown.startswith("```") else textwrap.dedent(shown)
    return text.splitlines()


def work_through(text, name):
    """Pastes the blocks of a page; returns how many it has, what is wrong, and the names that they defined."""
    names, wrong, count = {"__name__": "__main__"}, [], 0
    for match in BLOCK.finditer(text):
        count += 1
        printed, failed = paste(match["code"], names)
        lines = [line.rstrip() for line in printed.splitlines()]
        if failed:
            wrong.append(f"{name}: this cannot be pasted:\n{match['code']}{printed}")
        elif match["shown"] and not run_commands.same_output(shown_lines(match["shown"]), lines):
            wrong.append(f"{name}: this prints something else than the page shows:\n{match['code']}{printed}")
    return count, wrong, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    failed = False
    for page in parser.parse_args().pages:
        count, wrong, _ = work_through(page.read_text(encoding="utf-8"), page.name)
        print(f"{page}: {count} blocks, {len(wrong)} wrong", *wrong, sep="\n")
        failed = failed or count == 0 or bool(wrong)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
