// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-beam, and what surrounds it.
#include "beam_run.hpp"

#include <algorithm>
#include <cmath>

#include <newel/config.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/transient/run_parts.hpp"
#include "apps/transient/step_loop.hpp"
#include "beam_frames.hpp"
#include "beam_report.hpp"
#include "beam_stepper.hpp"

namespace newel::beam {
namespace {

using cli::text;
using transient::Checkpoint;
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
      : job_(job),
        grid_(grid_of(job)),
        last_(transient::whole_steps(job.options.duration, job.options.dt)),
        run_(host, ctx, job, job.mesh, grid_, seconds_unit),
        body_(run_.shares.timed(host, Phase::assembly,
                                [&] { return make_body(host, job.mesh, job.params, job.strikes, job.probes); })),
        stepper_(run_.shares.timed(ctx, Phase::setup,
                                   [&] {
                                     job.start.end("matrices");
                                     return BeamStepper<S>(ctx, body_, scheme_of(job),
                                                           system_options(job, body_, last_ - run_.first));
                                   })),
        frames_(run_.shares.timed(host, Phase::output, [&] {
          job.start.end("linear system");
          return BeamFrames(host, job.mesh, body_, job.options.out, series_from());
        })) {
    begin();
    job.start.end("first output");
  }

  int run() {
    print_lines(job_, setup_text());
    transient::StepLoop steps{grid_, last_, run_.start, job_.options.dt, run_.shares, run_.totals, run_.progress};
    steps.run([&] { return !interrupt_.requested() && run_.failure.empty(); }, [&] { step(); },
              [&] { return std::string(); });
    return finish();
  }

 private:
  transient::SeriesStart series_from() const { return series_start(job_, run_.start, run_.first < last_); }

  void begin() {
    run_.begin(run_.first > last_);
    if (job_.resume) {
      stepper_.resume(kept_state(*job_.resume, Offset{body_.rows()} * job_.strikes));
      take_kept_guess(*job_.resume, stepper_.system());
      energy_.resume(job_.resume->doubles_of("energy", energy_.kept_size()));
      return;
    }
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      frames_.record(grid_.now(), stepper_.observe());
      if (run_.output.interval_steps() > 0) write_frame();
      if (run_.checkpoint.interval_steps() > 0) write_checkpoint();
    });
  }

  void step() {
    const double from = grid_.now(), to = grid_.next();
    const std::vector<SolveReport> reports = run_.shares.timed(run_.ctx, Phase::solve, [&] {
      return stepper_.step(job_.params.mean_force(from, to), job_.params.stiffness_factor(0.5 * (from + to)));
    });
    run_.totals.other_products += 2 * job_.strikes;
    for (const SolveReport& report : reports) run_.count(report, to);
    if (!run_.failure.empty()) return;
    grid_.accept();
    const std::vector<double> observed =
        run_.shares.timed(run_.ctx, Phase::vector_work, [&] { return stepper_.observe(); });
    energy_.add(observed[0], observed[1], from >= job_.params.strike_seconds);
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      const bool ended = grid_.steps() == last_;
      frames_.record(grid_.now(), observed);
      if (run_.frame_due(grid_, ended)) write_frame();
      if (run_.checkpoint_due(grid_, ended)) write_checkpoint();
    });
  }

  void write_frame() {
    frames_.write(grid_.steps(), grid_.now(), stepper_.displacement(0), stepper_.velocity(0));
    frames_.flush();
  }

  void write_checkpoint() {
    frames_.flush();  // first: a run that continues needs the lines up to here
    const bool written = frames_.last_step() == grid_.steps();
    Checkpoint checkpoint =
        run_.begin_checkpoint(stepper_.system(), grid_, written ? frame_name(grid_.steps()) : std::string());
    checkpoint.header["body"] = job_.shape;
    checkpoint.header["strikes"] = job_.strikes;
    checkpoint.integers["grid"] = {grid_.state().ticks, grid_.state().steps, grid_.state().halvings};
    keep_state(stepper_.state(), checkpoint);
    checkpoint.doubles["energy"] = energy_.kept();
    keep_guess(stepper_.system(), checkpoint);
    run_.write(grid_, std::move(checkpoint));
  }

  std::string setup_text() {
    std::string lines = mesh_text(job_.mesh);
    lines += cli::labelled("unknowns", cli::thousands(body_.rows()) + " of quadratic tetrahedra" +
                                           (job_.strikes > 1 ? text(", for each of %d strikes", job_.strikes) : ""));
    return lines + run_.setup_text(static_cast<double>(last_) * job_.options.dt, "", stepper_.system().info());
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
    const std::vector<StrikeSound> sounds = finished ? sounds_of(job_, body_) : std::vector<StrikeSound>{};
    report.own["strikes"] = sounds_json(sounds);
    return end_run(job_, report, sounds_text(sounds, job_) + energy_.text(),
                   in_folder(job_.options.out, series_name) + " for ParaView, " + record_name(0));
  }

  transient::RunReport make_report(bool finished) {
    transient::RunReport report = run_.report(finished, stepper_.system(), grid_);
    report.own["body"] = job_.options.mesh.empty() ? cli::Json(job_.shape) : cli::Json();
    report.own["unknowns"] = body_.rows();
    report.own["energy"] = energy_.json();
    report.own["theory"] = theory_json(job_);
    return report;
  }

  BeamJob& job_;
  TimeGrid grid_;
  std::int64_t last_;  // step at which the run ends
  transient::RunParts<S> run_;
  BeamBody body_;
  BeamStepper<S> stepper_;
  BeamFrames frames_;
  EnergyBook energy_;
  const cli::InterruptScope interrupt_;  // from the first output on: whoever sees that may end the run
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
