// SPDX-License-Identifier: Apache-2.0
// FSAI on ranks: the local problems of a rank's rows, from these and the rows that they reach.
#include "distributed/precond/rank_fsai.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/rank_refusal.hpp"
#include "distributed/precond/rank_sparsity.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "precond/fsai/entry_worth.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

constexpr Offset most_entries = 4096;  // of a row: a triangle of 64 MiB and some seconds of arithmetic

// This rank's rows of G, without the smallest entries of long rows: by the mean of all ranks.
template <class T>
Sparsity pattern_of_g(const Context<Space::host>& ctx, const NearRows<T>& near, const Sparsity& lower,
                      const PrecondOptions& options) {
  const CsrView<T, Space::host> a = near.view();
  const double drop = options.of<PatternOptions>().drop;
  const int power = options.of<FsaiOptions>().power;
  Sparsity own;
  if (drop > 0) {
    const Sparsity kept = thresholded(ctx, a, drop);
    own = only_own(ctx, near, power_of(ctx, kept.view(), power, Triangle::lower), OtherRows::empty);
  } else if (power > 1) {
    own = only_own(ctx, near, power_of(ctx, a, power, Triangle::lower), OtherRows::empty);
  } else {
    own = only_own(ctx, near, lower, OtherRows::empty);
  }
  return without_long_rows_on_ranks(ctx, near, std::move(own), short_row_of_fsai, fsai_entry_worth(a));
}

// The entries of the longest row of all ranks; throws where a local problem would be too large.
template <class T>
Offset require_short_rows(const Context<Space::host>& ctx, const NearRows<T>& near, const Sparsity& g) {
  double longest = 0;
  for (Index i = 0; i < g.rows; ++i) longest = std::max(longest, static_cast<double>(g.row_length(i)));
  max_over_ranks(ctx, &longest, 1);
  if (longest <= most_entries) return static_cast<Offset>(longest);
  double first = static_cast<double>(all_rows(ctx, 0));
  for (Index i = g.rows - 1; i >= 0; --i) {
    if (static_cast<double>(g.row_length(i)) == longest) first = static_cast<double>(near.number(i));
  }
  first = least_over_ranks(ctx, first);
  throw LongRow(LocatedText("row ")
                    .at(static_cast<std::int64_t>(first))
                    .counted()
                    .add(" of FSAI's factor would have " + std::to_string(static_cast<Offset>(longest)) +
                         " entries, more than " + std::to_string(most_entries) +
                         ", and a dense system of that size to solve: drop small entries, use a lower power, or "
                         "another preconditioner"));
}

}  // namespace

template <class T, Space S>
RankFsai<T, S>::RankFsai(const Context<S>& of_rank, const RankMatrix<T>& a, const PrecondOptions& options)
    : near_(host_context(of_rank), a.first_rows, a.rows, options.of<FsaiOptions>().power) {
  const Context<Space::host>& ctx = host_context(of_rank);
  PhaseClock clock;
  if (!options.of<FsaiOptions>().symmetric_product) require_symmetry_on_ranks(ctx, near_);
  clock.end("symmetry");
  SourcedSparsity lower = lower_of(ctx, near_.view());
  Sparsity g = pattern_of_g(ctx, near_, lower.pattern, options);
  const Offset longest = require_short_rows(ctx, near_, g);
  a_source_ = make_value_map(ctx, lower.source.cspan(), near_.view().nnz());
  const RankPattern rows_of_g = in_whole(near_, g.row_ptr.cspan(), g.col.cspan());
  place(ctx, std::move(lower), std::move(g), longest);
  clock.end("pattern");
  gather<T, Space::host>(ctx, near_.view().val, a_source_, factor_.triangle());
  compute(ctx);
  clock.end("numeric");
  const RankRows<T> g_rows = rows_of_g.with(factor_.view().val);
  g_ = std::make_unique<DistributedOperator<T, S>>(of_rank, g_rows, a.first_rows, &a.old_of_new);
  transpose_ = std::make_unique<RankTranspose<T>>(ctx, a.first_rows, g_rows.row_ptr, g_rows.col);
  t_val_ = Array<T, Space::host>(ctx, transpose_->entries());
  transpose_->values(factor_.view().val, t_val_.span());
  const RankPattern rows_of_t = transpose_->take_pattern();
  gt_ = std::make_unique<DistributedOperator<T, S>>(of_rank, rows_of_t.with(t_val_.cspan()), a.first_rows,
                                                    &a.old_of_new);
  between_ = Array<T, S>(of_rank, g_->rows());
  clock.end("formats");
  describe(ctx, options, longest);
  info_.setup_seconds = clock.seconds();
}

// The arrays that the numeric phase reads: pieces of this rank's rows alone.
template <class T, Space S>
void RankFsai<T, S>::place(const Context<Space::host>& ctx, SourcedSparsity lower, Sparsity g, Offset longest) {
  std::vector<FsaiPiece> pieces;
  const Index begin = near_.own_begin();
  for (Index i = begin; i < begin + near_.own_rows(); ++i) {
    if (i == begin || begins_piece(g.row_ptr.cspan(), g.col.cspan(), i)) {
      pieces.push_back({i, 1});
    } else {
      pieces.back() = {i, pieces.back().count + 1};
    }
  }
  FsaiSymbolic<Space::host> symbolic;
  symbolic.a_row_ptr = std::move(lower.pattern.row_ptr);
  symbolic.a_col = std::move(lower.pattern.col);
  symbolic.g_row_ptr = std::move(g.row_ptr);
  symbolic.g_col = std::move(g.col);
  symbolic.by_size.classes = make_fsai_classes({}, longest, {static_cast<Index>(pieces.size())});
  symbolic.by_size.pieces = make_array(ctx, pieces);
  symbolic.longest = longest;
  factor_ = FsaiFactor<T, Space::host>(ctx, symbolic, {});
}

// G from the lower triangle that has been written. All ranks find the same.
template <class T, Space S>
void RankFsai<T, S>::compute(const Context<Space::host>& ctx) {
  const FsaiVerdict verdict = factor_.compute(ctx);
  auto count = static_cast<double>(verdict.count);
  double first = static_cast<double>(all_rows(ctx, 0));
  if (count > 0) first = static_cast<double>(near_.number(static_cast<Index>(verdict.first)));
  sum_over_ranks(ctx, &count, 1);
  first = least_over_ranks(ctx, first);
  if (count > 0) throw NotPositiveDefinite(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
}

template <class T, Space S>
void RankFsai<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  std::vector<T> values_here;
  Array<T, S> g_there, t_there;
  near_.refresh(on_host(ctx, values, values_here));
  gather<T, Space::host>(host_context(ctx), near_.view().val, a_source_, factor_.triangle());
  compute(host_context(ctx));
  const Span<const T, Space::host> of_g = factor_.view().val;
  g_->refresh(ctx, in_space<T, S>(ctx, of_g, g_there));
  transpose_->values(of_g, t_val_.span());
  gt_->refresh(ctx, in_space<T, S>(ctx, t_val_.cspan(), t_there));
}

template <class T, Space S>
void RankFsai<T, S>::describe(const Context<Space::host>& ctx, const PrecondOptions& options, Offset longest) {
  const CsrView<T, Space::host> a = near_.view();
  const Index begin = near_.own_begin(), end = begin + near_.own_rows();
  const Offset own = factor_.view().nnz();
  const FsaiFactorBytes of_factor = factor_.bytes();
  double entries[] = {2 * static_cast<double>(own) - static_cast<double>(near_.own_rows()),
                      static_cast<double>(a.row_begin(end) - a.row_begin(begin))};
  sum_over_ranks(ctx, entries, 2);
  info_.name = "fsai";
  info_.detail = "power " + std::to_string(options.of<FsaiOptions>().power) + ", on ranks";
  info_.rows = info_.cols = near_.own_rows();
  info_.nonzeros = info_.stored_slots = own + t_val_.size();
  info_.figures = {{"density", entries[1] == 0 ? 0.0 : entries[0] / entries[1]},
                   {"largest local problem", static_cast<double>(longest)}};
  info_.bytes = {{"G", g_->stored().bytes()},
                 {"G^T", gt_->stored().bytes() + t_val_.bytes() + transpose_->bytes()},
                 {"intermediate vector", between_.bytes()},
                 {"values of G", of_factor.values},
                 {"pattern of G", of_factor.pattern},
                 {"rows of A", near_.bytes()},
                 {"lower triangle of A", of_factor.triangle + a_source_.bytes()},
                 {"local problems", of_factor.problems}};
}

#define X(T, S) template class RankFsai<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
