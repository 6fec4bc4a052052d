// SPDX-License-Identifier: Apache-2.0
// What is used of CUB's radix sort, as a stable sort on the stream.
#pragma once

#include <algorithm>
#include <vector>

#include <cub/emulated.hpp>

namespace cub {

struct DeviceRadixSort {
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* memory, std::size_t& bytes, const Key* keys_in, Key* keys_out,
                               const Value* values_in, Value* values_out, Count count, int begin_bit, int end_bit,
                               cudaStream_t stream) {
    return emu::in_two_phases(memory, bytes, "cub::DeviceRadixSort", stream, [=] {
      const Key mask = end_bit - begin_bit == 8 * sizeof(Key) ? ~Key{0} : ((Key{1} << (end_bit - begin_bit)) - 1);
      std::vector<Count> order(static_cast<std::size_t>(count));
      for (Count i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
      std::stable_sort(order.begin(), order.end(), [&](Count a, Count b) {
        return ((keys_in[a] >> begin_bit) & mask) < ((keys_in[b] >> begin_bit) & mask);
      });
      for (Count i = 0; i < count; ++i) {
        keys_out[i] = keys_in[order[static_cast<std::size_t>(i)]];
        values_out[i] = values_in[order[static_cast<std::size_t>(i)]];
      }
    });
  }
};

}  // namespace cub
