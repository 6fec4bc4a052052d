// SPDX-License-Identifier: Apache-2.0
/// NumPy arrays as the spans of the library, without a copy, and the library's arrays as NumPy arrays that own them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <newel/core/index_span.hpp>

namespace newel::python {

namespace nb = nanobind;
constexpr Space host = Space::host;

/// The type of the real and the imaginary part of a value; of a real one itself.
template <class V>
struct RealOf {
  using Type = V;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class V>
using Real = typename RealOf<V>::Type;
/// Real values in one of V.
template <class V>
constexpr Index parts_of_value = std::is_same_v<V, Real<V>> ? 1 : 2;

/// Host memory in one piece, of any type: the Python side hands over nothing else.
using Flat = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using FlatOf = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using WritableOf = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// A row after the other.
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
Span<const T, host> span_of(const FlatOf<T>& array) {
  return {array.data(), static_cast<std::int64_t>(array.shape(0))};
}
template <class T>
Span<T, host> span_of(const WritableOf<T>& array) {
  return {array.data(), static_cast<std::int64_t>(array.shape(0))};
}

/// Throws TypeError where the array does not hold values of type T.
template <class T>
Span<const T, host> values_of(const Flat& array) {
  if (array.dtype() != nb::dtype<T>()) throw nb::type_error("the values are not of the system's precision");
  return {static_cast<const T*>(array.data()), static_cast<std::int64_t>(array.shape(0))};
}

/// Throws TypeError for an array without integers of 32 or 64 bits.
IndexSpan<host> indices_of(const Flat& array);

/// A NumPy array of what `values` held, which is not copied.
template <class T>
nb::object as_numpy(std::vector<T> values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owner->data();
  const std::size_t size = owner->size();
  nb::capsule guard(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, guard));
}
template <class T>
nb::object as_numpy(Array<T, host> values) {
  auto owner = std::make_unique<Array<T, host>>(std::move(values));
  T* const data = owner->data();
  const auto size = static_cast<std::size_t>(owner->size());
  nb::capsule guard(owner.release(), [](void* p) noexcept { delete static_cast<Array<T, host>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, guard));
}

}  // namespace newel::python
