// SPDX-License-Identifier: Apache-2.0
// From a place and a precision to the types of the solve.
#include "backend.hpp"

#include <newel/core/error.hpp>
#include <newel/solver/memory_estimate.hpp>

#include "apps/common/text.hpp"
#include "solve_in.hpp"
#include "solve_on_gpus.hpp"

namespace newel::cli {

SolveOutcome solve_at(const Place& place, const Context<Space::host>& host, bool single_precision, SolveTask& task,
                      const SolveObserver& observer) {
  if (place.devices > 1) return solve_on_gpus(place, host, single_precision, task, observer);
  return at_place(place, host, [&](const auto& ctx) {
    using Ctx = std::decay_t<decltype(ctx)>;
    SetupFacts facts;
    if constexpr (std::is_same_v<Ctx, Context<Space::device>>) {
      facts.device_name = ctx.device_name();
    }
    task.clock.end("start");
    return single_precision ? solve_in<float>(host, ctx, task, facts, observer)
                            : solve_in<double>(host, ctx, task, facts, observer);
  });
}

WhereToSolve choose_where(const std::string& device, bool may_have_device,
                          const std::function<double()>& host_seconds) {
  constexpr double safety = 3;
  if (device == "auto" && may_have_device) {
    const double seconds = host_seconds();
    if (safety * seconds <= device_start_seconds) {
      return {Place{},
              "a solve is estimated at " + duration(seconds) + " on the host, less than a device takes to start"};
    }
  }
  return {choose_place(device), ""};
}

std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Offset nonzeros, std::size_t value_bytes,
                                   Space space) {
  const auto n = static_cast<std::uint64_t>(rows), nnz = static_cast<std::uint64_t>(nonzeros);
  SystemSize size{rows, nonzeros, value_bytes, !options.old_of_new.empty(), options.mixed};
  size.columns = options.columns;
  size.null_space = options.null_space == NullSpace::constant;
  std::uint64_t bytes = estimate_system(options.spmv, options.precond, options.solver, size).total();
  bytes += 2 * n * static_cast<std::uint64_t>(options.columns) * value_bytes;
  // The CSR that the format reads is uploaded first; on the host it is there, but for values in another precision.
  if (space == Space::device) {
    bytes += nnz * (sizeof(Index) + value_bytes) + (n + 1) * sizeof(Offset);
  } else if (value_bytes != sizeof(double)) {
    bytes += nnz * value_bytes;
  }
  return bytes;
}

void require_bytes(Space space, std::uint64_t wanted, std::optional<std::uint64_t> available) {
  if (!available || wanted <= *available) return;
  throw OutOfMemory(name_of(space), "matrix, preconditioner and vectors of this solve", wanted, available);
}

}  // namespace newel::cli
