// SPDX-License-Identifier: Apache-2.0
// The levels of AMG on ranks, put together, as dense matrices.
#include "distributed/precond/amg/rank_hierarchy.hpp"

#include "tests/catch.hpp"

#include <mutex>

#include "distributed/precond/amg/rank_near_null.hpp"

#include "tests/distributed/amg_rank_support.hpp"
#include "tests/precond/amg_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

// Of all ranks.
struct DenseLevels {
  std::vector<EigenDense> a, p, near_null;
  std::vector<double> omega;   // of each prolongator
  std::vector<Index> missing;  // columns of zeros of each tentative one
  std::vector<std::int64_t> gathered_rows;
};

EigenDense& sized(std::vector<EigenDense>& all, std::size_t level, Eigen::Index rows, Eigen::Index cols) {
  if (all.size() <= level) all.resize(level + 1);
  if (all[level].size() == 0) all[level] = EigenDense::Zero(rows, cols);
  return all[level];
}

void add(DenseLevels& all, const detail::RankHierarchy<host>& h, const detail::NearNull<host>& first) {
  const auto& levels = h.levels();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const detail::RankLevel<host>& level = levels[l];
    const detail::HostBlockCsr& a = level.own.a;
    EigenDense& whole = sized(all.a, l, level.all_rows(), level.all_rows());
    const int b = a.row_block;
    for (Index i = 0; i < level.nodes(); ++i) {
      for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
        for (int e = 0; e < b * b; ++e) {
          whole((level.first_node() + i) * b + e / b, level.number_of(a.pattern.col[k]) * b + e % b) = a.block(k)[e];
        }
      }
    }
    const std::vector<double>& vectors = l == 0 ? first.values : levels[l - 1].own.tentative.coarse.values;
    const int count = l == 0 ? first.vectors : levels[l - 1].own.tentative.coarse.vectors;
    EigenDense& modes = sized(all.near_null, l, level.all_rows(), count);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      for (int c = 0; c < count; ++c) modes(level.first_node() * b + i, c) = vectors[i * count + c];
    }
    if (l + 1 == levels.size()) break;
    const detail::HostBlockCsr& p = level.own.p;
    EigenDense& to_fine = sized(all.p, l, level.all_rows(), levels[l + 1].all_rows());
    for (Index i = 0; i < level.nodes(); ++i) {
      for (Offset k = p.pattern.row_ptr[i]; k < p.pattern.row_ptr[i + 1]; ++k) {
        for (int e = 0; e < p.block_size(); ++e) {
          to_fine((level.first_node() + i) * b + e / p.col_block,
                  (levels[l + 1].first_node() + p.pattern.col[k]) * p.col_block + e % p.col_block) = p.block(k)[e];
        }
      }
    }
    all.omega.resize(std::max(all.omega.size(), l + 1));
    all.missing.resize(all.omega.size());
    all.missing[l] += level.own.tentative.missing;
    all.omega[l] = 4 / (3 * level.own.spectrum.lambda);
  }
}

DenseLevels levels_on(int size, const AmgCase& of, const AmgOptions& options, std::int64_t most_gathered,
                      const HostCsr* changed = nullptr) {
  DenseLevels all;
  std::mutex one;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const AmgShare own(of, ranks);
    const detail::RankNearNull<host> near_null(own.ctx, own.matrix(), options);
    auto first = detail::make_rank_first_level(own.ctx, own.matrix(), near_null.node_rows);
    detail::RankHierarchy<host> h(own.ctx, std::move(first.level), near_null.vectors, options, most_gathered);
    if (changed != nullptr) {
      const std::vector<double> values = own.values_of(*changed);
      gather<double, host>(own.ctx, Span<const double, host>(values), first.source, h.values());
      h.refresh(own.ctx, options.refresh == AmgRefresh::full);
    }
    const std::lock_guard<std::mutex> lock(one);
    add(all, h, near_null.vectors);
    if (h.is_gathered()) {
      RANK_CHECK(h.gathered().matrix().scalar_rows() == h.levels().back().all_rows());
      all.gathered_rows.push_back(h.gathered().matrix().scalar_rows());
      const EigenDense here = eigen_dense(h.gathered().matrix());
      EigenDense& kept = sized(all.a, h.levels().size(), here.rows(), here.cols());
      if (kept.isZero(0)) kept = here;
      RANK_CHECK(kept == here);
    }
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  return all;
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
