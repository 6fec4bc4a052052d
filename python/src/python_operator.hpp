// SPDX-License-Identifier: Apache-2.0
/// PythonOperator: a LinearOperator whose product is a Python function.
#pragma once

#include <nanobind/nanobind.h>

#include <newel/spmv/operator.hpp>

#include "arrays.hpp"

namespace newel::python {

namespace nb = nanobind;

/// `product` takes a NumPy array of n values of type V, which its method `argument` has made, and returns another:
/// y = A x. The Python side has seen to it that the result is one (`newel._operators`). Whoever makes the operator
/// keeps `product` alive. Errors of Python leave the solve as PythonFailure.
///
/// x goes over in a NumPy array of its own, so that a function which keeps it holds no memory of the solver's.
///
/// For complex V it is an operator on real and imaginary parts, which lie next to each other.
template <class V>
class PythonOperator final : public LinearOperator<Real<V>, Space::host> {
  using T = Real<V>;

 public:
  PythonOperator(Index n, nb::handle product) : n_(n), product_(product) {}
  ~PythonOperator() override;

  Index rows() const override { return parts_of_value<V> * n_; }
  Index cols() const override { return rows(); }
  void apply(const Context<Space::host>&, T alpha, Span<const T, Space::host> x, T beta,
             Span<T, Space::host> y) const override;

 private:
  Index n_;
  nb::handle product_;
  mutable nb::object argument_;  // from the product before, if nobody else holds it
};

}  // namespace newel::python
