// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-beam, and what surrounds it.
#include "beam_run.hpp"

#include <algorithm>
#include <cmath>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/common/text.hpp"
#include "apps/transient/resume.hpp"
#include "apps/transient/run_progress.hpp"
#include "apps/transient/step_loop.hpp"
#include "apps/transient/time_grid.hpp"
#include "beam_frames.hpp"
#include "beam_report.hpp"
#include "beam_stepper.hpp"

namespace newel::beam {
namespace {

using cli::text;
using transient::Checkpoint;
using transient::device_name_of;
using transient::Every;
using transient::in_folder;
using transient::Phase;
using transient::TimeGrid;

const transient::TimeUnit seconds_unit{"s", 1};

TimeGrid grid_of(const BeamJob& job) {
  if (!job.resume) return TimeGrid(job.options.dt, 0);
  const std::vector<std::int64_t>& kept = job.resume->integers_of("grid", 3);
  return TimeGrid(job.options.dt, 0, {kept[0], kept[1], kept[2]});
}

StepScheme scheme_of(const BeamJob& job) {
  const BeamParams& p = job.params;
  return {job.options.dt, p.mass_damping, p.stiffness_damping, p.warming != 0 && p.modulus_loss != 0,
          p.stiffness_factor(0.5 * job.options.dt)};
}

// The options of the system: the nodes for multigrid's rigid body modes, what the run will ask of one setup, and the
// order of a run that is resumed.
SystemOptions system_options(const BeamJob& job, const BeamBody& body, std::int64_t steps) {
  constexpr double products_a_step = 40;  // a guess before anything is solved
  SystemOptions options = job.options.system;
  options.expected_products = products_a_step * static_cast<double>(std::max<std::int64_t>(steps, 1));
  auto nodes = std::make_shared<NodeCoordinates>();
  for (const fem::Point& at : body.mesh.nodes) nodes->xyz.insert(nodes->xyz.end(), at.begin(), at.end());
  options.spmv.coordinates = std::move(nodes);
  if (job.resume) take_kept_order(*job.resume, body.rows(), options);
  return options;
}

template <Space S>
class BeamRun {
 public:
  BeamRun(const Context<Space::host>& host, const Context<S>& ctx, BeamJob& job)
      : host_(host),
        ctx_(ctx),
        job_(job),
        grid_(grid_of(job)),
        last_(transient::whole_steps(job.options.duration, job.options.dt)),
        output_(job.options.output_every, job.options.dt),
        checkpoint_(job.options.checkpoint_every, job.options.dt),
        start_(grid_.now()),
        first_(grid_.steps()),
        body_(shares_.timed(host, Phase::assembly,
                            [&] { return make_body(host, job.mesh, job.params, job.strikes, job.probes); })),
        stepper_(shares_.timed(ctx, Phase::setup,
                               [&] {
                                 job.start.end("matrices");
                                 return BeamStepper<S>(ctx, body_, scheme_of(job),
                                                       system_options(job, body_, last_ - first_));
                               })),
        frames_(shares_.timed(host, Phase::output,
                              [&] {
                                job.start.end("linear system");
                                return BeamFrames(host, job.mesh, body_, job.options.out, series_from());
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
              [&] { return std::string(); });
    return finish();
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
      stepper_.resume(kept_state(*job_.resume, Offset{body_.rows()} * job_.strikes));
      take_kept_guess(*job_.resume, stepper_.system());
      energy_.resume(job_.resume->doubles_of("energy", energy_.kept_size()));
      return;
    }
    shares_.timed(ctx_, Phase::output, [&] {
      frames_.record(grid_.now(), stepper_.observe());
      if (output_.interval_steps() > 0) write_frame();
      if (checkpoint_.interval_steps() > 0) write_checkpoint();
    });
  }

  void step() {
    const double from = grid_.now(), to = grid_.next();
    const std::vector<SolveReport> reports = shares_.timed(ctx_, Phase::solve, [&] {
      return stepper_.step(job_.params.mean_force(from, to), job_.params.stiffness_factor(0.5 * (from + to)));
    });
    totals_.other_products += 2 * job_.strikes;
    for (const SolveReport& report : reports) {
      totals_.add(report);
      if (report.converged()) continue;
      failure_ = text("the solve at %.6g s ended with %s: %s", to, std::string(name_of(report.status)).c_str(),
                      report.reason.c_str());
    }
    if (!failure_.empty()) return;
    grid_.accept();
    const std::vector<double> observed = shares_.timed(ctx_, Phase::vector_work, [&] { return stepper_.observe(); });
    energy_.add(observed[0], observed[1], from >= job_.params.strike_seconds);
    shares_.timed(ctx_, Phase::output, [&] {
      const bool ended = grid_.steps() == last_;
      frames_.record(grid_.now(), observed);
      if (ended || output_.due(grid_)) write_frame();
      if (checkpoint_.due(grid_) || (ended && checkpoint_.interval_steps() > 0)) write_checkpoint();
    });
  }

  void write_frame() {
    frames_.write(grid_.steps(), grid_.now(), stepper_.displacement(0), stepper_.velocity(0));
    frames_.flush();
  }

  void write_checkpoint() {
    frames_.flush();  // first: a run that continues needs the lines up to here
    Checkpoint checkpoint =
        begin_checkpoint(job_, job_.mesh, stepper_.system().info(), S, host_.threads(), grid_.now());
    checkpoint.header["body"] = job_.shape;
    checkpoint.header["strikes"] = job_.strikes;
    if (frames_.last_step() == grid_.steps() && !output_.due(grid_)) {
      checkpoint.header[transient::extra_frame_key] = frame_name(grid_.steps());
    }
    checkpoint.integers["grid"] = {grid_.state().ticks, grid_.state().steps, grid_.state().halvings};
    keep_state(stepper_.state(), checkpoint);
    checkpoint.doubles["energy"] = energy_.kept();
    keep_guess(stepper_.system(), checkpoint);
    keep_order(ctx_, stepper_.system().order(), checkpoint);
    checkpoints_.write(grid_.steps(), std::move(checkpoint));
  }

  std::string setup_text() {
    std::string lines = mesh_text(job_.mesh);
    lines += cli::labelled("unknowns", cli::thousands(body_.rows()) + " of quadratic tetrahedra" +
                                           (job_.strikes > 1 ? text(", for each of %d strikes", job_.strikes) : ""));
    const std::string from = job_.resume ? ", from " + job_.resume->file : "";
    lines += cli::labelled(
        "run", text("%.6g s in steps of %g s", static_cast<double>(last_) * job_.options.dt, job_.options.dt) + from);
    lines += method_text(job_, stepper_.system().info(), host_.threads(), device_name_of(ctx_));
    return lines + transient::start_text(job_.start.phases());
  }

  int finish() {
    const bool finished = failure_.empty() && grid_.steps() == last_;
    if (!finished && failure_.empty()) {
      shares_.timed(ctx_, Phase::output, [&] {
        if (frames_.last_step() != grid_.steps()) write_frame();
        write_checkpoint();
      });
    }
    transient::RunReport report = make_report(finished);
    const std::vector<StrikeSound> sounds = finished ? sounds_of(job_, body_) : std::vector<StrikeSound>{};
    report.own["strikes"] = sounds_json(sounds);
    return end_run(job_, report, sounds_text(sounds, job_) + energy_.text(),
                   in_folder(job_.options.out, series_name) + " for ParaView, " + record_name(0));
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
    report.own["body"] = job_.options.mesh.empty() ? cli::Json(job_.shape) : cli::Json();
    report.own["unknowns"] = body_.rows();
    report.own["energy"] = energy_.json();
    report.own["theory"] = theory_json(job_);
    return report;
  }

  const Context<Space::host>& host_;
  const Context<S>& ctx_;
  BeamJob& job_;
  transient::Shares shares_;
  TimeGrid grid_;
  std::int64_t last_;  // step at which the run ends
  Every output_, checkpoint_;
  double start_;
  std::int64_t first_;
  BeamBody body_;
  BeamStepper<S> stepper_;
  BeamFrames frames_;
  transient::CheckpointFolder checkpoints_;
  transient::RunProgress progress_;
  transient::SolveTotals totals_;
  EnergyBook energy_;
  std::string failure_;
};

}  // namespace

template <Space S>
int run_beam(const Context<Space::host>& host, const Context<S>& ctx, BeamJob& job) {
  return BeamRun<S>(host, ctx, job).run();
}

template int run_beam(const Context<Space::host>&, const Context<Space::host>&, BeamJob&);
#if NEWEL_HAS_CUDA
template int run_beam(const Context<Space::host>&, const Context<Space::device>&, BeamJob&);
#endif

}  // namespace newel::beam
