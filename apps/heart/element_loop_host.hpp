// SPDX-License-Identifier: Apache-2.0
/// How a loop over elements runs on the host: chunks over the context's threads, each with the instructions of the
/// machine that it runs on.
#pragma once

#include <algorithm>

#include <newel/core/parallel.hpp>

#include "apps/heart/element_loop.hpp"

namespace newel::heart::detail {

#if defined(__x86_64__) && defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__))
// Flat: what is called inside becomes part of this function, and so is compiled for its instructions.
template <class F>
__attribute__((target("avx2,fma"), flatten, noinline)) void run_wide(F& f) {
  f();
}

/// Calls f() in the version for the machine's instructions: fused products, which differ in the last bit.
template <class F>
void with_machine_instructions(F&& f) {
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  wide ? run_wide(f) : f();
}
#else
template <class F>
void with_machine_instructions(F&& f) {
  f();
}
#endif

template <class Loop>
void for_elements(const Context<Space::host>& ctx, std::int64_t n, const Loop& loop) {
  constexpr std::int64_t chunk = 1024;
  constexpr std::int64_t least_parallel = 16384;  // below, waking the threads costs more than it saves
  const auto coefficients = loop.begin();
  Counts<Loop::counts> total;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    Counts<Loop::counts> mine;
    with_machine_instructions([&] {
      for (std::int64_t i = begin; i < end; ++i) loop.element(i, coefficients, mine);
    });
    for (int k = 0; k < Loop::counts; ++k) atomic_add(total.of[k], mine.of[k]);
  };
  if (n * Loop::weight < least_parallel) {
    run(0, n);
  } else if (Loop::uneven) {
    parallel_tasks(ctx, (n + chunk - 1) / chunk,
                   [&](std::int64_t c) { run(c * chunk, std::min(n, (c + 1) * chunk)); });
  } else {
    parallel_ranges(ctx, n, run, chunk);
  }
  for (int k = 0; k < Loop::counts; ++k) loop.totals()[k] = static_cast<double>(total.of[k]);
}

}  // namespace newel::heart::detail

/// Instantiates `for_elements` for one loop on the host.
#define HEART_LOOP_HOST(...) \
  template void newel::heart::detail::for_elements(const Context<Space::host>&, std::int64_t, const __VA_ARGS__&);
