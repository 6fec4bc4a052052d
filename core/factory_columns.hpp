// SPDX-License-Identifier: Apache-2.0
/// The functions of one line of a table of formats, preconditioners or solvers, by space and precision.
#pragma once

#include <type_traits>

#include <purlin/core/types.hpp>

namespace purlin {

/// A null function: not there in this build.
template <template <class, Space> class Function>
struct FactoryColumns {
  Function<double, Space::host> host_double = nullptr;
  Function<float, Space::host> host_float = nullptr;
  Function<double, Space::device> device_double = nullptr;
  Function<float, Space::device> device_float = nullptr;

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

}  // namespace purlin
