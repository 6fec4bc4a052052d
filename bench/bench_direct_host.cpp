// SPDX-License-Identifier: Apache-2.0
// newel_bench_direct: the direct solver of a LinearSystem beside the library of factors that it chooses, called
// alone.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>
#include <newel/spmv/registry.hpp>

#include "comparison.hpp"
#include "direct_alone.hpp"
#include "machine_facts.hpp"
#include "product_oracle.hpp"
#include "solver/direct/system_factors.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;
using Matrix = Csr<double, host>;
using System = LinearSystem<double, host>;

struct Options {
  std::vector<std::string> systems = {"generate:grid5:200", "generate:grid7:20"};
  int repeats = 9;
  double tolerance = 1e-8;
  std::string report;
};

// Which library the direct solver takes for a matrix, by the title of its line of the table.
std::string chosen_factorisation(const Context<host>& ctx, const CsrView<double, host>& a) {
  const RowOrder<host> natural;
  const SolverMatrix<double, host> matrix{a, natural};
  return detail::HostFactors<double, host>(ctx, detail::host_factorisations(), matrix).title();
}

struct Measured {
  Samples first, again, solve;  // of the direct solver, in seconds
  Samples first_alone, again_alone, solve_alone;
  Samples check;  // b - A x in twice the precision, which each of our solves forms once
};

// b = A x for random x. Both sides solve for it, and keep what they solve with.
class Comparison {
 public:
  Comparison(const Matrix& a, double tolerance)
      : a_(a), columns_(a), b_(ctx_, a.rows), x_(ctx_, a.rows), r_(ctx_, a.rows), scratch_(ctx_, 1) {
    product_ = make_spmv(ctx_, view(), RowOrder<host>{}, SpmvOptions{"csr"});
    product_->apply(ctx_, 1, make_array(ctx_, random_vector(a.rows)).cspan(), 0, b_.span());
    options_.solver.name = "direct";
    options_.stop.rel_tol = tolerance;
    title_ = chosen_factorisation(ctx_, view());
  }

  const std::string& title() const { return title_; }

  // What other libraries take for the same, by title; those that do not solve it are left out.
  Json others(int repeats) {
    Json found = Json::object();
    for (const char* title :
         {"L D L^T by Eigen", "L L^T by CHOLMOD", "L U by KLU", "L U by UMFPACK", "L U by Eigen"}) {
      if (title == title_) continue;
      try {
        if (direct_alone(title, columns_) == nullptr) continue;
        const std::vector<Samples> samples =
            alternate({[&] { return seconds_of([&] { alone_ = direct_alone(title, columns_); }) + solved_alone(); },
                       [&] { return seconds_of([&] { alone_->refactorise(); }) + solved_alone(); },
                       [&] { return solved_alone(); }},
                      repeats);
        const double residual = true_residual<double>(ctx_, a_, to_vector(ctx_, b_.cspan()), v_).relative;
        if (!(residual <= options_.stop.rel_tol)) continue;
        found[title] = {{"first", summary(samples[0], 1e3)},
                        {"again", summary(samples[1], 1e3)},
                        {"solve", summary(samples[2], 1e3)},
                        {"true_residual", residual}};
      } catch (const InputError&) {
      }
    }
    return found;
  }
  bool has_rival() const { return direct_alone(title_, columns_) != nullptr; }
  double residual() const { return residual_; }
  double residual_alone() const { return residual_alone_; }
  int refinements() const { return refinements_; }

  Measured measure(int repeats) {
    const std::vector<Samples> samples = alternate(
        {[&] { return seconds_of([&] { system_ = std::make_unique<System>(ctx_, view(), options_); }) + solved(); },
         [&] { return seconds_of([&] { alone_ = direct_alone(title_, columns_); }) + solved_alone(); },
         [&] { return seconds_of([&] { system_->refresh(a_.val.cspan()); }) + solved(); },
         [&] { return seconds_of([&] { alone_->refactorise(); }) + solved_alone(); }, [&] { return solved(); },
         [&] { return solved_alone(); }, [&] { return seconds_of([&] { check(); }); }},
        repeats);
    residual_ = true_residual<double>(ctx_, a_, to_vector(ctx_, b_.cspan()), to_vector(ctx_, x_.cspan())).relative;
    residual_alone_ = true_residual<double>(ctx_, a_, to_vector(ctx_, b_.cspan()), v_).relative;
    return {samples[0], samples[2], samples[4], samples[1], samples[3], samples[5], samples[6]};
  }

 private:
  CsrView<double, host> view() const { return CsrView<double, host>(a_); }

  double solved() {
    return seconds_of([&] {
      const SolveReport report = system_->solve(b_.cspan(), x_.span(), {}, InitialGuess::zero);
      if (!report.converged()) throw InputError("the direct solver ended in '" + report.reason + "'");
      refinements_ = report.refinements;
    });
  }
  double solved_alone() {
    return seconds_of([&] {
      v_.assign(b_.data(), b_.data() + b_.size());
      alone_->solve(v_);
    });
  }
  void check() {
    detail::true_residual<double, host>(ctx_, *product_, b_.cspan(), x_.cspan(), 1, 1e-8, r_.span(), scratch_.data());
  }

  const Context<host> ctx_{1};
  const Matrix& a_;
  ByColumns columns_;
  Array<double, host> b_, x_, r_;
  Array<double, host> scratch_;
  OperatorPtr<double, host> product_;
  SystemOptions options_;
  std::string title_;
  std::unique_ptr<System> system_;
  std::unique_ptr<DirectAlone> alone_;
  std::vector<double> v_;
  double residual_ = 0, residual_alone_ = 0;
  int refinements_ = 0;
};

Json measured_system(const std::string& spec, const Options& options) {
  const Matrix a = system_of(spec);
  Comparison comparison(a, options.tolerance);
  Json result{{"system", spec.substr(spec.rfind('/') + 1)},
              {"rows", a.rows},
              {"nonzeros", a.nnz()},
              {"factorisation", comparison.title()}};
  if (!comparison.has_rival()) return result;
  const Measured found = comparison.measure(options.repeats);
  const auto compared = [&](const char* what, const Samples& ours, const Samples& alone) {
    result[what] = {{"milliseconds", summary(ours, 1e3)},
                    {"alone_milliseconds", summary(alone, 1e3)},
                    {"ratio", median(ratios(ours, alone))}};
  };
  compared("first", found.first, found.first_alone);
  compared("again", found.again, found.again_alone);
  compared("solve", found.solve, found.solve_alone);
  result["check_milliseconds"] = summary(found.check, 1e3);
  result["refinements"] = comparison.refinements();
  result["true_residual"] = comparison.residual();
  result["true_residual_alone"] = comparison.residual_alone();
  result["others_milliseconds"] = comparison.others(options.repeats);
  std::printf("%-28s %8d rows  %-18s first %5.2f  again %5.2f  solve %5.2f  check %5.2f of a solve alone\n",
              result["system"].get<std::string>().c_str(), a.rows, comparison.title().c_str(),
              result["first"]["ratio"].get<double>(), result["again"]["ratio"].get<double>(),
              result["solve"]["ratio"].get<double>(), median(found.check) / median(found.solve_alone));
  for (const auto& [title, times] : result["others_milliseconds"].items()) {
    std::printf("  %-26s first %7.3f  again %7.3f  solve %7.4f ms, residual %.0e\n", title.c_str(),
                times["first"]["min"].get<double>(), times["again"]["min"].get<double>(),
                times["solve"]["min"].get<double>(), times["true_residual"].get<double>());
  }
  std::fflush(stdout);
  return result;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "The direct solver on one thread of the host beside the library that it chooses, called alone on the matrix by "
      "columns: ratios of the first factorisation with a solve, of new values with a solve, and of a solve; medians. "
      "Then what the other libraries take, CHOLMOD and UMFPACK too if this build has found them");
  app.add_option("systems", options.systems, "Matrix files, or systems as newel generates them")
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "Repeats of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--tolerance", options.tolerance, "Tolerance of the solves")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  Json report = report_head("newel_bench_direct", typed_command(argc, argv));
  report.update(machine_facts(Context<host>(1)));
  report["tolerance"] = options.tolerance;
  return measure_systems(std::move(report), options.systems, options.report,
                         [&](const std::string& spec) { return measured_system(spec, options); });
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }
