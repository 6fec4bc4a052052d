// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-heart, and what surrounds it.
#include "heart_job.hpp"

#include <algorithm>

#include <newel/config.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/common/text.hpp"
#include "apps/heart/heart_recorder.hpp"
#include "apps/heart/step_control.hpp"
#include "apps/transient/run_parts.hpp"

namespace newel::heart {
namespace {

using cli::text;
using transient::Checkpoint;
using transient::in_folder;
using transient::Phase;

const transient::TimeUnit milliseconds{"ms", 1e-3};
constexpr int sampled_steps_on_device = 16;

StepControl control_of(const HeartJob& job) {
  const auto halvings = static_cast<int>(job.params.most_halvings);
  if (!job.resume) return StepControl(job.options.dt, halvings);
  return StepControl(job.options.dt, halvings, job.resume->integers_of("grid", StepControl::state_size));
}

template <Space S>
class HeartRun {
 public:
  HeartRun(const Context<Space::host>& host, const Context<S>& ctx, HeartJob& job)
      : job_(job),
        control_(control_of(job)),
        end_(transient::whole_steps(job.options.duration, job.options.dt) * transient::TimeGrid::ticks_per_dt0),
        run_(host, ctx, job, job.body.input, grid(), milliseconds, S == Space::host ? 1 : sampled_steps_on_device),
        heart_(ctx, heart_of(host, job), job.options.dt, system_options_of(job), job.assembly, newton_options_of(job),
               &job.start),
        recorder_(host, job.body, job.params, job.options.out, heart_,
                  series_start(job, run_.start, grid().ticks() < end_)) {
    ctx.synchronize();
    job.start.end("recorder");
    job.body.input.around.reset();
    run_.shares.add(Phase::setup, job.total.seconds());
    begin();
    job.start.end(job.resume ? "state" : "first output");
  }

  int run() {
    print_lines(job_, setup_text());
    const cli::Stopwatch stepping;
    while (grid().ticks() < end_ && !interrupt_.requested() && run_.failure.empty()) {
      run_.shares.begin_step();
      const double step = grid().step();
      const StepOutcome outcome = this->step();
      run_.shares.end_step();
      if (!outcome.accepted) continue;
      transient::RunState state;
      state.start = run_.start;
      state.end = job_.options.duration;
      state.time = grid().now();
      state.step = step;
      state.steps = grid().steps();
      state.newton = outcome.newton;
      state.iterations = outcome.iterations;
      state.seconds = stepping.seconds();
      run_.progress.update(state);
    }
    run_.progress.finish();
    return finish();
  }

 private:
  const transient::TimeGrid& grid() const { return control_.grid(); }

  void begin() {
    run_.begin(grid().ticks() > end_);
    if (job_.resume) {
      const transient::Checkpoint& kept = *job_.resume;
      const auto nodes = static_cast<std::int64_t>(job_.body.input.mesh.nodes.size());
      HeartState state;
      state.phi = kept.doubles_of("phi", nodes);
      state.previous_dt = kept.doubles_of("previous_dt", 1)[0];
      if (state.previous_dt > 0) state.previous = kept.doubles_of("previous", nodes);
      state.r = kept.doubles_of("r", job_.body.input.mesh.tet_count());
      state.expected_residual = kept.doubles_of("expected_residual");
      heart_.set_state(state);
      recorder_.set_activation(heart_, kept.doubles_of("activation", nodes));
      return;
    }
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      recorder_.sample(heart_, grid().now());
      if (run_.output.interval_steps() > 0) recorder_.frame(heart_, grid());
      if (run_.checkpoint.interval_steps() > 0) write_checkpoint();
    });
  }

  StepOutcome step() {
    const double start = grid().now(), dt = grid().step();
    const StimulusRates stimulus = stimulus_rates(job_.stimuli, job_.params.stimulus_strength, start, grid().next());
    const StepOutcome outcome = heart_.step(dt, stimulus, run_.shares, run_.totals);
    newton_ += outcome.newton;
    if (!outcome.accepted) {
      refused_++;
      if (!control_.refuse()) {
        run_.failure = text("no step of %.3g ms at %.6g ms succeeded: ", dt, start) + outcome.refusal;
      } else {
        run_.progress.say(text("at %.6g ms the step is halved to %.3g ms: ", start, grid().step()) + outcome.refusal);
      }
      return outcome;
    }
    run_.shares.timed(run_.ctx, Phase::vector_work, [&] { recorder_.step(heart_, start, dt); });
    control_.accept(outcome.newton);
    run_.shares.timed(run_.ctx, Phase::output, [&] {
      if (!grid().on_dt0()) return;
      recorder_.sample(heart_, grid().now());
      const bool ended = grid().ticks() == end_;
      if (run_.frame_due(grid(), ended)) recorder_.frame(heart_, grid());
      if (run_.checkpoint_due(grid(), ended)) write_checkpoint();
    });
    return outcome;
  }

  // Whether the state as it is now has its frame.
  bool frame_written() const {
    return grid().on_dt0() && recorder_.last_frame() == grid().ticks() / transient::TimeGrid::ticks_per_dt0;
  }

  void write_checkpoint() {
    recorder_.flush();
    Checkpoint checkpoint = run_.begin_checkpoint(
        heart_.system(), grid(), frame_written() ? frame_name(recorder_.last_frame()) : std::string());
    checkpoint.header.update(job_.kept);
    checkpoint.integers["grid"] = control_.state();
    HeartState state = heart_.state();
    checkpoint.doubles["phi"] = std::move(state.phi);
    checkpoint.doubles["previous_dt"] = {state.previous_dt};
    if (state.previous_dt > 0) checkpoint.doubles["previous"] = std::move(state.previous);
    checkpoint.doubles["r"] = std::move(state.r);
    checkpoint.doubles["expected_residual"] = std::move(state.expected_residual);
    checkpoint.doubles["activation"] = recorder_.activation(heart_);
    run_.write(grid(), std::move(checkpoint));
  }

  std::string setup_text() {
    const Tissue& t = job_.params.tissue;
    const Conductivity& d = job_.params.conductivity;
    std::string lines = mesh_text(job_.body.input);
    lines += cli::labelled("fibres", job_.body.fiber_source);
    lines += cli::labelled(
        "wave",
        text("%.2f m/s along the fibres and %.2f across, fronts of %.2g and %.2g mm (of the equation)",
             front_speed(t, d.along), front_speed(t, d.across), front_width(t, d.along), front_width(t, d.across)));
    const std::string warning = resolution_warning(job_.body, job_.params);
    if (!warning.empty()) lines += cli::labelled("warning", warning);
    std::vector<std::string> stimuli;
    for (const Stimulus& s : job_.stimuli) {
      stimuli.push_back(text("%s at %g ms for %g", s.text.substr(0, s.text.find('@')).c_str(), s.start, s.duration));
    }
    lines += cli::labelled("stimulus", cli::join(stimuli));
    return lines + run_.setup_text(job_.options.duration, "", heart_.system().info());
  }

  int finish() {
    const bool finished = run_.failure.empty() && grid().ticks() == end_;
    const ActivationFacts facts = run_.shares.timed(run_.ctx, Phase::output, [&] {
      if (!finished && grid().on_dt0() && !frame_written()) recorder_.frame(heart_, grid());
      if (!finished) write_checkpoint();
      return recorder_.finish(heart_);
    });
    return end_run(
        job_, make_report(finished, facts), activation_text(facts),
        in_folder(job_.options.out, series_name) + " for ParaView, " + activation_name + ", " + electrogram_name);
  }

  std::string activation_text(const ActivationFacts& facts) const {
    const Index nodes = job_.body.input.mesh.node_count();
    if (facts.activated == 0) return cli::labelled("activation", "no node has been activated");
    return cli::labelled("activation", text("%.4g %% of the nodes, from %.4g to %.4g ms",
                                            100.0 * facts.activated / nodes, facts.first, facts.last));
  }

  transient::RunReport make_report(bool finished, const ActivationFacts& facts) {
    transient::RunReport report = run_.report(finished, heart_.system(), grid());
    report.newton = newton_;
    cli::Json& own = report.own;
    own["assembly"] = job_.assembly == AssemblyKind::in_place ? "in-place" : "reference";
    const AssemblySeconds one = heart_.measure_assembly(grid().step());
    own["one_assembly_seconds"] = {{"elements", one.elements}, {"matrix_and_right_hand_side", one.sums}};
    own["assembly_bytes"] = heart_.assembly().bytes();
    own["fibers"] = job_.body.fiber_source;
    own["steps_refused"] = refused_;
    own["front_speed_m_per_s"] = {{"along", front_speed(job_.params.tissue, job_.params.conductivity.along)},
                                  {"across", front_speed(job_.params.tissue, job_.params.conductivity.across)}};
    own["activation"] = {{"nodes", facts.activated}, {"first_ms", facts.first}, {"last_ms", facts.last}};
    return report;
  }

  HeartJob& job_;
  StepControl control_;
  std::int64_t end_;  // tick
  transient::RunParts<S> run_;
  Monodomain<S> heart_;
  HeartRecorder<S> recorder_;
  std::int64_t newton_ = 0, refused_ = 0;
  const cli::InterruptScope interrupt_;  // from the first output on: whoever sees that may end the run
};

}  // namespace

template <Space S>
int run_heart(const Context<Space::host>& host, const Context<S>& ctx, HeartJob& job) {
  return HeartRun<S>(host, ctx, job).run();
}

template int run_heart(const Context<Space::host>&, const Context<Space::host>&, HeartJob&);
#if NEWEL_HAS_CUDA
template int run_heart(const Context<Space::host>&, const Context<Space::device>&, HeartJob&);
#endif

}  // namespace newel::heart
