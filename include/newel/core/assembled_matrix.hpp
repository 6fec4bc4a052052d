// SPDX-License-Identifier: Apache-2.0
/// AssembledMatrix: a caller's matrix in canonical form, and the sums that map new values to it.
#pragma once

#include <newel/core/matrix_input.hpp>

namespace newel {

/// A canonical CSR matrix (ascending columns, none repeated) made from a MatrixInput. Entries at the same position
/// are summed in their original order. The result does not depend on the number of threads.
///
/// If `as_csr(MatrixInput)` gives a CSR matrix that is already canonical, its arrays are borrowed and must outlive
/// the view. Otherwise they are not needed after the constructor returns. Assembly runs in S. On the device it is a
/// radix sort of 64-bit keys on the context's stream, and the constructor waits for it.
template <class T, Space S>
class AssembledMatrix {
 public:
  /// Throws InputError for lengths that do not fit and for the first invalid pointer, row or column, before any index
  /// is used for a write. Throws OutOfMemory before the work begins if less memory is known to be available than the
  /// minimum needed: on the host 24 bytes per value and 8 per row, on the device 32 bytes per entry plus CUB's sort.
  /// Throws DeviceError.
  AssembledMatrix(const Context<S>& ctx, const MatrixInput<T, S>& input);

  /// The canonical matrix; valid as long as this object.
  CsrView<T, S> view() const { return view_; }
  /// Whether `view` refers to the caller's own arrays, with values in the same order.
  bool borrowed() const { return borrowed_; }

  /// The canonical values for new caller's values, given in the order of `MatrixInput::values`. The constructor's
  /// values give the values of `view` bit for bit. Valid until the next call. Allocates nothing; queued on the
  /// stream. Throws InputError if the count differs.
  Span<const T, S> values(const Context<S>& ctx, Span<const T, S> callers);

  /// Frees row pointers and columns if only new values will follow. `view` is empty afterwards.
  void drop_pattern();

 private:
  bool borrowed_ = false;
  Offset caller_count_ = 0;
  CsrView<T, S> view_;
  Csr<T, S> matrix_;        // empty where the arrays are borrowed
  Array<Offset, S> begin_;  // entry k sums the caller's values source_[begin_[k] .. begin_[k+1]-1]
  Array<Offset, S> source_;
};

}  // namespace newel
