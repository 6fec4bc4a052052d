// SPDX-License-Identifier: Apache-2.0
// Checks and facts of CSR matrices on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <purlin/core/csr_check.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/matrix_traits.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/random.hpp>

namespace purlin {
namespace detail {

void check_csr_lengths(Index rows, Index cols, std::int64_t row_ptr_size, std::int64_t col_size,
                       std::int64_t val_size) {
  if (rows < 0 || cols < 0) {
    throw InputError("a matrix cannot be " + std::to_string(rows) + " x " + std::to_string(cols));
  }
  if (row_ptr_size != Offset{rows} + 1) {
    throw InputError("row_ptr has " + std::to_string(row_ptr_size) +
                     " entries, expected rows + 1 = " + std::to_string(Offset{rows} + 1));
  }
  if (col_size != val_size) {
    throw InputError("there are " + std::to_string(col_size) + " column indices and " + std::to_string(val_size) +
                     " values");
  }
}

void check_csr_ends(Offset first, Offset last, Offset nnz) {
  if (first == 0 && last == nnz) return;
  throw InputError("row_ptr runs from " + std::to_string(first) + " to " + std::to_string(last) +
                   ", expected 0 to the number of entries, " + std::to_string(nnz));
}

void throw_fault(std::uint64_t code, Index cols) {
  if (code == no_fault) return;
  const auto fail = [row = static_cast<std::int64_t>(code % column_faults / 4)](const std::string& fault) {
    throw InputError(LocatedText("row ").at(row).counted().add(": " + fault));
  };
  switch (static_cast<RowFault>(code % 4)) {
    case RowFault::descending:
      return fail("row_ptr descends or leaves the entries");
    case RowFault::outside:
      return fail("a column index is outside 0 .. " + std::to_string(cols - 1));
    case RowFault::unsorted:
      return fail("column indices do not ascend; sort them or ask for the canonical form");
    case RowFault::repeated:
      return fail("a column index is repeated; sum the entries or ask for the canonical form");
  }
}

}  // namespace detail

namespace {

using detail::RowFault;

template <class RowPtr>
std::uint64_t row_fault(const RowPtr& row_ptr, Span<const Index, Space::host> col, Index i, Index cols) {
  const Offset begin = row_ptr[i], end = row_ptr[i + 1];
  if (begin < 0 || begin > end || end > col.size) return detail::fault_code(i, RowFault::descending);
  std::uint64_t code = detail::no_fault;
  for (Offset k = begin; k < end; ++k) {
    const Index j = col[k];
    if (j < 0 || j >= cols) return detail::fault_code(i, RowFault::outside);
    if (k == begin || col[k - 1] < j) continue;
    code = std::min(code, detail::fault_code(i, col[k - 1] == j ? RowFault::repeated : RowFault::unsorted));
  }
  return code;
}

// Whether the rows [begin, end) are without fault. Entries that do not ascend from one to the next are counted over
// all rows at once, which is fast: all of them have to be at the beginnings of rows.
template <class RowPtr>
bool rows_are_sound(const RowPtr& row_ptr, Span<const Index, Space::host> col, Index begin, Index end, Index cols) {
  const Offset first = row_ptr[begin], last = row_ptr[end];
  bool sound = first >= 0 && last <= col.size;
  for (Index i = begin; i < end; ++i) sound &= row_ptr[i] <= row_ptr[i + 1];
  if (!sound) return false;
  Offset descents = 0, descents_between_rows = 0;
  for (Offset k = first + 1; k < last; ++k) descents += col[k] <= col[k - 1] ? 1 : 0;
  for (Index i = begin; i < end; ++i) {
    const Offset at = row_ptr[i], behind = row_ptr[i + 1];
    if (at == behind) continue;
    sound &= col[at] >= 0 && col[behind - 1] < cols;
    if (at > first) descents_between_rows += col[at] <= col[at - 1] ? 1 : 0;
  }
  return sound && descents == descents_between_rows;
}

// Position of column j in row i, or -1. `after` is where it may be, counted from the beginning of the row, -1 where
// nothing is known, and becomes the place behind it where it is found.
template <class RowPtr>
Offset find_entry(const RowPtr& row_ptr, Span<const Index, Space::host> col, Index i, Index j, Index& after) {
  const Index* const begin = col.data + row_ptr[i];
  const Index* const end = col.data + row_ptr[i + 1];
  const Index* at = after < 0 ? end : begin + after;
  if (at >= end || *at != j) at = std::lower_bound(begin, end, j);
  if (at == end || *at != j) return -1;
  after = static_cast<Index>(at - begin) + 1;
  return at - col.data;
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
  double max_abs = 0, max_asymmetry = 0;
  std::uint64_t pairs = 0;  // the sum of Partners::by_sum
  Index undamped = 0;
  Offset lower_matched = 0, lower = 0, upper = 0;
  Index rows[4] = {0, 0, 0, 0};       // empty, missing, zero, negative
  Index first[4] = {-1, -1, -1, -1};  // of this partial's rows, which ascend
  // Of each row since `begin`, where in it the next partner to be looked up is if the pattern is symmetric: rows are
  // met in ascending order, and so are the partners that entries of later rows have behind its diagonal. Of those
  // before, as far as they are kept, `not_met` until the first has been found.
  std::vector<Index> next, next_before;
  Index begin = 0, share = 0;  // share: rows that are expected, for which there is room at once
  static constexpr Index not_met = -1, most_before = 1 << 18;

  void start_at(Index row) {
    begin = row;
    next.reserve(static_cast<std::size_t>(share));
    next_before.assign(static_cast<std::size_t>(std::min(row, most_before)), not_met);
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
  double max_abs = 0, max_asymmetry = 0, sum = 0;

  void add(double value) {
    max_abs = std::max(max_abs, std::abs(value));
    sum += value;
  }
  void compare(double value, double other) { max_asymmetry = std::max(max_asymmetry, std::abs(value - other)); }
};

template <Partners partners, class RowPtr, class T>
void inspect_row(const RowPtr& row_ptr, const CsrView<T, Space::host>& a, Index i, Partial& p) {
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
        sums.compare(a.val[k], other_of(a.col[k], p.expected_in(a.col[k], none)));
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
      sums.compare(a.val[above], other_of(a.col[above], none));
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
  p.max_asymmetry = std::max(p.max_asymmetry, sums.max_asymmetry);
}

void join_partials(Partial& total, const Partial& mine) {
  total.max_abs = std::max(total.max_abs, mine.max_abs);
  total.max_asymmetry = std::max(total.max_asymmetry, mine.max_asymmetry);
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
    if (value == 0) mine.count(2, i);
    if (value < 0) mine.count(3, i);
  };
  return detail::parallel_reduce(ctx, a.rows, Partial{}, inspect, join_partials);
}

template <Partners partners, class RowPtr, class T>
Partial inspect_rows(const Context<Space::host>& ctx, const RowPtr& row_ptr, const CsrView<T, Space::host>& a) {
  Partial none;
  none.share = a.rows / ctx.threads() + 1;
  return detail::parallel_reduce(
      ctx, a.rows, none, [&](Index i, Partial& mine) { inspect_row<partners>(row_ptr, a, i, mine); }, join_partials);
}

// Whether some rows, all over the matrix, are symmetric to the last bit.
template <class RowPtr, class T>
bool looks_symmetric(const RowPtr& row_ptr, const CsrView<T, Space::host>& a) {
  constexpr Index rows = 16;
  const Index step = std::max<Index>(1, a.rows / rows);
  for (Index i = step / 2; i < a.rows; i += step) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      Index none = Partial::not_met;
      const Offset mirrored = find_entry(row_ptr, a.col, a.col[k], i, none);
      if (mirrored < 0 || !(a.val[mirrored] == a.val[k])) return false;
    }
  }
  return true;
}

}  // namespace

template <class T>
std::uint64_t detail::csr_fault(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  return with_row_ptr(a, [&](auto row_ptr) {
    bool sound = true;
    parallel_ranges(ctx, a.rows, [&](Index begin, Index end) {
      if (!rows_are_sound(row_ptr, a.col, begin, end, a.cols)) atomic_write(sound, false);
    });
    if (sound) return no_fault;
    return parallel_reduce(
        ctx, a.rows, no_fault,
        [&](Index i, std::uint64_t& least) { least = std::min(least, row_fault(row_ptr, a.col, i, a.cols)); },
        [](std::uint64_t& least, std::uint64_t mine) { least = std::min(least, mine); });
  });
}

template <class T>
void check_csr(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  with_row_ptr(a, [&](auto row_ptr) {
    detail::check_csr_lengths(a.rows, a.cols, row_ptr.size, a.col.size, a.val.size);
    detail::check_csr_ends(row_ptr[0], row_ptr[a.rows], a.nnz());
  });
  detail::throw_fault(detail::csr_fault(ctx, a), a.cols);
}

template <class T>
MatrixTraits matrix_traits(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a) {
  MatrixTraits traits;
  with_row_ptr(a, [&](auto row_ptr) {
    traits.square = a.rows == a.cols;
    const bool may_be_diagonal = traits.square && a.nnz() == a.rows;
    Partial p;
    if (may_be_diagonal) p = inspect_diagonal(ctx, row_ptr, a);
    if (!may_be_diagonal || p.rows[1] > 0) {
      const bool by_sum = traits.square && looks_symmetric(row_ptr, a);
      if (by_sum) p = inspect_rows<Partners::by_sum>(ctx, row_ptr, a);
      if (by_sum && p.pairs == 0 && p.lower == p.upper) {
        p.lower_matched = p.lower;
      } else {
        p = inspect_rows<Partners::below>(ctx, row_ptr, a);
      }
    }
    traits.pattern_symmetric = traits.square && p.lower == p.lower_matched && p.upper == p.lower;
    // Entries above the diagonal need a search of their own only where some have no partner below.
    if (traits.square && p.upper != p.lower_matched) p = inspect_rows<Partners::all>(ctx, row_ptr, a);
    traits.max_abs = p.max_abs;
    traits.max_asymmetry = p.max_asymmetry;
    traits.empty_rows = {p.rows[0], p.first[0]};
    traits.missing_diagonal = {p.rows[1], p.first[1]};
    traits.zero_diagonal = {p.rows[2], p.first[2]};
    traits.negative_diagonal = {p.rows[3], p.first[3]};
    traits.undamped_rows = p.undamped;
  });
  return traits;
}

#define X(T, S)                                                                      \
  template std::uint64_t detail::csr_fault(const Context<S>&, const CsrView<T, S>&); \
  template void check_csr(const Context<S>&, const CsrView<T, S>&);                  \
  template MatrixTraits matrix_traits(const Context<S>&, const CsrView<T, S>&);
PURLIN_FOR_TYPES(X, Space::host)
#undef X

}  // namespace purlin
