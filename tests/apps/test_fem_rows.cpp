// SPDX-License-Identifier: Apache-2.0
// Rows of generated systems that are made apart: those of the whole matrix, bit for bit.
#include "tests/catch.hpp"

#include <cstring>

#include "apps/fem/generated_rows.hpp"
#include "apps/fem/problem.hpp"

using namespace newel;

namespace {

constexpr Space host = Space::host;

const Context<host>& two_threads() {
  static const Context<host> ctx(2);
  return ctx;
}

// Rows first .. end - 1 against those of the whole.
void require_same_rows(const fem::HostCsr& whole, const NodeCoordinates& points, const std::string& spec,
                       std::int64_t first, std::int64_t end) {
  INFO(spec << ", rows " << first << " to " << end);
  const fem::GeneratedRows rows = fem::generate_rows(two_threads(), spec, first, end);
  REQUIRE(rows.rows() == end - first);
  const Offset begin = whole.row_ptr[first];
  for (std::int64_t i = first; i <= end; ++i) {
    REQUIRE(rows.row_ptr[static_cast<std::size_t>(i - first)] == whole.row_ptr[i] - begin);
  }
  const Offset entries = whole.row_ptr[end] - begin;
  REQUIRE(rows.col.size() == entries);
  REQUIRE(rows.val().size == entries);
  for (Offset k = 0; k < entries; ++k) REQUIRE(rows.col[k] == whole.col[begin + k]);
  REQUIRE(std::memcmp(rows.val().data, whole.val.data() + begin,
                      static_cast<std::size_t>(entries) * sizeof(double)) == 0);
  REQUIRE((rows.coordinates == nullptr) == points.xyz.empty());
  if (points.xyz.empty()) return;
  const auto values_before = [&](std::int64_t row) {
    return row * static_cast<std::int64_t>(points.xyz.size()) / whole.rows;
  };
  const std::vector<double> own(points.xyz.begin() + values_before(first), points.xyz.begin() + values_before(end));
  CHECK(rows.coordinates->xyz == own);
}

}  // namespace

TEST_CASE("Ranks generate the rows of the whole matrix bit for bit", "[fem][rows]") {
  const std::string spec =
      GENERATE("generate:diffusion:18", "generate:elasticity:11", "generate:convection:17",
               "generate:convection:9:300", "generate:grid7:13", "generate:grid7:2", "generate:elasticity:2");
  NodeCoordinates points;
  const fem::HostCsr whole = fem::generate_matrix(two_threads(), spec, &points);
  REQUIRE(fem::generated_row_count(spec) == whole.rows);
  for (const int ranks : {1, 2, 3, 7}) {
    const std::vector<std::int64_t> bounds = fem::generated_row_bounds(spec, ranks);
    REQUIRE(static_cast<int>(bounds.size()) == ranks + 1);
    CHECK(bounds.front() == 0);
    CHECK(bounds.back() == whole.rows);
    for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
      require_same_rows(whole, points, spec, bounds[r], bounds[r + 1]);
    }
  }
}

TEST_CASE("A rank generates any few rows of a system too large for 32-bit numbers", "[fem][rows]") {
  SECTION("a grid of 2^33 points") {
    const std::string spec = "generate:grid7:2048";
    const std::int64_t n = 2048, all = n * n * n;
    REQUIRE(fem::generated_row_count(spec) == all);
    // The point (5, 7, 2040), whose neighbours all exist.
    const std::int64_t row = 5 + n * (7 + n * 2040);
    const fem::GeneratedRows rows = fem::generate_rows(two_threads(), spec, row, row + 2);
    const std::vector<std::int64_t> expected = {row - n * n, row - n, row - 1, row, row + 1, row + n, row + n * n};
    REQUIRE(rows.row_ptr == std::vector<Offset>{0, 7, 14});
    CHECK(std::vector<std::int64_t>(rows.col.begin(), rows.col.begin() + 7) == expected);
    // The last point has three neighbours.
    const fem::GeneratedRows last = fem::generate_rows(two_threads(), spec, all - 1, all);
    CHECK(std::vector<std::int64_t>(last.col.begin(), last.col.end()) ==
          std::vector<std::int64_t>{all - 1 - n * n, all - 1 - n, all - 2, all - 1});
  }
  SECTION("a mesh of more than 2^32 rows") {
    const std::string spec = "generate:elasticity:1200";
    const std::int64_t all = 3LL * 1200 * 1200 * 1200;
    REQUIRE(all > (1LL << 32));
    REQUIRE(fem::generated_row_count(spec) == all);
    const fem::GeneratedRows rows = fem::generate_rows(two_threads(), spec, all - 3 * 700, all);
    REQUIRE(rows.rows() == 3 * 700);
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      const auto begin = rows.col.begin() + rows.row_ptr[static_cast<std::size_t>(i)];
      const auto end = rows.col.begin() + rows.row_ptr[static_cast<std::size_t>(i) + 1];
      REQUIRE(std::is_sorted(begin, end));
      REQUIRE(std::binary_search(begin, end, all - 3 * 700 + i));
      largest = std::max(largest, *(end - 1));
    }
    CHECK(largest == all - 1);
  }
}

TEST_CASE("Rows that are not there or cut a node are refused", "[fem][rows]") {
  const auto& ctx = two_threads();
  CHECK_THROWS_AS(fem::generate_rows(ctx, "generate:elasticity:4", 1, 6), InputError);
  CHECK_THROWS_AS(fem::generate_rows(ctx, "generate:elasticity:4", 0, 195), InputError);
  CHECK_THROWS_AS(fem::generate_rows(ctx, "generate:grid7:4", 3, 2), InputError);
  CHECK_THROWS_AS(fem::generate_rows(ctx, "generate:grid7:2048", 0, std::int64_t{1} << 31), InputError);
  CHECK_THROWS_AS(fem::generated_row_count("generate:diffusion:5000"), InputError);
  CHECK_THROWS_AS(fem::generated_row_count("generate:plasticity:5"), InputError);
  CHECK_FALSE(fem::can_generate_rows("mesh:a.mesh:diffusion"));
  CHECK(fem::generate_rows(ctx, "generate:diffusion:4", 5, 5).rows() == 0);
}
