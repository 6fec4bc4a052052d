// SPDX-License-Identifier: Apache-2.0
// matrix_traits on matrices that one can check by hand, and against a dense count.
#include "tests/catch.hpp"

#include <newel/core/matrix_traits.hpp>

namespace {

template <class T = double, Space S>
MatrixTraits traits_of(const Context<S>& ctx, const HostCsr& a) {
  const auto there = upload_matrix<T>(ctx, a);
  const MatrixTraits wide = matrix_traits<T>(ctx, there.wide());
  const MatrixTraits narrow = matrix_traits<T>(ctx, there.narrow());
  CHECK(narrow.pattern_symmetric == wide.pattern_symmetric);
  CHECK(narrow.max_asymmetry == wide.max_asymmetry);
  return wide;
}

bool is(const RowCount& found, Index count, Index first) { return found.count == count && found.first == first; }

}  // namespace

TEST_BOTH("A symmetric matrix is symmetric in pattern and values", "[traits]") {
  // 4 -1 .
  // -1 4 2
  // .  2 5
  const auto t = traits_of(ctx, from_rows(3, {{{0, 4}, {1, -1}}, {{0, -1}, {1, 4}, {2, 2}}, {{1, 2}, {2, 5}}}));
  CHECK(t.pattern_symmetric);
  CHECK(t.symmetric());
  CHECK(t.positive_diagonal());
  CHECK(t.max_abs == 5);
  CHECK(t.max_asymmetry == 0);
  CHECK(is(t.empty_rows, 0, -1));
  CHECK(is(t.missing_diagonal, 0, -1));
  CHECK(is(t.zero_diagonal, 0, -1));
  CHECK(is(t.negative_diagonal, 0, -1));
}

TEST_BOTH("Values count as symmetric within 1e-12 of the largest entries of both their rows", "[traits]") {
  const auto with = [&](double difference) {  // 1e-12 sqrt(8 * 2) = 4e-12
    return traits_of(ctx, from_rows(2, {{{0, -8}, {1, 1}}, {{0, 1 + difference}, {1, 2}}}));
  };
  CHECK(with(3.9e-12).symmetric());
  CHECK(with(3.9e-12).max_asymmetry == Approx(3.9e-12).epsilon(1e-4));
  CHECK(with(3.9e-12).relative_asymmetry == Approx(3.9e-12 / 4).epsilon(1e-4));
  CHECK_FALSE(with(4.1e-12).symmetric());
  CHECK(with(4.1e-12).pattern_symmetric);
  CHECK(with(4.1e-12).max_abs == 8);
}

namespace {

// Differences on a square grid of n x n points, with an upwind term along x of the size of the diffusion where
// `convection` is 1.
MapRows grid_rows(Index n, double convection) {
  MapRows rows(n * n);
  for (Index i = 0; i < n * n; ++i) {
    rows[i][i] = 4 + convection;
    if (i % n > 0) rows[i][i - 1] = -1 - convection;
    if (i % n < n - 1) rows[i][i + 1] = -1;
    if (i >= n) rows[i][i - n] = -1;
    if (i + n < n * n) rows[i][i + n] = -1;
  }
  return rows;
}

// D A D.
MapRows scaled_rows(MapRows rows, const std::vector<double>& d) {
  for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
    for (auto& [j, value] : rows[i]) value = d[i] * value * d[j];
  }
  return rows;
}

}  // namespace

TEST_BOTH("A penalty on some rows hides no convection in the others, nor shows one", "[traits]") {
  const Index n = 12;
  for (const double penalty : {1.0, 1e8, 1e20, 1e30, 1e200}) {
    for (const double convection : {0.0, 1e-8, 1.0, 100.0}) {
      MapRows rows = grid_rows(n, convection);
      for (Index i = 0; i < n; ++i) rows[i][i] += penalty;
      const auto t = traits_of(ctx, from_rows(n * n, rows));
      INFO("penalty " << penalty << ", convection " << convection);
      CHECK(t.symmetric() == (convection == 0));
    }
  }
}

TEST_BOTH("Dirichlet rows of which only the columns are left are not symmetric, whatever is on their diagonal",
          "[traits]") {
  const Index n = 12;
  for (const double unit : {1.0, 1e-14}) {  // a network of small conductances
    // Up to a diagonal 1e22 times as large as the entries beside it.
    for (const double diagonal : {1e-14, 1.0, 1e8}) {
      MapRows rows = scaled_rows(grid_rows(n, 0), std::vector<double>(n * n, std::sqrt(unit)));
      CHECK(traits_of(ctx, from_rows(n * n, rows)).symmetric());
      for (Index i = 0; i < n; ++i) rows[i] = {{i, diagonal}};
      CHECK_FALSE(traits_of(ctx, from_rows(n * n, rows)).symmetric());
    }
  }
}

TEST_BOTH("Scaling rows and columns alike does not change whether values are symmetric", "[traits]") {
  const Index n = 12;
  Random random(5);
  for (const double range : {1.0, 10.0, 100.0}) {
    std::vector<double> d(n * n);
    for (double& value : d) value = std::pow(10.0, range * random.value());
    CHECK(traits_of(ctx, from_rows(n * n, scaled_rows(grid_rows(n, 0), d))).symmetric());
    CHECK_FALSE(traits_of(ctx, from_rows(n * n, scaled_rows(grid_rows(n, 1), d))).symmetric());
  }
}

TEST_BOTH("The rounding of an assembly is no asymmetry, whatever the units of the unknowns are", "[traits]") {
  // Sums of w b b^T over elements of four unknowns whose units differ by 1e12, in another order below the diagonal
  // than above.
  const Index n = 60;
  Random random(7);
  std::vector<std::array<double, 5>> elements(n - 3);
  for (auto& e : elements) {
    for (int k = 0; k < 4; ++k) e[k] = random.value() * (k % 2 == 0 ? 1 : 1e12);
    e[4] = 2 + random.value();
  }
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max<Index>(0, i - 3); j < std::min(n, i + 4); ++j) {
      const Index first = std::max({Index{0}, i - 3, j - 3}), last = std::min({i, j, n - 4});
      for (Index e = first; i <= j && e <= last; ++e) {
        rows[i][j] += elements[e][i - e] * elements[e][j - e] * elements[e][4];
      }
      for (Index e = last; i > j && e >= first; --e) {
        rows[i][j] += elements[e][j - e] * (elements[e][i - e] * elements[e][4]);
      }
    }
  }
  const auto t = traits_of(ctx, from_rows(n, rows));
  CHECK(t.max_asymmetry > 0);
  CHECK(t.symmetric());
}

TEST_BOTH("Entries opposite to a row of zeros are as asymmetric as can be", "[traits]") {
  const auto t = traits_of(ctx, from_rows(3, {{{0, 1}, {2, 1e-300}}, {{1, 1}}, {}}));
  CHECK(t.relative_asymmetry == 2);
  CHECK_FALSE(t.symmetric());
  const auto opposite = traits_of(ctx, from_rows(2, {{{0, 1}, {1, 1e300}}, {{0, -1e300}, {1, 1}}}));
  CHECK(opposite.relative_asymmetry == 2);
}

TEST_BOTH("An entry without a partner is asymmetric by its own size, above or below the diagonal", "[traits]") {
  const auto above = traits_of(ctx, from_rows(3, {{{0, 1}, {2, -3}}, {{1, 1}}, {{2, 1}}}));
  CHECK_FALSE(above.pattern_symmetric);
  CHECK_FALSE(above.symmetric());
  CHECK(above.max_asymmetry == 3);
  const auto below = traits_of(ctx, from_rows(3, {{{0, 1}}, {{1, 1}}, {{0, -3}, {2, 1}}}));
  CHECK_FALSE(below.pattern_symmetric);
  CHECK(below.max_asymmetry == 3);
  // As many entries above as below, but in other places.
  const auto both = traits_of(ctx, from_rows(3, {{{0, 1}, {1, 2}}, {{1, 1}}, {{0, 5}, {2, 1}}}));
  CHECK_FALSE(both.pattern_symmetric);
  CHECK(both.max_asymmetry == 5);
  // A stored zero without a partner spoils the pattern, not the values.
  const auto zero = traits_of(ctx, from_rows(2, {{{0, 1}, {1, 0}}, {{1, 1}}}));
  CHECK_FALSE(zero.pattern_symmetric);
  CHECK(zero.symmetric());
}

TEST_BOTH("Diagonal entries that are missing, zero or negative are counted with the first row", "[traits]") {
  MapRows rows(200);
  for (Index i = 0; i < 200; ++i) rows[i][i] = 1;
  rows[0][5] = 1;
  for (const Index i : {33, 70, 199}) rows[i].erase(i), rows[i][0] = 1;
  for (const Index i : {40, 41}) rows[i][i] = i == 40 ? -0.0 : 0.0;
  for (const Index i : {64, 65, 66, 150}) rows[i][i] = -2;
  const auto t = traits_of(ctx, from_rows(200, rows));
  CHECK(is(t.missing_diagonal, 3, 33));
  CHECK(is(t.zero_diagonal, 2, 40));
  CHECK(is(t.negative_diagonal, 4, 64));
  CHECK(is(t.empty_rows, 0, -1));
  CHECK_FALSE(t.positive_diagonal());
  CHECK(t.max_abs == 2);
}

TEST_BOTH("Empty rows are counted, and have no diagonal", "[traits]") {
  const auto t = traits_of(ctx, from_rows(4, {{{0, 1}}, {}, {{2, 1}}, {}}));
  CHECK(is(t.empty_rows, 2, 1));
  CHECK(is(t.missing_diagonal, 2, 1));
  const auto none = traits_of(ctx, empty_matrix(33, 33));
  CHECK(is(none.empty_rows, 33, 0));
  CHECK(none.pattern_symmetric);
  CHECK(none.symmetric());
  CHECK(none.max_abs == 0);
  const auto nothing = traits_of(ctx, empty_matrix(0, 0));
  CHECK(is(nothing.empty_rows, 0, -1));
  CHECK(nothing.pattern_symmetric);
}

TEST_BOTH("A rectangle has a greatest entry and empty rows, but no symmetry and no diagonal", "[traits]") {
  for (const Index cols : {2, 9}) {
    const auto t = traits_of(ctx, from_rows(cols, {{{1, -7}}, {}, {{0, 1}}, {}}));
    CHECK_FALSE(t.pattern_symmetric);
    CHECK_FALSE(t.symmetric());
    CHECK(t.max_abs == 7);
    CHECK(is(t.empty_rows, 2, 1));
    CHECK(is(t.missing_diagonal, 0, -1));
    CHECK(is(t.negative_diagonal, 0, -1));
  }
}

TEST_BOTH("The traits of the awkward matrices agree with a count over a map", "[traits]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    std::map<std::pair<Index, Index>, double> at;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) at[{i, a.col[k]}] = a.val[k];
    }
    bool pattern = true;
    double max_abs = 0, asymmetry = 0, relative = 0;
    Index missing = 0;
    std::map<Index, double> largest;
    for (const auto& [place, value] : at) largest[place.first] = std::max(largest[place.first], std::fabs(value));
    for (const auto& [place, value] : at) {
      const auto mirrored = at.find({place.second, place.first});
      pattern &= mirrored != at.end();
      max_abs = std::max(max_abs, std::fabs(value));
      const double difference = std::fabs(value - (mirrored == at.end() ? 0.0 : mirrored->second));
      asymmetry = std::max(asymmetry, difference);
      const double rows = std::sqrt(largest[place.first]) * std::sqrt(largest[place.second]);
      if (difference > 0) relative = std::max(relative, std::min(2.0, difference / rows));
    }
    for (Index i = 0; i < a.rows; ++i) missing += at.count({i, i}) == 0;
    for (const MatrixTraits& t : {traits_of<double>(ctx, a), traits_of<float>(ctx, a)}) {
      CHECK(t.pattern_symmetric == pattern);
      CHECK(t.max_abs == max_abs);
      CHECK(t.max_asymmetry == asymmetry);
      CHECK(t.relative_asymmetry == Approx(relative).epsilon(1e-14));
      CHECK(t.missing_diagonal.count == missing);
    }
  }
}

TEST_BOTH("Rows that add up to nothing beside their diagonal entry are counted", "[traits]") {
  const Index n = 500;
  const auto line = [&](double damping) {  // -1 2 -1, held at both ends
    MapRows rows(n);
    for (Index i = 0; i < n; ++i) {
      rows[i][i] = 2 + damping;
      if (i > 0) rows[i][i - 1] = -1;
      if (i + 1 < n) rows[i][i + 1] = -1;
    }
    return from_rows(n, rows);
  };
  CHECK(traits_of(ctx, line(0)).undamped_rows == n - 2);
  CHECK(traits_of(ctx, line(0)).rows == n);
  CHECK(traits_of(ctx, line(0)).elliptic());
  CHECK_FALSE(traits_of(ctx, line(4e-4)).elliptic());
  CHECK(traits_of(ctx, line(1e-4)).undamped_rows == n - 2);
  CHECK(traits_of(ctx, line(4e-4)).undamped_rows == 0);
  CHECK(traits_of(ctx, line(-4e-4)).undamped_rows == 0);
  // Long rows, one with a negative diagonal entry, one that adds up to nothing without one, and an empty one.
  MapRows rows(300);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 300; ++j) rows[i][j] = j % 2 == 0 ? 1 : -1;
  }
  rows[1][1] = -1;
  rows[2].erase(2);
  rows[2].erase(3);
  for (Index i = 4; i < 300; ++i) rows[i][i] = 1;
  CHECK(traits_of(ctx, from_rows(300, rows)).undamped_rows == 2);
  CHECK(traits_of<float>(ctx, from_rows(300, rows)).undamped_rows == 2);
}

TEST_BOTH("Entries without a partner do not hide those after them in their row", "[traits]") {
  for (const Index n :
       {4, 300}) {  // of the larger one, no row that is looked at first has an entry without a partner
    MapRows rows(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)][i] = 9;
    rows[0][1] = 1;
    rows[0][2] = rows[2][0] = 5;
    rows[0][3] = rows[3][0] = 7;
    const auto t = traits_of(ctx, from_rows(n, rows));
    CHECK_FALSE(t.pattern_symmetric);
    CHECK(t.max_asymmetry == 1);
    CHECK(t.relative_asymmetry == Approx(1.0 / 9));
    rows[1][0] = 1;
    CHECK(traits_of(ctx, from_rows(n, rows)).symmetric());
  }
}

TEST_CASE("The traits do not depend on the number of threads", "[traits]") {
  MapRows rows(1000);
  for (Index i = 0; i < 1000; ++i) rows[i][i] = i % 100 == 77 ? -1 : 1;
  for (Index i = 300; i < 1000; i += 13) rows[i].clear();
  const HostCsr a = from_rows(1000, rows);
  for (const int threads : {1, 2, 3, 5, Context<Space::host>::most_threads}) {
    const auto t = traits_of(Context<Space::host>(threads), a);
    CHECK(is(t.empty_rows, 54, 300));
    CHECK(t.negative_diagonal.first == 77);
    CHECK(t.missing_diagonal.first == 300);
  }
  // Partners anywhere: a thread looks up those of rows that are others' as well as of its own.
  const Index n = 20000;
  Random random(31);
  MapRows scattered(n);
  for (int k = 0; k < 4 * n; ++k) {
    const Index i = random.index(n), j = random.index(n);
    scattered[i][j] = scattered[j][i] = random.value();
  }
  const HostCsr even = from_rows(n, scattered);
  scattered[19000][7] = scattered[7][19000] = 0.25;
  MapRows uneven = scattered, open = scattered;
  uneven[19000][7] = 0.75;
  open[7].erase(19000);
  for (const int threads : {1, 2, 3, 5, Context<Space::host>::most_threads}) {
    const Context<Space::host> ctx(threads);
    CHECK(traits_of(ctx, even).symmetric());
    CHECK(traits_of(ctx, even).pattern_symmetric);
    CHECK(traits_of(ctx, from_rows(n, uneven)).max_asymmetry == 0.5);
    CHECK(traits_of(ctx, from_rows(n, uneven)).pattern_symmetric);
    CHECK(traits_of(ctx, from_rows(n, open)).max_asymmetry == 0.25);
    CHECK_FALSE(traits_of(ctx, from_rows(n, open)).pattern_symmetric);
  }
}

// In rows that a look at a few of them misses: pairs of opposite signs, pairs whose values have changed places with
// those of other pairs, and partners that are all there with one value moved.
TEST_CASE("Asymmetries that cancel in a sum are found in whatever rows they are", "[traits]") {
  const Context<Space::host> ctx(2);
  const Index n = 3000;
  MapRows even(n);
  for (Index i = 0; i < n; ++i) {
    even[i][i] = 4;
    if (i + 1 < n) even[i][i + 1] = even[i + 1][i] = 1 + i % 5;
  }
  CHECK(traits_of(ctx, from_rows(n, even)).max_asymmetry == 0);
  CHECK(traits_of(ctx, from_rows(n, even)).pattern_symmetric);
  for (const Index step : {1, 2, 7}) {
    MapRows opposite = even, exchanged = even, moved = even;
    for (Index i = 300; i < 400; i += step) {
      opposite[i + 1][i] = -even[i + 1][i];
      exchanged[i + 1][i] = even[i][i + 1] + (i % 2 == 0 ? 1 : -1);
    }
    moved[777][778] = 9;
    CHECK(traits_of(ctx, from_rows(n, opposite)).max_asymmetry == 10);
    CHECK(traits_of<float>(ctx, from_rows(n, opposite)).max_asymmetry == 10);
    CHECK(traits_of(ctx, from_rows(n, opposite)).pattern_symmetric);
    CHECK(traits_of(ctx, from_rows(n, exchanged)).max_asymmetry == 1);
    CHECK(traits_of(ctx, from_rows(n, moved)).max_asymmetry == 9 - (1 + 777 % 5));
  }
  MapRows open = even;
  open[500].erase(501);
  open[601].erase(600);
  CHECK_FALSE(traits_of(ctx, from_rows(n, open)).pattern_symmetric);
  MapRows zeros = even;
  zeros[500][501] = 0.0;
  zeros[501][500] = -0.0;
  CHECK(traits_of(ctx, from_rows(n, zeros)).symmetric());
}

TEST_BOTH("The traits of a diagonal matrix, and of one with as many entries, are those of any other", "[traits]") {
  MapRows rows(3000);
  for (Index i = 0; i < 3000; ++i) rows[i][i] = i % 7 == 5 ? -3 : 2;
  rows[2111][2111] = 0;
  const auto t = traits_of(ctx, from_rows(3000, rows));
  CHECK((t.square && t.symmetric() && t.pattern_symmetric));
  CHECK(t.max_abs == 3);
  CHECK(t.missing_diagonal.count == 0);
  CHECK(is(t.zero_diagonal, 1, 2111));
  CHECK(is(t.negative_diagonal, 428, 5));
  rows[17].clear();
  rows[40][9] = 5;
  const auto moved = traits_of(ctx, from_rows(3000, rows));
  CHECK(!moved.pattern_symmetric);
  CHECK(moved.max_asymmetry == 5);
  CHECK(is(moved.empty_rows, 1, 17));
  CHECK(is(moved.missing_diagonal, 1, 17));
}
