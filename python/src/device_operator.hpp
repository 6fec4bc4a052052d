// SPDX-License-Identifier: Apache-2.0
/// DeviceOperator: a LinearOperator on a device whose product is a Python function.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include <newel/core/cuda_interop.hpp>
#include <newel/spmv/operator.hpp>

#include "arrays.hpp"

namespace newel::python {

namespace nb = nanobind;

/// `product` has a method `argument`, which returns a DeviceSpan of n values of type V that x is to be written to,
/// and is called without arguments for another one, y = A x. Streams are made to wait for each other; the calling
/// thread waits for nothing. The Python side has seen to it that the results are such (`newel._operators`). Whoever
/// makes the operator keeps `product` alive. Errors of Python leave the solve as PythonFailure.
///
/// For complex V it is an operator on real and imaginary parts, which lie next to each other.
template <class V>
class DeviceOperator final : public LinearOperator<Real<V>, Space::device> {
  using T = Real<V>;

 public:
  DeviceOperator(Index n, nb::handle product) : n_(n), product_(product) {}

  Index rows() const override { return parts_of_value<V> * n_; }
  Index cols() const override { return rows(); }
  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override;

 private:
  Index n_;
  nb::handle product_;
  mutable std::unique_ptr<StreamOrder> order_;  // made by the first product, which brings the context
};

}  // namespace newel::python
