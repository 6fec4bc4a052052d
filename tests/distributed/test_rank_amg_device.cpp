// SPDX-License-Identifier: Apache-2.0
// The levels of AMG on ranks whose devices set them up: those that ranks on the host make, and P^T A P.
#include "tests/catch.hpp"

#include "distributed/links/device_link.hpp"

#include "tests/distributed/dense_levels.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

constexpr Space device = Space::device;

// Of ranks that share a device.
DenseLevels of_devices(int size, const AmgCase& of, const AmgOptions& options, const HostCsr* changed = nullptr) {
  std::vector<Context<device>> contexts;
  for (int r = 0; r < size; ++r) contexts.emplace_back(0);
  const auto of_rank = [&](const AmgShare& own) {
    const Ranks& ranks = *own.ctx.ranks();
    return detail::with_ranks(contexts[static_cast<std::size_t>(ranks.communicator->rank())], ranks);
  };
  return levels_in(of_rank, size, of, options, 40, changed);
}

DenseLevels of_hosts(int size, const AmgCase& of, const AmgOptions& options, const HostCsr* changed = nullptr) {
  return levels_in([](const AmgShare& own) { return own.ctx; }, size, of, options, 40, changed);
}

// Sums have another order on a device. What depends on the eigenvalue has its error.
void check_alike(const std::vector<EigenDense>& found, const std::vector<EigenDense>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t l = 0; l < found.size(); ++l) {
    INFO("level " << l);
    REQUIRE(found[l].rows() == expected[l].rows());
    REQUIRE(found[l].cols() == expected[l].cols());
    CHECK(largest(found[l] - expected[l]) <= tolerance * largest(expected[l]));
  }
}

// A grid in which every third node does not see the next one, which sees it.
AmgCase one_sided_case() {
  AmgCase of = grid_case(24, 20, 1);
  Rows rows(static_cast<std::size_t>(of.matrix.rows));
  for (Index i = 0; i < of.matrix.rows; ++i) {
    for (Offset k = of.matrix.row_ptr[i]; k < of.matrix.row_ptr[i + 1]; ++k) {
      const Index j = of.matrix.col[k];
      if (j == i + 1 && i % 3 == 0) continue;
      rows[static_cast<std::size_t>(i)][j] = of.matrix.val[k];
    }
  }
  return {"one-sided grid", from_rows(of.matrix.rows, rows)};
}

// Whatever the aggregates.
void check_products(const DenseLevels& all) {
  for (std::size_t l = 0; l < all.p.size(); ++l) {
    const EigenDense& p = all.p[l];
    const EigenDense bound = p.cwiseAbs().transpose() * all.a[l].cwiseAbs() * p.cwiseAbs();
    CHECK(largest(all.a[l + 1] - p.transpose() * all.a[l] * p) <= 1e-13 * largest(bound));
  }
}

void check_levels(const AmgCase& of, int size, const AmgOptions& options, const HostCsr* changed) {
  INFO(of.name << " on " << size << " ranks" << (changed == nullptr ? "" : ", refreshed"));
  const DenseLevels found = of_devices(size, of, options, changed), expected = of_hosts(size, of, options, changed);
  CHECK(found.aggregates == expected.aggregates);
  CHECK(found.missing == expected.missing);
  CHECK(found.gathered_rows == expected.gathered_rows);
  REQUIRE(found.omega.size() == expected.omega.size());
  for (std::size_t l = 0; l < found.omega.size(); ++l)
    CHECK(std::fabs(found.omega[l] / expected.omega[l] - 1) <= 1e-9);
  check_alike(found.near_null, expected.near_null, 1e-9);
  check_alike(found.p, expected.p, 1e-8);
  check_alike(found.a, expected.a, 1e-8);
  check_products(found);
}

}  // namespace

TEST_CASE("Devices set up the levels of AMG that ranks on the host make", "[distributed][amg][device]") {
  AmgOptions options;
  options.refresh = AmgRefresh::full;
  std::vector<AmgCase> cases = amg_cases();
  cases.push_back(grid_case(30, 20, 0.01));  // with weak blocks
  for (const AmgCase& of : cases) {
    HostCsr changed = of.matrix;
    for (double& value : changed.val) value *= 3;
    for (const int size : {2, 3}) {
      check_levels(of, size, options, nullptr);
      check_levels(of, size, options, &changed);
    }
  }
}

// A device has blocks of zeros for what lacks an opposite. What other ranks would add to a row of P may go to their
// aggregates too, so that coarse levels differ from those of the host.
TEST_CASE("Devices set up the levels of AMG for patterns that are not symmetric", "[distributed][amg][device]") {
  const AmgCase of = one_sided_case();
  AmgOptions options;
  for (const int size : {2, 3}) {
    INFO(size << " ranks");
    const DenseLevels found = of_devices(size, of, options), expected = of_hosts(size, of, options);
    CHECK(found.a.front() == expected.a.front());
    REQUIRE(found.p.size() >= 2);
    CHECK(found.aggregates.front() == expected.aggregates.front());
    CHECK(std::fabs(found.omega.front() / expected.omega.front() - 1) <= 1e-9);
    check_products(found);
  }
}
