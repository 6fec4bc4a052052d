// SPDX-License-Identifier: Apache-2.0
/// RunParts: what a run through time has in one space besides its equations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/common/text.hpp"
#include "checkpoint.hpp"
#include "resume.hpp"
#include "run_job.hpp"
#include "run_progress.hpp"
#include "shares.hpp"
#include "time_grid.hpp"

namespace newel::transient {

/// Refers to contexts, job and mesh, which outlive it. Times are in the unit of the program.
template <Space S>
struct RunParts {
  const Context<Space::host>& host;
  const Context<S>& ctx;
  RunJob& job;
  const MeshInput& mesh;
  TimeUnit unit;
  Every output, checkpoint;  ///< when frames and checkpoints are due
  double start;              ///< time at which this process begins to step
  std::int64_t first;        ///< steps taken until then
  Shares shares;
  RunProgress progress;
  SolveTotals totals = {};
  std::string failure = {};  ///< why the run ends before its duration; empty: it does not

  /// `grid` is where the run begins. Phases of one in `sample_every` steps are timed.
  RunParts(const Context<Space::host>& on_host, const Context<S>& context, RunJob& of, const MeshInput& on,
           const TimeGrid& grid, TimeUnit in, int sample_every = 1)
      : host(on_host),
        ctx(context),
        job(of),
        mesh(on),
        unit(std::move(in)),
        output(of.options.output_every, of.options.dt),
        checkpoint(of.options.checkpoint_every, of.options.dt),
        start(grid.now()),
        first(grid.steps()),
        shares(sample_every),
        progress(stdout, cli::LiveProgress::mode_for(stdout, of.options.quiet), unit) {}

  /// Begins the folder. Throws InputError if the run that continues was `past` its end already.
  void begin(bool past) const {
    if (past) {
      throw InputError(
          job.resume->file +
          cli::text(": the run has already reached %g %s, expected a larger --duration", start, unit.name.c_str()));
    }
    begin_folder(job);
  }

  bool frame_due(const TimeGrid& grid, bool ended) const { return ended || output.due(grid); }
  bool checkpoint_due(const TimeGrid& grid, bool ended) const {
    return checkpoint.due(grid) || (ended && checkpoint.interval_steps() > 0);
  }

  /// Counts a solve for the time `to`. One that has not converged is the failure of the run.
  void count(const SolveReport& report, double to) {
    totals.add(report);
    if (report.converged()) return;
    failure = cli::text("the solve at %.6g %s ended with %s: %s", to, unit.name.c_str(),
                        std::string(name_of(report.status)).c_str(), report.reason.c_str());
  }

  /// A checkpoint with all but the state. `frame` is the file of a frame at this time; empty: there is none.
  Checkpoint begin_checkpoint(const LinearSystem<double, S>& system, const TimeGrid& grid,
                              const std::string& frame) const {
    Checkpoint begun = transient::begin_checkpoint(job, mesh, system.info(), S, host.threads(), grid.now());
    if (!frame.empty() && !output.due(grid)) begun.header[extra_frame_key] = frame;
    keep_order(ctx, system.ordered().order(), begun);
    return begun;
  }
  void write(const TimeGrid& grid, Checkpoint full) const {
    CheckpointFolder(job.options.out, job.program).write(grid.steps(), std::move(full));
  }

  /// Lines: the run, `more` about its steps, how it is computed, and the time before the first step.
  std::string setup_text(double duration, const std::string& more, const SystemInfo& system) const {
    const std::string from = job.resume ? ", from " + job.resume->file : "";
    const char* const name = unit.name.c_str();
    return cli::labelled("run",
                         cli::text("%.6g %s in steps of %g %s", duration, name, job.options.dt, name) + more + from) +
           method_text(job, system, host.threads(), device_name_of(ctx)) + start_text(job.start.phases());
  }

  /// A report with all but what is the program's own. Measures the operators of the system.
  RunReport report(bool finished, const LinearSystem<double, S>& system, const TimeGrid& grid) const {
    const double total = job.total.seconds();
    RunReport begun = begin_report(job, mesh, finished, failure);
    begun.device_name = device_name_of(ctx);
    begun.threads = host.threads();
    begun.system = system.info();
    begun.time.unit = unit;
    begun.time.start = start;
    begun.time.end = grid.now();
    begun.steps = grid.steps() - first;
    begun.totals = totals;
    begun.shares = shares.report(total, totals, measure_operators(ctx, system));
    begun.peak.arrays = ctx.memory()->use().peak_bytes;
    return begun;
  }
};

}  // namespace newel::transient
