// SPDX-License-Identifier: Apache-2.0
/// LanePack: a number of each of the eight systems that a thread of the host works on at once. Internal.
#pragma once

#include <cstdint>
#include <cstring>

namespace newel::detail {

/// Systems of a group: two vectors of four doubles with AVX2, so that two sums are under way at once.
inline constexpr int batched_lanes = 8;

/// A number of each lane, in registers of 32 bytes: compilers keep an array of numbers in memory.
template <class T>
struct LanePack {
  static constexpr int bytes = 32, parts = batched_lanes * static_cast<int>(sizeof(T)) / bytes;
  static constexpr int width = batched_lanes / parts;
  typedef T Part __attribute__((vector_size(bytes)));
  Part part[parts] = {};

  static void read(const T* from, int p, Part& to) { std::memcpy(&to, from + p * width, bytes); }
  void add(const T* a) {
    for (int p = 0; p < parts; ++p) {
      Part of_a;
      read(a, p, of_a);
      part[p] += of_a;
    }
  }
  void add_product(const T* a, const T* x) {
    for (int p = 0; p < parts; ++p) {
      Part of_a, of_x;
      read(a, p, of_a);
      read(x, p, of_x);
      part[p] += of_a * of_x;
    }
  }
  void write(T* to) const { std::memcpy(to, part, sizeof part); }
};

}  // namespace newel::detail
