// SPDX-License-Identifier: Apache-2.0
// The speed of a device, measured and kept.
#include "spmv/cost/machine_speed.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "core/memory/context_device.hpp"
#include "core/memory/machine_constants.hpp"
#include "spmv/plan/plan_cache.hpp"

namespace newel::detail {
namespace {

constexpr int copy_threads = 256;
constexpr int runs = 4;                         // of which the best counts
constexpr int small_kernels = 256, copies = 4;  // on end: the wait for them counts less

__global__ void __launch_bounds__(copy_threads) copy_doubles(double2* to, const double2* from, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * copy_threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * copy_threads + threadIdx.x; k < n; k += stride) to[k] = from[k];
}

__global__ void add_one(double* at) { *at += 1; }

struct FreeMemory {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
struct DestroyExec {
  void operator()(cudaGraphExec_t exec) const { cudaGraphExecDestroy(exec); }
};
template <class Handle, class Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

// The least seconds of `work` on the stream, the first run not counted.
template <class Work>
double best_seconds(cudaStream_t stream, Work&& work) {
  double best = 0;
  for (int run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run == 1 || (run > 1 && seconds < best)) best = seconds;
  }
  return best;
}

double copy_seconds(const Context<Space::device>& ctx, cudaStream_t stream, double2* to, const double2* from,
                    std::int64_t n) {
  constexpr int blocks_of_multiprocessor = 8;
  const auto blocks = static_cast<unsigned>(ctx.multiprocessors() * blocks_of_multiprocessor);
  const auto copy = [&] {
    for (int k = 0; k < copies; ++k) copy_doubles<<<blocks, copy_threads, 0, stream>>>(to, from, n);
    NEWEL_CHECK_LAUNCH();
  };
  return best_seconds(stream, copy) / copies;
}

double seconds_between_kernels(cudaStream_t stream, double* at) {
  cudaGraph_t captured = nullptr;
  NEWEL_CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < small_kernels; ++k) add_one<<<1, 1, 0, stream>>>(at);
  NEWEL_CHECK_CUDA(cudaStreamEndCapture(stream, &captured));
  const Owned<cudaGraph_t, DestroyGraph> graph(captured);
  cudaGraphExec_t made = nullptr;
  NEWEL_CHECK_CUDA(cudaGraphInstantiate(&made, graph.get(), 0));
  const Owned<cudaGraphExec_t, DestroyExec> exec(made);
  return best_seconds(stream, [&] { NEWEL_CHECK_CUDA(cudaGraphLaunch(exec.get(), stream)); }) / small_kernels;
}

std::optional<MachineSpeed> kept_speed(PlanCache& cache, const PlanKey& key) {
  const std::optional<CachedPlan> found = cache.find(key);
  if (!found || found->figures.size() != 2) return std::nullopt;
  const MachineSpeed speed{found->figures[0].second, found->figures[1].second};
  if (!(speed.bytes_per_second > 0) || !(speed.start_seconds > 0)) return std::nullopt;
  return speed;
}

// One process measures once, whatever folders it keeps plans in.
MachineSpeed speed_of_process(const Context<Space::device>& ctx) {
  static std::mutex mutex;
  static std::map<int, MachineSpeed> measured;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = measured.find(ctx.device());
  if (at != measured.end()) return at->second;
  return measured[ctx.device()] = measure_speed(ctx);
}

MachineSpeed find_speed(const Context<Space::device>& ctx, const Machine& machine, const std::string& plan_cache,
                        bool anew) {
  const auto speed_now = [&] { return anew ? measure_speed(ctx) : speed_of_process(ctx); };
  if (plan_cache.empty()) return speed_now();
  PlanKey key;
  key.add("speed of a device");
  key.add(machine.name);
  key.add(static_cast<std::uint64_t>(machine.processors));
  PlanCache cache(plan_cache);
  if (const std::optional<MachineSpeed> kept = kept_speed(cache, key)) return *kept;
  const MachineSpeed speed = speed_now();
  CachedPlan plan;
  plan.figures = {{"bytes per second", speed.bytes_per_second}, {"seconds of a start", speed.start_seconds}};
  if (speed.start_seconds > 0) cache.keep(key, plan);
  return speed;
}

}  // namespace

bool is_fitted(const Machine& machine) { return fitted_profile(machine.name) != nullptr; }

// Not from the context's memory, which would keep what is used here once.
MachineSpeed measure_speed(const Context<Space::device>& ctx) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28, least_bytes = std::size_t{1} << 20;
  ctx.make_current();
  ctx.synchronize();
  void* found = nullptr;
  std::size_t bytes = most_bytes;
  while (cudaMalloc(&found, bytes) != cudaSuccess) {
    cudaGetLastError();
    bytes /= 2;
    if (bytes < least_bytes) return {};
  }
  const std::unique_ptr<void, FreeMemory> memory(found);
  NEWEL_CHECK_CUDA(cudaMemset(memory.get(), 0, bytes));
  cudaStream_t made = nullptr;  // the context's own may be one that cannot be captured
  NEWEL_CHECK_CUDA(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  const Owned<cudaStream_t, DestroyStream> stream(made);
  auto* const from = static_cast<double2*>(memory.get());
  const auto half = static_cast<std::int64_t>(bytes / 2 / sizeof(double2));
  MachineSpeed speed;
  speed.start_seconds = seconds_between_kernels(stream.get(), static_cast<double*>(memory.get()));
  speed.bytes_per_second = static_cast<double>(bytes) / copy_seconds(ctx, stream.get(), from + half, from, half);
  return speed;
}

Machine measured_machine(const Context<Space::device>& ctx, const std::string& plan_cache, bool as_unknown) {
  Machine machine = machine_of(ctx);
  if (is_fitted(machine) && !as_unknown) return machine;
  const MachineSpeed speed = find_speed(ctx, machine, plan_cache, as_unknown);
  if (!(speed.start_seconds > 0)) return machine;
  machine.bytes_per_second = speed.bytes_per_second;
  machine.start_ratio = speed.start_seconds / constants_of<DeviceMachineConstants>(machine).start_seconds;
  return machine;
}

}  // namespace newel::detail
