// SPDX-License-Identifier: Apache-2.0
// `newel bench solve` measured: what ours are compared with against a direct solver, and liars found out.
#include "tests/catch.hpp"

#include <Eigen/SparseLU>

#include "apps/fem/problem.hpp"
#include "bench/command/solve.hpp"
#include "bench/command/solve_in.hpp"

using namespace newel::cli;

namespace {

struct Problem {
  Csr<double, host> a;
  std::vector<double> b;
  std::vector<double> x;  ///< by a direct solver

  explicit Problem(const std::string& spec, std::uint64_t seed = 1) : a(fem::generate_matrix(Context<host>(), spec)) {
    b = testing::random_vector<double>(a.rows, seed);
    std::vector<int> row_ptr(a.row_ptr.begin(), a.row_ptr.end());
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
    const Eigen::SparseMatrix<double> matrix =
        Eigen::Map<const Matrix>(a.rows, a.cols, a.nnz(), row_ptr.data(), a.col.data(), a.val.data());
    Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(matrix);
    const Eigen::VectorXd solution = direct.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), a.rows));
    x.assign(solution.begin(), solution.end());
  }
};

template <class T>
double difference(const std::vector<T>& x, const std::vector<double>& expected) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += (x[i] - expected[i]) * (x[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(error / size);
}

template <class T, Space S>
struct Solved {
  bench::SolveEnd end;
  std::vector<T> x;
};

template <class T, Space S>
Solved<T, S> solved(const Context<S>& ctx, bench::BuiltSolve<T, S>& built, const std::vector<double>& b,
                    Array<T, S>& x, const bench::SolveGoal& goal) {
  fill(ctx, std::numeric_limits<T>::quiet_NaN(), x.span());
  const Array<T, S> rhs = make_array(ctx, testing::converted<T>(b));
  Solved<T, S> result;
  result.end = built.solve(rhs.cspan(), x.span(), goal);
  result.x = to_vector(ctx, x.cspan());
  return result;
}

// Every competitor with this solver and this preconditioner, on this problem.
template <class T, Space S>
void check_competitors(const Problem& problem, const std::string& solver, const std::string& precond) {
  const Context<S> ctx = testing::make_context<S>();
  const InPrecision<T> matrix(Context<host>(), problem.a);
  const PlacedMatrix<T, S> placed(ctx, matrix.view());
  constexpr bool is_double = std::is_same_v<T, double>;
  const bench::SolveGoal goal{is_double ? 1e-11 : 1e-5, 2000};
  const auto competitors = bench::solve_competitors<T>(ctx, solver, precond);
  REQUIRE(competitors.size() == (S == host ? 1 : 2));
  const auto ours = bench::system_contender<T, S>({solver, precond, "csr", 30}).build(ctx, placed.view());
  Array<T, S> our_x(ctx, problem.a.rows);
  const int our_iterations = solved(ctx, *ours, problem.b, our_x, goal).end.iterations;
  std::vector<T> after_five;
  for (const auto& competitor : competitors) {
    INFO(competitor.by << " " << solver << " " << precond);
    CHECK(competitor.competitor);
    const auto built = competitor.build(ctx, placed.view());
    Array<T, S> x(ctx, problem.a.rows), other_x(ctx, problem.a.rows);
    const auto first = solved(ctx, *built, problem.b, x, goal);
    CHECK(first.end.status == "converged");
    CHECK(first.end.iterations > 5);
    // The same recurrence: sums in another order move the end by an iteration at most.
    if (solver == "cg" && is_double) CHECK(std::abs(first.end.iterations - our_iterations) <= (S == host ? 0 : 1));
    CHECK(first.end.recurrence_residual <= goal.tolerance);
    CHECK(difference(first.x, problem.x) < (is_double ? 1e-8 : 1e-2));

    const std::vector<double> zero(problem.b.size(), 0.0);
    const auto nothing = solved(ctx, *built, zero, x, goal);
    CHECK(nothing.end.status == "converged");
    CHECK(nothing.end.iterations == 0);
    CHECK(std::all_of(nothing.x.begin(), nothing.x.end(), [](T value) { return value == T(0); }));

    const auto few = solved(ctx, *built, problem.b, other_x, {0, 5});
    CHECK(few.end.status == "max_iterations");
    CHECK(few.end.iterations == 5);
    if (after_five.empty()) after_five = few.x;
    CHECK(difference(few.x, {after_five.begin(), after_five.end()}) < (is_double ? 1e-11 : 1e-3));

    const auto again = solved(ctx, *built, problem.b, x, goal);
    CHECK(again.end.iterations == first.end.iterations);
    CHECK(difference(again.x, problem.x) < (is_double ? 1e-8 : 1e-2));

    const bench::SolveFacts facts = built->facts();
    CHECK(facts.product_bytes > 0);
    CHECK(facts.setup_seconds > 0);
    CHECK_FALSE(facts.detail.empty());
  }
}

BenchSolveOptions small_options() {
  BenchSolveOptions o;
  o.solvers = {"cg", "bicgstab", "gmres"};
  o.preconds = {"none", "jacobi", "fsai"};
  o.formats = {"csr", "ehyb"};
  return o;
}

template <class T, Space S>
std::vector<BenchSolveLine> measured(const Csr<double, host>& a, const std::vector<double>& b,
                                     const std::vector<bench::SolveContender<T, S>>& contenders,
                                     const bench::SolveGoal& goal) {
  const Context<S> ctx = testing::make_context<S>();
  return BenchSolveRun<T, S>(Context<host>(), ctx, a, b, goal, 2).run(contenders);
}

using Work = std::function<bench::SolveEnd(Span<double, host> x)>;

// Ends as it is told to.
class ScriptedSolve final : public bench::BuiltSolve<double, host> {
 public:
  explicit ScriptedSolve(Work work) : work_(std::move(work)) {}
  bench::SolveEnd solve(Span<const double, host>, Span<double, host> x, const bench::SolveGoal&) override {
    return work_(x);
  }
  bench::SolveFacts facts() const override { return {}; }

 private:
  Work work_;
};

bench::SolveContender<double, host> scripted(Work work) {
  bench::SolveContender<double, host> contender;
  contender.by = "told";
  contender.build = [work](const Context<host>&, const CsrView<double, host>&) {
    return std::make_unique<ScriptedSolve>(work);
  };
  return contender;
}

bench::SolveEnd ended(const std::string& status) {
  bench::SolveEnd end;
  end.status = status;
  end.iterations = 3;
  return end;
}

}  // namespace

TEST_BOTH("What ours are compared with comes to the solution of a direct solver, and counts its iterations",
          "[bench]") {
  const Problem diffusion("generate:diffusion:7");
  const Problem convection("generate:convection:6");
  for (const char* precond : {"none", "jacobi"}) {
    check_competitors<double, S>(diffusion, "cg", precond);
    check_competitors<float, S>(diffusion, "cg", precond);
    check_competitors<double, S>(diffusion, "bicgstab", precond);
    check_competitors<double, S>(convection, "bicgstab", precond);
    check_competitors<float, S>(convection, "bicgstab", precond);
  }
}

TEST_BOTH("There are competitors for CG and BiCGStab with none and Jacobi, and no others", "[bench]") {
  CHECK(bench::solve_competitors<double>(ctx, "gmres", "jacobi").empty());
  CHECK(bench::solve_competitors<double>(ctx, "cg", "fsai").empty());
  BenchSolveOptions o = small_options();
  o.solvers = {"cg"};
  o.preconds = {"fsai"};
  const auto contenders = choose_solve_contenders<double>(ctx, o);
  REQUIRE(contenders.size() > 2);
  CHECK(contenders[1].by == "newel");
  CHECK(contenders[1].format == "ehyb");
  CHECK(contenders[2].precond == "jacobi");  // they know none of those asked for
}

TEST_BOTH("A matrix with a zero on its diagonal is refused by what needs the diagonal", "[bench]") {
  const auto a =
      testing::make_matrix<double>(Context<host>(), testing::from_rows(2, {{{1, 1.0}}, {{0, 1.0}, {1, 2.0}}}));
  const Context<S> ctx = testing::make_context<S>();
  BenchSolveOptions o = small_options();
  o.solvers = {"bicgstab"};
  o.preconds = {"jacobi"};
  for (const BenchSolveLine& line :
       measured(a, {1, 1}, choose_solve_contenders<double>(ctx, o), bench::SolveGoal{1e-8, 50})) {
    INFO(line.by << " " << line.format);
    if (line.by != "eigen") CHECK(contains(line.refused, "the diagonal entry of row 1 is zero or missing"));
  }
}

TEST_BOTH("Each contender is solved with, timed in every round and judged by a residual of its own", "[bench]") {
  const Problem problem("generate:diffusion:8");
  const Context<S> ctx = testing::make_context<S>();
  const auto contenders = choose_solve_contenders<double>(ctx, small_options());
  BenchSolveSystem system;
  system.rows = problem.a.rows;
  system.restart = 30;
  system.lines = measured(problem.a, problem.b, contenders, bench::SolveGoal{1e-8, 500});
  REQUIRE(system.lines.size() == contenders.size());
  // The floor is that of the leanest format: a device's 132 parts of a small matrix hold much padding.
  double fewest = std::numeric_limits<double>::infinity();
  for (const BenchSolveLine& line : system.lines) {
    fewest = std::min(fewest, static_cast<double>(line.facts.product_bytes));
  }
  for (std::size_t k = 0; k < system.lines.size(); ++k) {
    const BenchSolveLine& line = system.lines[k];
    INFO(line.by << " " << line.solver << " " << line.precond << " " << line.format << " " << line.refused);
    CHECK(line.by == contenders[k].by);
    REQUIRE(line.measured());
    CHECK(line.end.status == "converged");
    CHECK(line.residual <= 2e-8);
    CHECK(line.residual > 0);
    CHECK_FALSE(line.wrong());
    CHECK(line.solve.size() == 2);
    CHECK(line.iteration[0] == Approx(line.solve[0] / line.end.iterations));
    CHECK(line.facts.product_bytes > 0);
    CHECK((line.facts.precond_bytes > 0) == (line.precond == "fsai"));
    const BenchSolveFigures f = figures_of(line, system, {1 << 20, {10.0}});
    CHECK(f.floor_bytes > fewest / 2);
    CHECK(f.iteration_speedup.has_value() == (line.solver != "gmres" && line.precond != "fsai"));
    CHECK(f.solve_speedup.has_value());
  }
}

TEST_CASE("Who says converged and is not is wrong, in whichever round, unless it is another's", "[bench]") {
  const Problem problem("generate:diffusion:5");
  int calls = 0;
  const auto right_once = scripted([&](Span<double, host> x) {
    if (x.size == problem.a.rows) std::copy(problem.x.begin(), problem.x.end(), x.begin());
    if (++calls == 3) x[7] += 1;  // the small identity, warming up, then the first round
    return ended("converged");
  });
  auto lines = measured<double, host>(problem.a, problem.b, {right_once}, {1e-8, 10});
  CHECK(calls == 4);
  CHECK(lines[0].wrong());
  BenchSolveResult result;
  result.systems.emplace_back();
  result.systems[0].lines = lines;
  CHECK(bench_exit_status(result) == 1);
  result.systems[0].lines[0].competitor = true;
  result.systems[0].lines.push_back(lines[0]);
  result.systems[0].lines[1].exceeded = false;  // ours, and right
  CHECK(bench_exit_status(result) == 0);

  const auto right = scripted([&](Span<double, host> x) {
    if (x.size == problem.a.rows) std::copy(problem.x.begin(), problem.x.end(), x.begin());
    return ended("converged");
  });
  const auto honest = scripted([](Span<double, host> x) {
    for (double& value : x) value = 1;
    return ended("stagnation");
  });
  const auto no_number = scripted([](Span<double, host> x) {
    for (double& value : x) value = std::nan("");
    return ended("converged");
  });
  lines = measured<double, host>(problem.a, problem.b, {right, honest, no_number}, {1e-8, 10});
  CHECK_FALSE(lines[0].wrong());
  CHECK(lines[0].residual < 1e-10);
  CHECK_FALSE(lines[1].wrong());
  CHECK(lines[1].residual > 0.1);
  CHECK(lines[2].wrong());
  CHECK(std::isnan(lines[2].residual));
}

TEST_CASE("The exit status of bench solve is 1 where none of ours did what was asked for on any system", "[bench]") {
  BenchSolveLine ours, another;
  ours.by = "newel";
  another.competitor = true;
  another.end = ended("converged");
  BenchSolveSystem system;
  system.tolerance = 1e-8;
  system.lines = {ours, another};
  const auto status_of = [](std::vector<BenchSolveSystem> systems) {
    BenchSolveResult result;
    result.systems = std::move(systems);
    return bench_exit_status(result);
  };
  const auto with = [&](const char* status, const char* refused, double tolerance) {
    BenchSolveSystem made = system;
    made.tolerance = tolerance;
    made.lines[0].end = ended(status);
    made.lines[0].refused = refused;
    return made;
  };
  const BenchSolveSystem solved = with("converged", "", 1e-8), failed = with("max_iterations", "", 1e-8),
                         refused = with("", "too large", 1e-8);
  BenchSolveSystem no_lines;
  no_lines.refused = "singular";
  CHECK(status_of({solved}) == 0);
  CHECK(status_of({failed}) == 1);
  CHECK(status_of({refused}) == 1);
  CHECK(status_of({no_lines}) == 1);
  CHECK(status_of({failed, refused, no_lines}) == 1);
  CHECK(status_of({failed, solved, no_lines}) == 0);
  CHECK(status_of({with("max_iterations", "", 0)}) == 0);  // a fixed number of iterations
  CHECK(status_of({with("", "too large", 0)}) == 1);
}

TEST_CASE("A round that does not converge is what a line reports, and no wrong word of the others", "[bench]") {
  const Problem problem("generate:diffusion:5");
  int calls = 0;
  const auto once_short = scripted([&](Span<double, host> x) {
    if (x.size == problem.a.rows) std::copy(problem.x.begin(), problem.x.end(), x.begin());
    if (++calls != 3) return ended("converged");
    x[7] += 1;
    return ended("max_iterations");
  });
  const auto lines = measured<double, host>(problem.a, problem.b, {once_short}, {1e-8, 10});
  CHECK(calls == 4);
  CHECK_FALSE(lines[0].wrong());
  CHECK(lines[0].end.status == "max_iterations");
  CHECK(lines[0].residual > 1e-8);
}

TEST_CASE("Who fails in the middle of the rounds is out with the reason, and the others go on", "[bench]") {
  const Problem problem("generate:diffusion:5");
  int calls = 0;
  const auto failing = scripted([&](Span<double, host> x) {
    for (double& value : x) value = 0;
    if (++calls == 3) throw OutOfMemory("host", "'the third solve'", 2000, 1000);
    return ended("max_iterations");
  });
  const auto csr = bench::system_contender<double, host>({"cg", "jacobi", "csr", 30});
  const auto lines = measured<double, host>(problem.a, problem.b, {failing, csr}, {1e-8, 100});
  CHECK(contains(lines[0].refused, "the third solve"));
  CHECK(calls == 3);
  CHECK(lines[1].measured());
  CHECK(lines[1].solve.size() == 2);
}

TEST_CASE("The true residual is that of plain sums, and says how much of it may be rounding", "[bench]") {
  const auto a =
      testing::make_matrix<double>(Context<host>(), testing::from_rows(2, {{{0, 2.0}, {1, 4.0}}, {{1, 3.0}}}));
  const CsrView<double, host> view(a);
  const bench::TrueResidual found = bench::true_residual<double>(Context<host>(), view, {3, 4}, {1, 1});
  CHECK(found.relative == Approx(std::sqrt(9.0 + 1.0) / 5));
  const double eps = std::numeric_limits<double>::epsilon();
  CHECK(found.rounding == Approx(eps * std::hypot(5 * (6 + 3), 4 * (3 + 4)) / 5));
  CHECK(bench::true_residual<double>(Context<host>(), view, {6, 3}, {1, 1}).relative == 0);
  CHECK(bench::true_residual<double>(Context<host>(), view, {0, 0}, {1, 0}).relative == 2);
  CHECK(std::isnan(bench::true_residual<double>(Context<host>(), view, {6, 3}, {1, std::nan("")}).relative));
}
