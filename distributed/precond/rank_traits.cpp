// SPDX-License-Identifier: Apache-2.0
// Facts of a matrix from the rows of each rank and those next to them.
#include "distributed/precond/rank_traits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "core/csr/asymmetry.hpp"
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {
namespace {

// a_ij, or nothing if it is not stored.
template <class T>
const T* find(const CsrView<T, Space::host>& a, Index i, Index j) {
  const Index* const end = a.col.data + a.row_begin(i + 1);
  const Index* const at = std::lower_bound(a.col.data + a.row_begin(i), end, j);
  return at == end || *at != j ? nullptr : a.val.data + (at - a.col.data);
}

// f(i, j, a_ij, a_ji or 0, whether a_ji is stored) for the entries of this rank's rows.
template <class T, class F>
void for_pairs(const NearRows<T>& near, F&& f) {
  const CsrView<T, Space::host> a = near.view();
  for (Index i = near.own_begin(); i < near.own_begin() + near.own_rows(); ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const T* const opposite = find(a, a.col[k], i);
      f(i, a.col[k], static_cast<double>(a.val[k]), opposite == nullptr ? 0.0 : static_cast<double>(*opposite),
        opposite != nullptr);
    }
  }
}

RowCount count_of(double count) {
  return {static_cast<Index>(std::min<double>(count, std::numeric_limits<Index>::max())), -1};
}

template <class T>
void count_rows(const NearRows<T>& near, RankFacts& facts) {
  double* const count = facts.count;
  const CsrView<T, Space::host> a = near.view();
  for (Index i = near.own_begin(); i < near.own_begin() + near.own_rows(); ++i) {
    double sum = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) sum += static_cast<double>(a.val[k]);
    const T* const diagonal = find(a, i, i);
    count[RankFacts::in_empty] += a.row_begin(i) == a.row_begin(i + 1) ? 1 : 0;
    count[RankFacts::in_missing] += diagonal == nullptr ? 1 : 0;
    if (diagonal == nullptr) continue;
    count[RankFacts::in_zero] += *diagonal == T(0) ? 1 : 0;
    count[RankFacts::in_negative] += *diagonal < T(0) ? 1 : 0;
    const bool decays = std::fabs(sum) <= MatrixTraits::undamped * std::fabs(static_cast<double>(*diagonal));
    count[RankFacts::in_undamped] += *diagonal != T(0) && decays ? 1 : 0;
  }
}

}  // namespace

void RankFacts::take_pair(double here, double there, bool stored, double scale_i, double scale_j) {
  count[in_unmatched] += stored ? 0 : 1;
  if (here == there) return;
  const double difference = std::fabs(here - there);
  most[in_asymmetry] = std::max(most[in_asymmetry], difference);
  most[in_relative_asymmetry] =
      std::max(most[in_relative_asymmetry], relative_asymmetry(difference, scale_i, scale_j));
}

void RankFacts::join(const RankFacts& others) {
  for (int k = 0; k < counted_kinds; ++k) count[k] += others.count[k];
  for (int k = 0; k < compared_kinds; ++k) most[k] = std::max(most[k], others.most[k]);
}

MatrixTraits RankFacts::of_all(const Context<Space::host>& ctx, std::int64_t rows) {
  sum_over_ranks(ctx, count, counted_kinds);
  max_over_ranks(ctx, most, compared_kinds);
  MatrixTraits traits;
  traits.rows = static_cast<Index>(std::min<std::int64_t>(rows, std::numeric_limits<Index>::max()));
  traits.square = true;
  traits.pattern_symmetric = count[in_unmatched] == 0;
  traits.max_abs = most[in_max_abs];
  traits.max_asymmetry = most[in_asymmetry];
  traits.relative_asymmetry = most[in_relative_asymmetry];
  traits.empty_rows = count_of(count[in_empty]);
  traits.missing_diagonal = count_of(count[in_missing]);
  traits.zero_diagonal = count_of(count[in_zero]);
  traits.negative_diagonal = count_of(count[in_negative]);
  traits.undamped_rows = count_of(count[in_undamped]).count;
  return traits;
}

template <class T>
MatrixTraits rank_traits(const Context<Space::host>& ctx, const NearRows<T>& near) {
  const Array<double, Space::host> scales = row_scales(ctx, near.view());
  RankFacts facts;
  count_rows(near, facts);
  for_pairs(near, [&](Index i, Index j, double here, double there, bool stored) {
    facts.most[RankFacts::in_max_abs] = std::max(facts.most[RankFacts::in_max_abs], std::fabs(here));
    facts.take_pair(here, there, stored, scales[i], scales[j]);
  });
  return facts.of_all(ctx, all_rows(ctx, near.view().rows));
}

template <class T>
void require_symmetry_on_ranks(const Context<Space::host>& ctx, const NearRows<T>& near) {
  // Two doubles that agree to 1e-12 may round to neighbouring floats.
  const double tolerance =
      std::max(MatrixTraits::rounding, 2 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  const Array<double, Space::host> scales = row_scales(ctx, near.view());
  constexpr double none = std::numeric_limits<double>::infinity();
  using Pair = std::tuple<double, double, double, double>;  // rows of the whole matrix, and the two entries
  Pair first{none, none, 0, 0};
  for_pairs(near, [&](Index i, Index j, double here, double there, bool) {
    if (here == there || !(relative_asymmetry(std::fabs(here - there), scales[i], scales[j]) > tolerance)) return;
    const auto row = static_cast<double>(near.number(i)), col = static_cast<double>(near.number(j));
    first = std::min(first, row < col ? Pair{row, col, here, there} : Pair{col, row, there, here});
  });
  Communicator& ranks = *ctx.ranks()->communicator;
  const double mine[] = {std::get<0>(first), std::get<1>(first), std::get<2>(first), std::get<3>(first)};
  std::vector<double> all(4 * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(mine, 4, all.data());
  for (std::size_t r = 0; r < all.size(); r += 4) {
    first = std::min(first, Pair{all[r], all[r + 1], all[r + 2], all[r + 3]});
  }
  const auto [row, col, here, there] = first;
  if (row == none) return;
  throw NotSymmetric(static_cast<std::int64_t>(row), static_cast<std::int64_t>(col), here, there);
}

#define X(T)                                                                          \
  template MatrixTraits rank_traits(const Context<Space::host>&, const NearRows<T>&); \
  template void require_symmetry_on_ranks(const Context<Space::host>&, const NearRows<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
