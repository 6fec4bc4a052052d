// SPDX-License-Identifier: Apache-2.0
/// with_wide_vectors: loops of the host compiled a second time for AVX2 and FMA, chosen when the program runs.
/// Internal.
#pragma once

/// Compilers and processors for which there is a second version. A build with the option to use these instructions
/// everywhere (-march=...) needs none.
#if defined(__x86_64__) && defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__))
#define NEWEL_WIDE_HOST 1
#else
#define NEWEL_WIDE_HOST 0
#endif

namespace newel::detail {

#if NEWEL_WIDE_HOST

inline bool has_wide_vectors() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

// Flat: what is called inside becomes part of this function, and so is compiled for its instructions.
template <class F>
__attribute__((target("avx2,fma"), flatten, noinline)) void run_wide(F& f) {
  f();
}

template <class F>
__attribute__((flatten, noinline)) void run_portable(F& f) {
  f();
}

/// Calls f(), in the version for the instructions of the machine that it runs on. Sums keep their order; a product
/// and its sum are rounded once with FMA, so results differ in the last bits between kinds of machine, and are the
/// same in all runs on one. To be called inside a parallel region, not around it.
template <class F>
void with_wide_vectors(F&& f) {
  if (has_wide_vectors()) {
    run_wide(f);
  } else {
    run_portable(f);
  }
}

#else

template <class F>
void with_wide_vectors(F&& f) {
  f();
}

#endif

}  // namespace newel::detail
