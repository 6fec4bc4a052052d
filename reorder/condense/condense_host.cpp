// SPDX-License-Identifier: Apache-2.0
// Fixing rows on the host's threads, and the split of a pattern.
#include "reorder/condense/condense.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"

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

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Entries in the order of rows.
struct PartBuilder {
  Index rows = 0, cols = 0;
  std::vector<Offset> row_ptr = {0}, source;
  std::vector<Index> col;

  void add(Index j, Offset k) {
    col.push_back(j);
    source.push_back(k);
  }
  void end_row() {
    ++rows;
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  template <Space S>
  PartOfMatrix<S> part(const Context<S>& ctx, Offset nonzeros) const {
    const Array<Offset, S> positions = make_array(ctx, source);
    return {rows, cols, make_array(ctx, row_ptr), make_array(ctx, col),
            make_value_map(ctx, positions.cspan(), nonzeros)};
  }
};

}  // namespace

template <class T>
FixingRows<host> fixing_rows(const HostContext& ctx, const CsrView<T, host>& a) {
  return with_row_ptr(a, [&](const auto& row_ptr) {
    const auto count_one = [&](Index i, Index& count) { count += fixes(row_ptr, a, i) ? 1 : 0; };
    FixingRows<host> found;
    found.count =
        parallel_reduce(ctx, a.rows, Index{0}, count_one, [](Index& total, Index mine) { total += mine; });
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

template <Space S>
CondensedPattern<S> condensed_pattern(const Context<S>& ctx, const Pattern<S>& a, const FixingRows<S>& rows) {
  const HostPattern on_host(ctx, a);
  const Pattern<host>& whole = on_host.view();
  const std::vector<char> fixes = to_vector(ctx, rows.is_one.cspan());
  const Index n = a.rows, kept = n - rows.count;
  std::vector<Index> old_of_new(at(n)), new_of_old(at(n));
  Index next_kept = 0, next_fixed = kept;
  for (Index i = 0; i < n; ++i) {
    Index& next = fixes[at(i)] != 0 ? next_fixed : next_kept;
    new_of_old[at(i)] = next;
    old_of_new[at(next++)] = i;
  }
  PartBuilder B, C, D;
  B.cols = kept;
  C.cols = D.cols = rows.count;
  B.col.reserve(at(whole.nnz()));
  B.source.reserve(at(whole.nnz()));
  for (const Index i : old_of_new) {
    const bool is_fixed = fixes[at(i)] != 0;
    for (Offset k = whole.row_begin(i); k < whole.row_begin(i + 1); ++k) {
      const Index j = new_of_old[at(whole.col[k])];
      if (is_fixed && whole.col[k] == i) D.add(j - kept, k);
      if (!is_fixed) j < kept ? B.add(j, k) : C.add(j - kept, k);
    }
    if (is_fixed) D.end_row();
    if (!is_fixed) B.end_row();
    if (!is_fixed) C.end_row();
  }
  return {make_array(ctx, old_of_new), make_array(ctx, new_of_old), B.part(ctx, a.nnz()), C.part(ctx, a.nnz()),
          D.part(ctx, a.nnz())};
}

#define X(T, S)                                                                           \
  template FixingRows<S> fixing_rows(const Context<S>&, const CsrView<T, S>&);            \
  template bool are_used(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&); \
  template bool still_fix(const Context<S>&, const CsrView<T, S>&, const FixingRows<S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X
template CondensedPattern<host> condensed_pattern(const Context<host>&, const Pattern<host>&,
                                                  const FixingRows<host>&);
#if NEWEL_HAS_CUDA
template CondensedPattern<Space::device> condensed_pattern(const Context<Space::device>&, const Pattern<Space::device>&,
                                                           const FixingRows<Space::device>&);
#endif

}  // namespace newel::detail
