#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public C++ headers: those below include/newel, one a line, without the one that includes them all."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def public_headers():
    """Paths from the root of the repository, sorted."""
    folder = ROOT / "include/newel"
    found = [str(header.relative_to(ROOT)) for header in folder.rglob("*.hpp") if header.parent != folder]
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(public_headers()))
