// SPDX-License-Identifier: Apache-2.0
// What systems of a pattern have learnt, kept in the plan cache: taken by those that come where it pays, and by
// nobody else.
#include "tests/solver/made_up_operators.hpp"

#include <newel/solver/linear_system.hpp>
#include "solver/policy/decision_cache.hpp"

using detail::KeptDecision;

namespace {

SystemDecision made(const std::string& format, const std::string& precond, int last_iterations = 0) {
  SystemDecision d;
  d.format = format;
  d.preconditioner = precond;
  d.history.last_iterations = last_iterations;
  d.untried = {"jacobi", "spai", "amg", "fsai", "none"};
  return d;
}

// Of the setup, of an iteration and of the iterations that are expected.
SystemCandidate candidate(const std::string& format, const std::string& precond, double setup, double iteration,
                          double iterations) {
  SystemCandidate c{format, precond, setup, iteration};
  c.iterations = iterations;
  return c;
}

// What a solve of a system of its own, in a folder that others have used, shows.
template <Space S>
struct Seen {
  SolveReport report;
  SystemInfo at_first, at_last;
  std::vector<double> x;
};

template <Space S>
Seen<S> solve_once(Problem<S>& problem, const SystemOptions& options, int solves = 1) {
  Seen<S> seen;
  LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
  seen.at_first = system.info();
  for (int k = 0; k < solves; ++k) {
    fill<double, S>(problem.ctx, 0, problem.x.span());
    seen.report = system.solve(problem.b.cspan(), problem.x.span());
    CHECK(seen.report.converged());
  }
  seen.x = download(problem.ctx, problem.x);
  CHECK(residual_norm(problem.a, seen.x, problem.b_host) <=
        1.01 * options.stop.rel_tol * norm_oracle(problem.b_host));
  seen.at_last = system.info();
  return seen;
}

// auto would solve a chain by its factors.
SystemOptions with_cg() {
  SystemOptions options;
  options.solver.name = "cg";
  return options;
}

SystemOptions options_in(const TemporaryFolder& folder, SystemOptions options = with_cg()) {
  options.spmv.plan_cache = folder.path().string();
  return options;
}

// Far more iterations are expected than will come: what pays then is decided early.
SystemOptions early(SystemOptions options) {
  options.estimate_scale.iterations = 50;
  return options;
}

std::string reasons_of(const SystemInfo& info) {
  return info.format.reason + "; " + info.preconditioner_reason.text();
}

}  // namespace

TEST_CASE("Others' decision is taken where setup and the fewest solves of others would cost less", "[decision]") {
  KeptDecision kept{made("ehyb", "fsai", 40), 1};
  const SystemDecision now = made("csr", "jacobi");
  const auto pays = [&](double setup) {
    return kept_decision_pays(kept, now,
                              {candidate("csr", "jacobi", 0, 1e-3, 100), candidate("ehyb", "fsai", setup, 1e-3, 50)});
  };
  CHECK(pays(0.059));  // 100 ms against 40 measured ones, not the 50 that were expected
  CHECK_FALSE(pays(0.061));
  kept.fewest_solves = 10;
  CHECK(pays(0.599));
  CHECK_FALSE(pays(0.601));
  kept.decision.history.last_iterations = 0;  // its only solve moved on its way
  CHECK(pays(0.499));
  CHECK_FALSE(pays(0.501));
  // Jacobi, which FSAI has followed, would have taken 70 iterations, not the 100 that are expected.
  kept.decision.weaker = PrecondRanking{{"jacobi", 1e-3, 0, 0}, {}};
  kept.decision.history.whole.weaker_iterations = 70;
  CHECK(pays(0.199));
  CHECK_FALSE(pays(0.201));
  // With the same preconditioner its iterations are known too.
  kept = {made("ehyb", "jacobi", 200), 1};
  const auto candidates = {candidate("csr", "jacobi", 0, 1e-3, 10), candidate("ehyb", "jacobi", 0.09, 0.5e-3, 10)};
  CHECK(kept_decision_pays(kept, now, candidates));
  kept.decision.history.last_iterations = 100;
  CHECK_FALSE(kept_decision_pays(kept, now, candidates));
  // Nothing is known of the pair, or it is there already.
  CHECK_FALSE(kept_decision_pays(kept, now, {}));
  CHECK_FALSE(detail::kept_decision_pays({made("csr", "jacobi", 9), 1}, now, candidates));
}

TEST_CASE("A preconditioner that has failed for others is not begun with, and comes last", "[decision]") {
  KeptDecision kept{made("csr", "none", 7), 1};
  kept.decision.untried = {"amg"};
  const SystemDecision now = made("csr", "jacobi");
  CHECK(kept_decision_pays(kept, now, {}));
  const SystemDecision begin = decision_to_begin_with(kept, now);
  CHECK(begin.untried == std::vector<std::string>{"amg", "jacobi"});
  CHECK(begin.preconditioner == "none");
  kept.decision.weaker = PrecondRanking{{"jacobi", 1, 0, 0}, {}};  // which has been followed, not failed
  CHECK_FALSE(kept_decision_pays(kept, now, {}));
}

TEST_CASE("Matrices are of one kind by symmetry and diagonal", "[decision]") {
  MatrixTraits a;
  a.square = true;
  a.max_abs = 1;
  MatrixTraits b = a;
  b.max_abs = 5;
  CHECK(detail::same_kind(a, b));
  b.max_asymmetry = b.relative_asymmetry = 1;
  CHECK_FALSE(detail::same_kind(a, b));
  b = a;
  b.negative_diagonal = {1, 0};
  CHECK_FALSE(detail::same_kind(a, b));
  b = a;
  b.zero_diagonal = {1, 0};
  CHECK_FALSE(detail::same_kind(a, b));
}

TEST_BOTH("The next system begins with what the one before came to", "[decision][plan-cache]") {
  const TemporaryFolder folder;
  Problem<S> problem(tridiagonal_matrix(5000, 2));
  const SystemOptions options = options_in(folder);
  const Seen<S> first = solve_once(problem, early(options));
  REQUIRE(first.report.changed != "");
  REQUIRE(first.at_last.preconditioner.name != first.at_first.preconditioner.name);
  CHECK_FALSE(contains(reasons_of(first.at_first), "learnt"));
  const Seen<S> second = solve_once(problem, options);
  CHECK(second.at_first.preconditioner.name == first.at_last.preconditioner.name);
  CHECK(second.report.changed == "");
  CHECK(second.report.iterations < first.report.iterations);
  CHECK(contains(reasons_of(second.at_first), "learnt from 1 earlier solve"));
  CHECK(contains(reasons_of(solve_once(problem, options, 3).at_first), "learnt from 2 earlier solves"));
  CHECK(contains(reasons_of(solve_once(problem, options).at_first), "learnt from 5 earlier solves"));
}

TEST_CASE("The next system begins with factors if those have solved the system before",
          "[decision][plan-cache][direct]") {
  constexpr Space S = Space::host;
  const TemporaryFolder folder;
  Problem<S> problem(tridiagonal_matrix(6000, 1.3));
  const SystemOptions options = options_in(folder, {});
  const Seen<S> first = solve_once(problem, options);
  CHECK(first.report.attempts.size() > 1);
  REQUIRE(first.report.solver == "direct");
  for (int run = 0; run < 2; ++run) {
    const Seen<S> next = solve_once(problem, options, 2);
    CHECK(next.report.attempts.size() == 1);
    CHECK(next.report.solver == "direct");
    CHECK(contains(reasons_of(next.at_first), "learnt from 1 earlier solve"));
  }
}

TEST_BOTH("What was learnt elsewhere is not read for deterministic results, nor for other options and values",
          "[decision][plan-cache]") {
  const TemporaryFolder folder;
  Problem<S> problem(tridiagonal_matrix(5000, 2));
  SystemOptions options = options_in(folder);
  REQUIRE(solve_once(problem, early(options)).report.changed != "");
  SystemOptions none = options;
  none.spmv.plan_cache = {};
  none.deterministic = true;
  const Seen<S> alone = solve_once(problem, none);
  options.deterministic = true;
  const Seen<S> same = solve_once(problem, options);
  CHECK(same.report.history == alone.report.history);
  CHECK(same.report.changed == alone.report.changed);
  CHECK((same.x == alone.x));
  CHECK_FALSE(contains(reasons_of(same.at_first), "learnt"));

  options.deterministic = false;
  options.stop.rel_tol = 1e-6;
  CHECK_FALSE(contains(reasons_of(solve_once(problem, options).at_first), "learnt"));
  options.stop.rel_tol = 1e-8;
  HostCsr other = problem.a;  // of another kind
  other.val[1] = -0.5;
  Problem<S> asymmetric(other);
  LinearSystem<double, S> system(asymmetric.ctx, asymmetric.there.wide(), options);
  CHECK_FALSE(contains(reasons_of(system.info()), "learnt"));
}

TEST_CASE("A kept decision that is damaged is as good as none, and is replaced", "[decision][plan-cache]") {
  constexpr Space S = Space::host;
  const TemporaryFolder folder;
  Problem<S> problem(tridiagonal_matrix(5000, 2));
  const SystemOptions options = early(options_in(folder));
  const Seen<S> alone = solve_once(problem, early(with_cg()));
  solve_once(problem, options);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path());
  std::vector<std::string> sound;
  for (const auto& file : files) sound.push_back(file_content(file.string()));
  for (const double share : {0.0, 0.1, 0.5, 0.99}) {
    for (std::size_t k = 0; k < files.size(); ++k) {
      std::ofstream(files[k], std::ios::binary)
          << sound[k].substr(0, static_cast<std::size_t>(share * static_cast<double>(sound[k].size())));
    }
    const Seen<S> seen = solve_once(problem, options);
    CHECK(seen.report.history == alone.report.history);
    CHECK(contains(reasons_of(seen.at_first), "it is ignored"));
    for (std::size_t k = 0; k < files.size(); ++k) CHECK(file_content(files[k].string()).size() == sound[k].size());
  }
}

TEST_CASE("A folder that cannot be written costs nothing but what it would have kept", "[decision][plan-cache]") {
  constexpr Space S = Space::host;
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "in the way";
  Problem<S> problem(tridiagonal_matrix(300, 2));
  SystemOptions options;
  const Seen<S> alone = solve_once(problem, options);
  options.spmv.plan_cache = folder.file("file/inside");
  const Seen<S> seen = solve_once(problem, options, 2);
  CHECK(seen.x.size() == alone.x.size());
}

TEST_CASE("A kept decision with names that are none is ignored, and replaced", "[decision][plan-cache]") {
  constexpr Space S = Space::host;
  const TemporaryFolder folder;
  Problem<S> problem(tridiagonal_matrix(5000, 2));
  const SystemOptions options = early(options_in(folder));
  const Seen<S> alone = solve_once(problem, early(with_cg()));
  const auto cache = [&] {
    return detail::DecisionCache(problem.ctx, Pattern<S>(problem.there.wide()), options, sizeof(double));
  };
  solve_once(problem, options);
  const SystemDecision sound = cache().kept()->decision;
  const auto changed = [&](const std::function<void(SystemDecision&)>& change) {
    SystemDecision decision = sound;
    change(decision);
    return decision;
  };
  for (SystemDecision nonsense :
       {changed([](auto& d) { d.format = "no format"; }), changed([](auto& d) { d.expected.format = "ehyb:none"; }),
        changed([](auto& d) { d.preconditioner = "no preconditioner"; }),
        changed([](auto& d) { d.untried.push_back("nothing"); }), changed([](auto& d) { d.rows += 1; }),
        changed([](auto& d) { d.entries = 3; }), changed([](auto& d) {
          d.weaker = PrecondRanking{WeighedPrecond{"nothing"}, {}};
        })}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::filesystem::remove(entry.path());
    }
    nonsense.history.solves += 1;
    cache().keep(nonsense);
    CHECK_FALSE(cache().kept());
    CHECK(contains(cache().remark(), "holds no decision for this matrix: it is ignored"));
    const Seen<S> seen = solve_once(problem, options);
    CHECK(seen.report.history == alone.report.history);
    CHECK(contains(reasons_of(seen.at_first), "it is ignored"));
    CHECK(cache().kept());
  }
}
