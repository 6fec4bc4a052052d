// SPDX-License-Identifier: Apache-2.0
// newel_bench_heart: a beat of newel-heart's ventricle by our solver, and by Eigen's in its place. The sides take
// turns in one process; model, assembly, guesses and tolerances are the same.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

#include <newel/core/error.hpp>

#include "bench/eigen_cg.hpp"
#include "bench/measure.hpp"
#include "apps/heart/heart_job.hpp"
#include "apps/transient/time_grid.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;
using Heart = heart::Monodomain<host>;

struct Options {
  std::int64_t nodes = 30000;
  double milliseconds = 60;
  int repeats = 3;
  int threads = 0;
  std::string report;
};

// What one run of the steps took.
struct Run {
  double total = 0;  // seconds of all steps, without what only the comparison needs
  double assembly = 0;
  double solve = 0;
  std::int64_t newton = 0;
  std::int64_t solves = 0;
  std::int64_t iterations = 0;
};

// One heart and the runs made with it.
class Side {
 public:
  Side(std::string name, const Context<host>& ctx, const heart::HeartJob& job, const SystemOptions& options)
      : name_(std::move(name)),
        ctx_(ctx),
        job_(job),
        heart_(ctx, heart::heart_of(ctx, job), job.options.dt, options, job.assembly, heart::newton_options_of(job)),
        start_(heart_.state()) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // Eigen solves from now on. The values are where the system's csr keeps them, in its natural order.
  void put_eigen_in() {
    pattern_ = heart::assemble_conduction(ctx_, job_.body.input.mesh, job_.body.fibers, job_.params.conductivity);
    const Slots<double, host> slots = heart_.system().in_place().matrix();
    if (static_cast<std::int64_t>(slots.entry.size()) != pattern_.nnz() || heart_.system().info().reordered) {
      throw InputError("the csr system does not store its values in Eigen's layout");
    }
    for (std::size_t k = 0; k < slots.entry.size(); ++k) {
      if (slots.entry[k] != static_cast<Offset>(k))
        throw InputError("the csr system does not store its values in CSR order");
    }
    eigen_ = std::make_unique<EigenCg>(pattern_, slots.values.data, ctx_.threads());
    heart_.solve_with([this](Span<const double, host> rhs, Span<double, host> x, const StopCriterion& stop) {
      const EigenCg::Outcome outcome = eigen_->solve(rhs.data, x.data, stop.abs_tol, stop.max_iterations);
      uncounted_ += outcome.uncounted_seconds;
      SolveReport report;
      report.status = outcome.converged ? Status::converged : Status::max_iterations;
      report.solver = report.method = "cg";
      report.iterations = outcome.iterations;
      report.rhs_norm = outcome.rhs_norm;
      report.initial_residual = outcome.initial_residual;
      report.recurrence_residual = report.true_residual = outcome.final_residual;
      report.seconds = outcome.seconds;
      return report;
    });
  }

  // All steps from rest; returns their seconds.
  double run() {
    heart_.set_state(start_);
    transient::Shares shares;
    transient::SolveTotals totals;
    Run run;
    uncounted_ = 0;
    const std::int64_t steps = transient::whole_steps(job_.options.duration, job_.options.dt);
    run.total = seconds_of([&] {
      for (std::int64_t k = 0; k < steps; ++k) run.newton += step(k, shares, totals);
    });
    run.total -= uncounted_;
    run.assembly = shares.report(run.total, totals, {}).assembly;
    run.solve = totals.solve_seconds;
    run.solves = totals.solves;
    run.iterations = totals.iterations;
    runs_.push_back(run);
    return run.total;
  }

  // Of the runs that counted, those after the first, which warms up.
  Json json(std::int64_t steps) const {
    const auto milliseconds = [&](double (*part)(const Run&)) {
      Samples samples;
      for (std::size_t k = 1; k < runs_.size(); ++k) samples.push_back(part(runs_[k]));
      return summary(samples, 1e3 / static_cast<double>(steps));
    };
    const SystemInfo info = heart_.system().info();
    const Run& last = runs_.back();
    return {{"name", name_},
            {"format", eigen_ ? "Eigen's row-major" : info.matrix.name},
            {"format_reason", info.format.reason},
            {"milliseconds_per_step",
             {{"total", milliseconds([](const Run& r) { return r.total; })},
              {"assembly", milliseconds([](const Run& r) { return r.assembly; })},
              {"solve", milliseconds([](const Run& r) { return r.solve; })},
              {"other", milliseconds([](const Run& r) { return r.total - r.assembly - r.solve; })}}},
            {"newton_iterations", last.newton},
            {"solves", last.solves},
            {"iterations", last.iterations}};
  }

  const std::string& name() const { return name_; }
  std::vector<double> voltage() const { return heart_.in_mesh_order(heart_.phi()); }

 private:
  int step(std::int64_t k, transient::Shares& shares, transient::SolveTotals& totals) {
    const double dt = job_.options.dt, now = static_cast<double>(k) * dt;
    const heart::StimulusRates stimulus =
        heart::stimulus_rates(job_.stimuli, job_.params.stimulus_strength, now, now + dt);
    shares.begin_step();
    const heart::StepOutcome outcome = heart_.step(dt, stimulus, shares, totals);
    shares.end_step();
    if (!outcome.accepted) throw InputError(name_ + ": a step is refused: " + outcome.refusal);
    return outcome.newton;
  }

  std::string name_;
  const Context<host>& ctx_;
  const heart::HeartJob& job_;
  Heart heart_;
  heart::HeartState start_;
  fem::HostCsr pattern_;
  std::unique_ptr<EigenCg> eigen_;
  double uncounted_ = 0;
  std::vector<Run> runs_;
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

heart::HeartJob make_job(const Context<host>& ctx, const Options& options) {
  heart::HeartJob job;
  heart::set_heart_defaults(job.options);
  job.stimuli = {heart::parse_stimulus("apex")};
  job.body = heart::make_heart_body(ctx, ctx, job.options, job.params, "", options.nodes, job.start);
  return job;
}

Json compare(const Context<host>& ctx, const Options& options) {
  heart::HeartJob job = make_job(ctx, options);
  SystemOptions own = heart::system_options_of(job);  // the format is chosen for the whole beat
  job.options.duration = options.milliseconds;
  SystemOptions csr = own;
  csr.spmv.format = "csr";
  Side newel("newel", ctx, job, own), newel_csr("newel, csr", ctx, job, csr), eigen("eigen", ctx, job, csr);
  eigen.put_eigen_in();
  const auto seconds = alternate(
      {[&] { return newel.run(); }, [&] { return eigen.run(); }, [&] { return newel_csr.run(); }}, options.repeats);

  const std::int64_t steps = transient::whole_steps(options.milliseconds, job.options.dt);
  Json result{{"nodes", job.body.input.mesh.node_count()},
              {"tetrahedra", job.body.input.mesh.tet_count()},
              {"milliseconds", options.milliseconds},
              {"step_milliseconds", job.options.dt},
              {"steps", steps},
              {"repeats", options.repeats},
              {"sides", {newel.json(steps), eigen.json(steps), newel_csr.json(steps)}},
              {"eigen_over_newel", summary(ratios(seconds[1], seconds[0]))},
              {"eigen_over_newel_csr", summary(ratios(seconds[1], seconds[2]))},
              {"largest_voltage_difference",
               {{"eigen", largest_difference(newel.voltage(), eigen.voltage())},
                {"newel, csr", largest_difference(newel.voltage(), newel_csr.voltage())}}}};
  Samples solves[2];
  for (int side = 0; side < 2; ++side) {
    for (const Json& s :
         result["sides"][static_cast<std::size_t>(side)]["milliseconds_per_step"]["solve"]["samples"]) {
      solves[side].push_back(s.get<double>());
    }
  }
  result["eigen_over_newel_solve"] = summary(ratios(solves[1], solves[0]));
  return result;
}

void print(const Json& heart) {
  std::printf("%lld nodes, %lld tetrahedra, %lld steps of %g ms\n", heart["nodes"].get<long long>(),
              heart["tetrahedra"].get<long long>(), heart["steps"].get<long long>(),
              heart["step_milliseconds"].get<double>());
  std::printf("  %-12s %-28s %-28s %-28s %7s %7s %10s\n", "ms per step", "total", "assembly", "solve", "newton",
              "solves", "iterations");
  for (const Json& side : heart["sides"]) {
    std::printf("  %-12s", side["name"].get<std::string>().c_str());
    for (const char* part : {"total", "assembly", "solve"}) {
      const Json& samples = side["milliseconds_per_step"][part]["samples"];
      std::printf(" %-28s", spread(samples.get<Samples>()).c_str());
    }
    std::printf(" %7lld %7lld %10lld   %s\n", side["newton_iterations"].get<long long>(),
                side["solves"].get<long long>(), side["iterations"].get<long long>(),
                side["format"].get<std::string>().c_str());
  }
  std::printf("  Eigen / newel: steps %s, solves alone %s\n",
              spread(heart["eigen_over_newel"]["samples"].get<Samples>()).c_str(),
              spread(heart["eigen_over_newel_solve"]["samples"].get<Samples>()).c_str());
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "The heart simulation with Newel's solver and with Eigen's CG + Jacobi: medians (min .. max) of alternating "
      "runs");
  app.add_option("--nodes", options.nodes, "Nodes of the ventricle, approximately")
      ->check(CLI::Range(300, 20000000))
      ->capture_default_str();
  app.add_option("--duration", options.milliseconds, "Milliseconds of the beat")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "Rounds")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of both sides, default all");
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);

  const Context<host> ctx(options.threads);
  Json report = report_head("newel_bench_heart", typed_command(argc, argv));
  report["threads"] = ctx.threads();
  report["eigen"] = EigenCg::version();
  std::printf("%s, %d threads, load %.2g; Eigen %s\n", report["processor"].get<std::string>().c_str(), ctx.threads(),
              report["load_average"].get<double>(), report["eigen"].get<std::string>().c_str());
  report["heart"] = compare(ctx, options);
  print(report["heart"]);
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, run); }
