# SPDX-License-Identifier: Apache-2.0
"""Public C++ names without documentation are found in what Doxygen says of a header. Ends with 77 without Doxygen."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/docs"))

import cpp_model  # noqa: E402
import cpp_pages  # noqa: E402

HEADER = """// SPDX-License-Identifier: Apache-2.0
/// A header of a test.
#pragma once

namespace newel {

/// Documented.
struct Shown {
  int told = 1;  ///< said
  int untold = 2;

  Shown() = default;
  Shown(Shown&& other);
  /// One of two.
  int size() const;
  int bytes() const;

  int alone() const;

 private:
  int hidden_;
};

struct Silent {};

/// All values speak.
enum class Loud { one, two };

/// One value does.
enum class Quiet {
  first,  ///< heard
  second,
};

/// Of the base.
template <class T>
class Base {
 public:
  /// As `Shown::size`, |x| <= 2 * y_1.
  virtual int virtual_one() const = 0;
};

/// Derived.
template <class T>
class Derived : public Base<T> {
 public:
  int virtual_one() const override;
};

namespace detail {
struct Inner {};
}  // namespace detail

}  // namespace newel
"""


class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        (root / "core").mkdir()
        (root / "core/a.hpp").write_text(HEADER)
        environment = {**os.environ, "NEWEL_HEADERS": "core/a.hpp", "NEWEL_DOXYGEN_OUT": cls.folder.name}
        subprocess.run(["doxygen", str(ROOT / "scripts/docs/Doxyfile")], cwd=root, env=environment, check=True)
        cls.headers = cpp_model.read_headers(root / "xml", root, ["core/a.hpp"])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_names_without_a_comment_are_found_and_no_others(self):
        names = [line.rsplit(": ", 1)[1] for line in cpp_model.undocumented(self.headers)]
        self.assertEqual(sorted(names), ["Quiet::second", "Shown::alone", "Shown::untold", "Silent"])

    def test_a_page_shows_declarations_with_their_comments_as_text(self):
        page = cpp_pages.Pages(self.headers).page(self.headers[0])
        self.assertIn("int size() const\nint bytes() const\n```\n\nOne of two.", page)
        self.assertIn(r"&#124;x&#124; &lt;= 2 \* y\_1.", page)
        self.assertIn("Derives from [Base&lt;T&gt;](#Base).", page)
        self.assertNotIn("hidden", page)
        self.assertNotIn("Inner", page)


if __name__ == "__main__":
    if shutil.which("doxygen") is None:
        print("doxygen is not installed")
        sys.exit(77)
    unittest.main()
