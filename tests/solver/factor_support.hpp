// SPDX-License-Identifier: Apache-2.0
// Patterns for factorisations, and elimination of a dense pattern as their oracle.
#pragma once

#include "tests/solver/systems.hpp"

#include "solver/direct/fill.hpp"

namespace newel::testing {

struct Sparse {
  detail::ColumnPattern pattern;  // by rows, or by columns of the transpose
  std::vector<double> values;
};

inline Sparse sparse(const Rows& a) {
  Sparse made{{a.size(), {0}, {}}, {}};
  for (const auto& row : a.row) {
    for (const auto& [j, value] : row) {
      made.pattern.row.push_back(j);
      made.values.push_back(value);
    }
    made.pattern.begin.push_back(made.pattern.entries());
  }
  return made;
}

using DensePattern = std::vector<std::vector<bool>>;

// Of A + A^T in another order.
inline DensePattern symmetric_pattern(const Rows& a, const std::vector<Index>& new_number) {
  const std::size_t n = a.row.size();
  DensePattern full(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& [j, value] : a.row[i]) {
      const auto p = static_cast<std::size_t>(new_number[i]);
      const auto q = static_cast<std::size_t>(new_number[static_cast<std::size_t>(j)]);
      full[p][q] = full[q][p] = true;
    }
  }
  return full;
}

// The entries and the sum of squares of the columns of the factor, where a symmetric pattern is eliminated in its
// order.
inline detail::Fill eliminated(DensePattern full) {
  detail::Fill fill;
  for (std::size_t k = 0; k < full.size(); ++k) {
    std::vector<std::size_t> below;
    for (std::size_t i = k + 1; i < full.size(); ++i) {
      if (full[i][k]) below.push_back(i);
    }
    for (const std::size_t i : below) {
      for (const std::size_t j : below) full[i][j] = true;
    }
    const auto count = static_cast<double>(below.size() + 1);
    fill.entries += count;
    fill.squares += count * count;
  }
  return fill;
}

}  // namespace newel::testing
