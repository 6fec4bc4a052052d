// SPDX-License-Identifier: Apache-2.0
/// DeviceOperator: a LinearOperator on a device whose product is a Python function.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include <newel/core/cuda_interop.hpp>
#include <newel/spmv/operator.hpp>

namespace newel::python {

namespace nb = nanobind;

/// `product` has a method `argument`, which returns a DeviceSpan of n values of type T that x is to be written to,
/// and is called without arguments for another one, y = A x. Streams are made to wait for each other; the calling
/// thread waits for nothing. The Python side has seen to it that the results are such (`newel._operators`). Whoever
/// makes the operator keeps `product` alive. Errors of Python leave the solve as PythonFailure.
template <class T>
class DeviceOperator final : public LinearOperator<T, Space::device> {
 public:
  DeviceOperator(Index n, nb::handle product) : n_(n), product_(product) {}

  Index rows() const override { return n_; }
  Index cols() const override { return n_; }
  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override;

 private:
  Index n_;
  nb::handle product_;
  mutable std::unique_ptr<StreamOrder> order_;  // made by the first product, which brings the context
};

}  // namespace newel::python
