// SPDX-License-Identifier: Apache-2.0
/// ComplexState: what a ComplexSystem holds, and how its real system gets pattern and values. Internal.
#pragma once

#include <optional>
#include <utility>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/complex_system.hpp>
#include "core/csr/complex_steps.hpp"

namespace newel::detail {

/// Complex numbers as kernels see them.
template <class T>
const Pair<T>* pairs(const std::complex<T>* z) {
  return reinterpret_cast<const Pair<T>*>(z);
}
template <class T>
Pair<T>* pairs(std::complex<T>* z) {
  return reinterpret_cast<Pair<T>*>(z);
}

template <class T, Space S>
struct ComplexState {
  using Value = std::complex<T>;

  Context<S> ctx;
  SystemOptions options;  // as given, for a new setup
  Index rows = 0;
  bool own_unknowns = false;  // x itself is what the real system solves for
  RealForm form = RealForm::general;
  std::string reason;
  UnknownChange change;  // from the unknowns of the real system
  std::optional<AssembledMatrix<Value, S>> assembled;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;         // in `real_parts`, in which a refresh may need another form
  Array<T, S> real_val;        // for the real system's refresh
  Array<Value, S> turned;      // of `multiply`
  Array<double, S> imaginary;  // a count
  std::optional<LinearSystem<T, S>> system;

  ComplexState(const Context<S>& ctx_, SystemOptions options_)
      : ctx(ctx_), options(std::move(options_)), imaginary(ctx_, 1) {}

  bool has_imaginary_parts(Span<const Value, S> values) {
    sweep(ctx, values.size, ImaginaryCountStep<T>(pairs(values.data), imaginary.data()));
    return fetch(ctx, imaginary.data()) != 0;
  }
  bool in_parts() const { return form == RealForm::real_parts; }

  void take_pattern(const CsrView<Value, S>& a);
  void set_up(const CsrView<Value, S>& a, SystemParts<T, S> parts);
  void set_up_pairs(const CsrView<Value, S>& a, SystemParts<T, S> parts);
  bool needs_transpose_equal(const CsrView<T, S>& real) const;
  void write_values(Span<const Value, S> values);
  void refresh(Span<const Value, S> values, RefreshScope scope);
  LinearSystem<T, S>& real() {
    if (!system) throw InputError("a refresh failed while it set the system up again: make a new system");
    return *system;
  }
};

}  // namespace newel::detail
