// SPDX-License-Identifier: Apache-2.0
// The way of a vector of a device into Python and back.
#include "device_operator.hpp"

#include <newel/core/vector_ops.hpp>

#include "device_span.hpp"
#include "gil.hpp"

namespace newel::python {

namespace {

// Complex values as real and imaginary parts.
template <class V>
Span<Real<V>, device> parts_of(const DeviceSpan& array) {
  const Span<V, device> values = array.values<V>();
  return {reinterpret_cast<Real<V>*>(values.data), parts_of_value<V> * values.size};
}

}  // namespace

template <class V>
void DeviceOperator<V>::apply(const Context<device>& ctx, T alpha, Span<const T, device> x, T beta,
                              Span<T, device> y) const {
  const WithGil gil;
  from_library([&] {
    if (order_ == nullptr) order_ = std::make_unique<StreamOrder>(ctx);
    {
      const nb::object argument = call_method(product_, "argument");
      const auto& to = nb::cast<const DeviceSpan&>(argument);
      order_->wait_for(to.cuda_stream());  // which may still use that memory for something else
      copy<T>(ctx, x, parts_of<V>(to));
      order_->let_wait(to.cuda_stream());
    }
    const nb::object result = call(product_);
    ctx.make_current();  // whatever the function made current
    const auto& product = nb::cast<const DeviceSpan&>(result);
    order_->wait_for(product.cuda_stream());
    axpby<T>(ctx, alpha, Span<const T, device>(parts_of<V>(product)), beta, y);
    order_->let_wait(product.cuda_stream());  // where the memory of the product is used again
  });
}

template class DeviceOperator<float>;
template class DeviceOperator<double>;
template class DeviceOperator<std::complex<float>>;
template class DeviceOperator<std::complex<double>>;

}  // namespace newel::python
