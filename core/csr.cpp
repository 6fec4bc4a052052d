// SPDX-License-Identifier: Apache-2.0
// Copies of CSR matrices between spaces, and the canonical form.
#include <purlin/core/csr.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <purlin/core/csr_check.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/row_scratch.hpp>
#include <purlin/core/vector_ops_steps.hpp>

namespace purlin {
namespace {

// Row pointers of either width, in either space, as 64-bit ones in the space of the context.
template <Space From, Space S, class View>
Array<Offset, S> widened_row_ptr(const Context<S>& ctx, const View& a) {
  if (a.wide()) return make_array(ctx, a.row_ptr64);
  const Array<std::int32_t, S> narrow = make_array(ctx, a.row_ptr32);
  Array<Offset, S> wide(ctx, narrow.size());
  detail::sweep(ctx, wide.size(), detail::ConvertStep<std::int32_t, Offset>(narrow.data(), wide.data()));
  return wide;
}

}  // namespace

template <class T, Space From, Space S>
Csr<T, S> make_csr(const Context<S>& ctx, const CsrView<T, From>& a) {
  if constexpr (From == Space::device && S == Space::host) {
    static_assert(From == S, "download a matrix with the device context: make_host_csr");
  }
  Csr<T, S> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = widened_row_ptr<From>(ctx, a);
  result.col = make_array(ctx, a.col);
  result.val = make_array(ctx, a.val);
  return result;
}

template <class T>
Csr<T, Space::host> make_host_csr(const Context<Space::host>& host, const Context<Space::device>& ctx,
                                  const CsrView<T, Space::device>& a) {
  detail::check_csr_lengths(a);
  Csr<T, Space::host> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = Array<Offset, Space::host>(host, Offset{a.rows} + 1);
  result.col = Array<Index, Space::host>(host, a.nnz());
  result.val = Array<T, Space::host>(host, a.val.size);
  with_row_ptr(a, [&](auto row_ptr) {
    const auto downloaded = to_vector(ctx, row_ptr);
    std::copy(downloaded.begin(), downloaded.end(), result.row_ptr.begin());
  });
  copy<Index>(ctx, a.col, result.col.span());
  copy<T>(ctx, a.val, result.val.span());
  return result;
}

namespace {

// Columns of row i in ascending order; equal columns keep the order in which they stood.
template <class T>
void sorted_entries(const CsrView<T, Space::host>& a, Index i, std::vector<Offset>& entries) {
  entries.resize(static_cast<std::size_t>(a.row_begin(i + 1) - a.row_begin(i)));
  std::iota(entries.begin(), entries.end(), a.row_begin(i));
  std::sort(entries.begin(), entries.end(),
            [&](Offset k, Offset l) { return a.col[k] < a.col[l] || (a.col[k] == a.col[l] && k < l); });
}

template <class T>
void check_ranges(const CsrView<T, Space::host>& a) {
  detail::check_csr_lengths(a);
  detail::check_csr_ends(a.row_begin(0), a.row_begin(a.rows), a.nnz());
  for (Index i = 0; i < a.rows; ++i) {
    if (a.row_begin(i + 1) < a.row_begin(i) || a.row_begin(i + 1) > a.nnz()) {
      detail::throw_fault(detail::fault_code(i, detail::RowFault::descending), a.cols);
    }
  }
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      if (a.col[k] < 0 || a.col[k] >= a.cols) {
        throw InputError("row " + std::to_string(i) + " (0-based): column " + std::to_string(a.col[k]) +
                         " is outside 0 .. " + std::to_string(a.cols - 1));
      }
    }
  }
}

}  // namespace

template <class T>
Csr<T, Space::host> make_canonical(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                   Array<Offset, Space::host>* target_of) {
  check_ranges(a);
  Csr<T, Space::host> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  result.row_ptr[0] = 0;
  constexpr std::int64_t sorted_rows = 128;  // of a thread, at least
  detail::RowScratch<Index> columns_of(ctx, Pattern<Space::host>(a));
  const auto count_columns = [&](Index i, int member) {
    std::vector<Index>& columns = columns_of.of(member);
    columns.assign(a.col.data + a.row_begin(i), a.col.data + a.row_begin(i + 1));
    std::sort(columns.begin(), columns.end());
    result.row_ptr[i + 1] = std::unique(columns.begin(), columns.end()) - columns.begin();
  };
  detail::parallel_for(ctx, a.rows, count_columns, sorted_rows);
  std::partial_sum(result.row_ptr.begin(), result.row_ptr.end(), result.row_ptr.begin());
  result.col = Array<Index, Space::host>(ctx, result.row_ptr[a.rows]);
  result.val = Array<T, Space::host>(ctx, result.row_ptr[a.rows]);
  if (target_of != nullptr) *target_of = Array<Offset, Space::host>(ctx, a.nnz());
  detail::RowScratch<Offset> entries_of(ctx, Pattern<Space::host>(a));
  const auto sum_entries = [&](Index i, int member) {
    std::vector<Offset>& entries = entries_of.of(member);
    sorted_entries(a, i, entries);
    Offset at = result.row_ptr[i] - 1;
    Index last = -1;
    for (const Offset k : entries) {
      if (a.col[k] != last) {
        last = a.col[k];
        result.col[++at] = last;
        result.val[at] = a.val[k];
      } else {
        result.val[at] += a.val[k];
      }
      if (target_of != nullptr) (*target_of)[k] = at;
    }
  };
  detail::parallel_for(ctx, a.rows, sum_entries, sorted_rows);
  return result;
}

template Csr<double, Space::host> make_csr(const Context<Space::host>&, const CsrView<double, Space::host>&);
template Csr<float, Space::host> make_csr(const Context<Space::host>&, const CsrView<float, Space::host>&);
template Csr<double, Space::host> make_canonical(const Context<Space::host>&, const CsrView<double, Space::host>&,
                                                 Array<Offset, Space::host>*);
template Csr<float, Space::host> make_canonical(const Context<Space::host>&, const CsrView<float, Space::host>&,
                                                Array<Offset, Space::host>*);
#if PURLIN_HAS_CUDA
#define X(T, S) template Csr<T, Space::device> make_csr(const Context<Space::device>&, const CsrView<T, S>&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(T, S) \
  template Csr<T, Space::host> make_host_csr(const Context<Space::host>&, const Context<S>&, const CsrView<T, S>&);
PURLIN_FOR_TYPES(X, Space::device)
#undef X
#endif

}  // namespace purlin
