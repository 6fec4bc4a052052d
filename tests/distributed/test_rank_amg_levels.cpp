// SPDX-License-Identifier: Apache-2.0
// The levels of AMG on ranks, put together, as dense matrices.
#include "tests/catch.hpp"

#include "tests/distributed/dense_levels.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

DenseLevels levels_on(int size, const AmgCase& of, const AmgOptions& options, std::int64_t most_gathered,
                      const HostCsr* changed = nullptr) {
  const auto own_context = [](const AmgShare& own) { return own.ctx; };
  return levels_in(own_context, size, of, options, most_gathered, changed);
}

}  // namespace

TEST_CASE("Coarse matrices of AMG on ranks are P^T A P", "[distributed][amg]") {
  AmgOptions options;
  options.refresh = AmgRefresh::full;
  std::size_t deepest = 0;
  for (const AmgCase& of : amg_cases()) {
    for (const int size : {2, 3, 5}) {
      INFO(of.name << " on " << size << " ranks");
      HostCsr changed = of.matrix;
      for (double& value : changed.val) value *= 3;
      for (const HostCsr* const refreshed :
           {static_cast<const HostCsr*>(nullptr), static_cast<const HostCsr*>(&changed)}) {
        const DenseLevels all = levels_on(size, of, options, 40, refreshed);
        REQUIRE(all.p.size() >= 1);
        deepest = std::max(deepest, all.p.size());
        CHECK(largest(all.a[0] - (refreshed == nullptr ? 1.0 : 3.0) * eigen_dense(of.matrix)) == 0);
        for (std::size_t l = 0; l < all.p.size(); ++l) {
          const EigenDense& p = all.p[l];
          const EigenDense bound = p.cwiseAbs().transpose() * all.a[l].cwiseAbs() * p.cwiseAbs();
          CHECK(largest(all.a[l + 1] - p.transpose() * all.a[l] * p) <= 1e-13 * largest(bound));
        }
        REQUIRE(all.gathered_rows.size() == static_cast<std::size_t>(size));
        CHECK(all.a.back() == all.a[all.a.size() - 2]);
      }
    }
  }
  CHECK(deepest >= 2);
}

// What other ranks' columns add to a row of P goes to its own aggregates, so that P R is that of all of A.
TEST_CASE("Prolongators on ranks represent the smoothed near-null vectors", "[distributed][amg]") {
  AmgOptions options;
  options.theta = 0;  // nothing is filtered
  AmgCase translations = fem_case("generate:elasticity:8");
  translations.coordinates = nullptr;  // no rotations, which depend on others in single nodes
  for (const AmgCase& of : {grid_case(30, 20, 1), fem_case("generate:grid7:8"), translations}) {
    for (const int size : {2, 5}) {
      INFO(of.name << " on " << size << " ranks");
      const DenseLevels all = levels_on(size, of, options, 40);
      CHECK(all.missing[0] == 0);
      for (std::size_t l = 0; l < all.p.size() && all.missing[l] == 0; ++l) {
        EigenDense inside = all.near_null[l];
        for (Eigen::Index i = 0; i < inside.rows(); ++i) {
          if (all.p[l].row(i).isZero(0)) inside.row(i).setZero();
        }
        EigenDense smoothed = inside;
        const EigenDense ab = all.a[l] * inside;
        for (Eigen::Index i = 0; i < inside.rows(); ++i) {
          const double diagonal = all.a[l](i, i);
          if (all.p[l].row(i).isZero(0)) continue;
          if (diagonal != 0) smoothed.row(i) -= all.omega[l] / diagonal * ab.row(i);
        }
        CHECK(largest(all.p[l] * all.near_null[l + 1] - smoothed) <= 1e-8 * largest(inside));
      }
    }
  }
}

TEST_CASE("New values of AMG's levels on ranks are those of new levels", "[distributed][amg]") {
  AmgOptions options;
  options.theta = 0;  // the aggregates do not depend on values
  options.refresh = AmgRefresh::full;
  for (const AmgCase& of : amg_cases()) {
    AmgCase changed = of;
    for (Index i = 0; i < changed.matrix.rows; ++i) {
      for (Offset k = changed.matrix.row_ptr[i]; k < changed.matrix.row_ptr[i + 1]; ++k) {
        if (changed.matrix.col[k] == i) changed.matrix.val[k] *= 1 + 0.01 * (i % 3);
      }
    }
    const DenseLevels refreshed = levels_on(3, of, options, 40, &changed.matrix);
    const DenseLevels made = levels_on(3, changed, options, 40), before = levels_on(3, of, options, 40);
    REQUIRE(refreshed.a.size() == made.a.size());
    for (std::size_t l = 0; l < made.a.size(); ++l) {
      INFO(of.name << ", level " << l);
      CHECK(refreshed.a[l] == made.a[l]);
      CHECK(refreshed.a[l] != before.a[l]);
    }
  }
}
