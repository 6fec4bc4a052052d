// SPDX-License-Identifier: Apache-2.0
// The levels of AMG on ranks, put together, as dense matrices.
#include "tests/catch.hpp"

#include "distributed/precond/amg/level_operator.hpp"

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

// In the order of the level, and with rows of each rank turned round.
TEST_CASE("Levels of AMG on ranks multiply as their matrices", "[distributed][amg]") {
  for (const AmgCase& of : amg_cases()) {
    for (const int size : {2, 3, 5}) {
      for (const bool turned : {false, true}) {
        INFO(of.name << " on " << size << " ranks" << (turned ? ", turned" : ""));
        const DenseLevels all = levels_on(size, of, AmgOptions(), 40);
        std::vector<Eigen::VectorXd> x, y;
        for (std::size_t l = 0; l < all.p.size(); ++l) {
          x.push_back(Eigen::VectorXd::Random(all.a[l].rows()));
          y.push_back(x.back());
        }
        const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
          const AmgShare own(of, ranks);
          detail::NearNull<host> near_null;
          const auto h = levels_of_rank(own.ctx, own, AmgOptions(), 40, nullptr, near_null);
          for (std::size_t l = 0; l < x.size(); ++l) {
            const detail::RankLevel<host>& level = h.levels()[l];
            const auto first = static_cast<std::size_t>(level.first_rows()[static_cast<std::size_t>(level.rank)]);
            const Index n = level.own.a.scalar_rows();
            std::vector<Index> order;
            for (Index i = 0; i < n; ++i) order.push_back(turned ? n - 1 - i : i);
            detail::LevelOrder<host> of_vectors;
            if (turned) of_vectors = {make_array(own.ctx, order), make_array(own.ctx, order)};
            const Context<host> ctx = detail::context_of_rows(own.ctx, level.first_rows());
            const detail::LevelOperator<double, host> product(ctx, level, of_vectors);
            std::vector<double> in, out(static_cast<std::size_t>(n), 1.0);
            for (const Index i : order) in.push_back(x[l][static_cast<Eigen::Index>(first) + i]);
            product.apply(ctx, 2, Span<const double, host>(in), 3, Span<double, host>(out));
            for (Index i = 0; i < n; ++i) y[l][static_cast<Eigen::Index>(first) + order[i]] = out[i];
          }
        });
        CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
        for (std::size_t l = 0; l < x.size(); ++l) {
          const Eigen::VectorXd expected = 2 * (all.a[l] * x[l]) + Eigen::VectorXd::Constant(x[l].size(), 3.0);
          CHECK(largest(y[l] - expected) <= 1e-13 * largest(all.a[l]));
        }
      }
    }
  }
}
