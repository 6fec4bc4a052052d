// SPDX-License-Identifier: Apache-2.0
/// DeviceSpan: an array in the memory of a device, as Python describes it. MatrixArrays of such.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "matrix_arrays.hpp"

namespace newel::python {

constexpr Space device = Space::device;

/// Consecutive values at an address, whatever library they belong to.
struct DeviceSpan {
  nb::object owner;  ///< keeps the memory
  std::uintptr_t address;
  std::int64_t size;      ///< in values
  std::string type;       ///< as NumPy writes it, without the order of bytes: "f8", "i4", ...
  std::uintptr_t stream;  ///< in whose order the values are written and read; 0: the legacy default stream

  /// Throws TypeError where the values are not of type T.
  template <class T>
  Span<T, device> values() const {
    const bool single = std::is_same_v<Real<T>, float>;
    if (type != (parts_of_value<T> == 2 ? (single ? "c8" : "c16") : single ? "f4" : "f8")) {
      throw nb::type_error("the values are not of the system's precision");
    }
    return {reinterpret_cast<T*>(address), size};
  }
  /// Throws TypeError for values that are no integers of 32 or 64 bits.
  IndexSpan<device> indices() const;
  CUstream_st* cuda_stream() const { return reinterpret_cast<CUstream_st*>(stream); }
  /// Whether all work on its stream has ended, so that nobody has to wait for it. Its device is current.
  bool is_settled() const;
};

/// Arrays in the memory of a device.
struct DeviceMatrixArrays : MatrixForm {
  DeviceSpan first, second, values;

  DeviceMatrixArrays(MatrixForm form, DeviceSpan first, DeviceSpan second, DeviceSpan values)
      : MatrixForm(std::move(form)), first(std::move(first)), second(std::move(second)), values(std::move(values)) {}
};

void bind_device_span(nb::module_& module);

}  // namespace newel::python
