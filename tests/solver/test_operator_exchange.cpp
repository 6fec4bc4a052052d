// SPDX-License-Identifier: Apache-2.0
// Solves that move to another order and format on their way.
#include "tests/solver/problem.hpp"

#include <newel/precond/registry.hpp>
#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include "solver/krylov/monitor/operator_exchange.hpp"

namespace {

// A and M of one system, in the caller's order as CSR or in that of a format.
template <Space S>
struct Built {
  RowOrder<S> order;
  OperatorPtr<double, S> A, M;
};

template <Space S>
Built<S> build(const Context<S>& ctx, const CsrView<double, S>& a, const std::string& format,
               const std::string& precond, bool symmetric = true) {
  SpmvOptions spmv;
  spmv.format = format;
  PrecondOptions options;
  options.name = precond;
  options.symmetric = symmetric;  // as CG needs it
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

  bool due(const detail::SolveStanding& now) override {
    standing = now;
    return !moved && now.iterations >= at_;
  }
  int not_before() override { return moved ? detail::no_exchange : 0; }

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

  std::string preconditioner() const override { return {}; }
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
  detail::SolveStanding standing;  // as last asked

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

// Moves nothing, and wants to be asked in iterations that the test names.
template <Space S>
class AskedAt final : public detail::OperatorExchange<double, S> {
 public:
  explicit AskedAt(std::vector<int> at) : at_(std::move(at)) {}
  bool due(const detail::SolveStanding& now) override {
    asked.push_back(now.iterations);
    return false;
  }
  int not_before() override { return asked.size() < at_.size() ? at_[asked.size()] : detail::no_exchange; }
  std::optional<detail::ExchangedSystem<double, S>> exchange(const std::vector<Span<double, S>>&) override {
    return std::nullopt;
  }
  std::string preconditioner() const override { return {}; }
  void follow(Span<const double, S>&, Span<double, S>&) const override {}

  std::vector<int> asked;

 private:
  std::vector<int> at_;
};

struct Case {
  const char *system, *solver, *precond;
};

StopCriterion some_tolerance() {
  StopCriterion stop = stop_at(1e-9);
  stop.check_every = 4;  // a kernel that makes all iterations is asked no more often
  return stop;
}

template <Space S>
SolveReport solved(const Problem<S>& problem, const Built<S>& with, const std::string& solver, Span<double, S> x,
                   MoveAt<S>* move = nullptr) {
  const auto made = problem.solver(solver);
  return made->run(
      {problem.ctx, *with.A, with.M.get(), problem.b.cspan(), x, some_tolerance(), {}, InitialGuess::in_x, move});
}

}  // namespace

TEST_BOTH("A solve asks for other operators in the iterations for which it was told to", "[exchange]") {
  for (const Case& c : {Case{"generate:diffusion:20", "cg", "jacobi"}, Case{"generate:diffusion:20", "cg", "none"},
                        Case{"generate:convection:12:1", "bicgstab", "none"}}) {
    for (const char* format : {"ehyb", "csr"}) {
      for (const bool one_kernel : {true, false}) {
        Problem<S> problem(c.system);
        const Built<S> built = build(problem.ctx, problem.there.wide(), format, c.precond, false);
        const std::vector<int> at{34, 38, 49};
        AskedAt<S> asks(at);
        SolverOptions options;
        options.name = c.solver;
        options.of<CgOptions>().resident = options.of<BicgstabOptions>().resident = one_kernel;
        const auto solver = make_solver<double, S>(problem.ctx, problem.a.rows, options);
        StopCriterion stop = stop_at(1e-9);
        const SolveReport report = solver->run({problem.ctx,
                                                *built.A,
                                                built.M.get(),
                                                problem.b.cspan(),
                                                problem.x.span(),
                                                stop,
                                                {},
                                                InitialGuess::in_x,
                                                &asks});
        CAPTURE(c.system, c.precond, format, one_kernel, report.iterations);
        REQUIRE(report.converged());
        REQUIRE(report.iterations > at.back());
        CHECK(asks.asked == at);
      }
    }
  }
}

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
      const bool symmetric = std::string(c.solver) == "cg";
      Built<S> csr = build(problem.ctx, problem.there.wide(), "csr", c.precond, symmetric);
      const auto alone = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
      auto reference_x = make_array(problem.ctx, alone.cspan());
      const SolveReport reference = solved(problem, csr, c.solver, reference_x.span());
      REQUIRE(reference.converged());

      Built<S> other = build(problem.ctx, problem.there.wide(), format, "none");
      SpmvOptions spmv;
      spmv.format = format;
      if (csr.M != nullptr && csr.M->traits().diagonal.empty()) {
        other.M = csr.M->renumbered(problem.ctx, other.order, spmv);
        REQUIRE(other.M != nullptr);
      } else {
        other.M = build(problem.ctx, problem.there.wide(), format, c.precond, symmetric).M;
      }
      csr.M = nullptr;
      if (std::string(c.precond) != "none")
        csr.M = build(problem.ctx, problem.there.wide(), "csr", c.precond, symmetric).M;
      MoveAt<S> move(problem.ctx, reference.iterations / 3, csr, std::move(other), problem.b.cspan(),
                     problem.x.span());
      const SolveReport report = solved(problem, csr, c.solver, problem.x.span(), &move);
      CHECK(move.moved);
      CHECK(report.converged());
      // BiCGStab begins again on its way into one kernel, and rounding moves its counts.
      const double least = symmetric ? 2.0 : 5.0, share = symmetric ? 0.02 : 0.1;
      CHECK(std::abs(report.iterations - reference.iterations) <= std::max(least, share * reference.iterations));
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
    const SolveReport report = solved(problem, csr, c.solver, problem.x.span(), &move);
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
    const SolveReport report = solved(problem, csr, c.solver, problem.x.span(), &move);
    CHECK(move.moved);
    CHECK(report.converged());
    CHECK(report.residual_replacements == 0);
    CHECK(residual_norm(problem.a, move.result(), problem.b_host) <= 1.01e-9 * norm_oracle(problem.b_host));
  }
}

TEST_BOTH("The next solve expects the iterations that the last one took with its last preconditioner", "[exchange]") {
  for (const Case& c :
       {Case{"generate:diffusion:12", "cg", "jacobi"}, Case{"generate:diffusion:12", "bicgstab", "jacobi"}}) {
    CAPTURE(c.solver);
    Problem<S> problem(c.system);
    SolverOptions options;
    options.name = c.solver;
    options.of<CgOptions>().resident = options.of<BicgstabOptions>().resident = false;
    const auto solver = make_solver<double, S>(problem.ctx, problem.a.rows, options);
    Built<S> csr = build(problem.ctx, problem.there.wide(), "csr", c.precond);
    const Built<S> last = build(problem.ctx, problem.there.wide(), "csr", "amg");
    MoveAt<S> move(problem.ctx, 14, csr, build(problem.ctx, problem.there.wide(), "csr", "amg"), problem.b.cspan(),
                   problem.x.span());
    move.same = false;
    StopCriterion stop = stop_at(1e-9);
    const SolveReport first = solver->run(
        {problem.ctx, *csr.A, csr.M.get(), problem.b.cspan(), problem.x.span(), stop, {}, InitialGuess::in_x, &move});
    REQUIRE(move.moved);
    CHECK(move.standing.initial_residual == first.initial_residual);
    const int with_last = first.iterations - move.standing.iterations;
    REQUIRE(with_last < 16);

    fill<double, S>(problem.ctx, 0.0, problem.x.span());
    std::vector<int> polls;
    const ProgressFn note = [&](const Progress& now) {
      polls.push_back(now.iteration);
      return true;
    };
    const SolveReport second =
        solver->solve(problem.ctx, *last.A, last.M.get(), problem.b.cspan(), problem.x.span(), stop, note);
    CHECK(second.converged());
    CHECK(polls.front() == (S == Space::host ? 1 : with_last));
  }
}

TEST_CASE("What is left of a solve is counted in digits", "[exchange]") {
  const auto left = [](double residual, double initial) {
    detail::SolveStanding standing;
    standing.residual = residual;
    standing.tolerance = 1e-8;
    standing.initial_residual = initial;
    return standing.digits_left();
  };
  CHECK(left(1, 1) == 1);
  CHECK(left(1e-4, 1) == Approx(0.5));
  CHECK(left(1e-6, 100) == Approx(0.2));
  CHECK(left(5, 1) == 1);
  CHECK(left(1e-9, 1) == 0);
  CHECK(left(1e-4, 0) == 0);
  CHECK(left(1e-4, 1e-9) == 0);
}

// In the caller's numbering, in two parts: on a device one kernel solves the system.
template <Space S>
Built<S> build_in_parts(const Problem<S>& problem, const std::string& precond) {
  SpmvOptions spmv;
  spmv.format = "ehyb";
  PrecondOptions options;
  options.name = precond;
  Built<S> built;
  built.order.part_begin = {0, problem.a.rows / 2, problem.a.rows};
  built.A = make_spmv(problem.ctx, problem.there.wide(), built.order, spmv);
  built.M = make_precond(problem.ctx, problem.there.wide(), built.order, options, spmv);
  problem.ctx.synchronize();
  return built;
}

TEST_BOTH("A solve in EHYB moves to another preconditioner on its way", "[exchange]") {
  for (const Case& c :
       {Case{"generate:diffusion:10", "cg", "jacobi"}, Case{"generate:convection:9:10", "bicgstab", "jacobi"}}) {
    CAPTURE(c.system, c.solver, c.precond);
    Problem<S> problem(c.system);
    Built<S> from = build_in_parts(problem, c.precond);
    const auto zeros = upload(problem.ctx, std::vector<double>(problem.b_host.size(), 0.0));
    auto alone_x = make_array(problem.ctx, zeros.cspan());
    const SolveReport alone = solved(problem, from, c.solver, alone_x.span());
    MoveAt<S> move(problem.ctx, 8, from, build_in_parts(problem, "spai"), problem.b.cspan(), problem.x.span());
    move.same = false;
    const SolveReport report = solved(problem, from, c.solver, problem.x.span(), &move);
    CHECK(move.moved);
    CHECK(report.converged());
    CHECK(alone.resident == (S == Space::device));
    CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
    CHECK(std::vector<double>(report.history.begin(), report.history.begin() + 9) ==
          std::vector<double>(alone.history.begin(), alone.history.begin() + 9));
    CHECK(report.history[9] != alone.history[9]);
    CHECK(residual_norm(problem.a, move.result(), problem.b_host) <= 1.01e-9 * norm_oracle(problem.b_host));
  }
}
