// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-heat, and what surrounds it.
#include "heat_run.hpp"

#include <algorithm>

#include <newel/config.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/transient/run_parts.hpp"
#include "apps/transient/step_loop.hpp"
#include "comparison.hpp"
#include "heat_frames.hpp"
#include "heat_stepper.hpp"

namespace newel::heat {
namespace {

using cli::text;
using transient::Checkpoint;
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
      : job_(job),
        grid_(grid_of(job)),
        last_(transient::whole_steps(job.options.duration, job.options.dt)),
        run_(host, ctx, job, job.mesh, grid_, seconds_unit),
        equation_(run_.shares.timed(
            host, Phase::assembly,
            [&] { return assemble_heat(host, job.mesh.mesh, job.params, job.options.dt, theta_of(job.scheme)); })),
        stepper_(run_.shares.timed(ctx, Phase::setup,
                                   [&] {
                                     job.start.end("equation");
                                     return HeatStepper<S>(ctx, equation_, system_options(job, last_ - run_.first));
                                   })),
        frames_(run_.shares.timed(host, Phase::output, [&] {
          job.start.end("linear system");
          return Frames(host, job.mesh.mesh, job.options.out, series_from());
        })) {
    begin();
    job.start.end("first output");
  }

  int run() {
    print_lines(job_, setup_text());
    transient::StepLoop steps{grid_, last_, run_.start, job_.options.dt, run_.shares, run_.totals, run_.progress};
    steps.run([&] { return !interrupt_.requested() && run_.failure.empty(); }, [&] { step(); },
              [&] { return text("mean %.4g C", mean_); });
    return finish();
  }

 private:
  transient::SeriesStart series_from() const { return series_start(job_, run_.start, run_.first < last_); }

  void begin() {
    run_.begin(run_.first > last_);
    if (job_.resume) {
      const std::int64_t n = job_.mesh.mesh.node_count();
      stepper_.resume(job_.resume->doubles_of("temperature", n), job_.resume->doubles_of("temperature_before", n));
      take_kept_guess(*job_.resume, stepper_.system());
      mean_ = stepper_.mean();
      return;
    }
    stepper_.start(std::vector<double>(job_.mesh.mesh.nodes.size(), job_.params.initial));
    mean_ = stepper_.mean();
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      if (run_.output.interval_steps() > 0) write_frame();
      if (run_.checkpoint.interval_steps() > 0) write_checkpoint();
    });
  }

  void step() {
    const bool sampled = job_.compare && grid_.steps() == sample_step();
    if (sampled) sample_.guess = stepper_.next_guess();
    const SolveReport report = run_.shares.timed(
        run_.ctx, Phase::solve, [&] { return stepper_.step(job_.params.mean_amplitude(grid_.now(), grid_.next())); });
    run_.count(report, grid_.next());
    ++run_.totals.other_products;
    if (!run_.failure.empty()) return;
    if (sampled) sample_.rhs = stepper_.last_rhs();
    grid_.accept();
    const bool ended = grid_.steps() == last_;
    const std::int64_t poll_every = std::max<std::int64_t>(1, (last_ - run_.first) / 200);
    if (ended || grid_.steps() % poll_every == 0) {
      mean_ = run_.shares.timed(run_.ctx, Phase::vector_work, [&] { return stepper_.mean(); });
    }
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      if (run_.frame_due(grid_, ended)) write_frame();
      if (run_.checkpoint_due(grid_, ended)) write_checkpoint();
    });
  }

  // Behind the middle: there the default source has been on for a while, and does not just switch.
  std::int64_t sample_step() const { return run_.first + (last_ - run_.first) * 5 / 8; }

  void write_frame() {
    mean_ = stepper_.mean();
    frames_.write(grid_.steps(), grid_.now(), stepper_.temperature(), mean_);
  }

  void write_checkpoint() {
    const bool written = frames_.last_step() == grid_.steps();
    Checkpoint checkpoint =
        run_.begin_checkpoint(stepper_.system(), grid_, written ? frame_name(grid_.steps()) : std::string());
    checkpoint.header["scheme"] = job_.scheme;
    checkpoint.integers["grid"] = {grid_.state().ticks, grid_.state().steps, grid_.state().halvings};
    checkpoint.doubles["temperature"] = stepper_.state();
    checkpoint.doubles["temperature_before"] = stepper_.state_before();
    keep_guess(stepper_.system(), checkpoint);
    run_.write(grid_, std::move(checkpoint));
  }

  std::string setup_text() {
    return mesh_text(job_.mesh) + run_.setup_text(static_cast<double>(last_) * job_.options.dt, " by " + job_.scheme,
                                                  stepper_.system().info());
  }

  int finish() {
    const bool finished = run_.failure.empty() && grid_.steps() == last_;
    if (!finished && run_.failure.empty()) {
      run_.shares.timed(run_.ctx, Phase::output, [&] {
        if (frames_.last_step() != grid_.steps()) write_frame();
        write_checkpoint();
      });
    }
    transient::RunReport report = make_report(finished);
    Comparison comparison;
    if (finished && job_.compare && !sample_.empty() && !interrupt_.requested()) {
      SystemOptions used = job_.options.system;
      used.spmv.format = report.system.matrix.name;
      used.precond.name = report.system.preconditioner.name;
      used.solver.name = report.system.solver;
      comparison =
          compare<S>(run_.ctx, equation_.implicit_matrix, sample_, used, [&] { return interrupt_.requested(); });
      report.own["break_even"] = comparison_json(comparison);
    }
    const std::string tables = comparison.formats.empty() ? "" : comparison_text(comparison, report.totals.solves);
    return end_run(job_, report, tables, in_folder(job_.options.out, series_name) + " for ParaView, " + history_name);
  }

  transient::RunReport make_report(bool finished) {
    transient::RunReport report = run_.report(finished, stepper_.system(), grid_);
    report.own["scheme"] = job_.scheme;
    report.own["mean_temperature"] = mean_;
    report.own["highest_temperature"] = frames_.highest();
    report.own["cooled_area"] = equation_.cooled_area;
    return report;
  }

  HeatJob& job_;
  TimeGrid grid_;
  std::int64_t last_;  // step at which the run ends
  transient::RunParts<S> run_;
  HeatEquation equation_;
  HeatStepper<S> stepper_;
  Frames frames_;
  SampleStep sample_;
  const cli::InterruptScope interrupt_;  // from the first output on: whoever sees that may end the run
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
