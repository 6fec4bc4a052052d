// SPDX-License-Identifier: Apache-2.0
/// The functions of one row in a table of formats, preconditioners or solvers, by space and precision.
#pragma once

#include <type_traits>

#include <newel/config.hpp>
#include <newel/core/types.hpp>

namespace newel {

/// A null function is not available in this build.
template <template <class, Space> class Function>
struct FactoryColumns {
  Function<double, Space::host> host_double = nullptr;      ///< on the host, in double precision
  Function<float, Space::host> host_float = nullptr;        ///< on the host, in single precision
  Function<double, Space::device> device_double = nullptr;  ///< on a device, in double precision
  Function<float, Space::device> device_float = nullptr;    ///< on a device, in single precision

  /// The function for values of type T in S.
  template <class T, Space S>
  Function<T, S> get() const {
    if constexpr (S == Space::host) {
      if constexpr (std::is_same_v<T, double>)
        return host_double;
      else
        return host_float;
    } else {
      if constexpr (std::is_same_v<T, double>)
        return device_double;
      else
        return device_float;
    }
  }
};

/// Fills the columns of this build from a type with a static function template `make<T, S>`.
template <class Maker, template <class, Space> class Function>
void fill_columns(FactoryColumns<Function>& columns) {
  columns.host_double = &Maker::template make<double, Space::host>;
  columns.host_float = &Maker::template make<float, Space::host>;
  if constexpr (NEWEL_HAS_CUDA == 1) {
    columns.device_double = &Maker::template make<double, Space::device>;
    columns.device_float = &Maker::template make<float, Space::device>;
  }
}

}  // namespace newel
