// SPDX-License-Identifier: Apache-2.0
// Solves from zero without a product: the same bits, counts and reports as from zeros in x, by every solver.
#include "tests/solver/systems.hpp"

#include <newel/solver/registry.hpp>

namespace {

// NaN is like itself.
bool same(double a, double b) { return a == b || (a != a && b != b); }
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

void check_same(const SolveReport& zero, const SolveReport& zeros) {
  CHECK(zero.status == zeros.status);
  CHECK(zero.solver == zeros.solver);
  CHECK(zero.reason == zeros.reason);
  CHECK(zero.iterations == zeros.iterations);
  CHECK(zero.restarts == zeros.restarts);
  CHECK(zero.residual_replacements == zeros.residual_replacements);
  CHECK(zero.refinements == zeros.refinements);
  CHECK(zero.attempts.size() == zeros.attempts.size());
  CHECK(same(zero.rhs_norm, zeros.rhs_norm));
  CHECK(same(zero.tolerance, zeros.tolerance));
  CHECK(same(zero.initial_residual, zeros.initial_residual));
  CHECK(same(zero.recurrence_residual, zeros.recurrence_residual));
  CHECK(same(zero.true_residual, zeros.true_residual));
  CHECK(same(zero.history, zeros.history));
  CHECK(zero.changed == zeros.changed);
}

// What lies in x where it is not to be read.
template <class T>
std::vector<T> anything(std::size_t n) {
  return std::vector<T>(n, std::numeric_limits<T>::quiet_NaN());
}

// Two systems alike, which solve from zero before and after a solve from a guess, of which their vectors are full.
// Returns the last report.
template <class T, Space S>
SolveReport check_system_from_zero(const Rows& a, const std::vector<double>& b, const SystemOptions& options) {
  const Context<S> ctx;
  SystemOf<T, S> one(ctx, a, options), other(ctx, a, options);
  const auto bs = make_array(ctx, cast<T>(b));
  SolveReport last;
  for (int solve = 0; solve < 2; ++solve) {
    if (solve > 0) {
      auto guess = make_array(ctx, cast<T>(noise(a.size(), 3))),
           same_guess = make_array(ctx, cast<T>(noise(a.size(), 3)));
      check_same(one.solve(bs.cspan(), guess.span()), other.solve(bs.cspan(), same_guess.span()));
    }
    auto x = make_array(ctx, anything<T>(b.size())), zeros = make_array(ctx, std::vector<T>(b.size(), T(0)));
    last = one.solve(bs.cspan(), x.span(), {}, InitialGuess::zero);
    check_same(last, other.solve(bs.cspan(), zeros.span()));
    CHECK(same(to_vector(ctx, x.cspan()), to_vector(ctx, zeros.cspan())));
  }
  return last;
}

Rows indefinite(Index n) {
  Rows a = laplacian(n);
  for (Index i = 0; i < a.size(); i += 2) a.at(i, i) = -4;
  return a;
}

Rows scaled(Rows a, double factor) {
  for (auto& row : a.row) {
    for (auto& entry : row) entry.second *= factor;
  }
  return a;
}

}  // namespace

TEST_BOTH("From zero every solver takes the steps that it takes from zeros in x", "[solver][zero]") {
  for (const std::string& solver : general_solver_names()) {
    for (const std::string precond : {"none", "jacobi", "fsai", "spai"}) {
      for (const bool resident : {false, true}) {
        for (const int iterations : {0, 1, 2, 7, 500}) {
          INFO(solver << " " << precond << " " << resident << " " << iterations);
          SystemOptions options;
          options.solver = solver_options(solver, 5);
          set_resident(options.solver, resident);
          options.precond.name = precond;
          options.spmv = same_bits();
          options.stop.max_iterations = iterations;
          const Rows a = laplacian(9, solver == "cg" || precond == "fsai" ? 0 : 0.3);
          const auto b = a.rhs_for(noise(a.size()));
          check_system_from_zero<double, S>(a, b, options);
          options.stop.rel_tol = 1e-5;
          check_system_from_zero<float, S>(a, b, options);
        }
      }
    }
  }
}

TEST_BOTH("From zero the other ways of a system give the same too", "[system][zero]") {
  const Rows a = laplacian(12, 0.2);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options;
  options.stop.rel_tol = 1e-11;
  SECTION("all chosen automatically") { CHECK(check_system_from_zero<double, S>(a, b, options).converged()); }
  SECTION("in another order") {
    options.spmv = same_bits();
    options.old_of_new.resize(b.size());
    std::iota(options.old_of_new.rbegin(), options.old_of_new.rend(), 0);
    CHECK(check_system_from_zero<double, S>(a, b, options).converged());
  }
  SECTION("GMRES from the left") {
    options.solver = solver_options("gmres", 7, true);
    options.precond.name = "jacobi";
    CHECK(check_system_from_zero<double, S>(a, b, options).converged());
  }
  SECTION("mixed precision") {
    options.mixed = true;
    for (const std::string& solver : general_solver_names()) {
      options.solver.name = solver;
      const Rows system = laplacian(12, find_solver(solver).demands == Demand::nothing ? 0.2 : 0);
      CHECK(check_system_from_zero<double, S>(system, b, options).converged());
    }
  }
  SECTION("a null space") {
    options.null_space = NullSpace::constant;
    const Rows singular = neumann(12);
    CHECK(check_system_from_zero<double, S>(singular, singular.rhs_for(b), options).converged());
    CHECK(check_system_from_zero<double, S>(singular, b, options).status == Status::stagnation);
  }
  SECTION("a zero right-hand side") {
    const auto report = check_system_from_zero<double, S>(a, std::vector<double>(b.size(), 0.0), options);
    CHECK((report.converged() && report.iterations == 0));
  }
  SECTION("a tolerance above |b|") {
    options.stop.abs_tol = 2 * norm(b);
    const auto report = check_system_from_zero<double, S>(a, b, options);
    CHECK((report.converged() && report.iterations == 0));
  }
}

TEST_BOTH("From zero systems that fail end as from zeros in x, with the same x", "[system][zero]") {
  SystemOptions options = system_options("auto", "auto", "csr");
  options.stop.max_iterations = 300;
  SECTION("CG on what is not definite, and those that follow it") {
    const Rows a = indefinite(8);
    const auto b = a.rhs_for(noise(a.size()));
    CHECK(check_system_from_zero<double, S>(a, b, options).converged());
    options.solver.name = "cg";
    CHECK(!check_system_from_zero<double, S>(a, b, options).converged());
  }
  SECTION("a first solver whose x is worse than none") {
    for (const double shift : {-2.5, -3.0, -3.5}) {
      const Rows a = laplacian(9, 0, shift);
      check_system_from_zero<double, S>(a, a.rhs_for(noise(a.size())), options);
    }
  }
  SECTION("divergence, by every solver") {
    const Rows a = laplacian(30, 3);
    const auto b = a.rhs_for(noise(a.size()));
    for (const std::string& solver : general_solver_names()) {
      options.solver = solver_options(solver, 3);
      options.precond.name = "none";
      const auto report = check_system_from_zero<double, S>(a, b, options);
      CHECK((solver != "cg" || report.status == Status::diverged));
    }
  }
  SECTION("every solver with one preconditioner after the other, from the beginning") {
    Rows a = laplacian(6);
    a.row[9] = a.row[10];  // b is not in its range
    options.stop.max_iterations = 3000;
    const auto report = check_system_from_zero<double, S>(a, noise(a.size()), options);
    CHECK(report.attempts.size() > 1);
    CHECK(!report.converged());
  }
  SECTION("the ends of the range") {
    for (const double unit : {1e-200, 1e200}) {
      const Rows a = scaled(laplacian(8), unit);
      const auto report = check_system_from_zero<double, S>(a, noise(a.size()), options);
      CHECK(report.converged());
      options.solver.name = "cg";
      CHECK(check_system_from_zero<double, S>(a, noise(a.size()), options).converged());
    }
    const Rows a = laplacian(6);
    const std::vector<double> tiny(static_cast<std::size_t>(a.size()), 1e-170);
    CHECK(check_system_from_zero<double, S>(a, tiny, options).converged());
    options.stop.abs_tol = 1e-12;
    CHECK(check_system_from_zero<double, S>(a, tiny, options).iterations == 0);
  }
  SECTION("numbers that are none") {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const std::string& solver : general_solver_names()) {
        INFO(solver << " " << bad);
        options.solver.name = solver;
        options.precond.name = "none";
        Rows a = laplacian(7);
        auto b = noise(a.size());
        a.at(20, 21) = bad;
        CHECK(check_system_from_zero<double, S>(a, b, options).status == Status::not_finite);
        b[5] = bad;
        CHECK(check_system_from_zero<double, S>(laplacian(7), b, options).status == Status::not_finite);
      }
    }
  }
}

// What a solver keeps of the guess is read where the best x was that.
TEST_BOTH("A solver that finds nothing better returns zeros, where it began with them", "[solver][zero]") {
  const Rows a = laplacian(8);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>(), same_bits());
  const auto b = a.rhs_for(noise(a.size())), nothing = std::vector<double>(b.size(), 0.0);
  // No M at all: another map whenever it is asked.
  const auto unit = make_array(ctx, std::vector<double>(b.size(), 1.0));
  int calls = 0;
  const FunctionOperator<double, S> astray(a.size(), a.size(),
                                           [&](const auto& c, double alpha, auto x, double beta, auto y) {
                                             axpby<double, S>(c, alpha, x, beta, y);
                                             axpy<double, S>(c, 1e5 * ++calls, unit.cspan(), y);
                                           });
  for (const std::string& name : general_solver_names()) {
    INFO(name);
    const auto solver = make_solver<double, S>(ctx, a.size(), solver_options(name, 10));
    static_cast<void>(run_solver<double, S>(ctx, *solver, *A, nullptr, b, {}, noise(a.size(), 3)));
    calls = 0;
    const auto found = run_solver<double, S>(ctx, *solver, *A, &astray, b, {}, {}, {}, InitialGuess::zero);
    CHECK(found.report.converged() == find_solver(name).flexible);
    calls = 0;
    const auto expected = run_solver<double, S>(ctx, *solver, *A, &astray, b, {}, nothing);
    check_same(found.report, expected.report);
    CHECK(same(found.x, expected.x));
  }
}

TEST_BOTH("From zero columns are solved side by side as from zeros in x", "[columns][zero]") {
  const Rows a = laplacian(9);
  for (const Index columns : {1, 3, 11}) {
    for (const char* solver : {"auto", "cg", "bicgstab"}) {
      for (const bool reordered : {false, true}) {
        INFO(columns << " " << solver << " " << reordered);
        SystemOptions options = system_options(solver, "auto", "csr");
        if (reordered) {
          options.old_of_new.resize(static_cast<std::size_t>(a.size()));
          std::iota(options.old_of_new.rbegin(), options.old_of_new.rend(), 0);
        }
        SystemOf<double, S> one(ctx, a, options), other(ctx, a, options);
        const auto b = make_array(ctx, noise(a.size() * columns));
        const auto size = static_cast<std::size_t>(b.size());
        auto x = make_array(ctx, anything<double>(size)), zeros = make_array(ctx, std::vector<double>(size, 0.0));
        const auto found = one.solve_columns(b.cspan(), x.span(), columns, {}, InitialGuess::zero);
        const auto expected = other.solve_columns(b.cspan(), zeros.span(), columns);
        REQUIRE(found.size() == expected.size());
        for (std::size_t c = 0; c < found.size(); ++c) check_same(found[c], expected[c]);
        CHECK(same(to_vector(ctx, x.cspan()), to_vector(ctx, zeros.cspan())));
      }
    }
  }
}

TEST_BOTH(
    "From zero a solve of its own thread and one in solver order are the same, and a guess counts again afterwards",
    "[system][zero]") {
  const Rows a = laplacian(10);
  SystemOptions options = system_options("cg", "jacobi", "csr");
  SystemOf<double, S> system(ctx, a, options);
  const auto b = make_array(ctx, noise(a.size()));
  const auto n = static_cast<std::size_t>(a.size());
  auto x = make_array(ctx, anything<double>(n)), y = make_array(ctx, anything<double>(n)),
       z = make_array(ctx, std::vector<double>(n, 0.0));
  const SolveReport threaded = system.async().solve(b.cspan(), x.span(), {}, InitialGuess::zero).get();
  const SolveReport ordered = system.ordered().solve(b.cspan(), y.span(), {}, InitialGuess::zero);
  const SolveReport guessed = system.solve(b.cspan(), z.span());
  CHECK(threaded.converged());
  check_same(threaded, guessed);
  check_same(ordered, guessed);
  CHECK(same(to_vector(ctx, x.cspan()), to_vector(ctx, z.cspan())));
  CHECK(same(to_vector(ctx, y.cspan()), to_vector(ctx, z.cspan())));
  CHECK(system.solve(b.cspan(), z.span()).iterations == 0);
}

TEST_CASE("From zero no product is made for the first residual (host)", "[system][zero]") {
  constexpr Space S = Space::host;
  const Context<S> ctx;
  const Rows a = laplacian(8);
  const Arrays<double, S> arrays(ctx, a);
  const std::shared_ptr<const LinearOperator<double, S>> product =
      make_spmv(ctx, arrays.view(), RowOrder<S>(), same_bits());
  int products = 0;
  auto counted = std::make_shared<FunctionOperator<double, S>>(
      a.size(), a.size(), [&](const Context<S>& c, double alpha, auto x, double beta, auto y) {
        ++products;
        product->apply(c, alpha, x, beta, y);
      });
  for (const char* solver : {"cg", "bicgstab", "gmres"}) {
    INFO(solver);
    SystemOptions options = system_options(solver);
    LinearSystem<double, S> system(ctx, counted, options);
    const auto b = make_array(ctx, noise(a.size()));
    auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
    products = 0;
    CHECK(system.solve(b.cspan(), x.span(), {}, InitialGuess::zero).converged());
    const int from_zero = products;
    fill<double, S>(ctx, 0.0, x.span());
    products = 0;
    CHECK(system.solve(b.cspan(), x.span()).converged());
    CHECK(products == from_zero + 1);
  }
}
