// SPDX-License-Identifier: Apache-2.0
// The direction of CG for several devices: rows that others read come first, and are on their way meanwhile.
#include "core/ranks/peer_rows_device.cuh"
#include "core/vectors/vector_step_device.cuh"
#include "solver/krylov/steps/published_direction.hpp"

namespace newel::detail {
namespace {

/// As of the step without others.
using SendTuning = SweepTuning<CgDirection<double, false>>;

/// The rows that are sent.
template <class T, bool scaled>
struct SentDirection : CgDirection<T, scaled> {
  using Step = CgDirection<T, scaled>;
  PeerRows<T> to;

  __device__ SentDirection(const Step& step, const PeerRows<T>& to_) : Step(step), to(to_) {}
  template <class Sums>
  __device__ __forceinline__ void finish(std::int64_t i, const typename Step::Loaded& at,
                                         const typename Step::Coefficients& c, Sums& sums) const {
    Step::finish(i, at, c, sums);
    send_row(to, i, static_cast<T>(this->p[i]));
  }
};

/// Threads share the rows as in `sweep_kernel`: first those from `to.first` on, then the others, which take longer
/// than the sent ones are under way. The product tells the readers.
template <class T, bool scaled>
__global__ void __launch_bounds__(SendTuning::threads, SendTuning::blocks_per_multiprocessor)
    send_direction_kernel(const CgDirection<T, scaled> step, const PeerRows<T> to, std::int64_t n) {
  wait_for_earlier_work();
  if (!step.active()) return;
  const auto coefficients = step.begin();
  RegisterSums<0> none;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  run_split(SentDirection<T, scaled>(step, to), coefficients, to.first + first, stride, n, none);
  if (first == 0) count_round(to);
  run_split(step, coefficients, first, stride, to.first, none);
}

}  // namespace

template <class T, bool scaled>
void sweep_and_send(const Context<Space::device>& ctx, std::int64_t n, const CgDirection<T, scaled>& step,
                    const PeerRows<T>& to) {
  const unsigned blocks = blocks_to_share(ctx, n, SendTuning::threads, SendTuning::blocks_per_multiprocessor);
  launch_overlapped(ctx, send_direction_kernel<T, scaled>, LaunchShape{blocks, SendTuning::threads, 0}, step, to, n);
}

#define X(T, scaled)                                                                                       \
  template void sweep_and_send(const Context<Space::device>&, std::int64_t, const CgDirection<T, scaled>&, \
                               const PeerRows<T>&);
X(double, false)
X(double, true)
X(float, false)
X(float, true)
#undef X

}  // namespace newel::detail
