// SPDX-License-Identifier: Apache-2.0
/// The error for a bad row of a CSR matrix, from the code that the checks of both spaces leave. Internal.
#pragma once

#include <cstdint>

#include <newel/core/csr.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// What can be wrong with a row, the gravest first.
enum class RowFault : int { descending, outside, unsorted, repeated };

/// Behind all faults of row pointers: where those are wrong, the columns of no row mean anything.
constexpr std::uint64_t column_faults = std::uint64_t{1} << 62;

/// Row and fault as one number, so that what is to be reported is the minimum: the first row whose pointers are
/// wrong, else the first row with bad columns.
NEWEL_HD constexpr std::uint64_t fault_code(Index row, RowFault fault) {
  return (fault == RowFault::descending ? 0 : column_faults) + static_cast<std::uint64_t>(row) * 4 +
         static_cast<std::uint64_t>(fault);
}
constexpr std::uint64_t no_fault = ~std::uint64_t{0};

/// Throws InputError when the lengths of the arrays cannot be right, before anything is read.
void check_csr_lengths(Index rows, Index cols, std::int64_t row_ptr_size, std::int64_t col_size,
                       std::int64_t val_size);
template <class T, Space S>
void check_csr_lengths(const CsrView<T, S>& a) {
  check_csr_lengths(a.rows, a.cols, a.wide() ? a.row_ptr64.size : a.row_ptr32.size, a.col.size, a.val.size);
}
/// Throws InputError when row_ptr does not run from 0 to nnz.
void check_csr_ends(Offset first, Offset last, Offset nnz);
/// The code of the first bad row of a view whose lengths and ends are right. On the device waits for the stream.
template <class T>
std::uint64_t csr_fault(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);
template <class T>
std::uint64_t csr_fault(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);
/// Throws InputError for a code other than `no_fault`.
void throw_fault(std::uint64_t code, Index cols);

}  // namespace newel::detail
