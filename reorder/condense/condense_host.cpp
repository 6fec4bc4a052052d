// SPDX-License-Identifier: Apache-2.0
// Fixing rows on the host's threads.
#include "reorder/condense/condense.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "core/csr/asymmetry.hpp"
#include "core/csr/sorted_row.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host;
using HostContext = Context<host>;

template <class RowPtr, class T>
bool fixes(const RowPtr& row_ptr, const CsrView<T, host>& a, Index i) {
  T diagonal = 0;
  for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
    if (a.col[k] == i) {
      diagonal = a.val[k];
    } else if (a.val[k] != 0) {
      return false;
    }
  }
  return diagonal != 0 && std::isfinite(diagonal);
}

// Whether f(i) holds for any row.
template <class F>
bool any_row(const HostContext& ctx, Index rows, const F& f) {
  const auto inspect = [&](Index i, char& found) { found = found || f(i) ? 1 : 0; };
  return parallel_reduce(ctx, rows, char{0}, inspect, [](char& all, char mine) { all = all || mine ? 1 : 0; }) != 0;
}

}  // namespace

template <class T>
FixingRows<host> fixing_rows(const HostContext& ctx, const CsrView<T, host>& a) {
  return with_row_ptr(a, [&](const auto& row_ptr) {
    const auto count_one = [&](Index i, Index& count) { count += fixes(row_ptr, a, i) ? 1 : 0; };
    FixingRows<host> found;
    found.count = parallel_reduce(ctx, a.rows, Index{0}, count_one, [](Index& total, Index mine) { total += mine; });
    if (found.count == 0) return found;
    found.is_one = Array<char, host>(ctx, a.rows);
    parallel_for(ctx, a.rows, [&](Index i) { found.is_one[i] = fixes(row_ptr, a, i) ? 1 : 0; });
    return found;
  });
}

template <class T>
bool are_used(const HostContext& ctx, const CsrView<T, host>& a, const FixingRows<host>& rows) {
  return with_row_ptr(a, [&](const auto& row_ptr) {
    return any_row(ctx, a.rows, [&](Index i) {
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1] && rows.is_one[i] == 0; ++k) {
        if (rows.is_one[a.col[k]] != 0 && a.val[k] != 0) return true;
      }
      return false;
    });
  });
}

template <class T>
bool still_fix(const HostContext& ctx, const CsrView<T, host>& a, const FixingRows<host>& rows) {
  return with_row_ptr(a, [&](const auto& row_ptr) {
    return !any_row(ctx, a.rows, [&](Index i) { return rows.is_one[i] != 0 && !fixes(row_ptr, a, i); });
  });
}

namespace {

// Of the entries of row i in columns that are kept, the largest absolute value; 0: there are none.
template <class T>
double largest_kept(const CsrView<T, host>& a, const FixingRows<host>& rows, Index i) {
  double largest = 0;
  for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
    if (rows.is_one[a.col[k]] == 0) largest = std::max(largest, std::abs(static_cast<double>(a.val[k])));
  }
  return largest;
}

template <class T>
double stored_at(const CsrView<T, host>& a, Index i, Index j) {
  const Offset found = find_column(a.col.data, a.row_begin(i), a.row_begin(i + 1), j);
  return found < 0 ? 0.0 : static_cast<double>(a.val[found]);
}

}  // namespace

template <class T>
bool rest_is_not_symmetric(const CsrView<T, host>& a, const FixingRows<host>& rows) {
  constexpr Index most_rows = 16;
  constexpr Offset most_entries = 4;  // of a row, each of which takes a look at another row
  const Index step = std::max<Index>(1, a.rows / most_rows);
  for (Index i = 0; i < a.rows; i += step) {
    const double of_row = rows.is_one[i] == 0 ? largest_kept(a, rows, i) : 0.0;
    Offset looks = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1) && of_row > 0 && looks < most_entries; ++k) {
      const Index j = a.col[k];
      if (j == i || rows.is_one[j] != 0) continue;
      ++looks;
      const double difference = std::abs(static_cast<double>(a.val[k]) - stored_at(a, j, i));
      if (relative_asymmetry(difference, row_scale(of_row), row_scale(largest_kept(a, rows, j))) >
          MatrixTraits::rounding)
        return true;
    }
  }
  return false;
}

#define X(T, S)                                                                          \
  template bool rest_is_not_symmetric(const CsrView<T, S>&, const FixingRows<S>&);       \
  template FixingRows<S> fixing_rows(const Context<S>&, const CsrView<T, S>&);           \
  template bool are_used(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&); \
  template bool still_fix(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
