// SPDX-License-Identifier: Apache-2.0
/// What the tests of the Matrix Market reader share: matrices as plain vectors, messages.
#pragma once

#include "tests/catch.hpp"

#include <newel/io/matrix_market.hpp>

#include "tests/temporary_folder.hpp"

namespace newel::testing {

using HostContext = Context<Space::host>;

template <class T>
std::vector<T> plain(const Array<T, Space::host>& a) {
  return {a.begin(), a.end()};
}

/// A CSR matrix as plain vectors, compared bit for bit.
inline HostCsr plain(const Csr<double, Space::host>& a) {
  return {a.rows, a.cols, plain(a.row_ptr), plain(a.col), plain(a.val)};
}

inline bool same_bits(const HostCsr& a, const HostCsr& b) { return same_matrix(a, b); }

inline HostCsr parse(const std::string& text, int threads = 2) {
  return plain(parse_matrix(HostContext(threads), text, "t.mtx"));
}

template <class F>
std::string input_error(F&& f) {
  return message_of<InputError>(f);
}

inline std::string parse_error(const std::string& text) {
  return input_error([&] { parse(text); });
}

}  // namespace newel::testing
