// SPDX-License-Identifier: Apache-2.0
// Facts of CSR matrices on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "core/csr/asymmetry.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"

namespace newel {
namespace {

// Position of column j in row i, or -1. `after` is a place in the row before which all columns are less, or -1 where
// nothing is known. It becomes the place from which the next larger column is to be looked for, so all that are met
// in ascending order take one pass over the row.
template <class RowPtr>
Offset find_entry(const RowPtr& row_ptr, Span<const Index, Space::host> col, Index i, Index j, Index& after) {
  const Index* const begin = col.data + row_ptr[i];
  const Index* const end = col.data + row_ptr[i + 1];
  const Index* at = after < 0 ? std::lower_bound(begin, end, j) : begin + after;
  while (at < end && *at < j) ++at;
  const bool found = at < end && *at == j;
  after = static_cast<Index>(at - begin) + (found ? 1 : 0);
  return found ? at - col.data : -1;
}

// How the partner a_ji of an entry a_ij is found: none is, but entries below the diagonal add what looks random and
// depends on their place and their bits, and those above take it away, so that the sum is 0 where the matrix is
// symmetric to the last bit (and else with a chance of 2^-64); each below the diagonal is looked up; each is.
enum class Partners { by_sum, below, all };

template <class T>
std::uint64_t pair_bits(Index row, Index col, T value) {
  const auto wide = static_cast<double>(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &wide, sizeof bits);
  return detail::random_bits(bits, static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(col));
}

struct Partial {
  double max_abs = 0, max_asymmetry = 0, relative_asymmetry = 0;
  double least_row_max = std::numeric_limits<double>::infinity();
  std::uint64_t pairs = 0;  // the sum of Partners::by_sum
  Index undamped = 0;
  Offset lower_matched = 0, lower = 0, upper = 0;
  Index rows[4] = {0, 0, 0, 0};       // empty, missing, zero, negative
  Index first[4] = {-1, -1, -1, -1};  // of this partial's rows, which ascend
  // Of each row since `begin`, from where in it the next partner is looked for: rows are met in ascending order, and
  // so are the partners that entries of later rows have after its diagonal. Of those before, as far as they are kept,
  // `not_met` until the first has been looked for.
  std::vector<Index> next, next_before;
  Index begin = 0, share = 0;  // share: rows that are expected, for which there is room at once
  static constexpr Index not_met = -1, most_before = 1 << 18;

  void start_at(Index row) {
    begin = row;
    next.reserve(static_cast<std::size_t>(share));
    next_before.assign(static_cast<std::size_t>(std::min(row, most_before)), not_met);
  }
  void count_row_max(double largest) {
    if (largest > 0) least_row_max = std::min(least_row_max, largest);
  }
  void count(int what, Index row) {
    if (rows[what]++ == 0) first[what] = row;
  }
  // Where the next partner in row j is expected; `none` where that is not kept.
  Index& expected_in(Index j, Index& none) {
    if (j >= begin) return next[static_cast<std::size_t>(j - begin)];
    return j < most_before ? next_before[static_cast<std::size_t>(j)] : none;
  }
};

// What the entries of one row give.
struct RowSums {
  double max_abs = 0, max_asymmetry = 0, relative_asymmetry = 0, sum = 0;

  void add(double value) {
    max_abs = std::max(max_abs, std::abs(value));
    sum += value;
  }
  void compare(double value, double other, double scale_i, double scale_j) {
    if (value == other) return;
    max_asymmetry = std::max(max_asymmetry, std::abs(value - other));
    relative_asymmetry =
        std::max(relative_asymmetry, detail::relative_asymmetry(std::abs(value - other), scale_i, scale_j));
  }
};

// `scales`: the rows', where partners are looked up in a square matrix.
template <Partners partners, class RowPtr, class T>
void inspect_row(const RowPtr& row_ptr, const CsrView<T, Space::host>& a, const double* scales, Index i, Partial& p) {
  const Offset begin = row_ptr[i], end = row_ptr[i + 1];
  if (begin == end) p.count(0, i);
  RowSums sums;
  Offset k = begin;
  if (a.rows == a.cols) {
    constexpr bool by_sum = partners == Partners::by_sum;
    if (!by_sum && p.next.empty()) p.start_at(i);
    const auto other_of = [&](Index j, Index& expected) {
      const Offset mirrored = find_entry(row_ptr, a.col, j, i, expected);
      if (mirrored >= 0 && j < i) ++p.lower_matched;
      return mirrored >= 0 ? static_cast<double>(a.val[mirrored]) : 0.0;
    };
    std::uint64_t pairs = 0;
    for (; k < end && a.col[k] < i; ++k) {
      sums.add(a.val[k]);
      if constexpr (by_sum) {
        pairs += pair_bits(i, a.col[k], a.val[k]);
      } else {
        Index none = Partial::not_met;
        const Index j = a.col[k];
        sums.compare(a.val[k], other_of(j, p.expected_in(j, none)), scales[i], scales[j]);
      }
    }
    p.lower += k - begin;
    double of_diagonal = 0;
    if (k < end && a.col[k] == i) {
      of_diagonal = a.val[k++];
      sums.add(of_diagonal);
      if (of_diagonal == 0) p.count(2, i);
      if (of_diagonal < 0) p.count(3, i);
    } else {
      p.count(1, i);
    }
    if (!by_sum) p.next.push_back(static_cast<Index>(k - begin));
    p.upper += end - k;
    for (Offset above = k; partners == Partners::all && above < end; ++above) {
      Index none = Partial::not_met;
      const Index j = a.col[above];
      sums.compare(a.val[above], other_of(j, none), scales[i], scales[j]);
    }
    for (; k < end; ++k) {
      sums.add(a.val[k]);
      if constexpr (by_sum) pairs -= pair_bits(a.col[k], i, a.val[k]);
    }
    p.pairs += pairs;
    if (of_diagonal != 0 && std::abs(sums.sum) <= MatrixTraits::undamped * std::abs(of_diagonal)) ++p.undamped;
  }
  for (; k < end; ++k) sums.add(a.val[k]);
  p.max_abs = std::max(p.max_abs, sums.max_abs);
  p.count_row_max(sums.max_abs);
  p.max_asymmetry = std::max(p.max_asymmetry, sums.max_asymmetry);
  p.relative_asymmetry = std::max(p.relative_asymmetry, sums.relative_asymmetry);
}

void join_partials(Partial& total, const Partial& mine) {
  total.max_abs = std::max(total.max_abs, mine.max_abs);
  total.least_row_max = std::min(total.least_row_max, mine.least_row_max);
  total.max_asymmetry = std::max(total.max_asymmetry, mine.max_asymmetry);
  total.relative_asymmetry = std::max(total.relative_asymmetry, mine.relative_asymmetry);
  total.pairs += mine.pairs;
  total.undamped += mine.undamped;
  total.lower_matched += mine.lower_matched;
  total.lower += mine.lower;
  total.upper += mine.upper;
  for (int w = 0; w < 4; ++w) {
    total.rows[w] += mine.rows[w];
    if (mine.first[w] >= 0 && (total.first[w] < 0 || mine.first[w] < total.first[w])) total.first[w] = mine.first[w];
  }
}

// Of a diagonal matrix with all its entries, in a pass without a search; any other has missing ones in it.
template <class RowPtr, class T>
Partial inspect_diagonal(const Context<Space::host>& ctx, const RowPtr& row_ptr, const CsrView<T, Space::host>& a) {
  const auto inspect = [&](Index i, Partial& mine) {
    if (row_ptr[i] != i || a.col[i] != i) return mine.count(1, i);
    const double value = a.val[i];
    mine.max_abs = std::max(mine.max_abs, std::abs(value));
    mine.count_row_max(std::abs(value));
    if (value == 0) mine.count(2, i);
    if (value < 0) mine.count(3, i);
  };
  return parallel_reduce(ctx, a.rows, Partial{}, inspect, join_partials);
}

template <Partners partners, class RowPtr, class T>
Partial inspect_rows(const Context<Space::host>& ctx, const RowPtr& row_ptr, const CsrView<T, Space::host>& a,
                     const double* scales = nullptr) {
  Partial none;
  none.share = a.rows / ctx.threads() + 1;
  return parallel_reduce(
      ctx, a.rows, none, [&](Index i, Partial& mine) { inspect_row<partners>(row_ptr, a, scales, i, mine); },
      join_partials);
}

// How partners are to be found, by some rows all over the matrix: by the sum if they are symmetric to the last bit,
// and all if one has none.
template <class RowPtr, class T>
Partners first_look(const RowPtr& row_ptr, const CsrView<T, Space::host>& a) {
  Partners found = Partners::by_sum;
  constexpr Index rows = 16;
  const Index step = std::max<Index>(1, a.rows / rows);
  for (Index i = step / 2; i < a.rows; i += step) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      Index none = Partial::not_met;
      const Offset mirrored = find_entry(row_ptr, a.col, a.col[k], i, none);
      if (mirrored < 0) return Partners::all;
      if (!(a.val[mirrored] == a.val[k])) found = Partners::below;
    }
  }
  return found;
}

}  // namespace

template <class T>
Array<double, Space::host> detail::row_scales(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  Array<double, Space::host> scales(ctx, a.rows);
  with_row_ptr(a, [&](auto row_ptr) {
    parallel_for(ctx, a.rows, [&](Index i) {
      double largest = 0;
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        largest = std::max(largest, std::abs(static_cast<double>(a.val[k])));
      }
      scales[i] = row_scale(largest);
    });
  });
  return scales;
}

template <class T>
MatrixTraits matrix_traits(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  MatrixTraits traits;
  traits.rows = a.rows;
  with_row_ptr(a, [&](auto row_ptr) {
    traits.square = a.rows == a.cols;
    const bool may_be_diagonal = traits.square && a.nnz() == a.rows;
    Array<double, Space::host> scales;
    Partial p;
    Partners partners = Partners::below;
    if (may_be_diagonal) p = inspect_diagonal(ctx, row_ptr, a);
    if (!may_be_diagonal || p.rows[1] > 0) {
      if (traits.square) partners = first_look(row_ptr, a);
      const bool by_sum = partners == Partners::by_sum;
      if (by_sum) p = inspect_rows<Partners::by_sum>(ctx, row_ptr, a);
      if (by_sum && p.pairs == 0 && p.lower == p.upper) {
        p.lower_matched = p.lower;
      } else {
        if (traits.square) scales = detail::row_scales(ctx, a);
        p = partners == Partners::all ? inspect_rows<Partners::all>(ctx, row_ptr, a, scales.data())
                                      : inspect_rows<Partners::below>(ctx, row_ptr, a, scales.data());
      }
    }
    traits.pattern_symmetric = traits.square && p.lower == p.lower_matched && p.upper == p.lower;
    // Entries above the diagonal need a search of their own only where some have no partner below.
    if (traits.square && partners != Partners::all && p.upper != p.lower_matched)
      p = inspect_rows<Partners::all>(ctx, row_ptr, a, scales.data());
    traits.max_abs = p.max_abs;
    if (std::isfinite(p.least_row_max)) traits.least_row_max = p.least_row_max;
    traits.max_asymmetry = p.max_asymmetry;
    traits.relative_asymmetry = p.relative_asymmetry;
    traits.empty_rows = {p.rows[0], p.first[0]};
    traits.missing_diagonal = {p.rows[1], p.first[1]};
    traits.zero_diagonal = {p.rows[2], p.first[2]};
    traits.negative_diagonal = {p.rows[3], p.first[3]};
    traits.undamped_rows = p.undamped;
  });
  return traits;
}

#define X(T, S)                                                                          \
  template Array<double, S> detail::row_scales(const Context<S>&, const CsrView<T, S>&); \
  template MatrixTraits matrix_traits(const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel
