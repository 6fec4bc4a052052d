// SPDX-License-Identifier: Apache-2.0
// Solves that move to another order and format on their way.
#include "tests/catch.hpp"
#include "tests/spmv/spmv_support.hpp"

#include <cmath>
#include <optional>

#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/registry.hpp>
#include <purlin/solver/linear_system.hpp>
#include <purlin/solver/operator_exchange.hpp>
#include <purlin/solver/registry.hpp>
#include <purlin/solver/residual_rate.hpp>
#include <purlin/solver/system_learning.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

// A and M of one system, in the caller's order as CSR or in that of a format.
template <Space S>
struct Built {
  RowOrder<S> order;
  OperatorPtr<double, S> A, M;
};

template <Space S>
Built<S> build(const Context<S>& ctx, const CsrView<double, S>& a, const std::string& format,
               const std::string& precond) {
  SpmvOptions spmv;
  spmv.format = format;
  PrecondOptions options;
  options.name = precond;
  Built<S> built;
  built.order = plan_order<double>(ctx, Pattern<S>(a), spmv);
  PermutedCsr<double, S> permuted;
  CsrView<double, S> view = a;
  if (!built.order.natural()) view = (permuted = permute(ctx, a, built.order)).view();
  built.A = make_spmv(ctx, view, built.order, spmv);
  built.M = make_precond(ctx, view, built.order, options, spmv);
  ctx.synchronize();
  return built;
}

// Moves a solve at an iteration that the test names, by nothing but public functions.
template <Space S>
class MoveAt final : public detail::OperatorExchange<double, S> {
 public:
  MoveAt(const Context<S>& ctx, int at, Built<S>& from, Built<S> to, Span<const double, S> b, Span<double, S> x)
      : ctx_(ctx),
        at_(at),
        from_(from),
        to_(std::move(to)),
        b_(b),
        x_(x),
        moved_b_(ctx, b.size),
        moved_x_(ctx, b.size) {}

  bool due(const detail::SolveStanding& now) override { return !moved && now.iterations >= at_; }

  std::optional<detail::ExchangedSystem<double, S>> exchange(const std::vector<Span<double, S>>& vectors) override {
    if (refuses) {
      moved = true;
      return std::nullopt;
    }
    moved = true;
    Array<double, S> there(ctx_, b_.size);
    for (const Span<double, S> vector : vectors) {
      renumber(vector, there.span());
      copy<double>(ctx_, there.cspan(), vector);
    }
    renumber(b_, moved_b_.span());
    renumber(x_, moved_x_.span());
    b_ = moved_b_;
    x_ = moved_x_;
    ctx_.synchronize();
    from_ = {};  // destroyed, as the interface says
    return detail::ExchangedSystem<double, S>{*to_.A, to_.M.get(), b_, x_, same};
  }

  void follow(Span<const double, S>& b, Span<double, S>& x) const override {
    b = b_;
    x = x_;
  }

  // The result in the caller's numbering.
  std::vector<double> result() const {
    std::vector<double> x = to_vector(ctx_, Span<const double, S>(x_));
    if (moved_x_.data() != x_.data || to_.order.natural()) return x;
    std::vector<double> user(x.size());
    const std::vector<Index> old_of_new = to_vector(ctx_, to_.order.old_of_new.cspan());
    for (std::size_t i = 0; i < x.size(); ++i) user[static_cast<std::size_t>(old_of_new[i])] = x[i];
    return user;
  }

  bool moved = false, refuses = false, same = true;

 private:
  void renumber(Span<const double, S> from, Span<double, S> to) const {
    if (to_.order.natural()) return copy<double>(ctx_, from, to);
    gather<double, S>(ctx_, from, to_.order.old_of_new.cspan(), to);
  }

  const Context<S>& ctx_;
  int at_;
  Built<S>& from_;
  Built<S> to_;
  Span<const double, S> b_;
  Span<double, S> x_;
  Array<double, S> moved_b_, moved_x_;
};

struct Case {
  const char *system, *solver, *precond;
};

// What every case of this file starts from: b for a known x, and a guess of zeros.
template <Space S>
struct Problem {
  Context<S> ctx = make_context<S>();
  HostCsr a;
  std::vector<double> b_host;
  Uploaded<double, S> there;
  Array<double, S> b, x;

  explicit Problem(const std::string& system) : a(fem_matrix(system)), there(upload_matrix<double>(ctx, a)) {
    std::vector<double> x_true(static_cast<std::size_t>(a.rows));
    for (std::size_t i = 0; i < x_true.size(); ++i) x_true[i] = 1 + static_cast<double>(i % 7);
    b_host = product_oracle(a, x_true);
    b = upload(ctx, b_host);
    x = upload(ctx, std::vector<double>(x_true.size(), 0.0));
  }

  std::unique_ptr<KrylovSolver<double, S>> solver(const std::string& name) const {
    return make_solver<double, S>(ctx, a.rows, SolverOptions{name});
  }
};

StopCriterion some_tolerance() {
  StopCriterion stop;
  stop.rel_tol = 1e-9;
  return stop;
}

template <Space S>
SolveReport solved(const Problem<S>& problem, const Built<S>& with, const std::string& solver, Span<double, S> x) {
  const auto made = problem.solver(solver);
  return made->solve(problem.ctx, *with.A, with.M.get(), problem.b.cspan(), x, some_tolerance());
}

}  // namespace

TEST_BOTH("A solve that moves to another format takes the iterations of that format", "[exchange]") {
  for (const Case& c :
       {Case{"generate:elasticity:8", "cg", "none"}, Case{"generate:elasticity:8", "cg", "jacobi"},
        Case{"generate:elasticity:8", "cg", "fsai"}, Case{"generate:elasticity:8", "cg", "spai"},
        Case{"generate:convection:12:10", "bicgstab", "jacobi"},
        Case{"generate:convection:12:10", "bicgstab", "spai"}, Case{"generate:convection:12:10", "bicgstab", "none"},
        Case{"generate:convection:12:10", "gmres", "jacobi"}}) {
    for (const char* format : {"ehyb", "ellwarp", "bce"}) {
      CAPTURE(c.system, c.solver, c.precond, format);
      Problem<S> problem(c.system);
      Built<S> csr = build(problem.ctx, problem.there.wide(), "csr", c.precond);
      const auto alone = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
      auto reference_x = make_array(problem.ctx, alone.cspan());
      const SolveReport reference = solved(problem, csr, c.solver, reference_x.span());
      REQUIRE(reference.converged());

      Built<S> other = build(problem.ctx, problem.there.wide(), format, "none");
      SpmvOptions spmv;
      spmv.format = format;
      if (csr.M != nullptr && csr.M->diagonal().empty()) {
        other.M = csr.M->renumbered(problem.ctx, other.order, spmv);
        REQUIRE(other.M != nullptr);
      } else {
        other.M = build(problem.ctx, problem.there.wide(), format, c.precond).M;
      }
      csr.M = nullptr;
      if (std::string(c.precond) != "none") csr.M = build(problem.ctx, problem.there.wide(), "csr", c.precond).M;
      MoveAt<S> move(problem.ctx, reference.iterations / 3, csr, std::move(other), problem.b.cspan(),
                     problem.x.span());
      const auto solver = problem.solver(c.solver);
      solver->set_exchange(&move);
      const SolveReport report =
          solver->solve(problem.ctx, *csr.A, csr.M.get(), problem.b.cspan(), problem.x.span(), some_tolerance());
      CHECK(move.moved);
      CHECK(report.converged());
      CHECK(std::abs(report.iterations - reference.iterations) <= std::max(2.0, 0.02 * reference.iterations));
      CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
      CHECK(report.residual_replacements == reference.residual_replacements);
      CHECK(residual_norm(problem.a, move.result(), problem.b_host) <= 1.01e-9 * norm_oracle(problem.b_host));
    }
  }
}

TEST_BOTH("A move that does not come about changes no bit", "[exchange]") {
  for (const Case& c :
       {Case{"generate:elasticity:6", "cg", "jacobi"}, Case{"generate:elasticity:6", "cg", "fsai"},
        Case{"generate:convection:9:10", "bicgstab", "spai"}, Case{"generate:convection:9:10", "gmres", "jacobi"}}) {
    CAPTURE(c.system, c.solver, c.precond);
    Problem<S> problem(c.system);
    Built<S> csr = build(problem.ctx, problem.there.wide(), "csr", c.precond);
    auto undisturbed = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
    const SolveReport reference = solved(problem, csr, c.solver, undisturbed.span());
    MoveAt<S> move(problem.ctx, 5, csr, {}, problem.b.cspan(), problem.x.span());
    move.refuses = true;
    const auto solver = problem.solver(c.solver);
    solver->set_exchange(&move);
    const SolveReport report =
        solver->solve(problem.ctx, *csr.A, csr.M.get(), problem.b.cspan(), problem.x.span(), some_tolerance());
    CHECK(move.moved);
    CHECK(report.iterations == reference.iterations);
    CHECK(report.history == reference.history);
    CHECK(download(problem.ctx, problem.x) == download(problem.ctx, undisturbed));
  }
}

TEST_BOTH("With another preconditioner than before a solve begins again from its x", "[exchange]") {
  for (const Case& c :
       {Case{"generate:elasticity:6", "cg", "jacobi"}, Case{"generate:convection:9:10", "bicgstab", "jacobi"},
        Case{"generate:convection:9:10", "gmres", "jacobi"}}) {
    CAPTURE(c.system, c.solver, c.precond);
    Problem<S> problem(c.system);
    Built<S> csr = build(problem.ctx, problem.there.wide(), "csr", c.precond);
    Built<S> other = build(problem.ctx, problem.there.wide(), "ehyb", "spai");
    MoveAt<S> move(problem.ctx, 8, csr, std::move(other), problem.b.cspan(), problem.x.span());
    move.same = false;
    const auto solver = problem.solver(c.solver);
    solver->set_exchange(&move);
    const SolveReport report =
        solver->solve(problem.ctx, *csr.A, csr.M.get(), problem.b.cspan(), problem.x.span(), some_tolerance());
    CHECK(move.moved);
    CHECK(report.converged());
    CHECK(report.residual_replacements == 0);
    CHECK(residual_norm(problem.a, move.result(), problem.b_host) <= 1.01e-9 * norm_oracle(problem.b_host));
  }
}

TEST_CASE("Iterations to go follow from how the residual has fallen", "[exchange]") {
  detail::ResidualRate rate;
  CHECK(rate.iterations() == -1);
  rate.add(1);
  CHECK(rate.left(1e-8) == 0);
  for (int k = 1; k <= 20; ++k) rate.add(std::pow(0.5, k));  // 0.5 an iteration
  CHECK(rate.iterations() == 20);
  // 0.5^20 to 1e-8 by log2: 26.6 - 20
  CHECK(rate.left(1e-8) == Approx(6.575).margin(0.01));
  for (int k = 0; k < 20; ++k) rate.add(10);  // no gain since
  CHECK(rate.left(1e-8) == 0);
  detail::ResidualRate slow;
  for (int k = 0; k < 30; ++k) slow.add(std::pow(0.99, k));
  CHECK(slow.left(1e-8) == 0);  // not yet a tenth
  detail::ResidualRate met;
  for (const double residual : {1.0, 1e-2, 1e-4, 1e-9}) met.add(residual);
  CHECK(met.left(1e-8) == 1);
}

TEST_CASE("A setup is bought in mid-solve by what was missed times what is ahead", "[exchange]") {
  FormatChoice choice;
  FormatTrial csr, ehyb;
  csr.format = choice.format = "csr";
  csr.iteration_seconds = 10e-6;
  ehyb.format = "ehyb";
  ehyb.iteration_seconds = 2e-6;
  ehyb.setup_seconds = 8e-3;  // 1,000 iterations
  choice.trials = {csr, ehyb};
  detail::SystemLearning learning;
  CHECK(learning.better_for(choice, 0, 1e9) == nullptr);
  CHECK(learning.better_for(choice, 999, 1000) == nullptr);
  REQUIRE(learning.better_for(choice, 1001, 1000) != nullptr);
  CHECK(learning.better_for(choice, 1001, 1000)->format == "ehyb");
  CHECK(learning.better_for(choice, 101, 10000) != nullptr);
  CHECK(learning.better_for(choice, 10000, 99) == nullptr);
  learning.count(500);  // of solves before
  CHECK(learning.better_for(choice, 501, 1000) != nullptr);
  choice.trials[1].failure = "memory";
  CHECK(learning.better_for(choice, 1e6, 1e6) == nullptr);
  choice.trials[1].failure = "";
}

// Large enough that the cost model expects another format to pay, with iterations enough.
template <Space S>
constexpr const char* worth_a_format = S == Space::host ? "generate:elasticity:24" : "generate:elasticity:10";
constexpr double tight = 1e-12;

TEST_BOTH("A system begins in CSR and moves in its first solve, the same on every run", "[exchange][learning]") {
  for (const char* precond : {"none", "jacobi", "fsai"}) {
    CAPTURE(precond);
    std::vector<double> bits;
    SolveReport first;
    for (int run = 0; run < 2; ++run) {
      Problem<S> problem(worth_a_format<S>);
      SystemOptions options;
      options.precond.name = precond;
      options.stop.rel_tol = tight;
      LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
      REQUIRE(system.info().format.format == "csr");
      const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
      CHECK(report.converged());
      CHECK(report.changed.find(" to go") != std::string::npos);
      CHECK(system.info().format.format != "csr");
      const std::vector<double> x = download(problem.ctx, problem.x);
      CHECK(residual_norm(problem.a, x, problem.b_host) <= 2 * tight * norm_oracle(problem.b_host));
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
      CHECK(residual_norm(problem.a, twice, problem.b_host) <= 2 * tight * norm_oracle(problem.b_host));
    }
  }
}

TEST_BOTH("What holds on to an order before the first solve gets the format that is expected to pay",
          "[exchange][learning]") {
  Problem<S> problem(worth_a_format<S>);
  SystemOptions options;
  options.precond.name = "jacobi";
  options.stop.rel_tol = tight;
  LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
  REQUIRE(system.info().format.format == "csr");
  CHECK_FALSE(system.order().natural());
  CHECK(system.info().format.format != "csr");
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  CHECK(report.converged());
  CHECK(report.changed.empty());
  CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
        2 * tight * norm_oracle(problem.b_host));
}
