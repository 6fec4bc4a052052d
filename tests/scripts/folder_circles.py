#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders that include each other in a circle.

    folder_circles.py ROOT FOLDER...      looks at the sources below these folders of ROOT; exit status 1 where a circle is

A folder includes another where one of its own files, not of folders in it, includes a file that lies in the other. For each
circle its folders are printed, with an include for each arrow between them.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")


def included(root, path):
    """The files of the repository that a file includes."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for candidate in (path.parent / name, root / name, root / "include" / name):
            if candidate.is_file():
                yield candidate.resolve()
                break


def arrows(root, folders):
    """{folder: {folder that it includes: "file includes file"}}, of those below `folders`."""
    result = {}
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in SOURCES):
        of = path.parent.relative_to(root).as_posix()
        result.setdefault(of, {})
        for other in included(root, path):
            to = other.relative_to(root).parent.as_posix()
            if to != of and any((to + "/").startswith(folder + "/") for folder in folders):
                result[of].setdefault(to, f"{path.relative_to(root)} includes {other.relative_to(root)}")
    return result


def reached(graph, start):
    found, waiting = set(), [start]
    while waiting:
        for folder in graph.get(waiting.pop(), {}):
            if folder not in found:
                found.add(folder)
                waiting.append(folder)
    return found


def circles(graph):
    """Sets of folders that reach each other, each once."""
    reach = {folder: reached(graph, folder) for folder in graph}
    return sorted({tuple(sorted(other for other in reach[folder] if folder in reach.get(other, ())))
                   for folder in graph if folder in reach[folder]})


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    graph = arrows(root, sys.argv[2:])
    if not any(graph.values()):
        print(f"no includes between folders found below {root}")
        return 1
    found = circles(graph)
    for circle in found:
        print("a circle of " + ", ".join(circle))
        for folder in circle:
            for to, how in sorted(graph[folder].items()):
                if to in circle:
                    print(f"  {folder} -> {to}: {how}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
