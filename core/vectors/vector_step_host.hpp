// SPDX-License-Identifier: Apache-2.0
/// How a vector step runs on the host: fixed chunks over the context's threads, lanes inside a chunk. Internal.
#pragma once

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/vector_step.hpp"
#include "core/vectors/wide_host.hpp"

namespace newel::detail {

/// Splits n elements into at most `most` chunks whose bounds depend on n alone, so that sums have the same bits
/// whatever the number of threads.
struct Chunks {
  static constexpr std::int64_t lanes = 16;
  static constexpr std::int64_t most = 1024;
  static constexpr std::int64_t least = 1024;            ///< elements of a chunk: adding its lanes up is 2 % of it
  static constexpr std::int64_t least_parallel = 16384;  ///< below, waking the threads costs more than it saves
  std::int64_t n;
  std::int64_t size;
  std::int64_t count;

  explicit Chunks(std::int64_t n_) : n(n_) {
    const std::int64_t wanted = std::max<std::int64_t>(least, (n + most - 1) / most);
    size = (wanted + lanes - 1) / lanes * lanes;
    count = (n + size - 1) / size;
  }
  std::int64_t begin(std::int64_t chunk) const { return chunk * size; }
  std::int64_t end(std::int64_t chunk) const { return std::min(n, (chunk + 1) * size); }
};

/// One lane's view of the sums: sum k of lane l is table[k * lanes + l].
struct LanePartials {
  double* lane;
  void add(int k, double value) { lane[k * Chunks::lanes] += value; }
};

template <class Step, class Coefficients>
void sweep_chunk(const Step& step, const Coefficients& coefficients, std::int64_t begin, std::int64_t end,
                 double* totals) {
  constexpr std::int64_t lanes = Chunks::lanes;
  double table[(Step::sums > 0 ? Step::sums : 1) * lanes] = {};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      LanePartials sums{table + lane};
      run_element(step, i + lane, coefficients, sums);
    }
  }
  for (std::int64_t lane = 0; i + lane < end; ++lane) {
    LanePartials sums{table + lane};
    run_element(step, i + lane, coefficients, sums);
  }
  for (int k = 0; k < Step::sums; ++k) {
    double total = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) total += table[k * lanes + lane];
    totals[k] = total;
  }
}

template <class Step>
void sweep(const Context<Space::host>& ctx, std::int64_t n, const Step& step) {
  if (!step.active()) return;
  const auto coefficients = step.begin();
  const Chunks chunks(n);
  double partial[Chunks::most * (Step::sums > 0 ? Step::sums : 1)];
  const bool parallel = n * weight_of<Step> >= Chunks::least_parallel && chunks.count > 1 && ctx.threads() > 1;
  const auto run = [&](std::int64_t chunk) {
    with_wide_vectors([&] {
      sweep_chunk(step, coefficients, chunks.begin(chunk), chunks.end(chunk), partial + chunk * Step::sums);
    });
  };
  if constexpr (is_uneven<Step>) {
    parallel_tasks(
        ctx, chunks.count, [&](std::int64_t chunk) { run(chunk); }, threads_if(parallel));
  } else {
    parallel_for(
        ctx, chunks.count, [&](std::int64_t chunk) { run(chunk); }, parallel ? 1 : chunks.count);
  }
  if constexpr (Step::sums > 0) {
    double totals[Step::sums] = {};
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
      for (int k = 0; k < Step::sums; ++k) totals[k] += partial[chunk * Step::sums + k];
    }
    sum_over_ranks(ctx, totals, Step::sums);
    step.end(totals);
  }
}

}  // namespace newel::detail

/// Instantiates `sweep` for one step on the host.
#define NEWEL_SWEEP_HOST(...) \
  template void newel::detail::sweep(const Context<Space::host>&, std::int64_t, const __VA_ARGS__&);
