// SPDX-License-Identifier: Apache-2.0
// Solvers tried in turn: the best x is kept, a null space is taken out of what goes in and out, and what is called
// attainable is one figure. The solvers here do as they are told.
#include "tests/solver/column_support.hpp"
#include "tests/solver/systems.hpp"

#include <newel/solver/registry.hpp>
#include "solver/krylov/monitor/null_space.hpp"
#include "solver/chain/solver_chain.hpp"

namespace {

struct Ending {
  std::string solver;
  double share;  ///< the residual that it leaves, over |b|
  Status status;
  double attainable = 0;  ///< what it calls so, over |b|
};

/// What an attempt was given.
struct Given {
  std::vector<double> x;
  int max_iterations;
};

/// "Solves" x = b: leaves (1 - share) b in three iterations, and says what its ending says. Notes what it was given.
template <Space S>
class Puppet final : public KrylovSolver<double, S> {
 public:
  Puppet(Ending ending, std::vector<Given>& given) : ending_(std::move(ending)), given_(given) {}
  std::string_view name() const override { return ending_.solver; }
  SolveReport run(const SolveRequest<double, S>& request) override {
    const Context<S>& ctx = request.ctx;
    const Span<const double, S> b = request.b;
    const Span<double, S> x = request.x;
    const StopCriterion& stop = request.stop;
    const auto rhs = to_vector(ctx, b);
    const auto guess = to_vector(ctx, Span<const double, S>(x));
    given_.push_back({guess, stop.max_iterations});
    SolveReport report;
    report.solver = ending_.solver;
    report.rhs_norm = norm(rhs);
    report.tolerance = stop.rel_tol * report.rhs_norm;
    auto r = rhs;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= guess[i];
    report.initial_residual = norm(r);
    axpby<double, S>(ctx, 1 - ending_.share, b, 0.0, x);
    report.true_residual = report.recurrence_residual = std::fabs(ending_.share) * report.rhs_norm;
    report.status = ending_.status;
    report.iterations = 3;
    report.history.assign(4, report.true_residual);
    report.attainable_residual = ending_.attainable * report.rhs_norm;
    report.failure = {report.attainable_residual > 0 ? Cause::rounding : Cause::omega_vanished};
    report.attempts = {{report.solver, report.status, 3, report.true_residual, 0, "", report.attainable_residual, "",
                        report.failure}};
    return report;
  }

 private:
  Ending ending_;
  std::vector<Given>& given_;
};

template <Space S>
struct ChainRun {
  SolveReport report;
  std::vector<double> x, b;
  std::vector<Given> given;  ///< to each attempt
};

// A step of a chain, with the line of the table where the name is there.
template <Space S>
detail::ChainStep<double, S> step_of(const std::string& name,
                                     std::function<std::unique_ptr<KrylovSolver<double, S>>()> make) {
  const auto& methods = solver_methods();
  const auto line = std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
  return {name, line == methods.end() ? nullptr : &*line, false, std::move(make)};
}

template <Space S>
ChainRun<S> chain_of(const std::vector<Ending>& endings,
                     const std::vector<double>& guess = std::vector<double>(40, 0.0),
                     const StopCriterion& stop = {}) {
  const Context<S> ctx;
  ChainRun<S> run;
  const FunctionOperator<double, S> identity(40, 40, [](const auto& c, double alpha, auto x, double beta, auto y) {
    axpby<double, S>(c, alpha, x, beta, y);
  });
  std::vector<detail::ChainStep<double, S>> steps;
  for (const Ending& ending : endings) {
    steps.push_back(step_of<S>(ending.solver, [&] { return std::make_unique<Puppet<S>>(ending, run.given); }));
  }
  detail::SolverChain<double, S> chain(ctx, steps, identity, nullptr, false);
  run.b = noise(40);
  const auto bs = make_array(ctx, run.b);
  auto xs = make_array(ctx, guess);
  run.report = chain.solve(bs.cspan(), xs.span(), stop, {});
  run.x = to_vector(ctx, xs.cspan());
  return run;
}

std::vector<double> times(double factor, std::vector<double> v) {
  for (double& value : v) value *= factor;
  return v;
}

void check_near(const std::vector<double>& x, const std::vector<double>& expected) {
  REQUIRE(x.size() == expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(expected[i]).margin(1e-14));
}

double mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size()); }

}  // namespace

TEST_BOTH("The next solver begins with the best x, and the best of all is returned", "[solver][chain]") {
  for (const Status failure :
       {Status::breakdown, Status::stagnation, Status::diverged, Status::not_positive_definite}) {
    INFO(name_of(failure));
    const auto last_is_worse = chain_of<S>({{"one", 0.5, failure}, {"two", 7, failure}, {"three", 3, failure}});
    check_near(last_is_worse.x, times(0.5, last_is_worse.b));
    CHECK(last_is_worse.report.true_residual == Approx(0.5 * norm(last_is_worse.b)));
    REQUIRE(last_is_worse.given.size() == 3);
    check_near(last_is_worse.given[1].x, times(0.5, last_is_worse.b));
    check_near(last_is_worse.given[2].x, times(0.5, last_is_worse.b));

    const auto all_are_worse = chain_of<S>({{"one", 2, failure}, {"two", 7, failure}});
    check_near(all_are_worse.x, std::vector<double>(40, 0.0));
    check_near(all_are_worse.given[1].x, std::vector<double>(40, 0.0));
    CHECK(all_are_worse.report.true_residual == Approx(norm(all_are_worse.b)));

    const auto better = chain_of<S>({{"one", 2, failure}, {"two", 0.25, failure}});
    check_near(better.x, times(0.75, better.b));
    CHECK(better.report.true_residual == Approx(0.25 * norm(better.b)));
  }
}

TEST_BOTH("All solvers of a chain share one number of iterations", "[solver][chain]") {
  const std::vector<Ending> endings = {
      {"one", 0.5, Status::stagnation}, {"two", 0.4, Status::stagnation}, {"three", 0.3, Status::stagnation}};
  StopCriterion stop;
  stop.max_iterations = 7;
  const auto three = chain_of<S>(endings, std::vector<double>(40, 0.0), stop);
  REQUIRE(three.given.size() == 3);
  for (int k = 0; k < 3; ++k) CHECK(three.given[static_cast<std::size_t>(k)].max_iterations == 7 - 3 * k);
  CHECK(three.report.iterations == 9);
  stop.max_iterations = 6;
  CHECK(chain_of<S>(endings, std::vector<double>(40, 0.0), stop).given.size() == 2);
}

TEST_BOTH("What is called attainable is the residual of the best x, in reason and report alike", "[solver][chain]") {
  const auto stagnation = Status::stagnation;
  // Attempts that agree.
  const auto agreed = chain_of<S>({{"one", 1e-12, stagnation, 1e-12}, {"two", 3e-12, stagnation, 3e-12}});
  CHECK(agreed.report.attainable_residual == Approx(1e-12 * norm(agreed.b)));
  CHECK(agreed.report.attainable_residual == agreed.report.true_residual);
  CHECK(contains(agreed.report.reason, "about 1.00e-12 of |b| is attainable"));

  // One that reached far less than another called attainable: nobody knows, and nobody says.
  const auto apart = chain_of<S>({{"one", 1e-14, stagnation, 0}, {"two", 1e-9, stagnation, 1e-9}});
  CHECK(apart.report.attainable_residual == 0);
  CHECK_FALSE(contains(apart.report.reason, "attainable"));
  CHECK(contains(apart.report.reason, "1.00e-14 of |b| was reached"));
  for (const Attempt& attempt : apart.report.attempts) {
    CHECK(attempt.attainable_residual == 0);
    CHECK_FALSE(contains(attempt.reason, "attainable"));
  }
  CHECK(contains(apart.report.attempts[1].reason, "1.00e-09 of |b| was reached"));

  // The last attempt's word counts, and it has none.
  const auto silent = chain_of<S>({{"one", 1e-12, stagnation, 1e-12}, {"two", 1, Status::breakdown}});
  CHECK(silent.report.attainable_residual == 0);
  CHECK(silent.report.failure.cause == Cause::omega_vanished);
  CHECK(silent.report.reason == text_of({Cause::omega_vanished}));
}

TEST_BOTH("The projection of a null space is P M P, whatever is added to", "[solver][chain][null_space]") {
  constexpr Index n = 33;
  const auto r = noise(n, 4), y = noise(n, 5), d = noise(n, 6);
  const auto diagonal = make_array(ctx, d);
  const FunctionOperator<double, S> M(
      n, n, [&](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> z) {
        multiply<double, S>(c, alpha, diagonal.cspan(), x, beta, z);
      });
  const auto centred = [](std::vector<long double> v) {
    long double sum = 0;
    for (const long double value : v) sum += value;
    for (long double& value : v) value -= sum / static_cast<long double>(v.size());
    return v;
  };
  for (const LinearOperator<double, S>* inner :
       {static_cast<const LinearOperator<double, S>*>(nullptr), static_cast<const LinearOperator<double, S>*>(&M)}) {
    const detail::ZeroMeanPrecond<double, S> precond(ctx, n, inner);
    for (const auto& [alpha, beta] : std::vector<std::pair<double, double>>{{1, 0}, {-2, 0}, {1, 1}, {0.5, -3}}) {
      CAPTURE(inner != nullptr, alpha, beta);
      std::vector<long double> expected = centred({r.begin(), r.end()});
      for (std::size_t i = 0; i < n; ++i) expected[i] = alpha * expected[i] * (inner != nullptr ? d[i] : 1.0);
      const auto before = centred({y.begin(), y.end()});
      expected = centred(expected);
      for (std::size_t i = 0; i < n; ++i) expected[i] += beta * before[i];
      const auto x = make_array(ctx, r);
      auto z = make_array(ctx, std::vector<double>(before.begin(), before.end()));
      precond.apply(ctx, alpha, x.cspan(), beta, z.span());
      const auto found = to_vector(ctx, z.cspan());
      for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == Approx(double(expected[i])).margin(1e-14));
    }
  }
}

TEST_BOTH("Attempts on a singular system begin and end with mean zero", "[solver][chain][null_space]") {
  const Rows a = neumann(7);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto size = static_cast<std::size_t>(a.size());
  std::vector<double> b = a.rhs_for(noise(a.size()));
  std::vector<Given> given;
  // It leaves a part of b, and a mean of 0.5 with it.
  class Leaves final : public KrylovSolver<double, S> {
   public:
    explicit Leaves(std::vector<Given>& given) : puppet_({"one", 0.5, Status::max_iterations}, given) {}
    std::string_view name() const override { return "one"; }
    SolveReport run(const SolveRequest<double, S>& request) override {
      SolveReport report = puppet_.run(request);
      const auto half = make_array(request.ctx, std::vector<double>(static_cast<std::size_t>(request.x.size), 0.5));
      axpy<double, S>(request.ctx, 1.0, half.cspan(), request.x);
      return report;
    }

   private:
    Puppet<S> puppet_;
  };
  detail::SolverChain<double, S> chain(ctx, {step_of<S>("one", [&] { return std::make_unique<Leaves>(given); })}, *A,
                                       nullptr, true);
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(size, 8.0));
  static_cast<void>(chain.solve(bs.cspan(), xs.span(), {}, {}));
  REQUIRE(given.size() == 1);
  CHECK(std::abs(mean(given[0].x)) <= 1e-14);
  CHECK(std::abs(mean(to_vector(ctx, xs.cspan()))) <= 1e-14);

  // Where all make it worse, the guess is handed back, without its mean.
  const auto worse = [&](const std::string& name) {
    return step_of<S>(name, [&given, name] {
      return std::make_unique<Puppet<S>>(Ending{name, 7, Status::breakdown}, given);
    });
  };
  detail::SolverChain<double, S> none(ctx, {worse("one"), worse("two")}, *A, nullptr, true);
  auto guess = noise(a.size(), 5);
  for (double& value : guess) value = 1e-3 * value + 8;
  auto ys = make_array(ctx, guess);
  static_cast<void>(none.solve(bs.cspan(), ys.span(), {}, {}));
  const auto y = to_vector(ctx, ys.cspan());
  const double shift = mean(guess);
  for (std::size_t i = 0; i < size; ++i) CHECK(y[i] == Approx(guess[i] - shift).margin(1e-13));
}

TEST_BOTH("A guess with a huge mean does no harm to a singular system, alone and in a batch",
          "[solver][chain][null_space]") {
  // |x| eps |A| of a mean of 1e10 is 1e-5: with it b - A x meets no tolerance.
  const Context<S> ctx;
  const Rows a = neumann(9);
  const auto b = a.rhs_for(noise(a.size()));
  for (const std::string solver : {"cg", "gmres", "bicgstab", "auto"}) {
    for (const int columns : {1, 3}) {
      CAPTURE(solver, columns);
      SystemOptions options = system_options(solver, "auto", "auto", 1e-10);
      options.null_space = NullSpace::constant;
      SystemOf<double, S> system(ctx, a, options);
      const Columns bs(static_cast<std::size_t>(columns), b);
      const Columns guesses(bs.size(), std::vector<double>(b.size(), 1e10));
      const auto found = solve_together(ctx, system, bs, guesses);
      REQUIRE(found.report.size() == bs.size());
      for (const SolveReport& report : found.report) CHECK(report.converged());
      for (const std::vector<double>& column : found.x) {
        CHECK(true_residual<double>(a, b, column) <= 1e-10 * norm(b) * (1 + 1e-6));
        CHECK(std::abs(mean(column)) <= 1e-14);
      }
    }
  }
}

TEST_BOTH("The part of b that a singular matrix cannot produce is split off, and the rest is solved for",
          "[solver][chain][null_space]") {
  const Rows a = neumann(9);
  const auto solvable = a.rhs_for(noise(a.size()));
  auto b = solvable;
  for (double& value : b) value += 3;
  for (const int columns : {1, 2}) {
    SystemOptions options;
    options.null_space = NullSpace::constant;
    SystemOf<double, S> system(ctx, a, options);
    const Columns bs(static_cast<std::size_t>(columns), b);
    const auto found = solve_together(ctx, system, bs, zeros_like(bs));
    REQUIRE(found.report.size() == bs.size());
    for (const SolveReport& report : found.report) {
      INFO(report.reason);
      CHECK(report.status == Status::stagnation);
      CHECK(report.attempts.size() == 1);
      CHECK(report.true_residual == Approx(3 * 9).epsilon(1e-6));  // 3 sqrt(81)
    }
    CHECK(true_residual<double>(a, solvable, found.x[0]) <= 1e-8 * norm(solvable) * (1 + 1e-6));
  }
}
