// SPDX-License-Identifier: Apache-2.0
// The time loop of newel-heart, and what surrounds it.
#include "heart_job.hpp"

#include <algorithm>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/common/text.hpp"
#include "apps/heart/heart_recorder.hpp"
#include "apps/heart/step_control.hpp"
#include "apps/transient/resume.hpp"
#include "apps/transient/run_progress.hpp"

namespace newel::heart {
namespace {

using cli::text;
using transient::Checkpoint;
using transient::device_name_of;
using transient::Every;
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
      : host_(host),
        ctx_(ctx),
        job_(job),
        shares_(S == Space::host ? 1 : sampled_steps_on_device),
        control_(control_of(job)),
        end_(transient::whole_steps(job.options.duration, job.options.dt) * transient::TimeGrid::ticks_per_dt0),
        output_(job.options.output_every, job.options.dt),
        checkpoint_(job.options.checkpoint_every, job.options.dt),
        start_(grid().now()),
        first_(grid().steps()),
        heart_(ctx, heart_of(host, job), job.options.dt, system_options_of(job), job.assembly, newton_options_of(job),
               &job.start),
        recorder_(host, job.body, job.params, job.options.out, heart_,
                  series_start(job, start_, grid().ticks() < end_)),
        checkpoints_(job.options.out, job.program),
        progress_(stdout, cli::LiveProgress::mode_for(stdout, job.options.quiet), milliseconds) {
    ctx.synchronize();
    job.start.end("recorder");
    job.body.input.around.reset();
    shares_.add(Phase::setup, job.total.seconds());
    begin();
    job.start.end(job.resume ? "state" : "first output");
  }

  int run() {
    const cli::InterruptScope interrupt;
    print_lines(job_, setup_text());
    const cli::Stopwatch stepping;
    while (grid().ticks() < end_ && !interrupt.requested() && failure_.empty()) {
      shares_.begin_step();
      const double step = grid().step();
      const StepOutcome outcome = this->step();
      shares_.end_step();
      if (!outcome.accepted) continue;
      transient::RunState state;
      state.start = start_;
      state.end = job_.options.duration;
      state.time = grid().now();
      state.step = step;
      state.steps = grid().steps();
      state.newton = outcome.newton;
      state.iterations = outcome.iterations;
      state.seconds = stepping.seconds();
      progress_.update(state);
    }
    progress_.finish();
    return finish();
  }

 private:
  const transient::TimeGrid& grid() const { return control_.grid(); }

  void begin() {
    if (grid().ticks() > end_) {
      throw InputError(job_.resume->file +
                       text(": the run has already reached %g ms, expected a larger --duration", start_));
    }
    begin_folder(job_);
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
    shares_.timed(ctx_, Phase::output, [&] {
      recorder_.sample(heart_, grid().now());
      if (output_.interval_steps() > 0) recorder_.frame(heart_, grid());
      if (checkpoint_.interval_steps() > 0) write_checkpoint();
    });
  }

  StepOutcome step() {
    const double start = grid().now(), dt = grid().step();
    const StimulusRates stimulus = stimulus_rates(job_.stimuli, job_.params.stimulus_strength, start, grid().next());
    const StepOutcome outcome = heart_.step(dt, stimulus, shares_, totals_);
    newton_ += outcome.newton;
    if (!outcome.accepted) {
      refused_++;
      if (!control_.refuse()) {
        failure_ = text("no step of %.3g ms at %.6g ms succeeded: ", dt, start) + outcome.refusal;
      } else {
        progress_.say(text("at %.6g ms the step is halved to %.3g ms: ", start, grid().step()) + outcome.refusal);
      }
      return outcome;
    }
    shares_.timed(ctx_, Phase::vector_work, [&] { recorder_.step(heart_, start, dt); });
    control_.accept(outcome.newton);
    shares_.timed(ctx_, Phase::output, [&] {
      if (!grid().on_dt0()) return;
      recorder_.sample(heart_, grid().now());
      const bool ended = grid().ticks() == end_;
      if (ended || output_.due(grid())) recorder_.frame(heart_, grid());
      if (checkpoint_.due(grid()) || (ended && checkpoint_.interval_steps() > 0)) write_checkpoint();
    });
    return outcome;
  }

  // Whether the state as it is now has its frame.
  bool frame_written() const {
    return grid().on_dt0() && recorder_.last_frame() == grid().ticks() / transient::TimeGrid::ticks_per_dt0;
  }

  void write_checkpoint() {
    recorder_.flush();
    Checkpoint checkpoint =
        begin_checkpoint(job_, job_.body.input, heart_.system().info(), S, host_.threads(), grid().now());
    checkpoint.header.update(job_.kept);
    if (frame_written() && !output_.due(grid())) {
      checkpoint.header[transient::extra_frame_key] = frame_name(recorder_.last_frame());
    }
    checkpoint.integers["grid"] = control_.state();
    HeartState state = heart_.state();
    checkpoint.doubles["phi"] = std::move(state.phi);
    checkpoint.doubles["previous_dt"] = {state.previous_dt};
    if (state.previous_dt > 0) checkpoint.doubles["previous"] = std::move(state.previous);
    checkpoint.doubles["r"] = std::move(state.r);
    checkpoint.doubles["expected_residual"] = std::move(state.expected_residual);
    checkpoint.doubles["activation"] = recorder_.activation(heart_);
    keep_order(ctx_, heart_.system().order(), checkpoint);
    checkpoints_.write(grid().steps(), std::move(checkpoint));
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
    lines += cli::labelled("run", text("%.6g ms in steps of %g ms", job_.options.duration, job_.options.dt) +
                                      (job_.resume ? ", from " + job_.resume->file : ""));
    lines += method_text(job_, heart_.system().info(), host_.threads(), device_name_of(ctx_));
    return lines + transient::start_text(job_.start.phases());
  }

  int finish() {
    const bool finished = failure_.empty() && grid().ticks() == end_;
    const ActivationFacts facts = shares_.timed(ctx_, Phase::output, [&] {
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
    const double total = job_.total.seconds();
    transient::RunReport report = begin_report(job_, job_.body.input, finished, failure_);
    report.device_name = device_name_of(ctx_);
    report.threads = host_.threads();
    report.system = heart_.system().info();
    report.unit = milliseconds;
    report.start_time = start_;
    report.end_time = grid().now();
    report.steps = grid().steps() - first_;
    report.newton = newton_;
    report.totals = totals_;
    report.shares = shares_.report(total, totals_, transient::measure_operators(ctx_, heart_.system()));
    report.peak_bytes = ctx_.memory()->use().peak_bytes;
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

  const Context<Space::host>& host_;
  const Context<S>& ctx_;
  HeartJob& job_;
  transient::Shares shares_;
  StepControl control_;
  std::int64_t end_;  // tick
  Every output_, checkpoint_;
  double start_;
  std::int64_t first_;
  Monodomain<S> heart_;
  HeartRecorder<S> recorder_;
  transient::CheckpointFolder checkpoints_;
  transient::RunProgress progress_;
  transient::SolveTotals totals_;
  std::int64_t newton_ = 0, refused_ = 0;
  std::string failure_;
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
