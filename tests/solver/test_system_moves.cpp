// SPDX-License-Identifier: Apache-2.0
// When a system takes a stronger preconditioner in the middle of a solve, and when it takes the weaker one again:
// with operators whose costs the test makes up.
#include "tests/catch.hpp"
#include "tests/solver/problem.hpp"

#include <cmath>

#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/registry.hpp>
#include <purlin/solver/system_state.hpp>
#include <purlin/spmv/scaled_estimates.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

// With costs that the test makes up. CSR and Jacobi; the stronger one is another of the table, or a diagonal matrix
// that is far from any inverse.
template <Space S>
class MadeUpOperators final : public detail::SystemOperators<double, S> {
 public:
  MadeUpOperators(const Context<S>& ctx, const CsrView<double, S>& a, const std::string& stronger, double price)
      : ctx_(ctx), a_(a), A_(make_spmv(ctx, a, order_, SpmvOptions{"csr"})), M_(made("jacobi")) {
    detail::PrecondOutlook costs;
    costs.name = stronger;
    costs.iteration_seconds = 1e-3;
    outlooks_.present = costs;
    costs.build_seconds = price;
    costs.iterations = [](double simple) { return simple / 2; };
    outlooks_.stronger = {costs};
  }

  const RowOrder<S>& order() const override { return order_; }
  const LinearOperator<double, S>& matrix() const override { return *A_; }
  const LinearOperator<double, S>* preconditioner() const override { return M_.get(); }
  const std::string& preconditioner_name() const override { return name_; }
  detail::SolverChain<double, S> make_chain() override {
    return {ctx_, detail::chain_steps<double, S>(ctx_, A_->rows(), {"cg"}, {}), *A_, M_.get(), false};
  }
  void refresh(Span<const double, S>, RefreshScope) override {}
  Slots<double, S> matrix_slots() override { return {}; }
  Slots<double, S> preconditioner_slots() override { return {}; }
  void slots_written(RefreshScope) override {}
  bool sound() const override { return true; }
  SystemInfo info() const override { return {}; }

  const detail::PrecondOutlooks* stronger_preconditioners(double) override { return taken ? nullptr : &outlooks_; }
  bool take_stronger_preconditioner(const std::string& name) override {
    taken = true;
    if (name == "refused") return false;
    weaker_ = std::move(M_);
    M_ = made(name);
    name_ = name;
    return true;
  }
  void restore_preconditioner() override {
    M_ = std::move(weaker_);
    name_ = "jacobi";
    ++restored;
  }
  void settle_preconditioner() override { weaker_.reset(); }

  bool taken = false;
  int restored = 0;

 private:
  OperatorPtr<double, S> made(const std::string& name) {
    PrecondOptions options;
    options.name = name == "bad" ? "jacobi" : name;
    OperatorPtr<double, S> M = make_precond(ctx_, a_, order_, options, SpmvOptions{"csr"});
    if (name != "bad") return M;
    const std::vector<double> noise = random_vector<double>(a_.nnz(), 7);
    std::vector<double> values;
    for (const double value : noise) values.push_back(std::exp(12 * value));
    M->refresh(ctx_, upload(ctx_, values).cspan());
    ctx_.synchronize();
    return M;
  }

  Context<S> ctx_;
  CsrView<double, S> a_;
  RowOrder<S> order_;
  OperatorPtr<double, S> A_, M_, weaker_;
  std::string name_ = "jacobi";
  detail::PrecondOutlooks outlooks_;
};

template <Space S>
struct Moving {
  Context<S> ctx = make_context<S>();
  HostCsr a = fem_matrix("generate:diffusion:10");
  std::vector<double> b_host = product_oracle(a, random_vector<double>(a.rows, 3));
  Uploaded<double, S> there = upload_matrix<double>(ctx, a);
  Array<double, S> b = upload(ctx, b_host), x = upload(ctx, std::vector<double>(b_host.size(), 0.0));
  detail::SystemState<double, S> state{ctx, SystemOptions{}};
  MadeUpOperators<S>* operators;

  explicit Moving(const std::string& stronger, double price = 5e-3) {  // ten iterations' gain
    auto made = std::make_unique<MadeUpOperators<S>>(ctx, there.wide(), stronger, price);
    operators = made.get();
    state.rows = a.rows;
    state.operators = std::move(made);
    state.finish_setup();
  }
  SolveReport solve() {
    SolveReport report = state.solve(b.cspan(), x.span(), {});
    CHECK(report.converged());
    CHECK(residual_norm(a, download(ctx, x), b_host) <= 1.01e-8 * norm_oracle(b_host));
    return report;
  }
};

}  // namespace

TEST_BOTH("A stronger preconditioner follows where it pays, and a solve goes on from its x", "[exchange][learning]") {
  Moving<S> jacobi("refused");
  const SolveReport alone = jacobi.solve();
  CHECK(jacobi.operators->taken);
  CHECK(alone.changed.empty());
  Moving<S> moving("fsai");
  const SolveReport report = moving.solve();
  INFO(report.changed);
  CHECK(report.changed.find("preconditioner fsai for jacobi after ") == 0);
  CHECK(report.changed.find("gained less") == std::string::npos);
  CHECK(report.iterations < alone.iterations);
  CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
  CHECK(report.residual_replacements == 0);
  for (std::size_t k = 0; k < 3; ++k) CHECK(report.history[k] == alone.history[k]);
}

TEST_BOTH("A preconditioner that makes the residual fall more slowly leaves again", "[exchange][learning]") {
  Moving<S> moving("bad");
  const SolveReport report = moving.solve();
  INFO(report.changed);
  CHECK(moving.operators->restored == 1);
  CHECK(report.changed.find("preconditioner bad for jacobi after ") == 0);
  CHECK(report.changed.find("preconditioner jacobi for bad after ") != std::string::npos);
  CHECK(report.changed.find("which gained less") != std::string::npos);
}

// Seconds by the costs that are made up: 1 ms an iteration, and the price of a move.
double seconds_of(const SolveReport& report, double price) {
  return 1e-3 * report.iterations + (report.changed.empty() ? 0 : price);
}

TEST_BOTH("Estimates that are wrong by a factor of 100 cost at most three times the best", "[exchange][learning]") {
  const int alone = Moving<S>("refused").solve().iterations;
  Moving<S> free("fsai", 0);
  const int with_fsai = free.solve().iterations;
  REQUIRE(with_fsai < 0.7 * alone);
  for (const double price : {1e-3, 5e-3, 20e-3, 60e-3}) {
    const double best = std::min(1e-3 * alone, price + 1e-3 * with_fsai);
    for (const double factor : {0.01, 1.0, 100.0}) {
      const detail::ScaledEstimates scaled(factor);
      Moving<S> moving("fsai", price);
      const double seconds = seconds_of(moving.solve(), price);
      INFO("price " << price << ", factor " << factor << ": " << seconds << " against " << best);
      CHECK(seconds <= 3 * best);
    }
  }
}

TEST_BOTH("Solves that are too short for a preconditioner pay for it together", "[exchange][learning]") {
  constexpr double price = 60e-3;
  Moving<S> moving("fsai", price);
  int solves = 0;
  double spent = 0;
  for (std::string changed; changed.empty() && solves < 50; ++solves) {
    fill<double, S>(moving.ctx, 0, moving.x.span());
    const SolveReport report = moving.solve();
    changed = report.changed;
    spent += 1e-3 * report.iterations;
  }
  CHECK(moving.operators->taken);
  CHECK(solves > 1);
  CHECK(0.5 * spent <= 2 * price);  // what half of the iterations cost
}

TEST_BOTH("A pinned system changes nothing in a solve", "[exchange][learning]") {
  Moving<S> moving("fsai");
  moving.state.pin();
  CHECK(moving.solve().changed.empty());
  CHECK_FALSE(moving.operators->taken);
}

// The second differences of a line: as many iterations as rows.
HostCsr line_matrix(Index n) {
  Rows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row[i] = 2;
    if (i > 0) row[i - 1] = -1;
    if (i + 1 < n) row[i + 1] = -1;
  }
  return from_rows(n, rows);
}

// Rows and iterations enough that the cost model expects another format to pay.
template <Space S>
HostCsr worth_a_format() {
  return S == Space::host ? fem_matrix("generate:elasticity:24") : line_matrix(1500);
}
constexpr double tolerance_of(Space space) { return space == Space::host ? 1e-12 : 1e-8; }

TEST_BOTH("A system begins in CSR and moves in its first solve, the same on every run", "[exchange][learning]") {
  for (const char* precond : {"none", "jacobi", "fsai"}) {
    CAPTURE(precond);
    std::vector<double> bits;
    SolveReport first;
    for (int run = 0; run < 2; ++run) {
      Problem<S> problem(worth_a_format<S>());
      SystemOptions options;
      options.precond.name = precond;
      options.stop.rel_tol = tolerance_of(S);
      LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
      REQUIRE(system.info().format.format == "csr");
      const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
      CHECK(report.converged());
      CHECK(report.changed.find(" to go") != std::string::npos);
      CHECK(system.info().format.format != "csr");
      const std::vector<double> x = download(problem.ctx, problem.x);
      CHECK(residual_norm(problem.a, x, problem.b_host) <= 2 * tolerance_of(S) * norm_oracle(problem.b_host));
      if (run == 0) {
        bits = x;
        first = report;
        continue;
      }
      CHECK(x == bits);
      CHECK(report.history == first.history);
      CHECK(report.changed == first.changed);

      options.spmv.format = "csr";
      LinearSystem<double, S> plain(problem.ctx, problem.there.wide(), options);
      auto again = upload(problem.ctx, std::vector<double>(bits.size(), 0.0));
      const SolveReport reference = plain.solve(problem.b.cspan(), again.span());
      CHECK(std::abs(report.iterations - reference.iterations) <= std::max(2.0, 0.02 * reference.iterations));

      const auto doubled = upload(problem.ctx, [&] {
        std::vector<double> values = problem.a.val;
        for (double& value : values) value *= 2;
        return values;
      }());
      system.refresh(doubled.cspan());
      auto half = upload(problem.ctx, std::vector<double>(bits.size(), 0.0));
      const SolveReport second = system.solve(problem.b.cspan(), half.span());
      CHECK(second.changed.empty());
      CHECK(second.converged());
      std::vector<double> twice = download(problem.ctx, half);
      for (double& value : twice) value *= 2;
      CHECK(residual_norm(problem.a, twice, problem.b_host) <= 2 * tolerance_of(S) * norm_oracle(problem.b_host));
    }
  }
}

TEST_BOTH("What holds on to an order before the first solve gets the format that is expected to pay",
          "[exchange][learning]") {
  Problem<S> problem(S == Space::host ? "generate:elasticity:24" : "generate:elasticity:10");
  SystemOptions options;
  options.precond.name = "jacobi";
  options.stop.rel_tol = tolerance_of(S);
  LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
  REQUIRE(system.info().format.format == "csr");
  CHECK_FALSE(system.order().natural());
  CHECK(system.info().format.format != "csr");
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  CHECK(report.converged());
  CHECK(report.changed.empty());
  CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
        2 * tolerance_of(S) * norm_oracle(problem.b_host));
}
