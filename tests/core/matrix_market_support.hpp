// SPDX-License-Identifier: Apache-2.0
/// What the tests of the Matrix Market reader share: matrices as plain vectors, messages.
#pragma once

#include "tests/catch.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/io/matrix_market.hpp>

#include "tests/temporary_folder.hpp"

namespace newel::testing {

using HostContext = Context<Space::host>;
using HostCsr = Csr<double, Space::host>;

/// A CSR matrix as plain vectors, compared bit for bit.
struct PlainCsr {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> row_ptr;
  std::vector<Index> col;
  std::vector<double> val;
};

template <class T>
std::vector<T> plain(const Array<T, Space::host>& a) {
  return {a.begin(), a.end()};
}

inline PlainCsr plain(const HostCsr& a) { return {a.rows, a.cols, plain(a.row_ptr), plain(a.col), plain(a.val)}; }

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline bool same_bits(const PlainCsr& a, const PlainCsr& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && same_bits(a.val, b.val);
}

inline PlainCsr parse(const std::string& text, int threads = 2) {
  return plain(parse_matrix(HostContext(threads), text, "t.mtx"));
}

/// The message of the InputError that `f` throws; "" when it throws none.
template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::string parse_error(const std::string& text) {
  return input_error([&] { parse(text); });
}

}  // namespace newel::testing
