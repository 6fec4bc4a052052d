#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a class has that shows each rule of scripts/class_sizes.py once."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import class_sizes  # noqa: E402

SOURCE = """
// struct InAComment { int a, b; };
template <class T>
class Example final : public Base<T>, Other {
 public:
  explicit Example(int n = {}) : n_{n}, m_(int{2} * n) {}
  Example(const Example&) = delete;
  ~Example() override = default;
  virtual void one() const = 0;
  template <class F>
  std::enable_if_t<(sizeof(F) > 2), int> two(F&& f) const { if (f({1, 2})) return 1; return 2; }
  bool operator()(int) const;
  bool operator==(const Example&) const;
  static constexpr int no_member = 3;
  using Pointer = int (*)(int);

 private:
  friend class Other;
  struct Inner { int a, b; void f(); };
  enum class Colour { red, green };
  int n_ = 0, m_{};
  std::function<void(int, double)> call_;
  int (*pointer_)(int) = nullptr;
  std::map<int, std::vector<int>> map_ = {{1, {2}}};
  const char* text_ = "struct InAText { int y; };";
};
"""


def check(found, expected):
    if found != expected:
        sys.exit(f"found {found}, expected {expected}")


check(list(class_sizes.classes(SOURCE)), [("Example", 5, 6, 1), ("Inner", 1, 2, 0)])
functions, members = ("class A {" + text * 15 + "};" for text in ("void f();", "int a, b;"))
check(class_sizes.too_large(functions), [])
check(class_sizes.too_large(functions.replace("};", "void g();};")), [("A", 16, 0, 0)])
check(class_sizes.too_large(members), [("A", 0, 30, 0)])
