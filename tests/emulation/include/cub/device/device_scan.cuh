// SPDX-License-Identifier: Apache-2.0
// What is used of CUB's scans, as a loop on the stream.
#pragma once

#include <cub/emulated.hpp>

namespace cub {

struct DeviceScan {
  template <class T, class Count>
  static cudaError_t InclusiveSum(void* memory, std::size_t& bytes, const T* in, T* out, Count count,
                                  cudaStream_t stream) {
    return emu::in_two_phases(memory, bytes, "cub::DeviceScan", stream, [=] {
      T sum{};
      for (Count i = 0; i < count; ++i) out[i] = sum += in[i];
    });
  }

  // In place too.
  template <class T, class Count>
  static cudaError_t ExclusiveSum(void* memory, std::size_t& bytes, const T* in, T* out, Count count,
                                  cudaStream_t stream) {
    return emu::in_two_phases(memory, bytes, "cub::DeviceScan", stream, [=] {
      T sum{};
      for (Count i = 0; i < count; ++i) {
        const T number = in[i];
        out[i] = sum;
        sum += number;
      }
    });
  }
};

}  // namespace cub
