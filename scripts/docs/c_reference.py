# SPDX-License-Identifier: Apache-2.0
"""The page of the C interface, from c/newel.h: its comments, each with the declarations that follow it."""

import re
import textwrap

from cpp_headers import ROOT

HEADER = "c/newel.h"
NAME = re.compile(r"\b(newel_\w+|NEWEL_\w+)\b")


def sections(text):
    """Pairs of a comment and the declarations between it and the next one or an empty line."""
    body = text[text.index("enum {") : text.rindex("#ifdef __cplusplus")]
    comment, code, found = "", [], []

    def end():
        if code:
            found.append((comment, "\n".join(code)))
            code.clear()

    lines = iter(body.splitlines())
    for line in lines:
        if line.startswith("/*"):
            end()
            block = [line[2:]]
            while "*/" not in block[-1]:
                block.append(next(lines))
            comment = "\n".join(re.sub(r"^ \* ?| ?\*/$|^ ", "", part.rstrip()) for part in block).strip()
            comment = comment.removesuffix("*/").strip()
        elif line.strip():
            code.append(line)
        else:
            end()
            comment = ""
    end()
    return found


def introduction(text):
    block = text[text.index("/* Newel from C") :]
    block = block[2 : block.index("*/")]
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in block.splitlines()).strip()


def as_markdown(comment):
    """Indented lines are lists or code; they keep their layout."""
    lines, block = [], []
    for line in [*comment.splitlines(), ""]:
        if line.startswith("  "):
            block.append(line)
            continue
        if block:
            lines += [
                "",
                "```c" if any(";" in part for part in block) else "```text",
                textwrap.dedent("\n".join(block)),
                "```",
                "",
            ]
            block = []
        lines.append(re.sub(r"(\|)", r"&#124;", line.replace("<", "&lt;").replace("_", r"\_").replace("*", r"\*")))
    return "\n".join(lines)


def declared_names(code):
    """The functions, types and constants that a piece of the header declares."""
    if code.startswith("enum"):
        return re.findall(r"\b(NEWEL_\w+) *=", code)
    code = code.replace("NEWEL_API", "")
    names = re.findall(r"\(\*(newel_\w+)\)", code) + re.findall(
        r"\b(newel_\w+) ?\(", re.sub(r"\(\*newel_\w+\)", "", code)
    )
    return names + re.findall(r"typedef struct newel_\w+ (newel_\w+);", code)


def undocumented(text=None):
    """Lines for what stands under no comment in the text of the header, and for what the page would miss."""
    text = (ROOT / HEADER).read_text() if text is None else text
    found = sections(text)
    silent = [name for comment, code in found if not comment for name in declared_names(code)]
    # The status numbers say themselves what they are, next to each other.
    silent = [name for name in silent if not name.startswith("NEWEL_")]
    shown = {name for _, code in found for name in declared_names(code)}
    exported = set(re.findall(r"NEWEL_API[^(;]*?\b(newel_\w+) ?\(", text))
    return [f"{HEADER}: {name}" for name in silent + sorted(exported - shown)]


def addresses(page_path):
    """Where the page at that path describes each name: at the first of the names of its comment."""
    for _, code in sections((ROOT / HEADER).read_text()):
        names = declared_names(code)
        yield from ((name, f"{page_path}#{names[0]}") for name in names)


def page():
    text = (ROOT / HEADER).read_text()
    lines = [
        "# C",
        "",
        "Every function, type and status of `newel.h`, as the header explains them; the page is made from it. "
        "[An example](/examples/09_from_c.c) uses them.",
        "",
        as_markdown(introduction(text)),
        "",
    ]
    for comment, code in sections(text):
        names = declared_names(code)
        title = "Status" if code.startswith("enum") else ", ".join(names)
        lines += [
            f"## {title.replace('_', chr(92) + '_')} {{ #{names[0]} }}",
            "",
            f"```c\n{code.replace('NEWEL_API ', '')}\n```",
            "",
            as_markdown(comment),
            "",
        ]
    return "\n".join(lines)
