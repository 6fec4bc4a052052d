// SPDX-License-Identifier: Apache-2.0
// Powers of two for rows and columns: bounds of the scaled entries, exactness, and the same powers in both spaces.
#include "reorder/scaling/scale_powers.hpp"

#include <newel/core/vector_ops.hpp>

#include "tests/solver/systems.hpp"

namespace {

using detail::Equilibration;
using detail::ScalePowers;

// Random rows, each with entries of its own size; some are empty, and some entries 0.
Rows graded(Index n, int bits, bool symmetric, std::uint64_t seed) {
  Rows a(n);
  const auto sizes = noise(n, seed), values = noise(8 * n, seed + 1);
  for (Index i = 0; i < n; ++i) {
    if (i % 13 == 5) continue;
    for (Index k = 0; k < 5; ++k) {
      const Index j = k == 0 ? i : static_cast<Index>((Offset{i} * 7 + 11 * k) % n);
      if (j % 13 == 5 && symmetric) continue;
      const auto at = [&](Index r) { return bits * sizes[static_cast<std::size_t>(r)]; };
      const double value = values[static_cast<std::size_t>(5 * i + k)];
      const double size = symmetric ? std::exp2((at(i) + at(j)) / 2) : std::exp2(at(i));
      a.at(i, j) = k == 3 ? 0 : value * size;
      if (symmetric) a.at(j, i) = a.at(i, j);
    }
  }
  return a;
}

template <Space S>
ScalePowers<S> zero_powers(const Context<S>& ctx, Index n) {
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(n), 0);
  return {make_array(ctx, zeros), make_array(ctx, zeros)};
}

// The scaled values, in the order of the entries.
template <class T, Space S>
std::vector<T> scaled_values(const Context<S>& ctx, const Rows& a, Equilibration how, ScalePowers<S>& powers) {
  Arrays<T, S> arrays(ctx, a);
  powers = zero_powers(ctx, a.size());
  detail::equilibrate(ctx, arrays.view(), how, powers);
  detail::scale_values(ctx, arrays.view(), powers, arrays.val.span());
  return to_vector(ctx, arrays.val.cspan());
}

template <class T, Space S>
void check_bounds(const Context<S>& ctx, const Rows& a, Equilibration how) {
  ScalePowers<S> powers;
  const std::vector<T> scaled = scaled_values<T>(ctx, a, how, powers);
  const auto row = to_vector(ctx, powers.row.cspan()), column = to_vector(ctx, powers.column.cspan());
  const bool symmetric = how == Equilibration::symmetric;
  if (symmetric) CHECK(row == column);
  std::vector<double> row_max(a.row.size(), 0), column_max(a.row.size(), 0);
  std::size_t k = 0;
  for (std::size_t i = 0; i < a.row.size(); ++i) {
    for (const auto& [j, value] : a.row[i]) {
      const auto at = static_cast<std::size_t>(j);
      const double entry = scaled[k++];
      // Back to the digits that were given.
      CHECK(std::ldexp(static_cast<long double>(entry), -row[i] - column[at]) ==
            static_cast<long double>(static_cast<T>(value)));
      row_max[i] = std::max(row_max[i], std::fabs(entry));
      column_max[at] = std::max(column_max[at], std::fabs(entry));
    }
  }
  for (std::size_t i = 0; i < a.row.size(); ++i) {
    CHECK(row_max[i] < (symmetric ? 4 : 2));
    if (row_max[i] > 0) CHECK(row_max[i] >= (symmetric ? 0.25 : 1));
    if (column_max[i] > 0) CHECK(column_max[i] >= (symmetric ? 0.25 : 1));
    if (row_max[i] == 0) CHECK(row[i] == 0);
  }
}

}  // namespace

TEST_BOTH("Scaled rows and columns have largest entries near 1, and no digit is lost", "[reorder][scaling]") {
  for (const int bits : {0, 3, 60, 900}) {
    for (const bool symmetric : {false, true}) {
      CAPTURE(bits, symmetric);
      const std::vector<Equilibration> ways =
          symmetric ? std::vector<Equilibration>{Equilibration::symmetric}
                    : std::vector<Equilibration>{Equilibration::largest, Equilibration::means};
      for (const Equilibration how : ways) {
        check_bounds<double>(ctx, graded(150, bits, symmetric, 3), how);
        if (bits <= 60) check_bounds<float>(ctx, graded(150, bits, symmetric, 4), how);
      }
    }
  }
  // A long row and a long column.
  Rows arrow = graded(300, 40, false, 5);
  for (Index i = 0; i < 300; ++i) arrow.at(7, i) = std::exp2(i % 50), arrow.at(i, 8) = std::exp2(-(i % 70));
  check_bounds<double>(ctx, arrow, Equilibration::largest);
  check_bounds<double>(ctx, arrow, Equilibration::means);
}

TEST_BOTH("A matrix is nearly the same after scaling, whatever the units of its rows and columns",
          "[reorder][scaling]") {
  const Rows plain = laplacian(12, 0.3);
  ScalePowers<S> powers;
  const auto right = scaled_values<double>(ctx, plain, Equilibration::means, powers);
  for (const int bits : {5, 60, 480}) {
    CAPTURE(bits);
    Rows a = plain;
    const auto rows = noise(a.size(), 3), columns = noise(a.size(), 4);
    for (std::size_t i = 0; i < a.row.size(); ++i) {
      for (auto& [j, value] : a.row[i]) {
        value = std::ldexp(
            value, static_cast<int>(bits * rows[i]) + static_cast<int>(bits * columns[static_cast<std::size_t>(j)]));
      }
    }
    const auto scaled = scaled_values<double>(ctx, a, Equilibration::means, powers);
    // Rows by their largest entries and then columns leave entries of 2^-bits.
    for (std::size_t k = 0; k < scaled.size(); ++k) CHECK(std::fabs(std::log2(scaled[k] / right[k])) <= 3);
  }
}

TEST_BOTH("A symmetric matrix stays one, to the last bit, and penalties of 1e20 become 1", "[reorder][scaling]") {
  Rows a(4);
  a.at(0, 0) = 1e20, a.at(0, 1) = a.at(1, 0) = -1, a.at(1, 1) = 4, a.at(1, 2) = a.at(2, 1) = -1;
  a.at(2, 2) = 1e-10, a.at(2, 3) = a.at(3, 2) = 1e-5 / 3;
  ScalePowers<S> powers;
  const auto v = scaled_values<double>(ctx, a, Equilibration::symmetric, powers);
  CHECK(v[1] == v[2]);
  CHECK(v[4] == v[5]);
  CHECK(v[7] == v[8]);
  CHECK((v[0] >= 0.25 && v[0] < 4));
  CHECK(std::fabs(v[1]) < 1e-8);
}

TEST_BOTH("What is not finite or 0 has no part in the scaling", "[reorder][scaling]") {
  Rows a(2);
  a.at(0, 0) = INFINITY, a.at(0, 1) = 8, a.at(1, 0) = NAN, a.at(1, 1) = 0;
  ScalePowers<S> powers;
  scaled_values<double>(ctx, a, Equilibration::means, powers);
  CHECK(to_vector(ctx, powers.row.cspan()) == std::vector<std::int32_t>{-3, 0});
  CHECK(to_vector(ctx, powers.column.cspan()) == std::vector<std::int32_t>{0, 0});
}

TEST_BOTH("Vectors are scaled there and back, and their greatest exponent is found", "[reorder][scaling]") {
  const std::vector<std::int32_t> powers = {-1000, 1000, 3, 0, 5};
  const std::vector<double> x = {1e300, -1e-300, 0, 7, NAN};
  const auto p = make_array(ctx, powers);
  const auto v = make_array(ctx, x);
  Array<double, S> scaled(ctx, 5), back(ctx, 5);
  detail::scale_vector(ctx, p.cspan(), 1, -2, v.cspan(), scaled.span());
  detail::scale_vector(ctx, p.cspan(), -1, 2, scaled.cspan(), back.span());
  const auto there = to_vector(ctx, scaled.cspan()), again = to_vector(ctx, back.cspan());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(there[i] == std::ldexp(x[i], powers[i] - 2));
    CHECK(again[i] == x[i]);
  }
  CHECK(std::isnan(again[4]));
  CHECK(detail::greatest_exponent(ctx, p.cspan(), v.cspan()) == 1000 + std::ilogb(1e-300));
  const auto zeros = make_array(ctx, std::vector<double>{0, 0, INFINITY, 0, 0});
  CHECK(detail::greatest_exponent(ctx, p.cspan(), zeros.cspan()) == detail::no_exponent);
}

TEST_BOTH("Rows with a tiny or missing diagonal entry are counted", "[reorder][scaling]") {
  Rows a(6);
  a.at(0, 0) = 1, a.at(0, 1) = 1024;    // 10 bits below
  a.at(1, 0) = 1, a.at(1, 1) = 1e-4;    // more
  a.at(2, 3) = 1;                       // missing
  a.at(3, 3) = 0, a.at(3, 4) = 1e-300;  // 0
  a.at(4, 4) = 1e-300;
  const Arrays<double, S> arrays(ctx, a);  // row 5 has no entries
  CHECK(detail::rows_with_tiny_diagonal(ctx, arrays.view(), 10) == 3);
  CHECK(detail::rows_with_tiny_diagonal(ctx, arrays.view(), 9) == 4);
}

#if NEWEL_HAS_CUDA
TEST_ON_DEVICE("The device finds the same powers as the host", "[reorder][scaling][device]") {
  const Context<Space::host> host;
  for (const Equilibration how :
       {Equilibration::rows, Equilibration::largest, Equilibration::means, Equilibration::symmetric}) {
    const Rows a = graded(500, 200, how == Equilibration::symmetric, 9);
    ScalePowers<Space::host> here;
    ScalePowers<Space::device> there;
    CHECK(scaled_values<double>(host, a, how, here) == scaled_values<double>(ctx, a, how, there));
    CHECK(to_vector(host, here.row.cspan()) == to_vector(ctx, there.row.cspan()));
    CHECK(to_vector(host, here.column.cspan()) == to_vector(ctx, there.column.cspan()));
  }
}
#endif
