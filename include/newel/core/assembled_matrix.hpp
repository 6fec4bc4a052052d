// SPDX-License-Identifier: Apache-2.0
/// AssembledMatrix: a caller's matrix in canonical form, and the sums that carry new values over.
#pragma once

#include <newel/core/matrix_input.hpp>

namespace newel {

/// A canonical CSR matrix (columns ascend, none is repeated) made from a MatrixInput. Entries of one place are summed
/// in the order in which they stood. The result does not depend on the number of threads.
///
/// Where the input is a canonical CSR matrix already that `MatrixInput::as_csr` gives, its arrays are borrowed and
/// have to outlive the view; otherwise they are no longer needed when the constructor returns. Assembly takes place
/// in S, on the device by a radix sort of 64-bit keys on the context's stream, for which the constructor waits.
template <class T, Space S>
class AssembledMatrix {
 public:
  /// Throws InputError for lengths that do not fit and for the first pointer, row or column that is wrong, before
  /// anything is written by it; OutOfMemory, before the work begins where the memory is known to have less left than
  /// that takes at least: on the host 24 bytes a value and 8 a row, on the device 32 an entry and what CUB's sort
  /// takes; DeviceError.
  AssembledMatrix(const Context<S>& ctx, const MatrixInput<T, S>& input);

  /// The canonical matrix, valid as long as this object.
  CsrView<T, S> view() const { return view_; }
  /// Whether `view` is of the caller's own arrays, and values are those of the matrix one for one.
  bool borrowed() const { return borrowed_; }

  /// The canonical values that belong to the caller's, which come in the order of `MatrixInput::values`. Those of the
  /// constructor give the values of `view` bit for bit. Valid until the next call. No allocation; queued on the
  /// stream. Throws InputError when the count differs.
  Span<const T, S> values(const Context<S>& ctx, Span<const T, S> callers);

  /// Frees row pointers and columns, where only new values are still to come. `view` is empty afterwards.
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
