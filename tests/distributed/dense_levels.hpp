// SPDX-License-Identifier: Apache-2.0
/// The levels of AMG on ranks, put together, as dense matrices.
#pragma once

#include <mutex>

#include <newel/core/vector_ops.hpp>

#include "distributed/precond/amg/rank_hierarchy.hpp"
#include "distributed/precond/amg/rank_near_null.hpp"

#include "tests/distributed/amg_rank_support.hpp"
#include "tests/precond/amg_support.hpp"

namespace newel::testing {

/// Of all ranks.
struct DenseLevels {
  std::vector<EigenDense> a, p, near_null;
  std::vector<double> omega;                   ///< of each prolongator
  std::vector<Index> missing;                  ///< columns of zeros of each tentative one
  std::vector<std::vector<Index>> aggregates;  ///< of the nodes of rank 0, in each level
  std::vector<std::int64_t> gathered_rows;
};

inline EigenDense& sized(std::vector<EigenDense>& all, std::size_t level, Eigen::Index rows, Eigen::Index cols) {
  if (all.size() <= level) all.resize(level + 1);
  if (all[level].size() == 0) all[level] = EigenDense::Zero(rows, cols);
  return all[level];
}

/// Blocks of this rank's rows into a matrix of all ranks, where column j is column `number`(j).
template <class Number>
void add_blocks(const detail::HostBlockCsr& a, std::int64_t first_row, const Number& number, EigenDense& whole) {
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < a.block_size(); ++e) {
        whole((first_row + i) * a.row_block + e / a.col_block,
              number(a.pattern.col[k]) * a.col_block + e % a.col_block) = a.block(k)[e];
      }
    }
  }
}

template <Space S>
void add(const Context<S>& ctx, DenseLevels& all, const detail::RankHierarchy<S>& h,
         const detail::NearNull<S>& first) {
  const auto& levels = h.levels();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const detail::RankLevel<S>& level = levels[l];
    const detail::HostBlockCsr a = on_host(ctx, level.own.a);
    EigenDense& whole = sized(all.a, l, level.all_rows(), level.all_rows());
    add_blocks(
        a, level.first_node(), [&](Index j) { return level.number_of(j); }, whole);
    const detail::NearNull<S>& of_level = l == 0 ? first : levels[l - 1].own.tentative.coarse;
    const std::vector<double> vectors = on_host(ctx, of_level.values);
    const int count = of_level.vectors;
    EigenDense& modes = sized(all.near_null, l, level.all_rows(), count);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      for (int c = 0; c < count; ++c) modes(level.first_node() * a.row_block + i, c) = vectors[i * count + c];
    }
    if (l + 1 == levels.size()) break;
    EigenDense& to_fine = sized(all.p, l, level.all_rows(), levels[l + 1].all_rows());
    add_blocks(
        on_host(ctx, level.own.p), level.first_node(), [&](Index j) { return levels[l + 1].first_node() + j; },
        to_fine);
    all.omega.resize(std::max(all.omega.size(), l + 1));
    all.missing.resize(all.omega.size());
    all.missing[l] += level.own.tentative.missing;
    all.omega[l] = 4 / (3 * level.own.spectrum.lambda);
    if (level.rank > 0) continue;
    all.aggregates.resize(std::max(all.aggregates.size(), l + 1));
    all.aggregates[l] = on_host(ctx, level.own.aggregates.of_node);
    all.aggregates[l].resize(static_cast<std::size_t>(level.nodes()));
  }
}

template <Space S>
detail::NearNull<S> no_vectors(const Context<S>&) {
  return {};
}

/// The levels of a rank; of `changed` after a refresh.
template <Space S>
detail::RankHierarchy<S> levels_of_rank(const Context<S>& ctx, const AmgShare& own, const AmgOptions& options,
                                        std::int64_t most_gathered, const HostCsr* changed,
                                        detail::NearNull<S>& near_null) {
  detail::RankNearNull<S> made(ctx, own.matrix(), options);
  near_null = {made.vectors.vectors,
               detail::staged(ctx, Span<const double, S>(detail::span_of(made.vectors.values)))};
  auto first = detail::make_rank_first_level(ctx, own.matrix(), made.node_rows);
  detail::RankHierarchy<S> h(ctx, std::move(first.level), std::move(made.vectors), options, most_gathered);
  if (changed == nullptr) return h;
  const Array<double, S> values = make_array(ctx, own.values_of(*changed));
  if (values.size() > 0) gather<double, S>(ctx, values.cspan(), first.source, h.values());
  h.refresh(ctx, options.refresh == AmgRefresh::full);
  return h;
}

/// `context_of`: from a rank's share to the context of its setup.
template <class ContextOf>
DenseLevels levels_in(const ContextOf& context_of, int size, const AmgCase& of, const AmgOptions& options,
                      std::int64_t most_gathered, const HostCsr* changed = nullptr) {
  DenseLevels all;
  std::mutex one;
  const auto add_rank = [&](const auto& ctx, const AmgShare& own, auto near_null) {
    const auto h = levels_of_rank(ctx, own, options, most_gathered, changed, near_null);
    const std::lock_guard<std::mutex> lock(one);
    add(ctx, all, h, near_null);
    if (!h.is_gathered()) return;
    RANK_CHECK(h.gathered().matrix().scalar_rows() == h.levels().back().all_rows());
    all.gathered_rows.push_back(h.gathered().matrix().scalar_rows());
    const EigenDense here = eigen_dense(ctx, h.gathered().matrix());
    EigenDense& kept = sized(all.a, h.levels().size(), here.rows(), here.cols());
    if (kept.isZero(0)) kept = here;
    RANK_CHECK(kept == here);
  };
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const AmgShare own(of, ranks);
    const auto ctx = context_of(own);
    add_rank(ctx, own, no_vectors(ctx));
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  return all;
}

}  // namespace newel::testing
