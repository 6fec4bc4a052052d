# SPDX-License-Identifier: Apache-2.0
"""check_instantiations.py tells templates that are instantiated for other sources from those that are not."""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import check_instantiations  # noqa: E402

HEADER = """#pragma once
namespace newel {
template <class T>
struct Thing {
  explicit Thing(T value);
  T twice() const;
  struct Inner { T kept; T get() const; } inner;
};
template <class T> T in_header(T x) { return x + 1; }
inline int inlined() { return 2; }
struct Pair { double a, b; };
Pair pair_of(double a);
double plain(double a);
}
"""
DEFINES = """#include "thing.hpp"
namespace newel {
template <class T> Thing<T>::Thing(T value) : inner{value} {}
template <class T> T Thing<T>::twice() const { return 2 * inner.get(); }
template <class T> T Thing<T>::Inner::get() const { return kept; }
Pair pair_of(double a) { return {a, a}; }
double plain(double a) { return Thing<double>(a).twice() + in_header(inlined()); }
INSTANTIATIONS
}
"""
USES = """#include "thing.hpp"
double use() {
  const newel::Thing<double> t(newel::plain(1));
  return t.twice() + t.inner.get() + newel::in_header(1) + newel::inlined() + newel::pair_of(1).a;
}
"""


@unittest.skipUnless(shutil.which("clang++"), "clang++ was not found")
class Instantiations(unittest.TestCase):
    def missing(self, instantiations):
        """The first lines of what is missing where these instantiations follow the definitions."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"thing.hpp": HEADER, "a.cpp": DEFINES.replace("INSTANTIATIONS", instantiations), "b.cpp": USES}
            for name, text in files.items():
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
            sources = {}
            for name in ("a.cpp", "b.cpp"):
                command = f"/usr/bin/clang++ -std=c++17 -O3 -o {name}.o -c {name}"
                entry = {"directory": folder, "command": command, "file": name}
                sources[name] = check_instantiations.symbols(check_instantiations.compiled(entry))
        return [line.splitlines()[0] for line in check_instantiations.missing(sources)]

    def test_an_instantiated_class_and_what_needs_no_instantiation_are_not_missing(self):
        self.assertEqual(self.missing("template struct Thing<double>;"), [])

    def test_a_member_of_a_nested_class_is_missing(self):
        members = "template Thing<double>::Thing(double); template double Thing<double>::twice() const;"
        self.assertEqual(self.missing(members), ["newel::Thing<double>::Inner::get() const"])

    def test_members_and_constructors_that_are_only_used_where_they_are_defined_are_missing(self):
        self.assertEqual(
            sorted(self.missing("")),
            ["newel::Thing<double>::Inner::get() const", "newel::Thing<double>::Thing(double)",
             "newel::Thing<double>::twice() const"],
        )


if __name__ == "__main__":
    unittest.main()
