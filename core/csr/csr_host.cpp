// SPDX-License-Identifier: Apache-2.0
// Checks of CSR matrices on the host.
#include <algorithm>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/csr/csr_check.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel {
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
      return fail("row_ptr decreases or exceeds the number of entries");
    case RowFault::outside:
      return fail("a column index is outside 0 .. " + std::to_string(cols - 1));
    case RowFault::unsorted:
      return fail("column indices are not in ascending order; sort them or ask for the canonical form");
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

#define X(T, S)                                                                      \
  template std::uint64_t detail::csr_fault(const Context<S>&, const CsrView<T, S>&); \
  template void check_csr(const Context<S>&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel
