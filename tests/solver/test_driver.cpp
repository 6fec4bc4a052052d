// SPDX-License-Identifier: Apache-2.0
// What the driver does around the steps of any method: here of one whose steps the test writes down.
#include "tests/catch.hpp"

#include "solver/krylov/methods/driver.hpp"

using namespace newel::detail;

namespace {

// x = b, of one unknown, so that the residual of x is |1 - x| where b = 1.
class Identity final : public LinearOperator<double, host> {
 public:
  Index rows() const override { return 1; }
  Index cols() const override { return 1; }
  void apply(const Context<host>&, double alpha, Span<const double, host> x, double beta,
             Span<double, host> y) const override {
    y.data[0] = alpha * x.data[0] + (beta == 0 ? 0 : beta * y.data[0]);
  }
};

/// What a step leaves: x, the residual that the recurrence believes in, and an event of its own.
struct Step {
  double x;
  double believed;
  Event event = Event::none;
};

class Scripted final : public Recurrence<double, host> {
 public:
  Scripted(Keeps keeps, std::function<Step(int iteration)> script, int cycle = 1 << 30)
      : keeps_(keeps), script_(std::move(script)), cycle_(cycle) {}

  RecurrenceParts<double, host> parts() override {
    const auto vector = [](double& value) { return Span<double, host>(&value, 1); };
    return {"scripted", vector(r_), vector(work_), vector(kept_), {vector(r_)}, &monitor_, &scratch_, keeps_, false};
  }
  void bind(const SolveRequest<double, host>& system) override {
    system_ = &system;
    ++bound;
  }
  void begin(MonitorState monitor, double residual) override {
    begun_with.push_back(residual);
    monitor_ = monitor;
    left_ = cycle_;
  }
  bool advance(int count) override {
    for (; count > 0 && left_ > 0 && monitor_.running(); --count, --left_) {
      const Step step = script_(monitor_.iteration + 1);
      system_->x.data[0] = step.x;
      monitor_.finish_iteration(step.believed);
      if (monitor_.running()) monitor_.event = step.event;
    }
    return left_ > 0;
  }
  void complete(ConvergenceMonitor<double, host>&, bool) override { ++completed; }
  Verdict judge(Event event) override {
    if (event == Event::tolerance_met) return Verdict::confirm;
    if (keeps_ == Keeps::cycles) return Verdict::cycle_end;
    return event == Event::rho_vanished ? Verdict::breakdown : Verdict::outcome;
  }
  bool stagnates(const ConvergenceMonitor<double, host>&) override { return ++cycles == most_cycles; }

  std::vector<double> begun_with;
  int bound = 0, completed = 0, cycles = 0, most_cycles = 0;

 private:
  Keeps keeps_;
  std::function<Step(int)> script_;
  int cycle_, left_ = 0;
  const SolveRequest<double, host>* system_ = nullptr;
  MonitorState monitor_{};
  double r_ = 0, work_ = 0, kept_ = 0, scratch_ = 0;
};

struct Outcome {
  SolveReport report;
  double x;
  int expected;  ///< of the next solve
};

Outcome solve(Scripted& recurrence, int max_iterations, OperatorExchange<double, host>* exchange = nullptr) {
  const Context<host> ctx(1);
  const Identity A;
  const double b = 1;
  double x = 0;
  StopCriterion stop;
  stop.max_iterations = max_iterations;
  const ProgressFn nobody;
  int expected = 0;
  SolveReport report = drive<double, host>(
      recurrence, {ctx, A, nullptr, {&b, 1}, {&x, 1}, stop, nobody, InitialGuess::in_x, exchange}, expected);
  return {std::move(report), x, expected};
}

/// Offers the same system once, after so many iterations.
class Once final : public OperatorExchange<double, host> {
 public:
  Once(int after, bool same_preconditioner) : after_(after), same_(same_preconditioner) {}
  bool due(const SolveStanding& standing) override { return standing.iterations >= after_ && x_ == -1; }
  int not_before() override { return x_ == -1 ? after_ : no_exchange; }
  std::optional<ExchangedSystem<double, host>> exchange(const std::vector<Span<double, host>>&) override {
    x_ = 0;
    return ExchangedSystem<double, host>{A_, nullptr, {&b_, 1}, {&x_, 1}, same_};
  }
  std::string preconditioner() const override { return ""; }
  void follow(Span<const double, host>&, Span<double, host>&) const override {}
  double x() const { return x_; }

 private:
  Identity A_;
  const double b_ = 1;
  double x_ = -1;
  int after_;
  bool same_;
};

}  // namespace

TEST_CASE("A tolerance that a recurrence meets is confirmed by b - A x", "[solver][driver]") {
  Scripted honest(Keeps::starts, [](int k) { return Step{k < 3 ? 0.5 : 1, k < 3 ? 0.5 : 0}; });
  const Outcome met = solve(honest, 100);
  CHECK(met.report.status == Status::converged);
  CHECK(met.report.iterations == 3);
  CHECK(met.report.true_residual == 0);
  CHECK(honest.begun_with == std::vector<double>{1});

  // It goes on from the true residual, three times.
  Scripted wrong(Keeps::starts, [](int) { return Step{0.5, 0}; });
  const Outcome missed = solve(wrong, 100);
  CHECK(missed.report.status == Status::stagnation);
  CHECK(missed.report.residual_replacements == 3);
  CHECK(missed.report.true_residual == 0.5);
  CHECK(wrong.begun_with == std::vector<double>{1, 0.5, 0.5, 0.5});
}

TEST_CASE("A recurrence that breaks down begins again five times at most", "[solver][driver]") {
  Scripted breaks(Keeps::iterates, [](int) { return Step{0.25, 0.75, Event::rho_vanished}; });
  const Outcome broken = solve(breaks, 100);
  CHECK(broken.report.status == Status::breakdown);
  CHECK(broken.report.restarts == 5);
  CHECK(broken.report.iterations == 6);
  CHECK(breaks.begun_with == std::vector<double>{1, 0.75, 0.75, 0.75, 0.75, 0.75});

  // A breakdown at the solution is none.
  Scripted arrives(Keeps::iterates, [](int) { return Step{1, 0.75, Event::rho_vanished}; });
  CHECK(solve(arrives, 100).report.status == Status::converged);
}

TEST_CASE("Of a solve that does not converge the best x that was kept returns", "[solver][driver]") {
  // Iterates are kept every 16 iterations, so that the better one after 20 is missed.
  const auto script = [](int k) {
    const double x = k == 16 ? 0.9 : k == 20 ? 0.95 : k < 16 ? 0.1 : -3.0;
    return Step{x, 1 - x};
  };
  Scripted iterates(Keeps::iterates, script);
  const Outcome kept = solve(iterates, 40);
  CHECK(kept.report.status == Status::max_iterations);
  CHECK(kept.x == 0.9);
  CHECK(kept.report.true_residual == 1 - 0.9);

  // Where a recurrence believes too well of an x, the true residuals decide.
  Scripted boasts(Keeps::iterates, [](int k) { return Step{k == 16 ? -7.0 : 0.5, k == 16 ? 0.01 : 0.5}; });
  CHECK(solve(boasts, 40).x == 0.5);
}

TEST_CASE("A cycle begins with the true residual of the one before, until the method finds no gain",
          "[solver][driver]") {
  Scripted cycles(
      Keeps::cycles,
      [](int k) {
        return Step{k == 4 ? 0.75 : 0.5, 0.5};
      },
      2);
  cycles.most_cycles = 4;
  const Outcome ended = solve(cycles, 100);
  CHECK(ended.report.status == Status::stagnation);
  CHECK(ended.report.iterations == 8);
  CHECK(ended.report.restarts == 3);
  CHECK(cycles.completed == 4);
  CHECK(cycles.begun_with == std::vector<double>{1, 0.5, 0.25, 0.5});
  CHECK(ended.x == 0.75);  // the best x between cycles
}

TEST_CASE("With other operators a recurrence goes on, with another preconditioner a new one begins",
          "[solver][driver][exchange]") {
  const auto script = [](int k) { return Step{k < 6 ? 0.5 : 1, k < 6 ? 0.5 : 0}; };
  for (const bool same : {true, false}) {
    CAPTURE(same);
    Once exchange(4, same);
    Scripted recurrence(Keeps::starts, script);
    const Outcome solved = solve(recurrence, 100, &exchange);
    CHECK(solved.report.status == Status::converged);
    CHECK(recurrence.bound == 2);
    CHECK(recurrence.completed == 2);
    CHECK(recurrence.begun_with == (same ? std::vector<double>{1} : std::vector<double>{1, 1}));
    CHECK(solved.report.iterations == 6);
    CHECK(solved.expected == (same ? 6 : 2));  // with the present preconditioner
    CHECK(solved.x == 0.5);                    // as it was left
    CHECK(exchange.x() == 1.0);                // where the solve went on
  }
}
