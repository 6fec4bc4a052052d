#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public C++ headers, as cmake/NewelInstall.cmake lists them, one a line."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def public_headers():
    """Paths from the root of the repository, in the order of the list."""
    text = (ROOT / "cmake/NewelInstall.cmake").read_text()
    return re.search(r"set\(NEWEL_PUBLIC_HEADERS(.*?)\)", text, re.DOTALL).group(1).split()


if __name__ == "__main__":
    print("\n".join(public_headers()))
