// SPDX-License-Identifier: Apache-2.0
/// Loops over elements, slots or nodes, each written once as a small struct and run in either space.
///
/// A struct has
///
///     static constexpr int counts;                             // 0 to 4 counts of elements
///     static constexpr int weight;                             // cost of an element, 1 for a few numbers
///     static constexpr bool uneven;                            // true where elements differ much in cost
///     Coefficients begin() const;                              // read once per thread, before the elements
///     void element(int64 i, Coefficients, Counts&) const;      // independent of every other element
///     double* totals() const;                                  // where the counts go, in its space; with counts > 0
#pragma once

#include <cstdint>

#include <newel/core/context.hpp>

/// Marks a small function that both g++ and nvcc compile, for host and device.
#ifdef __CUDACC__
#define HEART_BOTH __host__ __device__ __forceinline__
#else
#define HEART_BOTH inline
#endif

namespace newel::heart::detail {

/// Runs `loop` over elements 0 .. n-1. Defined in element_loop_host.hpp and element_loop_device.cuh, instantiated per
/// struct in the sources that include them.
template <class Loop>
void for_elements(const Context<Space::host>& ctx, std::int64_t n, const Loop& loop);
template <class Loop>
void for_elements(const Context<Space::device>& ctx, std::int64_t n, const Loop& loop);

/// What a thread has counted. Whole numbers: the order in which they are added up changes nothing.
template <int count>
struct Counts {
  std::int64_t of[count > 0 ? count : 1] = {};
  HEART_BOTH void add(int k, bool one) { of[k] += one ? 1 : 0; }
};

/// For loops without coefficients.
struct NoCoefficients {};

/// The parts that most loops share: nothing to read, nothing to count, light elements of like cost.
struct PlainLoop {
  static constexpr int counts = 0;
  static constexpr int weight = 1;
  static constexpr bool uneven = false;
  HEART_BOTH NoCoefficients begin() const { return {}; }
  HEART_BOTH double* totals() const { return nullptr; }
};

}  // namespace newel::heart::detail
