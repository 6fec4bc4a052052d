// SPDX-License-Identifier: Apache-2.0
// FSAI's symbolic phase: what the kernels make of a pattern is what the host makes of it, array by array.
#include "tests/catch.hpp"
#include "tests/precond/fsai_support.hpp"

#include "precond/fsai/fsai_symbolic.hpp"

namespace {

struct Arrays {
  std::vector<Offset> a_row_ptr, a_source, g_row_ptr, t_row_ptr, t_source;
  std::vector<Index> a_col, g_col, t_col;
  std::vector<detail::FsaiPiece> pieces;
  std::vector<detail::FsaiClass> classes;
  Offset longest = 0;
  Index longest_row = 0;
  double operations = 0;

  // The last rows of pieces, and how many rows each has, in ascending order.
  std::vector<std::pair<Index, Index>> sorted_pieces() const {
    std::vector<std::pair<Index, Index>> sorted;
    for (const auto& piece : pieces) sorted.emplace_back(piece.last, piece.count);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
};

template <Space S>
Arrays arrays_of(const Context<S>& ctx, const detail::FsaiSymbolic<S>& symbolic) {
  Arrays arrays;
  arrays.a_row_ptr = download(ctx, symbolic.a_row_ptr);
  arrays.a_col = download(ctx, symbolic.a_col);
  arrays.a_source = download(ctx, symbolic.a_source);
  arrays.g_row_ptr = download(ctx, symbolic.g_row_ptr);
  arrays.g_col = download(ctx, symbolic.g_col);
  arrays.t_row_ptr = download(ctx, symbolic.t_row_ptr);
  arrays.t_col = download(ctx, symbolic.t_col);
  arrays.t_source = download(ctx, symbolic.t_source);
  arrays.pieces = download(ctx, symbolic.by_size.pieces);
  arrays.classes = symbolic.by_size.classes;
  arrays.operations = symbolic.operations;
  arrays.longest = symbolic.longest;
  arrays.longest_row = symbolic.longest_row;
  return arrays;
}

template <Space S>
Arrays symbolic_of(const Context<S>& ctx, const HostCsr& a, bool narrow, const PrecondOptions& options,
                   const HostCsr* whole = nullptr) {
  const auto there = upload_matrix<double>(ctx, a);
  const auto view = narrow ? there.narrow() : there.wide();
  if (whole == nullptr) return arrays_of(ctx, detail::make_fsai_symbolic<double, S>(ctx, view, {}, options));
  const auto of_g = upload_matrix<double>(ctx, *whole);
  const Pattern<S> pattern(narrow ? of_g.narrow() : of_g.wide());
  return arrays_of(ctx, detail::make_fsai_symbolic<double, S>(ctx, view, {}, options, &pattern));
}

// Symmetric in its pattern, with empty rows, missing diagonal entries and rows of every length up to n.
HostCsr symmetric_pattern(Index n) {
  Random random(41);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    if (i % 5 != 0) rows[i][i] = 1;
    if (i % 7 == 3) continue;
    for (Index k = 0; k < i; k += 1 + random.index(1 + n / 2)) {
      if (k % 7 != 3) rows[i][k] = rows[k][i] = 0.5;
    }
  }
  for (Index k = 0; n > 40 && k < n; ++k) rows[n - 2][k] = rows[k][n - 2] = 0.25;
  return from_rows(n, rows);
}

void check_same(const Arrays& a, const Arrays& b) {
  CHECK(a.a_row_ptr == b.a_row_ptr);
  CHECK(a.a_col == b.a_col);
  CHECK(a.a_source == b.a_source);
  CHECK(a.g_row_ptr == b.g_row_ptr);
  CHECK(a.g_col == b.g_col);
  CHECK(a.t_row_ptr == b.t_row_ptr);
  CHECK(a.t_col == b.t_col);
  CHECK(a.t_source == b.t_source);
  CHECK(a.longest == b.longest);
  CHECK(a.longest_row == b.longest_row);
  CHECK(a.sorted_pieces() == b.sorted_pieces());
  CHECK(std::fabs(a.operations - b.operations) <= 1e-12 * a.operations);
}

}  // namespace

TEST_CASE("FSAI's symbolic phase finds the triangles, the way to their values, and the longest row",
          "[precond][fsai]") {
  const Context<Space::host> ctx(2);
  const HostCsr a = symmetric_pattern(90);
  const Arrays found = symbolic_of(ctx, a, true, fsai_options());
  const auto entry = [&](Index i, Index j) {
    const auto begin = a.col.begin() + a.row_ptr[i], end = a.col.begin() + a.row_ptr[i + 1];
    const auto at = std::find(begin, end, j);
    return at == end ? Offset{-1} : at - a.col.begin();
  };
  for (Index i = 0; i < 90; ++i) {
    REQUIRE(found.a_col[found.a_row_ptr[i + 1] - 1] == i);
    for (Offset k = found.a_row_ptr[i]; k < found.a_row_ptr[i + 1]; ++k) {
      REQUIRE(found.a_source[k] == entry(i, found.a_col[k]));
    }
    for (Offset k = found.t_row_ptr[i]; k < found.t_row_ptr[i + 1]; ++k) {
      const Index j = found.t_col[k];
      REQUIRE(found.a_col[found.t_source[k]] == i);
      REQUIRE(found.t_source[k] >= found.a_row_ptr[j]);
      REQUIRE(found.t_source[k] < found.a_row_ptr[j + 1]);
    }
  }
  CHECK(found.t_col.size() == found.a_col.size());
  CHECK(found.longest_row == 88);
  CHECK(found.longest == found.a_row_ptr[89] - found.a_row_ptr[88]);
}

TEST_BOTH("FSAI's symbolic phase on a whole pattern is the one on a caller's that is the same", "[precond][fsai]") {
  const auto check = [&](const HostCsr& a, const HostCsr& whole) {
    auto given = std::make_shared<GivenPattern>();
    given->rows = whole.rows;
    given->row_ptr = whole.row_ptr;
    given->col = whole.col;
    PrecondOptions options = fsai_options();
    options.of<PatternOptions>().pattern = std::move(given);
    const Arrays expected = symbolic_of(Context<Space::host>(), a, false, options);
    REQUIRE((a.rows == 0 || !expected.g_col.empty()));
    for (const bool narrow : {true, false}) {
      INFO(a.rows << " rows, " << whole.col.size() << " entries");
      check_same(symbolic_of(ctx, a, narrow, fsai_options(), &whole), expected);
    }
  };
  for (const Index n : {0, 1, 33, 300}) {
    check(diagonal_matrix(n), symmetric_pattern(n));
    check(symmetric_pattern(n), diagonal_matrix(n));
    check(ragged_matrix(n, n), symmetric_pattern(n));
  }
  check(fem_matrix("generate:grid7:6"), symmetric_pattern(216));
}

TEST_BOTH("Rows of FSAI's factor share a factorisation where each adds its diagonal to the row before",
          "[precond][fsai]") {
  const auto check = [&](const HostCsr& a) {
    const Arrays found = symbolic_of(ctx, a, true, fsai_options());
    std::vector<std::set<Index>> columns(a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = found.a_row_ptr[i]; k < found.a_row_ptr[i + 1]; ++k) columns[i].insert(found.a_col[k]);
    }
    std::vector<std::pair<Index, Index>> expected;
    double cubes = 0;
    for (Index i = 0; i < a.rows; ++i) {
      std::set<Index> extended = i == 0 ? std::set<Index>() : columns[i - 1];
      extended.insert(i);
      const bool goes_on = i % 12 != 0 && columns[i] == extended;
      if (goes_on) {
        expected.back() = {i, expected.back().second + 1};
      } else {
        expected.emplace_back(i, 1);
      }
    }
    for (const auto& [last, count] : expected) cubes += std::pow(static_cast<double>(columns[last].size()), 3);
    INFO(a.rows << " rows, " << a.col.size() << " entries");
    CHECK(found.sorted_pieces() == expected);
    CHECK(std::fabs(found.operations - cubes / 3) <= 1e-9 * cubes);

    // Each class has the pieces that fit into it and not into a smaller one.
    Index next = 0, smaller = 0;
    for (const detail::FsaiClass& c : found.classes) {
      CHECK(c.begin == next);
      next = c.end;
      for (Index k = c.begin; k < c.end; ++k) {
        const auto size = static_cast<Index>(columns[found.pieces[k].last].size());
        REQUIRE(size <= c.largest);
        REQUIRE(size > smaller);
      }
      smaller = c.largest;
    }
    CHECK(next == static_cast<Index>(expected.size()));
    CHECK(found.classes.size() == detail::fsai_limits(machine_of(ctx)).size() + 1);
  };
  check(fem_matrix("generate:elasticity:5"));  // nodes of three rows
  check(fem_matrix("generate:grid7:8"));       // none
  check(diagonal_matrix(100));
  check(bordered_matrix(300, 40));                                          // 40 full rows
  for (const Index n : {1, 12, 13, 45, 130}) check(bordered_matrix(n, n));  // full
  check(symmetric_pattern(257));
}

#if NEWEL_HAS_CUDA
TEST_CASE("FSAI's patterns are the same from kernels as from the host", "[precond][fsai][device]") {
  const Context<Space::host> host;
  const Context<Space::device> device;
  const auto check = [&](const HostCsr& a, const PrecondOptions& options) {
    for (const bool narrow : {true, false}) {
      INFO(a.rows << " rows, " << a.col.size() << " entries");
      const Arrays here = symbolic_of(host, a, narrow, options), there = symbolic_of(device, a, narrow, options);
      check_same(here, there);
    }
  };
  for (const Index n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 700}) check(symmetric_pattern(n), fsai_options());
  check(fem_matrix("generate:elasticity:5"), fsai_options());
  check(diagonal_matrix(100), fsai_options());
  check(symmetric_pattern(80), fsai_options(2));
  // Not symmetric in the pattern: as many entries on both sides, and not; the host takes over.
  check(from_rows(4, {{{0, 1.0}, {2, 1.0}}, {{1, 1.0}}, {{2, 1.0}}, {{1, 1.0}, {3, 1.0}}}), fsai_options());
  check(ragged_matrix(120, 120), fsai_options());
}

TEST_ON_DEVICE("The kernels take a pattern that is symmetric, and refuse others", "[precond][fsai][device]") {
  const auto taken = [&](const HostCsr& a) {
    const auto there = upload_matrix<double>(ctx, a);
    detail::FsaiSymbolic<Space::device> result;
    return detail::make_lower_symbolic(ctx, Pattern<Space::device>(there.wide()), nullptr, result);
  };
  CHECK(taken(symmetric_pattern(300)));
  CHECK_FALSE(taken(from_rows(4, {{{0, 1.0}, {2, 1.0}}, {{1, 1.0}}, {{2, 1.0}}, {{1, 1.0}, {3, 1.0}}})));
  CHECK_FALSE(taken(from_rows(2, {{{0, 1.0}, {1, 1.0}}, {{1, 1.0}}})));
  CHECK_FALSE(taken(from_rows(2, {{{0, 1.0}}, {{0, 1.0}, {1, 1.0}}})));
}
#endif
