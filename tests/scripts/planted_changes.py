#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the text of each wrong change in tests/mutations stands once in its file, as scripts/mutate.sh needs it: which
takes hours to plant them all, and so is seldom run.

    planted_changes.py ROOT
"""
import pathlib
import sys


def changes(lines):
    """(name, file, old text) of each change of a list."""
    name, file, old = None, None, []
    for line in [*lines, "= "]:
        if line.startswith("= "):
            if name:
                yield name, file, "\n".join(old)
            name, file, old = line[2:], None, []
        elif line.startswith("file "):
            file = line[5:]
        elif line.startswith("- "):
            old.append(line[2:])


def main():
    root = pathlib.Path(sys.argv[1])
    count = stale = 0
    for path in sorted((root / "tests/mutations").glob("*.txt")):
        for name, file, old in changes(path.read_text(encoding="utf-8").splitlines()):
            target = root / file
            times = target.read_text(encoding="utf-8").count(old) if target.is_file() else 0
            count += 1
            if times != 1:
                stale += 1
                print(f"{path.name}: {name}: its text stands {times} times in {file}, expected once")
    print(f"{count} changes, {stale} no longer apply")
    return 1 if stale or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
