// SPDX-License-Identifier: Apache-2.0
// `newel solve` on the processes that mpirun has started: who works, who prints, and how all end alike.
#include <chrono>
#include <thread>

#include "apps/common/exit_status.hpp"
#include "apps/newel/ranks/mpi_library.hpp"
#include "command.hpp"
#include "solve_generated.hpp"
#include "solve_on_ranks.hpp"

namespace newel::cli {
namespace {

// How a process ended: a status, and for a failure of its own what was wrong.
struct Ending {
  int status = exit_converged;
  bool failed = false;
  std::string message;  // empty: another process failed
};

int status_of(const std::exception& error) {
  const auto* memory = dynamic_cast<const OutOfMemory*>(&error);
  const bool device = memory != nullptr ? memory->on_device() : dynamic_cast<const DeviceError*>(&error) != nullptr;
  return device ? exit_device_failure : exit_bad_input;
}

Ending work(const std::shared_ptr<Communicator>& ranks, SolveOptions options, const std::string& command_line) {
  try {
    options.threads = threads_of_rank(*ranks, options);
    const MpiProcess process = mpi_process(ranks, options);
    if (ranks->rank() == 0) return {run_solve(options, command_line, &process), false, ""};
    const bool generates = ranks_generate(options, ranks->size());
    return {(generates ? help_generated_on_ranks(process, options) : help_on_ranks(process, options))
                ? exit_converged
                : exit_not_converged,
            false, ""};
  } catch (const RankFailed&) {
    return {exit_bad_input, true, ""};
  } catch (const std::exception& error) {
    const std::string message = message_from_one(error);
    ranks->fail(message);
    return {status_of(error), true, message};
  }
}

// The endings of all processes are exchanged by messages of their own: those of a solve that failed are not answered.
Ending first_failure(Communicator& ranks, const Ending& own) {
  const std::string text = !own.failed ? "" : std::to_string(own.status) + own.message;
  const std::vector<std::string> all = ranks.texts(text);
  Ending result = own;
  for (std::size_t r = all.size(); r-- > 0;) {
    if (all[r].empty()) continue;
    result.failed = true;
    if (all[r].size() == 1) continue;
    result.status = all[r].front() - '0';
    result.message = "rank " + std::to_string(r) + ": " + all[r].substr(1);
  }
  return result;
}

// What a process has printed is lost if the launcher has not passed it on when one aborts: the first prints, waits,
// and ends all. Otherwise one run in 20 on a busy machine ended without a word.
void wait_for_first(Communicator& ranks, const Launch& launch) {
  constexpr std::chrono::milliseconds to_pass_on(200), of_others(1000);
  static_cast<void>(ranks.texts(""));
  std::this_thread::sleep_for(launch.rank == 0 ? to_pass_on : of_others);
}

}  // namespace

int run_solve_launched(const Launch& launch, const SolveOptions& options, const std::string& command_line) {
  std::unique_ptr<MpiLibrary> mpi;
  try {
    refuse_under_mpi(options);
    refuse_on_ranks(options);
    mpi = std::make_unique<MpiLibrary>(launch);
  } catch (const InputError&) {
    if (launch.rank == 0) throw;
    return exit_left_to_first;
  }
  const std::shared_ptr<Communicator> endings = mpi->ranks();
  Ending ending;
  {
    const std::shared_ptr<Communicator> ranks = mpi->ranks();
    ending = first_failure(*endings, work(ranks, options, command_line));
    if (ending.failed) {
      if (launch.rank == 0) print_error(ending.message);
      wait_for_first(*endings, launch);
      mpi->abort(ending.status);
    }
  }
  return ending.status;
}

}  // namespace newel::cli
