// SPDX-License-Identifier: Apache-2.0
// Matrix and vectors to several GPUs, and the solution back.
#include "solve_on_gpus.hpp"

#include <newel/config.hpp>
#include <newel/distributed/team_system.hpp>

#include "apps/common/interrupt.hpp"
#include "solve_in.hpp"

namespace newel::cli {
namespace {

#if NEWEL_HAS_CUDA
template <class T>
SolveOutcome solve_with(const Context<Space::host>& ctx, const std::vector<Context<Space::device>>& gpus,
                        SolveTask& task, const SolveObserver& observer) {
  SolveOutcome outcome;
  SetupFacts& facts = outcome.setup;
  facts.device_name = gpus.front().device_name();
  task.clock.end("start");
  const Stopwatch watch;
  const InitialGuess guess = task.x.empty() ? InitialGuess::zero : InitialGuess::in_x;
  const Array<T, Space::host> b = place_vector<T>(ctx, ctx, std::move(task.b), "the right-hand side");
  Array<T, Space::host> x = guess == InitialGuess::zero ? Array<T, Space::host>(ctx, b.size())
                                                        : place_vector<T>(ctx, ctx, std::move(task.x), "the guess");
  Csr<double, Space::host>& a = task.a;
  const Array<T, Space::host> values = place_vector<T>(ctx, ctx, std::move(a.val), "the matrix");
  facts.transfer_seconds = watch.seconds();
  const CsrView<T, Space::host> view(a.rows, a.cols, a.row_ptr.cspan(), a.col.cspan(), values.cspan());
  task.options.spmv.coordinates = nullptr;  // of a generated system; they are for AMG, which is for one GPU
  TeamSystem<T, Space::device> system(gpus, view, task.options);
  a = {};
  task.clock.end("setup");

  facts.system = system.info();
  facts.link = system.link();
  facts.first_rows = system.first_rows();
  {
    const InterruptScope interrupt;  // before the setup is printed: whoever has read it may stop the solve
    observer.on_setup(facts);
    task.clock.end("report");
    const ProgressFn on_progress = [&](const Progress& progress) {
      return observer.on_progress(progress) && !interrupt.requested();
    };
    outcome.reports = system.solve_columns(b.cspan(), x.span(), task.options.columns, on_progress, guess);
  }
  task.clock.end("solve");
  SystemFacts unknown;
  unknown.has_entries = false;
  outcome.facts.assign(outcome.reports.size(), unknown);
  task.x = take_solution(ctx, ctx, std::move(x));
  for (const Context<Space::device>& gpu : gpus) outcome.peak_bytes += gpu.memory()->use().peak_bytes;
  return outcome;
}
#endif

}  // namespace

SolveOutcome solve_on_gpus([[maybe_unused]] const Place& place, [[maybe_unused]] const Context<Space::host>& ctx,
                           [[maybe_unused]] bool single_precision, [[maybe_unused]] SolveTask& task,
                           [[maybe_unused]] const SolveObserver& observer) {
#if NEWEL_HAS_CUDA
  std::vector<Context<Space::device>> gpus;
  for (int d = 0; d < place.devices; ++d) gpus.emplace_back(place.device + d);
  return single_precision ? solve_with<float>(ctx, gpus, task, observer)
                          : solve_with<double>(ctx, gpus, task, observer);
#else
  throw NoDevice("this newel was built without CUDA");
#endif
}

}  // namespace newel::cli
