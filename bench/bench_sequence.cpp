// SPDX-License-Identifier: Apache-2.0
// newel_bench_sequence: time loops of heat and of elastodynamics, whose solves start from the last state, from an
// extrapolation or from a projection onto past solutions.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

#include <newel/config.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/fem/problem.hpp"
#include "comparison.hpp"
#include "machine_facts.hpp"
#include "sequence_figures.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;

struct Options {
  std::string place = NEWEL_HAS_CUDA == 1 ? "cuda" : "host", problem = "heat", precond, report;
  Index side = 24;
  int steps = 80, first = 20, threads = 0;
  double dt = 0, rel_tol = 1e-8;
  bool mixed = false;
  std::vector<std::string> guesses = {"given", "extrapolate", "project:4", "project:8", "project:16", "auto"};
};

/// One step solves L x = R(state) + load: the arrays are in the space of the system.
struct Model {
  fem::HostCsr implicit;            ///< of a step
  fem::HostCsr mass;                ///< on the same pattern
  std::vector<double> shape;        ///< of the load, at each unknown
  std::vector<double> other_shape;  ///< of a second one, which is out of step with the first
  std::shared_ptr<NodeCoordinates> nodes;
};

std::vector<double> load_on(const Context<host>& ctx, const fem::TetMesh& mesh, int unknowns, double x,
                            double width) {
  const auto bump = [=](const fem::Point& at) {
    const double r = std::hypot(at[0] - x, at[1] - 0.5, at[2] - 0.8) / width;
    return std::exp(-r * r);
  };
  if (unknowns == 1) return to_vector(ctx, fem::assemble_load(ctx, mesh, bump).cspan());
  const fem::HostVector force = fem::assemble_body_force(ctx, mesh, [&](const fem::Point& at) {
    return fem::Point{bump(at), 0.5 * bump(at), 0};
  });
  return to_vector(ctx, force.cspan());
}

// value += factor times the mass of two nodes, for entries of the same component.
void add_mass(const fem::HostCsr& mass, int unknowns, double factor, fem::HostCsr& to, bool replace) {
  for (Index i = 0; i < to.rows; ++i) {
    const Index node = i / unknowns;
    for (Offset e = to.row_ptr[i]; e < to.row_ptr[i + 1]; ++e) {
      if (replace) to.val[e] = 0;
      if (to.col[e] % unknowns != i % unknowns) continue;
      const Index* const first = mass.col.data() + mass.row_ptr[node];
      const Index* const last = mass.col.data() + mass.row_ptr[node + 1];
      const Index* const found = std::lower_bound(first, last, to.col[e] / unknowns);
      if (found != last && *found == to.col[e] / unknowns) to.val[e] += factor * mass.val[found - mass.col.data()];
    }
  }
}

Model make_model(const Context<host>& ctx, const Options& options, double dt) {
  const bool heat = options.problem == "heat";
  const int unknowns = heat ? 1 : 3;
  Model model;
  model.nodes = std::make_shared<NodeCoordinates>();
  fem::TetMesh mesh;
  const std::string kind = heat ? "diffusion:" : "elasticity:";
  const auto assemble = [&] {
    return fem::generate_matrix(ctx, "generate:" + kind + std::to_string(options.side), model.nodes.get(), &mesh);
  };
  model.implicit = assemble();
  model.mass = assemble();
  const fem::HostCsr mass = fem::assemble_mass(ctx, mesh);
  // Heat by backward Euler, M / dt + K; elastodynamics by Newmark's average acceleration, 4 M / dt^2 + K.
  add_mass(mass, unknowns, heat ? 1 / dt : 4 / (dt * dt), model.implicit, false);
  add_mass(mass, unknowns, 1, model.mass, true);
  model.shape = load_on(ctx, mesh, unknowns, 0.3, 0.2);
  model.other_shape = load_on(ctx, mesh, unknowns, 0.7, 0.3);
  return model;
}

template <Space S>
Csr<double, S> placed(const Context<S>& ctx, const fem::HostCsr& a) {
  return make_csr(ctx, CsrView<double, host>(a));
}

struct Figures : SequenceFigures {
  std::int64_t most = 0;  ///< iterations
};

/// A run over all steps; counts those after the first.
template <Space S>
class Loop {
 public:
  Loop(const Context<S>& ctx, const Options& options, const Model& model, const std::string& guess, double dt)
      : ctx_(ctx),
        options_(options),
        heat_(options.problem == "heat"),
        dt_(dt),
        implicit_(placed(ctx, model.implicit)),
        mass_csr_(placed(ctx, model.mass)),
        system_(ctx, implicit_, options_of(options, model, guess)),
        mass_(make_spmv<double, S>(ctx, mass_csr_, RowOrder<S>(), SpmvOptions{"csr"})),
        shape_(make_array(ctx, model.shape)),
        other_(make_array(ctx, model.other_shape)) {
    for (Array<double, S>* vector : {&u_, &v_, &a_, &b_, &x_, &w_}) {
      *vector = Array<double, S>(ctx, system_.rows());
      fill<double, S>(ctx, 0, vector->span());
    }
  }

  Figures run() {
    Figures figures;
    for (int step = 0; step < options_.steps; ++step) {
      right_hand_side((step + 1) * dt_);
      copy<double>(ctx_, u_.cspan(), x_.span());
      ctx_.synchronize();
      const auto began = std::chrono::steady_clock::now();
      const SolveReport report = system_.solve(b_.cspan(), x_.span());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (!report.converged()) throw Error("step " + std::to_string(step) + ": " + report.reason);
      if (step >= options_.first) {
        figures.iterations += report.iterations;
        figures.most = std::max<std::int64_t>(figures.most, report.iterations);
        figures.seconds += seconds;
        figures.own_seconds += report.guess.seconds;
        figures.vectors = report.guess.vectors;
      }
      accept();
    }
    figures.bytes = ctx_.memory()->use().bytes;
    return figures;
  }

  Json system_json() const {
    const SystemInfo info = system_.info();
    return {{"rows", system_.rows()},
            {"nonzeros", info.matrix.nonzeros},
            {"format", info.matrix.name},
            {"preconditioner", info.preconditioner.name},
            {"solver", info.solver}};
  }

 private:
  static SystemOptions options_of(const Options& options, const Model& model, const std::string& guess) {
    SystemOptions system;
    system.solver.name = "cg";
    system.precond.name = options.precond;
    system.stop.rel_tol = options.rel_tol;
    system.mixed = options.mixed;
    system.expected_products = 20.0 * options.steps;
    system.spmv.coordinates = model.nodes;
    system.solver.of<GuessOptions>().guess = guess;
    return system;
  }

  // A load that rises and swings, and another that comes later: smooth in time, as most are.
  void right_hand_side(double t) {
    const double rate = 2 * std::acos(-1.0) / (0.5 * options_.steps * dt_);
    const double first = 1 - std::cos(rate * t), second = std::sin(0.37 * rate * t);
    if (heat_) {  // M / dt u + f
      mass_->apply(ctx_, 1 / dt_, u_.cspan(), 0, b_.span());
    } else {  // M (4 / dt^2 u + 4 / dt v + a) + f
      copy<double>(ctx_, a_.cspan(), w_.span());
      axpy<double, S>(ctx_, 4 / (dt_ * dt_), u_.cspan(), w_.span());
      axpy<double, S>(ctx_, 4 / dt_, v_.cspan(), w_.span());
      mass_->apply(ctx_, 1, w_.cspan(), 0, b_.span());
    }
    axpy<double, S>(ctx_, first, shape_.cspan(), b_.span());
    axpy<double, S>(ctx_, second, other_.cspan(), b_.span());
  }

  void accept() {
    if (heat_) return copy<double>(ctx_, x_.cspan(), u_.span());
    // a_new = 4 / dt^2 (x - u) - 4 / dt v - a; v_new = 2 / dt (x - u) - v
    axpby<double, S>(ctx_, 1, x_.cspan(), -1, u_.span());
    axpby<double, S>(ctx_, 4 / (dt_ * dt_), u_.cspan(), -1, a_.span());
    axpy<double, S>(ctx_, -4 / dt_, v_.cspan(), a_.span());
    axpby<double, S>(ctx_, 2 / dt_, u_.cspan(), -1, v_.span());
    copy<double>(ctx_, x_.cspan(), u_.span());
  }

  Context<S> ctx_;
  const Options& options_;
  bool heat_;
  double dt_;
  Csr<double, S> implicit_, mass_csr_;
  LinearSystem<double, S> system_;
  OperatorPtr<double, S> mass_;
  Array<double, S> shape_, other_, u_, v_, a_, b_, x_, w_;
};

template <Space S>
Json measured(const Context<host>& on_host, const Context<S>& ctx, const Options& options) {
  const double usual_dt = options.problem == "heat" ? 2e-3 : 5e-2;
  const double dt = options.dt > 0 ? options.dt : usual_dt;
  const Model model = make_model(on_host, options, dt);
  Json report = machine_facts(ctx);
  report["problem"] = options.problem;
  report["time_step"] = dt;
  report["steps"] = options.steps;
  report["steps_left_out"] = options.first;
  report["rel_tol"] = options.rel_tol;
  report["precision"] = options.mixed ? "mixed" : "double";
  Figures base;
  for (const std::string& guess : options.guesses) {
    Loop<S> loop(ctx, options, model, guess, dt);
    const Figures found = loop.run();
    if (report["guesses"].empty()) base = found;
    report["system"] = loop.system_json();
    const int solves = options.steps - options.first;
    Json of{{"guess", guess}, {"most_iterations", found.most}};
    of.update(found.json(base, solves, "guess"));
    report["guesses"].push_back(of);
    found.print(base, solves, guess, "guess");
  }
  return report;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "A time loop, whose solves start in several ways; the first of --guesses is what the others are compared with");
  app.add_option("--device", options.place, "host or cuda")->capture_default_str();
  app.add_option("--problem", options.problem, "heat or elastodynamics")
      ->check(CLI::IsMember({"heat", "elastodynamics"}))
      ->capture_default_str();
  app.add_option("--side", options.side, "Nodes along an edge of the cube")->capture_default_str();
  app.add_option("--precond", options.precond, "jacobi for heat, amg for elastodynamics");
  app.add_option("--dt", options.dt, "Time step; 0: 2e-3 for heat, 5e-2 for elastodynamics")->capture_default_str();
  app.add_option("--steps", options.steps, "Steps")->capture_default_str();
  app.add_option("--first", options.first, "Steps at the beginning that are not counted")->capture_default_str();
  app.add_option("--tol", options.rel_tol, "Relative tolerance")->capture_default_str();
  app.add_flag("--mixed", options.mixed, "Mixed precision");
  app.add_option("--guesses", options.guesses, "Values of the option guess")->delimiter(',');
  app.add_option("--threads", options.threads, "Threads of the host; 0: all")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  if (options.precond.empty()) options.precond = options.problem == "heat" ? "jacobi" : "amg";
  Json report = report_head("newel_bench_sequence", typed_command(argc, argv));
  const Context<host> on_host(options.threads);
  measure_at(options.place, options.threads,
             [&](const auto& ctx) { report.update(measured(on_host, ctx, options)); });
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }
