// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides under everything that a LinearSystem may be told: solvers, formats, preconditioners, null
// spaces, orders.
#include "tests/solver/column_support.hpp"

namespace {

// Row 0, 5, 10, ... of n, which 5 does not divide.
std::vector<Index> shuffled(Index n) {
  std::vector<Index> order;
  for (Index i = 0; i < n; ++i) order.push_back(5 * i % n);
  return order;
}

// Every format of the table that exists for T in S, with each of its variants.
template <class T, Space S>
std::vector<std::string> all_formats() {
  std::vector<std::string> names;
  for (const SpmvFormat& format : spmv_formats()) {
    if (format.make.get<T, S>() == nullptr) continue;
    names.push_back(format.name);
    for (const std::string& variant : format.variants) names.push_back(format.name + ":" + variant);
  }
  return names;
}

}  // namespace

TEST_BOTH("columns are solved by every solver, in both precisions", "[columns]") {
  for (const char* solver : {"auto", "cg", "bicgstab", "gmres"}) {
    const Rows a = laplacian(11, std::string(solver) == "cg" ? 0.0 : 0.3);
    SystemOptions options = cg_options("jacobi");
    options.solver.name = solver;
    check_against_alone<double, S>(ctx, a, options, noise_columns(a, 3));
    options.stop.rel_tol = 1e-4;
    check_against_alone<float, S>(ctx, a, options, noise_columns(a, 3));
  }
}

TEST_BOTH("columns are solved in every format and with every preconditioner of the tables", "[columns]") {
  const Rows a = laplacian(15);
  for (const std::string& format : all_formats<double, S>()) {
    SystemOptions options = cg_options("jacobi");
    options.spmv.format = format;
    INFO(format);
    check_against_alone<double, S>(ctx, a, options, noise_columns(a, 5));
  }
  for (const PrecondMethod& line : preconditioners()) {
    if (line.automatic == AutoPrecond::saddle) continue;  // which refuses this matrix
    SystemOptions options = cg_options(line.name);
    options.spmv.format = "ehyb";
    INFO(line.name);
    check_against_alone<double, S>(ctx, a, options, noise_columns(a, 5));
  }
  for (const std::string& format : all_formats<float, S>()) {
    SystemOptions options = cg_options("jacobi");
    options.spmv.format = format;
    options.stop.rel_tol = 1e-4;
    check_against_alone<float, S>(ctx, a, options, noise_columns(a, 5));
  }
}

TEST_BOTH("columns of a renumbered system are the caller's, and in solver order the solver's", "[columns]") {
  const Rows a = laplacian(13);
  SystemOptions options = cg_options("jacobi");
  options.old_of_new = shuffled(a.size());
  const Columns b = noise_columns(a, 6);
  check_against_alone<double, S>(ctx, a, options, b);

  LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
  const Batch<double> found = solve_together<double, S>(ctx, system, b, zeros_like(b));
  Columns ordered;
  for (const auto& column : b) {
    ordered.emplace_back();
    for (const Index old : options.old_of_new) ordered.back().push_back(column[static_cast<std::size_t>(old)]);
  }
  const auto bs = make_array(ctx, joined<double>(ordered));
  auto xs = make_array(ctx, joined<double>(zeros_like(ordered)));
  for (const SolveReport& report : system.ordered().solve_columns(bs.cspan(), xs.span(), 6))
    CHECK(report.converged());
  const auto x = to_vector(ctx, xs.cspan());
  for (std::size_t c = 0; c < b.size(); ++c) {
    for (std::size_t i = 0; i < b[c].size(); ++i) {
      const double expected = found.x[c][static_cast<std::size_t>(options.old_of_new[i])];
      CHECK(x[c * b[c].size() + i] == Approx(expected).margin(1e-12));
    }
  }
}

TEST_BOTH("columns of a pure Neumann problem have mean zero, and one outside the range says so", "[columns]") {
  const Rows a = neumann(12);
  for (const char* solver : {"cg", "auto", "gmres"}) {
    for (const char* precond : {"none", "jacobi"}) {
      SystemOptions options = cg_options(precond);
      options.solver.name = solver;
      options.null_space = NullSpace::constant;
      options.stop.max_iterations = 500;
      Columns b = noise_columns(a, 5);
      b[2][5] += 1;
      LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
      const Batch<double> found = solve_together<double, S>(ctx, system, b, zeros_like(b));
      for (std::size_t c = 0; c < b.size(); ++c) {
        INFO(solver << " " << precond << ", column " << c << " " << found.report[c].reason);
        CHECK(std::abs(std::accumulate(found.x[c].begin(), found.x[c].end(), 0.0)) < 1e-10);
        const double residual = true_residual<double>(a, b[c], found.x[c]);
        if (c == 2) {
          CHECK(found.report[c].status == Status::stagnation);
          CHECK(contains(found.report[c].reason, "constant part"));
          CHECK(residual == Approx(1.0 / 12).epsilon(1e-6));  // of the added 1, 1 / sqrt(144) is constant
        } else {
          CHECK(found.report[c].converged());
          CHECK(residual <= 1.001e-8 * norm(b[c]));
        }
      }
    }
  }
}

TEST_BOTH("columns are solved in mixed precision, one after the other", "[columns]") {
  const Rows a = laplacian(15);
  SystemOptions options = cg_options("jacobi");
  options.mixed = true;
  options.stop.rel_tol = 1e-10;
  const Batch<double> found = check_against_alone<double, S>(ctx, a, options, noise_columns(a, 3));
  for (const SolveReport& report : found.report) {
    CHECK(report.converged());
    CHECK(report.solver == "mixed cg");
  }
}

TEST_BOTH("columns see refreshed values", "[columns]") {
  const Rows a = laplacian(12), changed = laplacian(12, 0, 2.0);
  const Arrays<double, S> fresh(ctx, changed);
  for (const char* precond : {"jacobi", "fsai"}) {
    LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), cg_options(precond));
    const Columns b = noise_columns(changed, 4);
    solve_together<double, S>(ctx, system, b, zeros_like(b));
    system.refresh(fresh.val.span());
    const Batch<double> found = solve_together<double, S>(ctx, system, b, zeros_like(b));
    for (std::size_t c = 0; c < b.size(); ++c) {
      CHECK(found.report[c].converged());
      CHECK(true_residual<double>(changed, b[c], found.x[c]) <= 1.001e-8 * norm(b[c]));
    }
  }
}

TEST_BOTH("columns whose lengths do not fit are refused, and no columns are no work", "[columns]") {
  const Rows a = laplacian(4);
  for (const bool reorder : {false, true}) {
    SystemOptions options;
    if (reorder) options.old_of_new = shuffled(16);
    LinearSystem<double, S> system(ctx, Arrays<double, S>(ctx, a).view(), options);
    Array<double, S> b(ctx, 32), x(ctx, 32);
    CHECK_THROWS_AS((void)system.solve_columns(b.cspan(), x.span(), 3), InputError);
    CHECK_THROWS_AS((void)system.solve_columns(b.cspan(), x.span().subspan(0, 16), 2), InputError);
    CHECK_THROWS_AS((void)system.solve_columns(b.cspan(), x.span(), -1), InputError);
    CHECK_THROWS_AS((void)system.solve_columns(x.cspan(), x.span(), 2), InputError);
    CHECK_THROWS_AS((void)system.ordered().solve_columns(b.cspan(), x.span(), 1), InputError);
    CHECK(system.solve_columns(b.cspan().subspan(0, 0), x.span().subspan(0, 0), 0).empty());
  }
  // A system without unknowns has columns without entries.
  Rows none(0);
  LinearSystem<double, S> empty(ctx, Arrays<double, S>(ctx, none).view(), cg_options("none"));
  Array<double, S> nothing(ctx, 0), also(ctx, 0);
  const auto reports = empty.solve_columns(nothing.cspan(), also.span(), 3);
  REQUIRE(reports.size() == 3);
  for (const SolveReport& report : reports) CHECK(report.converged());
}
