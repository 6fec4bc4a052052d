// SPDX-License-Identifier: Apache-2.0
// A system that begins where another one stood goes on with its bits, whatever has changed before and what follows.
#include "tests/solver/made_up_operators.hpp"

#include <newel/solver/linear_system.hpp>

namespace {

// One solve as it could be seen from outside.
struct Solved {
  std::vector<double> x, history;
  std::string changed, format, preconditioner;
  std::vector<std::string> solvers = {};  // of the attempts
};

// A time loop, refreshed before every third solve: by powers of two, or by a diagonal that grows. Each solve has a
// right-hand side of its own.
template <Space S>
struct Loop {
  Problem<S> problem;
  SystemOptions options;
  bool by_powers;
  std::optional<LinearSystem<double, S>> system = std::nullopt;
  int at = 0;  // solves made

  std::vector<double> values(int solve) const {
    std::vector<double> present = problem.a.val;
    for (Index i = 0; i < problem.a.rows; ++i) {
      for (Offset k = problem.a.row_ptr[i]; k < problem.a.row_ptr[i + 1]; ++k) {
        double& value = present[static_cast<std::size_t>(k)];
        if (by_powers) value = std::ldexp(value, solve / 3 % 4);
        if (!by_powers && problem.a.col[k] == i) value *= 1 + solve / 3 % 4 * 1e-3;
      }
    }
    return present;
  }
  // As a run that is resumed does: made of the values of the last solve.
  void begin(const std::optional<SystemDecision>& decision) {
    SystemOptions with = options;
    with.decision = decision;
    const auto present = upload(problem.ctx, values(std::max(at - 1, 0)));
    system.emplace(problem.ctx, CsrView<double, S>(Pattern<S>(problem.there.wide()), present.cspan()), with);
  }
  Solved solve() {
    if (at > 0 && at % 3 == 0) system->refresh(upload(problem.ctx, values(at)).cspan());
    const auto b = upload(problem.ctx, random_vector<double>(problem.a.rows, static_cast<std::uint64_t>(at) + 1));
    auto x = upload(problem.ctx, std::vector<double>(static_cast<std::size_t>(problem.a.rows), 0.0));
    const SolveReport report = system->solve(b.cspan(), x.span());
    CHECK(report.converged());
    ++at;
    Solved solved{download(problem.ctx, x), report.history, report.changed, system->info().matrix.name,
                  system->info().preconditioner.name};
    for (const Attempt& tried : report.attempts) solved.solvers.push_back(tried.solver);
    return solved;
  }
};

// An unbroken loop, until `wanted` is among what has changed and for four solves more, or for `most`, and loops that
// are resumed after the first solves and around that change. Returns all changes.
template <Space S>
std::string check_resumed(HostCsr a, const SystemOptions& options, const std::string& wanted, bool by_powers = false,
                          int most = 400) {
  constexpr int more = 4;
  Loop<S> loop{Problem<S>(std::move(a)), options, by_powers};
  loop.begin(std::nullopt);
  std::vector<Solved> solved;
  std::vector<std::string> kept;
  std::string changed;
  int found = most;
  for (int k = 0; k < std::min(most, found + more); ++k) {
    solved.push_back(loop.solve());
    kept.push_back(json_of(loop.system->history().decision()));
    if (solved.back().changed.empty()) continue;
    changed += std::to_string(k) + ": " + solved.back().changed + "; ";
    if (found == most && contains(solved.back().changed, wanted)) found = k;
  }
  const int solves = static_cast<int>(solved.size());
  for (int k = 1; k < solves; ++k) {
    if (k > 2 && std::abs(k - found) > 3) continue;
    INFO("resumed after " << k << " of " << solves << " solves; " << changed);
    loop.at = k;
    loop.begin(decision_of(kept[static_cast<std::size_t>(k) - 1]));
    CHECK(json_of(loop.system->history().decision()) == kept[static_cast<std::size_t>(k) - 1]);
    while (loop.at < std::min(solves, k + 4)) {
      const Solved again = loop.solve();
      const Solved& before = solved[static_cast<std::size_t>(loop.at) - 1];
      CHECK(again.changed == before.changed);
      CHECK(again.solvers == before.solvers);
      // On a device a variant of a format may depend on whether the order is given.
      const auto family = [](const std::string& format) { return format.substr(0, format.find(':')); };
      CHECK(family(again.format) == family(before.format));
      if (S == Space::host) CHECK(again.format == before.format);
      CHECK(again.preconditioner == before.preconditioner);
      // Matrices of M that are made anew on a device differ from those that were refreshed there by rounding.
      if (S == Space::device && again.preconditioner != "jacobi" && again.preconditioner != "none") {
        CHECK(std::abs(static_cast<int>(again.history.size()) - static_cast<int>(before.history.size())) <= 2);
        continue;
      }
      CHECK(again.history == before.history);
      CHECK((again.x == before.x));
    }
  }
  return changed;
}

// Far more iterations are expected than will come: what pays then is decided early.
SystemOptions early() {
  SystemOptions options;
  options.estimate_scale.iterations = 50;
  return options;
}

}  // namespace

TEST_BOTH("A loop that is resumed has the bits of an unbroken one, also after a move", "[decision][learning]") {
  SystemOptions options = early();
  options.precond.name = "jacobi";
  const std::string changed = check_resumed<S>(fem_matrix("generate:elasticity:12"), options, "format ");
  INFO(changed);
  CHECK(contains(changed, "format "));
}

TEST_CASE("so it has where format and preconditioner have moved", "[decision][learning]") {
  const std::string changed =
      check_resumed<Space::host>(fem_matrix("generate:elasticity:12"), early(), "format ", true);
  INFO(changed);
  CHECK(contains(changed, "preconditioner "));
}

// Multigrid keeps the levels of the values that it was set up from; powers of two do not change them.
TEST_BOTH("so it has where the preconditioner has moved", "[decision][learning]") {
  SystemOptions options = early();
  options.solver.name = "cg";  // which is not ended for factors: those of a chain are almost for nothing
  const std::string changed = check_resumed<S>(tridiagonal_matrix(5000, 2), options, "preconditioner ", true);
  INFO(changed);
  CHECK(contains(changed, "preconditioner "));
}

// Nothing moves there: solves and the iterations that follow from them are what goes on.
TEST_BOTH("so it has in mixed precision, in which a system begins and stays", "[decision][learning][mixed]") {
  SystemOptions options;
  options.mixed = true;
  options.estimate_scale = {1, 0.01};
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const Problem<S> problem(a);
  REQUIRE(LinearSystem<double, S>(problem.ctx, problem.there.wide(), options).info().mixed);
  CHECK(check_resumed<S>(a, options, "format ", false, 8) == "");
}

TEST_BOTH("so it has with a preconditioner that the format renumbers", "[decision][learning]") {
  for (const char* precond : {"fsai", "spai"}) {
    CAPTURE(precond);
    SystemOptions options = early();
    options.precond.name = precond;
    const std::string changed = check_resumed<S>(fem_matrix("generate:elasticity:12"), options, "format ");
    INFO(changed);
    CHECK(contains(changed, "format "));
  }
}

// An indefinite matrix, and MINRES ends for factors. Powers of two change no pivot.
TEST_CASE("so it has where factors have solved the system", "[decision][learning][direct]") {
  const HostCsr a = tridiagonal_matrix(6000, 1.3);
  Loop<Space::host> loop{Problem<Space::host>(a), {}, true};
  loop.begin(std::nullopt);
  const Solved first = loop.solve();
  CHECK(first.solvers.size() > 1);
  CHECK(first.solvers.back() == "direct");
  const SystemDecision decision = loop.system->history().decision();
  CHECK(decision.solvers.front() == "direct");
  CHECK(decision.solvers.size() > 1);
  CHECK(loop.solve().solvers == std::vector<std::string>{"direct"});
  check_resumed<Space::host>(a, {}, "no such change", true, 6);
}

TEST_CASE("A decision is for what the options leave open, and for matrices of its size", "[decision]") {
  constexpr Space S = Space::host;
  Problem<S> problem("generate:diffusion:8");
  SystemDecision decision;
  decision.format = "bce";
  decision.preconditioner = "fsai";
  decision.solvers = {"bicgstab", "gmres"};
  decision.rows = problem.a.rows;
  SystemOptions options;
  options.decision = decision;
  const SystemInfo taken = LinearSystem<double, S>(problem.ctx, problem.there.wide(), options).info();
  CHECK(taken.matrix.name == "bce");
  CHECK(taken.preconditioner.name == "fsai");
  CHECK(taken.solver == "bicgstab");
  options.spmv.format = "csr";
  options.precond.name = "jacobi";
  options.solver.name = "cg";
  const SystemInfo named = LinearSystem<double, S>(problem.ctx, problem.there.wide(), options).info();
  CHECK(named.matrix.name == "csr");
  CHECK(named.preconditioner.name == "jacobi");
  CHECK(named.solver == "cg");
  // A decision may be partial; what it leaves open is decided.
  SystemOptions some;
  some.decision.emplace();
  some.decision->preconditioner = "none";
  const SystemInfo partly = LinearSystem<double, S>(problem.ctx, problem.there.wide(), some).info();
  CHECK(partly.preconditioner.name == "none");
  CHECK(partly.solver == "cg");
  for (const bool rows : {true, false}) {
    SystemOptions other;
    other.decision = decision;
    (rows ? other.decision->rows : other.decision->history.solves) += 1;
    if (!rows) other.decision->entries = problem.a.nnz() + 1;
    CHECK_THROWS_AS((LinearSystem<double, S>(problem.ctx, problem.there.wide(), other)), InputError);
  }
  SystemOptions unknown;
  unknown.decision.emplace();
  unknown.decision->format = "no such format";
  CHECK_THROWS_AS((LinearSystem<double, S>(problem.ctx, problem.there.wide(), unknown)), InputError);
}

TEST_CASE("A decision says what a reader wants to know", "[decision]") {
  constexpr Space S = Space::host;
  Problem<S> problem("generate:diffusion:8");
  SystemOptions options;
  options.spmv.format = "csr";  // with many threads another one would follow
  LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
  CHECK(system.history().decision().history.solves == 0);
  CHECK(system.history().decision().history.last_iterations == 0);
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  REQUIRE(report.changed.empty());
  const SystemDecision decision = system.history().decision();
  CHECK(decision.format == "csr");
  CHECK(decision.preconditioner == "jacobi");
  CHECK(decision.solvers.front() == "cg");
  CHECK(decision.history.solves == 1);
  CHECK(decision.history.last_iterations == report.iterations);
  CHECK(decision.history.simple_iterations == Approx(report.iterations));
  CHECK(decision.rows == problem.a.rows);
  CHECK(decision.entries == problem.a.nnz());
}

TEST_CASE("Mixed precision and operators have decisions too", "[decision]") {
  constexpr Space S = Space::host;
  Problem<S> problem("generate:diffusion:8");
  SystemOptions mixed;
  mixed.mixed = true;
  std::vector<std::vector<double>> solutions;
  for (int run = 0; run < 2; ++run) {
    LinearSystem<double, S> system(problem.ctx, problem.there.wide(), mixed);
    fill<double, S>(problem.ctx, 0, problem.x.span());
    CHECK(system.solve(problem.b.cspan(), problem.x.span()).converged());
    solutions.push_back(download(problem.ctx, problem.x));
    mixed.decision = decision_of(json_of(system.history().decision()));
    CHECK(mixed.decision->preconditioner == system.info().preconditioner.name);
  }
  CHECK((solutions[0] == solutions[1]));

  const auto A = std::make_shared<FunctionOperator<double, S>>(
      problem.a.rows, problem.a.rows,
      [&](const auto& ctx, double alpha, auto x, double beta, auto y) { axpby<double, S>(ctx, alpha, x, beta, y); });
  LinearSystem<double, S> identity(problem.ctx, A);
  const SystemDecision decision = identity.history().decision();
  CHECK(decision.format.empty());
  CHECK(decision.entries == 0);
  CHECK(decision.solvers.size() >= 1);
}
