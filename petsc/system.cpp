// SPDX-License-Identifier: Apache-2.0
// Systems on the host: of one process, and of several.
#include "system.hpp"

#include <newel/config.hpp>
#include <newel/mpi/mpi_ranks.hpp>

#include "petsc_calls.hpp"
#include "whole_system.hpp"

namespace newel::petsc {
namespace {

constexpr Space host = Space::host;

class RankSystem final : public System {
 public:
  RankSystem(MPI_Comm comm, int threads, const SystemOptions& options, const LocalRows& rows)
      : system_(Context<host>(threads), mpi_ranks(comm), rows.of_rank(), options) {}

  void refresh(ConstHostSpan values) override { system_.refresh(values); }
  SolveReport solve(const StopCriterion& stop, ConstHostSpan b, HostSpan x, const ProgressFn& progress,
                    InitialGuess guess) override {
    system_.set_stop_criterion(stop);
    return system_.solve(b, x, progress, guess);
  }
  void precondition(ConstHostSpan r, HostSpan z) override { system_.precondition(r, z); }
  SystemInfo info() const override { return system_.info(); }

 private:
  DistributedSystem<double> system_;
};

}  // namespace

std::unique_ptr<System> make_system(MPI_Comm comm, const c::Settings& settings, const SystemOptions& options,
                                    const LocalRows& rows) {
  if (!rows.whole()) {
    if (settings.device) throw InputError("device cuda: the rows of several processes are solved on the host");
    const int threads = settings.threads == 0 ? 1 : settings.threads;  // a process is one of many on its host
    return std::make_unique<RankSystem>(comm, threads, options, rows);
  }
#if NEWEL_HAS_CUDA
  if (settings.device) return make_device_system(settings, options, rows);
#endif
  return std::make_unique<WholeSystem<host>>(Context<host>(settings.threads), options, rows);
}

}  // namespace newel::petsc
