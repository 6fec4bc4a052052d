#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types that share a name are found by scripts/type_names.py, and no others."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import type_names  # noqa: E402

FIRST = """
namespace newel::detail {
namespace {
struct Hidden {
};
}  // namespace
struct Declared;
template <class T>
struct Pattern<T*> {
};
class Shared final : public Base<int> {
};
struct Long : First,
              Second {
};
}  // namespace newel::detail
"""
SECOND = """
namespace newel {
struct Pattern {
};
namespace detail {
struct Hidden {
};
struct Shared {
};
struct Declared {
};
}  // namespace detail
struct Long {
};
}  // namespace newel
"""


def check(found, expected):
    if found != expected:
        sys.exit(f"expected {expected}, found {found}")


check([name for _, name in type_names.types(FIRST)], ["Shared", "Long"])
check([name for _, name in type_names.types(SECOND)], ["Pattern", "Hidden", "Shared", "Declared", "Long"])
check(type_names.shared([("a.hpp", FIRST), ("b.hpp", SECOND)]), {("newel::detail", "Shared"): ["a.hpp", "b.hpp"]})
check(type_names.shared([("a.hpp", FIRST)]), {})
