#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types that share a name in a namespace: a program that links both takes the functions of one for those of the other.

    scripts/type_names.py FILE...       prints them with their files; exit status 1 if there is one

Read by text: heads that begin in the first column, as those of namespaces do. Unnamed namespaces keep their names apart, and
specialisations of a template are not types of their own.
"""
import collections
import pathlib
import re
import sys

NAMESPACE = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{")
TYPE = re.compile(r"(?:struct|class) (?:alignas *\([^)]*\) *)?(\w+)(?: final)?(?: *:(?!:)[^;]*)?(?: *\{|$)")


def types(source):
    """Pairs of namespace and name, in the order of the source."""
    spaces = []
    for line in source.splitlines():
        if opened := NAMESPACE.match(line):
            spaces.append(opened.group(1))
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif None not in spaces and (found := TYPE.match(line)):
            yield "::".join(spaces), found.group(1)


def shared(sources):
    """For each name that several of the sources define, the pair and the sources' names; `sources`: pairs of name and text."""
    places = collections.defaultdict(set)
    for name, source in sources:
        for found in types(source):
            places[found].add(name)
    return {found: sorted(names) for found, names in sorted(places.items()) if len(names) > 1}


def main():
    found = shared((name, pathlib.Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:])
    for (space, name), places in found.items():
        print(f"{space}::{name}: {', '.join(places)}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
