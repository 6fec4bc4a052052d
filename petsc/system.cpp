// SPDX-License-Identifier: Apache-2.0
// Systems of one process on the host, and of several on the host or on GPUs.
#include "system.hpp"

#include <optional>
#include <utility>

#include <newel/config.hpp>
#include <newel/distributed/offloaded_system.hpp>
#include <newel/distributed/rank_device.hpp>
#include <newel/mpi/mpi_ranks.hpp>

#include "petsc_calls.hpp"
#include "whole_system.hpp"

namespace newel::petsc {
namespace {

constexpr Space host = Space::host;

// `Held`: a DistributedSystem, or an OffloadedSystem.
template <class Held>
class RankSystem final : public System {
 public:
  explicit RankSystem(Held system) : system_(std::move(system)) {}

  void refresh(ConstHostSpan values) override { system_.refresh(values); }
  SolveReport solve(const StopCriterion& stop, ConstHostSpan b, HostSpan x, const ProgressFn& progress,
                    InitialGuess guess) override {
    system_.set_stop_criterion(stop);
    return system_.solve(b, x, progress, guess);
  }
  void precondition(ConstHostSpan r, HostSpan z) override { system_.precondition(r, z); }
  SystemInfo info() const override { return system_.info(); }

 private:
  Held system_;
};

#if NEWEL_HAS_CUDA
// On the GPUs that the processes take.
std::unique_ptr<System> make_on_gpus(const std::shared_ptr<Communicator>& ranks, const SystemOptions& options,
                                     const LocalRows& rows) {
  using Held = OffloadedSystem<double, Space::device>;
  const KeptDevice kept;
  const RankDevice own = device_of_rank(*ranks);
  if (!own.all_have) throw DeviceError("device cuda: a process sees no CUDA device");
  std::optional<Context<Space::device>> gpu;
  if (!own.shares) gpu.emplace(own.device);
  return std::make_unique<RankSystem<Held>>(Held(gpu, ranks, rows.of_rank(), options));
}
#endif

}  // namespace

std::unique_ptr<System> make_system(MPI_Comm comm, const c::Settings& settings, const SystemOptions& options,
                                    const LocalRows& rows) {
  if (!rows.whole()) {
    if (settings.device.value_or(0) != 0) {
      throw InputError("device: expected host or cuda for several processes, each of which takes a GPU of its host");
    }
#if NEWEL_HAS_CUDA
    if (settings.device) return make_on_gpus(mpi_ranks(comm), options, rows);
#endif
    const int threads = settings.threads == 0 ? 1 : settings.threads;  // a process is one of many on its host
    using Held = DistributedSystem<double>;
    return std::make_unique<RankSystem<Held>>(Held(Context<host>(threads), mpi_ranks(comm), rows.of_rank(), options));
  }
#if NEWEL_HAS_CUDA
  if (settings.device) return make_device_system(settings, options, rows);
#endif
  return std::make_unique<WholeSystem<host>>(Context<host>(settings.threads), options, rows);
}

}  // namespace newel::petsc
