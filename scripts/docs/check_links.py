#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends with 1 where a relative link of a Markdown file of a folder leads to nothing: neither a file nor a heading.

check_links.py [FOLDER]    the repository by default; build folders are left out"""

import pathlib
import re
import sys

import links

MADE = links.ROOT / "docs/reference"
HEADING = re.compile(r"^#+ +(.*?) *$")


def anchors(path):
    """The addresses of a file's headings, as renderers of Markdown make them."""
    found = set()
    for line, prose in links.without_code(path.read_text(encoding="utf-8")):
        match = HEADING.match(line) if prose else None
        if match:
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match.group(1))
            found.add(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return found


def broken(root):
    for path in sorted(root.rglob("*.md")):
        place = path.relative_to(root)
        if place.parts[0].startswith(("build", ".", "install")):
            continue
        for number, (line, prose) in enumerate(links.without_code(path.read_text(encoding="utf-8")), 1):
            for match in links.LINK.finditer(re.sub(r"`[^`]*`", "", line)) if prose else ():
                target, _, anchor = match.group(2).partition("#")
                if re.match(r"[a-z]+:", target):
                    continue
                file = path if target == "" else path.parent / target
                if MADE in (root / place).parent.joinpath(target).resolve().parents:
                    continue  # a page that is made with the site, which checks such links
                if not file.exists():
                    yield f"{place}:{number}: {match.group(2)}: no such file"
                elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                    yield f"{place}:{number}: {match.group(2)}: no such heading"


def main():
    found = list(broken(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else links.ROOT))
    print("\n".join(found) or "all links lead somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
