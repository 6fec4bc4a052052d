// SPDX-License-Identifier: Apache-2.0
/// SideOf on the host: arrays of NumPy are read and written where they are.
#pragma once

#include "python_operator.hpp"
#include "system_in.hpp"

namespace newel::python {

template <class T>
class SideOf<T, host> {
 public:
  using Operator = PythonOperator<T>;
  struct Kept {
    ~Kept() {}  // not trivial, or it would be an unused variable
  };

  explicit SideOf(const SystemRequest& request) : ctx_(request.threads) {}
  const Context<host>& ctx() const { return ctx_; }

  // Arrays are read and written where they are.
  class Visit {
   public:
    explicit Visit(SideOf&) {}
    Span<const T, host> input(nb::handle array) { return values_of<T>(nb::cast<Flat>(array)); }
    /// The values of matrices.
    Span<const T, host> values(nb::handle array) { return input(array); }
    Span<T, host> output(nb::handle array, bool) { return span_of(nb::cast<WritableOf<T>>(array, false)); }
    MatrixInput<T, host> matrix(const MatrixArrays& arrays) { return arrays.input<T>(); }
    Hash pattern_hash(nb::handle arrays) { return nb::cast<const MatrixArrays&>(arrays).hash(); }
    void finish() {}
    void solved() {}
  };

 private:
  Context<host> ctx_;
};

}  // namespace newel::python
