// SPDX-License-Identifier: Apache-2.0
/// How a resident solve begins: r = b - A x and its norm, formed by the blocks together. Internal.
#pragma once

#include "solver/krylov/resident/resident_part_device.cuh"

namespace newel::detail {
namespace {

/// The thread that writes to the host. What it writes once, and what no step changes, is in no register of a kernel
/// that has none to spare.
__device__ __forceinline__ bool is_reporting_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

/// Posts the value of a row if another block reads it to multiply with `a`.
template <int B, class T, bool across>
__device__ __forceinline__ void post_row(const ResidentPart<T, across>& my, const ResidentShare<T>& a, int i,
                                         T value) {
  if (const unsigned readers = a.marked[i / B]) my.exchange.post_entry(my.first_row + i, value, readers);
}

/// Rows of a CSR matrix are published all at once.
template <int B, class T, bool across>
__device__ __forceinline__ void post_row(const ResidentPart<T, across>&, const ResidentRowShare<T>&, int, T) {}

/// Ends with the block synchronised, and x there for a product with `a`: what the block has of it is behind the own
/// entries already, or of a CSR matrix published by every block. A thread publishes the entries of vector steps.
template <class T, bool across>
__device__ __forceinline__ void publish(ResidentPart<T, across>&, const ResidentShare<T>&, const T*) {
  __syncthreads();
}
template <class T, bool across>
__device__ __forceinline__ void publish(ResidentPart<T, across>& my, const ResidentRowShare<T>& a, const T* x) {
  for (int i = static_cast<int>(threadIdx.x); i < my.own; i += static_cast<int>(blockDim.x)) {
    a.operand[my.first_row + i] = x[i];
  }
  my.exchange.share_memory();
}

/// The entries of what was posted that the halo of `a` needs, behind the own ones of `to`.
template <int B, class T, bool across>
__device__ __forceinline__ void collect(const ResidentPart<T, across>& my, const ResidentShare<T>& a, T* to) {
  my.exchange.template collect_entries<T>(
      a.halo, [&](int i) { return Offset{a.halo_node[i / B]} * B + i % B; }, to + my.own);
}

template <int B, class T, bool across>
__device__ __forceinline__ void collect(const ResidentPart<T, across>&, const ResidentRowShare<T>&, T*) {}

/// `take(k, value)` for entry k of the halo of `a`, of what was posted in the synchronisation that has just ended.
template <int B, class T, bool across, class Take>
__device__ __forceinline__ void take_late(const ResidentPart<T, across>& my, const ResidentShare<T>& a,
                                          const Take& take) {
  my.exchange.ended().template take_entries<T>(
      a.halo, [&](int i) { return Offset{a.halo_node[i / B]} * B + i % B; }, take);
}

/// A grid synchronisation: the sums of every block, in the same order everywhere, and the posted entries (to null:
/// none). Ends with the block synchronised.
template <int B, class Share, class T, bool across, int sums>
__device__ __forceinline__ void synchronise(ResidentPart<T, across>& my, const Share& a, double (&sum)[sums], T* to) {
  my.exchange.post_sums(sum);
  if (to != nullptr) collect<B>(my, a, to);
  my.exchange.collect_sums(sum);
}

/// A synchronisation of neighbours, without sums. Ends with the block synchronised.
template <int B, class T, bool across>
__device__ __forceinline__ void swap_entries(ResidentPart<T, across>& my, const ResidentShare<T>& a, T* to) {
  collect<B>(my, a, to);
  __syncthreads();
  ++my.exchange.epoch;
}

/// Own entries of a vector in memory, and behind them what the halo of matrix `a` needs of it. Of a vector whose
/// other parts are on other devices, blocks exchange what is needed: all blocks then call it together.
template <int B, class T, bool across>
__device__ void load_with_halo(ResidentPart<T, across>& my, const ResidentShare<T>& a, const T* from, T* to) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if constexpr (across) {
    for (int i = thread; i < my.own; i += threads) {
      to[i] = from[my.first_row + i];
      post_row<B>(my, a, i, to[i]);
    }
    double none[1] = {};
    synchronise<B>(my, a, none, to);
  } else {
    for (int i = thread; i < my.own; i += threads) to[i] = from[my.first_row + i];
    for (int i = thread; i < a.halo; i += threads) to[my.own + i] = from[Offset{a.halo_node[i / B]} * B + i % B];
  }
}

template <int B, class T, bool across>
__device__ void load_with_halo(const ResidentPart<T, across>& my, const ResidentRowShare<T>&, const T* from, T* to) {
  for (int i = static_cast<int>(threadIdx.x); i < my.own; i += static_cast<int>(blockDim.x)) {
    to[i] = from[my.first_row + i];
  }
}

/// sum of |b - A u|^2 over the own rows; `row(i, b - A u)` for each.
template <int B, bool on_chip, class Share, class Places, class T, bool across, class Row>
__device__ __forceinline__ double residual_of(const ResidentPart<T, across>& my, const Share& a, Places& ahead,
                                              const T* b, const T* u, const Row& row) {
  double square = 0;
  for_each_row<B, on_chip, 1>(a, my.own, u, ahead, [&](int i, T sum) {
    const T r = load_cached(b + my.first_row + i) - sum;
    square += double(r) * double(r);
    row(i, r);
  });
  return square;
}

/// r = b - A x with the halo that `lead` needs of it, and the norms; u receives x. False where they are no numbers to
/// work with, or nothing is left to do.
template <int B, int lead_block, bool on_chip, class T, bool across, class Share, class Lead, class Places>
__device__ bool open_residual(const ResidentArgs<T>& args, ResidentPart<T, across>& my, const Share& a,
                              const Lead& lead, Places& ahead, T* u, T* r, ResidentState& seen) {
  load_with_halo<B>(my, a, args.x, u);
  publish(my, a, u);
  double sums[2] = {};
  for (int i = static_cast<int>(threadIdx.x); i < my.own; i += static_cast<int>(blockDim.x)) {
    const double b = load_cached(args.b + my.first_row + i);
    sums[0] += b * b;
  }
  sums[1] = residual_of<B, on_chip>(my, a, ahead, args.b, u, [&](int i, T value) {
    r[i] = value;
    post_row<lead_block>(my, lead, i, value);
  });
  synchronise<lead_block>(my, lead, sums, r);
  const double rhs_norm = sqrt(sums[0]);
  seen.residual = sqrt(sums[1]);
  seen.tolerance = fmax(args.rel_tol * rhs_norm, args.abs_tol);
  const auto safe = [&](double norm) { return norm - norm == 0 && norm >= least_safe_norm; };
  const bool started = safe(rhs_norm) && safe(seen.residual);
  if (is_reporting_thread()) {
    ResidentState& state = args.log->state;
    state.started = started;
    state.rhs_norm = rhs_norm;
    state.initial_residual = seen.residual;
    state.tolerance = seen.tolerance;
  }
  return started && !(seen.residual <= seen.tolerance);
}

}  // namespace
}  // namespace newel::detail
