// SPDX-License-Identifier: Apache-2.0
// Fixing rows on the host's threads.
#include "reorder/condense/condense.hpp"

#include <cmath>

#include <newel/core/parallel.hpp>
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

#define X(T, S)                                                                          \
  template FixingRows<S> fixing_rows(const Context<S>&, const CsrView<T, S>&);           \
  template bool are_used(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&); \
  template bool still_fix(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
