// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-heat, and what surrounds it.
#include "heat_run.hpp"

#include <algorithm>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/common/text.hpp"
#include "apps/transient/resume.hpp"
#include "apps/transient/run_progress.hpp"
#include "apps/transient/step_loop.hpp"
#include "apps/transient/time_grid.hpp"
#include "comparison.hpp"
#include "heat_frames.hpp"
#include "heat_stepper.hpp"

namespace newel::heat {
namespace {

using cli::text;
using transient::Checkpoint;
using transient::device_name_of;
using transient::Every;
using transient::in_folder;
using transient::Phase;
using transient::TimeGrid;

const transient::TimeUnit seconds_unit{"s", 1};

TimeGrid grid_of(const HeatJob& job) {
  if (!job.resume) return TimeGrid(job.options.dt, 0);
  const std::vector<std::int64_t>& kept = job.resume->integers_of("grid", 3);
  return TimeGrid(job.options.dt, 0, {kept[0], kept[1], kept[2]});
}

double theta_of(const std::string& scheme) { return scheme == "backward-euler" ? backward_euler : crank_nicolson; }

// The options of the system: what the run will ask of one setup, and the order of a run that is resumed.
SystemOptions system_options(const HeatJob& job, std::int64_t steps) {
  constexpr double products_a_step = 10;  // a guess before anything is solved; formats differ by far more
  SystemOptions options = job.options.system;
  options.expected_products = products_a_step * static_cast<double>(std::max<std::int64_t>(steps, 1));
  if (job.resume) take_kept_order(*job.resume, job.mesh.mesh.node_count(), options);
  return options;
}

template <Space S>
class HeatRun {
 public:
  HeatRun(const Context<Space::host>& host, const Context<S>& ctx, HeatJob& job)
      : host_(host),
        ctx_(ctx),
        job_(job),
        grid_(grid_of(job)),
        last_(transient::whole_steps(job.options.duration, job.options.dt)),
        output_(job.options.output_every, job.options.dt),
        checkpoint_(job.options.checkpoint_every, job.options.dt),
        start_(grid_.now()),
        first_(grid_.steps()),
        equation_(shares_.timed(
            host, Phase::assembly,
            [&] { return assemble_heat(host, job.mesh.mesh, job.params, job.options.dt, theta_of(job.scheme)); })),
        stepper_(shares_.timed(ctx, Phase::setup,
                               [&] {
                                 job.start.end("equation");
                                 return HeatStepper<S>(ctx, equation_, system_options(job, last_ - first_));
                               })),
        frames_(shares_.timed(host, Phase::output,
                              [&] {
                                job.start.end("linear system");
                                return Frames(host, job.mesh.mesh, job.options.out, series_from());
                              })),
        checkpoints_(job.options.out, job.program),
        progress_(stdout, cli::LiveProgress::mode_for(stdout, job.options.quiet), seconds_unit) {
    begin();
    job.start.end("first output");
  }

  int run() {
    const cli::InterruptScope interrupt;
    print_lines(job_, setup_text());
    transient::StepLoop steps{grid_, last_, start_, job_.options.dt, shares_, totals_, progress_};
    steps.run([&] { return !interrupt.requested() && failure_.empty(); }, [&] { step(); },
              [&] { return text("mean %.4g C", mean_); });
    return finish(interrupt);
  }

 private:
  transient::SeriesStart series_from() const { return series_start(job_, start_, first_ < last_); }

  void begin() {
    if (first_ > last_) {
      throw InputError(job_.resume->file +
                       text(": the run has already reached %g s, expected a larger --duration", start_));
    }
    begin_folder(job_);
    if (job_.resume) {
      const std::int64_t n = job_.mesh.mesh.node_count();
      stepper_.resume(job_.resume->doubles_of("temperature", n), job_.resume->doubles_of("temperature_before", n));
      take_kept_guess(*job_.resume, stepper_.system());
      mean_ = stepper_.mean();
      return;
    }
    stepper_.start(std::vector<double>(job_.mesh.mesh.nodes.size(), job_.params.initial));
    mean_ = stepper_.mean();
    shares_.timed(ctx_, Phase::output, [&] {
      if (output_.interval_steps() > 0) write_frame();
      if (checkpoint_.interval_steps() > 0) write_checkpoint();
    });
  }

  void step() {
    const bool sampled = job_.compare && grid_.steps() == sample_step();
    if (sampled) sample_.guess = stepper_.next_guess();
    const SolveReport report = shares_.timed(
        ctx_, Phase::solve, [&] { return stepper_.step(job_.params.mean_amplitude(grid_.now(), grid_.next())); });
    totals_.add(report);
    ++totals_.other_products;
    if (!report.converged()) {
      failure_ = text("the solve at %.6g s ended with %s: %s", grid_.next(),
                      std::string(name_of(report.status)).c_str(), report.reason.c_str());
      return;
    }
    if (sampled) sample_.rhs = stepper_.last_rhs();
    grid_.accept();
    const bool ended = grid_.steps() == last_;
    const std::int64_t poll_every = std::max<std::int64_t>(1, (last_ - first_) / 200);
    if (ended || grid_.steps() % poll_every == 0) {
      mean_ = shares_.timed(ctx_, Phase::vector_work, [&] { return stepper_.mean(); });
    }
    shares_.timed(ctx_, Phase::output, [&] {
      if (ended || output_.due(grid_)) write_frame();
      if (checkpoint_.due(grid_) || (ended && checkpoint_.interval_steps() > 0)) write_checkpoint();
    });
  }

  // Behind the middle: there the default source has been on for a while, and does not just switch.
  std::int64_t sample_step() const { return first_ + (last_ - first_) * 5 / 8; }

  void write_frame() {
    mean_ = stepper_.mean();
    frames_.write(grid_.steps(), grid_.now(), stepper_.temperature(), mean_);
  }

  void write_checkpoint() {
    Checkpoint checkpoint =
        begin_checkpoint(job_, job_.mesh, stepper_.system().info(), S, host_.threads(), grid_.now());
    checkpoint.header["scheme"] = job_.scheme;
    if (frames_.last_step() == grid_.steps() && !output_.due(grid_)) {
      checkpoint.header[transient::extra_frame_key] = frame_name(grid_.steps());
    }
    checkpoint.integers["grid"] = {grid_.state().ticks, grid_.state().steps, grid_.state().halvings};
    checkpoint.doubles["temperature"] = stepper_.state();
    checkpoint.doubles["temperature_before"] = stepper_.state_before();
    keep_order(ctx_, stepper_.system().order(), checkpoint);
    keep_guess(stepper_.system(), checkpoint);
    checkpoints_.write(grid_.steps(), std::move(checkpoint));
  }

  std::string setup_text() {
    std::string lines = mesh_text(job_.mesh);
    const std::string from = job_.resume ? ", from " + job_.resume->file : "";
    lines += cli::labelled("run", text("%.6g s in steps of %g s by %s", static_cast<double>(last_) * job_.options.dt,
                                       job_.options.dt, job_.scheme.c_str()) +
                                      from);
    lines += method_text(job_, stepper_.system().info(), host_.threads(), device_name_of(ctx_));
    return lines + transient::start_text(job_.start.phases());
  }

  int finish(const cli::InterruptScope& interrupt) {
    const bool finished = failure_.empty() && grid_.steps() == last_;
    if (!finished && failure_.empty()) {
      shares_.timed(ctx_, Phase::output, [&] {
        if (frames_.last_step() != grid_.steps()) write_frame();
        write_checkpoint();
      });
    }
    transient::RunReport report = make_report(finished);
    Comparison comparison;
    if (finished && job_.compare && !sample_.empty() && !interrupt.requested()) {
      SystemOptions used = job_.options.system;
      used.spmv.format = report.system.matrix.name;
      used.precond.name = report.system.preconditioner.name;
      used.solver.name = report.system.solver;
      comparison = compare<S>(ctx_, equation_.implicit_matrix, sample_, used, [&] { return interrupt.requested(); });
      report.own["break_even"] = comparison_json(comparison);
    }
    const std::string tables = comparison.formats.empty() ? "" : comparison_text(comparison, report.totals.solves);
    return end_run(job_, report, tables, in_folder(job_.options.out, series_name) + " for ParaView, " + history_name);
  }

  transient::RunReport make_report(bool finished) {
    const double total = job_.total.seconds();
    transient::RunReport report = begin_report(job_, job_.mesh, finished, failure_);
    report.device_name = device_name_of(ctx_);
    report.threads = host_.threads();
    report.system = stepper_.system().info();
    report.unit = seconds_unit;
    report.start_time = start_;
    report.end_time = grid_.now();
    report.steps = grid_.steps() - first_;
    report.totals = totals_;
    report.shares = shares_.report(total, totals_, transient::measure_operators(ctx_, stepper_.system()));
    report.peak_bytes = ctx_.memory()->use().peak_bytes;
    report.own["scheme"] = job_.scheme;
    report.own["mean_temperature"] = mean_;
    report.own["highest_temperature"] = frames_.highest();
    report.own["cooled_area"] = equation_.cooled_area;
    return report;
  }

  const Context<Space::host>& host_;
  const Context<S>& ctx_;
  HeatJob& job_;
  transient::Shares shares_;
  TimeGrid grid_;
  std::int64_t last_;  // step at which the run ends
  Every output_, checkpoint_;
  double start_;
  std::int64_t first_;
  HeatEquation equation_;
  HeatStepper<S> stepper_;
  Frames frames_;
  transient::CheckpointFolder checkpoints_;
  transient::RunProgress progress_;
  transient::SolveTotals totals_;
  SampleStep sample_;
  std::string failure_;
  double mean_ = 0;
};

}  // namespace

template <Space S>
int run_heat(const Context<Space::host>& host, const Context<S>& ctx, HeatJob& job) {
  return HeatRun<S>(host, ctx, job).run();
}

template int run_heat(const Context<Space::host>&, const Context<Space::host>&, HeatJob&);
#if NEWEL_HAS_CUDA
template int run_heat(const Context<Space::host>&, const Context<Space::device>&, HeatJob&);
#endif

}  // namespace newel::heat
