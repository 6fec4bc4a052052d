// SPDX-License-Identifier: Apache-2.0
// A preconditioner, a solver and a format that are not the library's: one line in a table, and all that reads the
// tables knows them.

#include <newel/solver/choice.hpp>
#include <newel/solver/memory_estimate.hpp>
#include "precond/jacobi/jacobi.hpp"
#include "spmv/csr/csr.hpp"

#include "apps/common/precond_report.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/newel/command_line.hpp"
#include "apps/newel/solve/result.hpp"
#include "tests/apps/command_words.hpp"
#include "tests/solver/systems.hpp"

namespace {

struct DampedOptions {
  double omega = 1;
};

// M = omega D^-1.
template <class T, Space S>
class DampedJacobi final : public MatrixOperator<T, S> {
 public:
  DampedJacobi(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
               const SpmvOptions& spmv_options)
      : omega_(static_cast<T>(options.of<DampedOptions>().omega)), inner_(ctx, a, order, options, spmv_options) {}
  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return inner_.cols(); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    inner_.apply(ctx, alpha * omega_, x, beta, y);
  }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override { inner_.refresh(ctx, values); }
  OperatorInfo info() const override {
    OperatorInfo info = inner_.info();
    info.name = "damped";
    return info;
  }

 private:
  T omega_;
  JacobiOperator<T, S> inner_;
};

PrecondMethod damped_method() {
  PrecondMethod method;
  method.name = "damped";
  method.summary = "a share of the inverse of the diagonal";
  method.options = {value_option("--damped-omega", "W", "The share of the inverse diagonal, default 1",
                                 "damped_omega", &DampedOptions::omega)};
  method.check = [](const PrecondOptions& o) {
    require_precond_option(o.of<DampedOptions>().omega > 0, "omega is positive");
  };
  method.estimate_bytes = [](const PrecondOptions&, const SpmvFormat&, Index rows, Offset, std::size_t value_bytes) {
    return static_cast<std::uint64_t>(rows) * value_bytes;
  };
  method.stronger = [](const PrecondOptions&) {
    return std::vector<SettingChange>{{"preconditioner", "damped", true}, {"damped_omega", "1"}};
  };
  method.make = precond_columns<DampedJacobi>();
  return method;
}

}  // namespace

TEST_CASE("A registered preconditioner has its options on the command line, in reports, estimates and advice",
          "[precond][cli][registry]") {
  CHECK_FALSE(contains(help_of("solve"), "damped"));
  const Registration registration = register_preconditioner(damped_method());
  for (const char* command : {"solve", "info"}) {
    CHECK(contains(help_of(command), "--damped-omega W"));
    CHECK(contains(help_of(command), "The share of the inverse diagonal"));
  }
  const auto typed = parsed({"solve", "A.mtx", "--precond", "Damped", "--damped-omega", "0.5"});
  CHECK(typed.warnings.empty());
  const auto& options = std::get<cli::SolveOptions>(typed.command);
  CHECK(options.system.precond.name == "damped");
  CHECK(options.system.precond.of<DampedOptions>().omega == 0.5);
  CHECK_THROWS(parsed({"solve", "A.mtx", "--precond", "damped", "--damped-omega", "-1"}));

  const cli::Json json = cli::precond_options_json(options.system.precond, {});
  CHECK(json.at("damped_omega") == 0.5);

  const auto unused = parsed({"solve", "A.mtx", "--precond", "jacobi", "--damped-omega", "0.5"}).warnings;
  REQUIRE(unused.size() == 1);
  CHECK(unused[0] ==
        "--damped-omega has no effect: it applies to --precond damped, and the preconditioner is jacobi");

  const auto bytes = [](const char* name) {
    PrecondOptions precond;
    precond.name = name;
    return estimate_system({}, precond, solver_options("cg"), {1000, 5000}).preconditioner;
  };
  CHECK(bytes("damped") == 8000);

  SolveReport report;
  report.solver = report.method = "gmres";
  report.status = Status::breakdown;
  report.attempts = {{"gmres", Status::breakdown, 5, 1, 0, "", 0, "gmres"}};
  cli::SolveOptions asked = options;
  SystemFacts facts;
  facts.rows = 100;
  CHECK(contains(cli::next_step(report, asked, facts), "--precond none"));
  report.status = Status::stagnation;
  report.cycle_length = 100;
  CHECK(contains(cli::next_step(report, asked, facts), "--precond damped --damped-omega 1"));
}

TEST_CASE("A registered preconditioner leaves with its registration, and no name stands twice",
          "[precond][registry]") {
  {
    const Registration registration = register_preconditioner(damped_method());
    CHECK_THROWS_AS(register_preconditioner(damped_method()), InputError);
    CHECK(find_preconditioner("DAMPED").summary == "a share of the inverse of the diagonal");
  }
  CHECK_THROWS_AS(find_preconditioner("damped"), InputError);
  PrecondMethod taken = damped_method();
  for (const char* name : {"none", "auto", "FSAI"}) {
    taken.name = name;
    CHECK_THROWS_AS(register_preconditioner(taken), InputError);
  }
}

TEST_BOTH("A registered preconditioner solves and is refreshed as the library's are", "[precond][registry]") {
  const Registration registration = register_preconditioner(damped_method());
  const Context<S> ctx;
  const Rows a = laplacian(12);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("cg", "damped");
  options.precond.of<DampedOptions>().omega = 0.25;
  Arrays<double, S> arrays(ctx, a);
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  CHECK(system.info().preconditioner.name == "damped");
  Rows doubled = a;
  for (auto& row : doubled.row) {
    for (auto& [j, value] : row) value *= j % 2 == 0 ? 2 : 1;
  }
  // A scaled by its columns: M has to see that, or the iterates are others.
  const Arrays<double, S> other(ctx, doubled);
  system.refresh(other.view().val);
  const std::vector<double> ones(b.size(), 1.0);
  const auto r = make_array(ctx, ones);
  Array<double, S> z(ctx, a.size());
  std::vector<double> in_order(b.size());
  system.ordered().preconditioner()->apply(ctx, 1.0, r.cspan(), 0.0, z.span());
  Array<double, S> back(ctx, a.size());
  system.ordered().to_user_order(z.cspan(), back.span());
  const auto found = to_vector(ctx, back.cspan());
  for (Index i = 0; i < a.size(); ++i) CHECK(found[i] == Approx(0.25 / doubled.at(i, i)).epsilon(1e-14));

  PrecondOptions wrong = options.precond;
  wrong.of<DampedOptions>().omega = 0;
  SystemOptions refused = options;
  refused.precond = wrong;
  CHECK_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), refused)), Catch::Contains("omega is positive"));
}

TEST_CASE("A registered solver is chosen by name, counted in estimates, and tried by auto where it ranks",
          "[solver][cli][registry]") {
  SolverMethod method = cg_method();
  method.name = "my-cg";
  method.rank = {};
  method.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t) { return 1000.0; };
  MatrixTraits symmetric;
  symmetric.square = symmetric.pattern_symmetric = true;
  const auto before = choose_solver(symmetric).order;
  {
    const Registration registration = register_solver(method);
    CHECK(contains(help_of("solve"), "my-cg"));
    CHECK(choose_solver(symmetric).order == before);
    CHECK(estimate_system({}, {"none"}, solver_options("my-cg"), {1000, 5000}).vectors ==
          1000000 + find_solver("cg").fixed_bytes);
    CHECK_THROWS_AS(register_solver(method), InputError);
    const Context<Space::host> ctx;
    const Rows a = laplacian(9);
    const auto b = a.rhs_for(noise(a.size()));
    SystemOptions options = system_options("My_CG");
    SystemOf<double, Space::host> system(ctx, a, options);
    const auto solved = run_system(ctx, system, b);
    CHECK(solved.report.converged());
    const auto product = a.rhs_for(solved.x);
    double residual = 0;
    for (std::size_t i = 0; i < b.size(); ++i) residual = std::hypot(residual, b[i] - product[i]);
    CHECK(residual <= 1.01e-8 * norm(b));
  }
  method.rank = {1, 1, 1};
  const Registration registration = register_solver(method);
  const auto order = choose_solver(symmetric).order;
  CHECK(order.size() == before.size() + 1);
  CHECK(std::find(order.begin(), order.end(), "my-cg") != order.end());
}

TEST_CASE("A registered format multiplies, and is offered where formats are named", "[spmv][cli][registry]") {
  SpmvFormat format = find_spmv_format("csr");
  format.name = "rows";
  format.variants.clear();
  const Registration registration = register_format(format);
  CHECK(contains(help_of("solve"), "|rows"));
  CHECK_THROWS_AS(register_format(format), InputError);
  const Context<Space::host> ctx;
  const Rows a = laplacian(5);
  const Arrays<double, Space::host> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<Space::host>{}, SpmvOptions{"rows"});
  const auto x = noise(a.size());
  Array<double, Space::host> y(ctx, a.size());
  A->apply(ctx, 1.0, Span<const double, Space::host>(x.data(), a.size()), 0.0, y.span());
  const auto expected = a.times(x);
  for (Index i = 0; i < a.size(); ++i) CHECK(y[i] == Approx(static_cast<double>(expected[i])).epsilon(1e-13));
}
