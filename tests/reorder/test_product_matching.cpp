// SPDX-License-Identifier: Apache-2.0
// The product matching against all permutations, its cardinality against Hopcroft and Karp's method, and the scaling
// that proves it.
#include "reorder/scaling/product_matching.hpp"

#include "tests/solver/systems.hpp"

namespace {

using detail::ProductMatching;

ProductMatching matching_of(const Rows& a) {
  const Context<Space::host> ctx;
  const Arrays<double, Space::host> arrays(ctx, a);
  return detail::product_matching(ctx, detail::entry_sizes(arrays.view()));
}

// Entries with sizes from 2^-range to 2^range.
Rows random_matrix(Index n, double density, double range, std::uint64_t seed) {
  Rows a(n);
  const auto places = noise(n * n, seed), sizes = noise(n * n, seed + 1000);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(i * n + j);
      if (places[k] < 2 * density - 1) a.at(i, j) = (k % 2 == 0 ? 1 : -1) * std::exp2(range * sizes[k]);
    }
  }
  return a;
}

long double size_of(double value) {
  const bool is_entry = value != 0 && std::isfinite(value);
  return is_entry ? std::log2(std::fabs(static_cast<long double>(value))) : -INFINITY;
}

// The sum of log2 of the best product over all permutations; -infinity: there is none without a zero.
long double best_of_all(const Rows& a) {
  std::vector<Index> columns(a.row.size());
  std::iota(columns.begin(), columns.end(), 0);
  long double best = -INFINITY;
  do {
    long double sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto found = a.row[i].find(columns[i]);
      sum += found == a.row[i].end() ? -INFINITY : size_of(found->second);
    }
    best = std::max(best, sum);
  } while (std::next_permutation(columns.begin(), columns.end()));
  return best;
}

// J. Hopcroft and R. Karp, SIAM J. Comput. 2 (1973): layers by breadth first, then disjoint shortest paths. Rows in
// `without` are left out.
class HopcroftKarp {
 public:
  explicit HopcroftKarp(const Rows& a, Index without = -1)
      : a_(a), row_(a.row.size(), -1), column_(a.row.size(), -1) {
    while (layers(without)) {
      for (Index i = 0; i < a_.size(); ++i) {
        if (i != without && column_[static_cast<std::size_t>(i)] < 0) size += deepen(i) ? 1 : 0;
      }
    }
  }
  Index size = 0;

 private:
  bool layers(Index without) {
    layer_.assign(a_.row.size(), -1);
    std::vector<Index> rows;
    for (Index i = 0; i < a_.size(); ++i) {
      if (i == without || column_[static_cast<std::size_t>(i)] >= 0) continue;
      layer_[static_cast<std::size_t>(i)] = 0;
      rows.push_back(i);
    }
    bool free_found = false;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (const auto& [j, value] : a_.row[static_cast<std::size_t>(rows[k])]) {
        if (value == 0 || !std::isfinite(value)) continue;
        const Index next = row_[static_cast<std::size_t>(j)];
        free_found = free_found || next < 0;
        if (next < 0 || layer_[static_cast<std::size_t>(next)] >= 0) continue;
        layer_[static_cast<std::size_t>(next)] = layer_[static_cast<std::size_t>(rows[k])] + 1;
        rows.push_back(next);
      }
    }
    return free_found;
  }
  bool deepen(Index i) {
    const int layer = std::exchange(layer_[static_cast<std::size_t>(i)], -1);
    for (const auto& [j, value] : a_.row[static_cast<std::size_t>(i)]) {
      if (value == 0 || !std::isfinite(value)) continue;
      const Index next = row_[static_cast<std::size_t>(j)];
      if (next >= 0 && (layer_[static_cast<std::size_t>(next)] != layer + 1 || !deepen(next))) continue;
      row_[static_cast<std::size_t>(j)] = i;
      column_[static_cast<std::size_t>(i)] = j;
      return true;
    }
    return false;
  }
  const Rows& a_;
  std::vector<Index> row_, column_;  // of each column, and of each row
  std::vector<int> layer_;
};

// Every entry at most 1 after scaling, the matched ones 1; pairs are entries, and no column has two rows.
void check_scaling(const Rows& a, const ProductMatching& m) {
  Index matched = 0;
  std::set<Index> taken;
  for (std::size_t i = 0; i < a.row.size(); ++i) {
    for (const auto& [j, value] : a.row[i]) {
      const long double size = size_of(value);
      if (std::isinf(size)) continue;
      const long double scaled = size + m.row_log2[i] + m.column_log2[static_cast<std::size_t>(j)];
      const long double rounding = 1e-12L * (1 + std::fabs(size));
      CHECK(scaled <= rounding);
      if (m.column_of_row[i] == j) CHECK(scaled >= -rounding);
    }
    const Index j = m.column_of_row[i];
    if (j < 0) continue;
    ++matched;
    CHECK(taken.insert(j).second);
    const auto found = a.row[i].find(j);
    REQUIRE(found != a.row[i].end());
    CHECK(!std::isinf(size_of(found->second)));
  }
  CHECK(matched == m.matched);
  CHECK(m.perfect() == (matched == a.size()));
}

long double product_of(const Rows& a, const ProductMatching& m) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.row.size(); ++i) {
    if (m.column_of_row[i] >= 0) sum += size_of(a.row[i].at(m.column_of_row[i]));
  }
  return sum;
}

}  // namespace

TEST_CASE("The matching has the largest product of all permutations", "[reorder][matching]") {
  int perfect = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Index n = 1 + static_cast<Index>(seed % 7);
    const double range = seed % 4 == 0 ? 1000 : seed % 4 == 1 ? 30 : seed % 4 == 2 ? 1 : 0;
    const Rows a = random_matrix(n, 0.3 + 0.1 * static_cast<double>(seed % 8), range, seed);
    CAPTURE(seed, n, range);
    const ProductMatching m = matching_of(a);
    check_scaling(a, m);
    const long double best = best_of_all(a);
    CHECK(m.perfect() == std::isfinite(best));
    if (!m.perfect()) continue;
    ++perfect;
    CHECK(std::fabs(product_of(a, m) - best) <= 1e-11L * (1 + std::fabs(best)));
  }
  CHECK(perfect > 60);
}

TEST_CASE("As many rows are matched as Hopcroft and Karp's method matches, and an unmatched row is named",
          "[reorder][matching]") {
  int singular = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = 20 + static_cast<Index>(seed * 7 % 90);
    Rows a = random_matrix(n, 2.2 / static_cast<double>(n), 40, seed);
    if (seed % 3 == 0 && !a.row.front().empty()) a.row.front().begin()->second = 0;
    if (seed % 5 == 0 && !a.row.back().empty()) a.row.back().begin()->second = seed % 2 == 0 ? NAN : INFINITY;
    CAPTURE(seed, n);
    const ProductMatching m = matching_of(a);
    check_scaling(a, m);
    CHECK(m.matched == HopcroftKarp(a).size);
    if (m.perfect()) {
      CHECK(m.unmatched_row() == -1);
      CHECK(m.unmatched_column() == -1);
      continue;
    }
    ++singular;
    // Without that row no pair is lost.
    CHECK(HopcroftKarp(a, m.unmatched_row()).size == m.matched);
    Rows transposed(n);
    for (Index i = 0; i < n; ++i) {
      for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) transposed.at(j, i) = value;
    }
    CHECK(HopcroftKarp(transposed, m.unmatched_column()).size == m.matched);
  }
  CHECK(singular > 20);
}

TEST_CASE("Long chains, in which each greedy pair is wrong, are matched", "[reorder][matching]") {
  const Index n = 3000;
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 4;
    if (i > 0) a.at(i, i - 1) = 1;
  }
  a.at(0, n - 1) = 1;
  a.row[static_cast<std::size_t>(n - 1)].erase(n - 1);
  const ProductMatching m = matching_of(a);
  check_scaling(a, m);
  CHECK(m.perfect());
  for (Index i = 0; i < n; ++i) CHECK(m.column_of_row[static_cast<std::size_t>(i)] == (i + n - 1) % n);
  // Of two perfect matchings the one with the larger product, though the other has the larger entries in most rows.
  Rows two(3);
  two.at(0, 0) = 3, two.at(0, 1) = 2, two.at(1, 1) = 3, two.at(1, 2) = 2, two.at(2, 2) = 1, two.at(2, 0) = 4;
  CHECK(matching_of(two).column_of_row == std::vector<Index>{1, 2, 0});
}

TEST_CASE("Values at the ends of the range are matched", "[reorder][matching]") {
  Rows a(3);
  a.at(0, 0) = 1e-300, a.at(0, 1) = 1e300, a.at(1, 0) = 1e300, a.at(1, 1) = 5e-324, a.at(2, 2) = -1e308;
  a.at(2, 0) = 1e308;
  const ProductMatching m = matching_of(a);
  check_scaling(a, m);
  CHECK(m.column_of_row == std::vector<Index>{1, 0, 2});
  CHECK(matching_of(Rows(0)).perfect());
  CHECK(matching_of(Rows(2)).matched == 0);
}
