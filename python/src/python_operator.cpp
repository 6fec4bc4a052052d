// SPDX-License-Identifier: Apache-2.0
// The way of a vector into Python and back.
#include "python_operator.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "gil.hpp"

namespace newel::python {

template <class V>
PythonOperator<V>::~PythonOperator() {
  const WithGil gil;
  argument_.reset();
}

template <class V>
void PythonOperator<V>::apply(const Context<Space::host>&, T alpha, Span<const T, Space::host> x, T beta,
                              Span<T, Space::host> y) const {
  const WithGil gil;
  from_library([&] {
    if (!argument_.is_valid() || Py_REFCNT(argument_.ptr()) != 1) argument_ = call_method(product_, "argument");
    {
      const auto to = nb::cast<WritableOf<V>>(argument_);
      std::copy(x.begin(), x.end(), reinterpret_cast<T*>(to.data()));
    }
    const nb::object result = call(product_, argument_);
    const auto product = nb::cast<FlatOf<V>>(result);
    const auto* const ax = reinterpret_cast<const T*>(product.data());
    for (Index i = 0; i < rows(); ++i) y[i] = beta == 0 ? alpha * ax[i] : alpha * ax[i] + beta * y[i];
  });
}

template class PythonOperator<float>;
template class PythonOperator<double>;
template class PythonOperator<std::complex<float>>;
template class PythonOperator<std::complex<double>>;

}  // namespace newel::python
