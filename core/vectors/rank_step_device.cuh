// SPDX-License-Identifier: Apache-2.0
/// How a vector step ends on a device that shares its system with other ranks. Internal.
///
/// Without ranks a step is the one kernel of vector_step_device.cuh. With ranks its last block gathers the sums of
/// all devices, adds them in the order of ranks and runs the step's end: the same bits on every rank. Without packets
/// between the devices the kernel leaves its sums, and two more gather and end.
#pragma once

#include "core/ranks/device_ranks.hpp"
#include "core/ranks/peer_sums_device.cuh"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/vector_step_device.cuh"

namespace newel::detail {

/// A step whose end leaves its sums in memory.
template <class Step>
struct StoredSums : Step {
  double* at;
  StoredSums(const Step& step, double* at_) : Step(step), at(at_) {}
  NEWEL_HD void end(const double* totals) const {
    for (int k = 0; k < Step::sums; ++k) at[k] = totals[k];
  }
};

/// A step whose last block gathers the sums of other devices and ends it, if there are packets between them.
template <class Step>
struct PeerEnd : Step {
  PeerSums peers;
  PeerEnd(const Step& step, const PeerSums& peers_) : Step(step), peers(peers_) {}
  __device__ void end_together(const double* totals) const;
};

/// Whether a step has elements: one that has none has nothing to add over ranks.
template <class Step, class = void>
constexpr bool has_elements = true;
template <class Step>
constexpr bool has_elements<Step, std::void_t<decltype(Step::without_elements)>> = false;

/// The devices of other ranks; null if there are none.
inline DeviceRanks* other_devices(const Context<Space::device>& ctx) {
  const Ranks* const ranks = ranks_of(ctx);
  if (ranks == nullptr || ranks->device == nullptr || ranks->device->size() == 1) return nullptr;
  return ranks->device.get();
}

/// Sum k of all ranks, each of which has gathered `count`.
__device__ __forceinline__ double sum_in_rank_order(const double* all, int ranks, int count, int k) {
  double total = all[k];
  for (int r = 1; r < ranks; ++r) total += all[r * count + k];
  return total;
}

/// The end of a step, with the sums of all ranks.
template <class Step>
__device__ __forceinline__ void end_in_rank_order(const Step& step, const double* all, int ranks) {
  double totals[Step::sums];
#pragma unroll
  for (int k = 0; k < Step::sums; ++k) totals[k] = sum_in_rank_order(all, ranks, Step::sums, k);
  step.end(totals);
}

template <class Step>
__device__ void PeerEnd<Step>::end_together(const double* totals) const {
  __shared__ double all[PeerSums::most_ranks * Step::sums];
  gather_from_peers(peers, totals, Step::sums, all);
  if (threadIdx.x == 0) end_in_rank_order(static_cast<const Step&>(*this), all, peers.size);
}

/// One thread: `all` has been gathered.
template <class Step>
__global__ void end_over_ranks_kernel(const Step step, const double* all, int ranks) {
  if (step.active()) end_in_rank_order(step, all, ranks);
}

/// Ends a step whose sums of this device are in `ranks.sums()`, if there are no packets between the devices.
template <class Step>
void end_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, const Step& step) {
  const double* const all = ranks.all_gather(ranks.sums(), Step::sums);
  end_over_ranks_kernel<<<1, 1, 0, ctx.state().stream()>>>(step, all, ranks.size());
  NEWEL_CHECK_LAUNCH();
}

template <class Step>
void sweep_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, std::int64_t n, const Step& step) {
  if (const PeerSums* const peers = ranks.peer_sums()) return sweep(ctx, n, PeerEnd<Step>(step, *peers));
  sweep(ctx, n, StoredSums<Step>(step, ranks.sums()));
  end_over_ranks(ctx, ranks, step);
}

/// A step on one device: the same step, whose `sweep` is not the one that asks for ranks.
template <class Step>
struct OneDevice : Step {
  explicit OneDevice(const Step& step) : Step(step) {}
};

/// `sweep` of a step that ranks may share.
template <class Step>
void sweep_on_ranks(const Context<Space::device>& ctx, std::int64_t n, const Step& step) {
  if constexpr (Step::sums > 0 && has_elements<Step>) {
    if (DeviceRanks* const ranks = other_devices(ctx)) return sweep_over_ranks(ctx, *ranks, n, step);
  }
  sweep(ctx, n, OneDevice<Step>(step));
}

}  // namespace newel::detail

/// Defines `sweep` for one step that ranks may share, on the device.
#define NEWEL_SWEEP_RANKS_DEVICE(...)                                                                     \
  template <>                                                                                             \
  void newel::detail::sweep(const Context<Space::device>& ctx, std::int64_t n, const __VA_ARGS__& step) { \
    sweep_on_ranks(ctx, n, step);                                                                         \
  }
