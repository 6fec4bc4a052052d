// SPDX-License-Identifier: Apache-2.0
// Systems with rows that fix unknowns: solved as the condensed system is, with the caller's residuals and reports.
#include "tests/solver/equivalent_support.hpp"

#include <newel/precond/amg/amg_options.hpp>

namespace {

// A symmetric matrix in which some rows are replaced by a diagonal entry, as by the usual "set row to identity".
struct FixedRows {
  Rows whole, condensed;
  std::vector<Index> kept, fixed;
  std::vector<double> b, of_condensed;

  // `zeros`: the other entries stay as 0.
  FixedRows(const Rows& a, const std::vector<Index>& rows, double diagonal, bool zeros)
      : whole(a), condensed(a.size() - static_cast<Index>(rows.size())), fixed(rows), b(noise(a.size(), 7)) {
    std::vector<Index> place(a.row.size(), -1);
    for (Index i = 0; i < a.size(); ++i) {
      if (std::find(rows.begin(), rows.end(), i) != rows.end()) continue;
      place[static_cast<std::size_t>(i)] = static_cast<Index>(kept.size());
      kept.push_back(i);
    }
    for (const Index i : rows) {
      auto& row = whole.row[static_cast<std::size_t>(i)];
      if (!zeros) row.clear();
      for (auto& [j, value] : row) value = 0;
      row[i] = diagonal;
      b[static_cast<std::size_t>(i)] *= diagonal;
    }
    for (const Index i : kept) {
      long double c = b[static_cast<std::size_t>(i)];
      for (const auto& [j, value] : whole.row[static_cast<std::size_t>(i)]) {
        const Index p = place[static_cast<std::size_t>(j)];
        if (p >= 0) condensed.at(place[static_cast<std::size_t>(i)], p) = value;
        if (p < 0) c -= value * (b[static_cast<std::size_t>(j)] / diagonal);
      }
      of_condensed.push_back(static_cast<double>(c));
    }
  }

  std::vector<double> of_kept(const std::vector<double>& v, Index width = 1) const {
    std::vector<double> part;
    for (const Index i : kept) {
      for (Index k = 0; k < width; ++k) part.push_back(v[static_cast<std::size_t>(i * width + k)]);
    }
    return part;
  }
};

std::vector<Index> every(Index step, Index n) {
  std::vector<Index> rows;
  for (Index i = step / 2; i < n; i += step) rows.push_back(i);
  return rows;
}

SystemOptions with_precond(const std::string& precond) { return system_options("auto", precond, "csr"); }

}  // namespace

TEST_BOTH("Rows with nothing but a diagonal are solved first, and the rest as the condensed system",
          "[solver][fixing]") {
  for (const bool zeros : {false, true}) {
    for (const std::string precond : {"auto", "jacobi", "amg"}) {
      CAPTURE(zeros, precond);
      const FixedRows s(laplacian(20), every(7, 400), 16, zeros);
      SystemOf<double, S> whole(ctx, s.whole, with_precond(precond)), given(ctx, s.condensed, with_precond(precond));
      CHECK(whole.info().fixing_rows == static_cast<Index>(s.fixed.size()));
      CHECK(given.info().fixing_rows == 0);
      CHECK(whole.info().method == "cg");
      CHECK(whole.info().preconditioner.name == given.info().preconditioner.name);
      REQUIRE(norm(s.b) > norm(s.of_condensed));  // so that the tolerance is that of the condensed system
      const auto found = run_system(ctx, whole, s.b), right = run_system(ctx, given, s.of_condensed);
      check_report(s.whole, s.b, found.report, found.x);
      CHECK(found.report.iterations == right.report.iterations);
      CHECK(found.report.initial_residual == Approx(norm(s.b)).epsilon(1e-12));
      for (std::size_t k = 0; k < s.kept.size(); ++k) {
        CHECK(found.x[static_cast<std::size_t>(s.kept[k])] == Approx(right.x[k]).epsilon(1e-12).margin(1e-13));
      }
      for (const Index i : s.fixed) {
        CHECK(found.x[static_cast<std::size_t>(i)] == s.b[static_cast<std::size_t>(i)] / 16);  // a power of two
      }
      const auto again = run_system(ctx, whole, s.b, found.x);
      CHECK(again.report.iterations == 0);
      CHECK(again.report.initial_residual == Approx(found.report.true_residual).epsilon(1e-6).margin(1e-14));
    }
  }
}

TEST_BOTH("A large part of b that fixes unknowns does not loosen the others", "[solver][fixing]") {
  const FixedRows s(laplacian(12), every(5, 144), 1e6, false);
  SystemOf<double, S> system(ctx, s.whole);
  const auto found = run_system(ctx, system, s.b);
  check_report(s.whole, s.b, found.report, found.x);
  std::vector<double> y;
  for (const Index i : s.kept) y.push_back(found.x[static_cast<std::size_t>(i)]);
  CHECK(true_residual(s.condensed, s.of_condensed, y) <= 1.001e-8 * norm(s.of_condensed));
}

TEST_BOTH("What gains nothing is solved as it was given", "[solver][fixing]") {
  // Rows and columns eliminated: symmetric. A wind: not symmetric without the rows either. A solver by name.
  const FixedRows s(laplacian(12), every(7, 144), 4, true);
  Rows eliminated = s.whole;
  for (const Index i : s.kept) {
    for (const Index j : s.fixed) {
      auto& row = eliminated.row[static_cast<std::size_t>(i)];
      if (row.count(j) != 0) row[j] = 0;
    }
  }
  const FixedRows wind(laplacian(12, 0.3), every(7, 144), 4, false);
  for (const Rows& a : {eliminated, wind.whole, diagonal(noise(20, 3)), laplacian(12)}) {
    SystemOf<double, S> system(ctx, a);
    CHECK(system.info().fixing_rows == 0);
    const auto found = run_system(ctx, system, noise(a.size(), 4));
    check_report(a, noise(a.size(), 4), found.report, found.x);
  }
  SystemOf<double, S> named(ctx, s.whole, system_options("bicgstab", "jacobi", "csr"));
  CHECK(named.info().fixing_rows == 0);
  SystemOptions ordered;
  ordered.old_of_new = shuffled(s.whole.size());
  CHECK(SystemOf<double, S>(ctx, s.whole, ordered).info().fixing_rows == 0);
}

TEST_BOTH("New values: the same as a new system, also if a row no longer fixes its unknown", "[solver][fixing]") {
  const FixedRows s(laplacian(10), every(7, 100), 4, true), other(laplacian(10, 0, 0.5), every(7, 100), 8, true);
  // Fewer rows, with as many entries as before; and none of them.
  const FixedRows fewer(laplacian(10), every(14, 100), 2, true), none(laplacian(10), {}, 1, true);
  SystemOf<double, S> system(ctx, s.whole);
  CHECK(run_system(ctx, system, s.b).report.converged());
  for (const FixedRows* next : {&other, &fewer, &none, &s}) {
    refresh(ctx, system, next->whole);
    const auto found = run_system(ctx, system, next->b);
    check_report(next->whole, next->b, found.report, found.x);
    CHECK(system.info().fixing_rows == static_cast<Index>(next->fixed.size()));
  }
  SystemOf<double, S> renewed(ctx, s.whole, with_precond("jacobi")), made(ctx, other.whole, with_precond("jacobi"));
  refresh(ctx, renewed, other.whole);
  CHECK(run_system(ctx, renewed, other.b).x == run_system(ctx, made, other.b).x);
}

TEST_BOTH("A refresh that leaves the same rows fixed allocates nothing", "[solver][fixing]") {
  const FixedRows s(laplacian(10), every(7, 100), 4, true), other(laplacian(10, 0, 0.5), every(7, 100), 8, true);
  SystemOf<double, S> system(ctx, s.whole, with_precond("jacobi"));
  const Arrays<double, S> values(ctx, other.whole);
  system.refresh(values.val.cspan());
  const auto before = ctx.memory()->use().allocations;
  system.refresh(values.val.cspan());
  CHECK(ctx.memory()->use().allocations == before);
  const auto found = run_system(ctx, system, other.b);
  check_report(other.whole, other.b, found.report, found.x);
}

TEST_BOTH("Values that are written into the slots are condensed too", "[solver][fixing][slots]") {
  const FixedRows s(laplacian(8), every(5, 64), 4, true), other(laplacian(8, 0, 0.25), every(5, 64), 2, true);
  SystemOf<double, S> system(ctx, s.whole);
  const Arrays<double, S> values(ctx, other.whole);
  const Slots<double, S> slots = system.in_place().matrix();
  copy<double>(ctx, values.val.cspan(), slots.values);
  system.in_place().written();
  const auto found = run_system(ctx, system, other.b);
  check_report(other.whole, other.b, found.report, found.x);
}

TEST_BOTH("Columns, and single precision", "[solver][fixing][columns]") {
  const FixedRows s(laplacian(9), every(4, 81), 4, false);
  SystemOf<double, S> system(ctx, s.whole);
  std::vector<double> b;
  for (int c = 0; c < 3; ++c) {
    for (const double value : s.b) b.push_back((c - 1) * std::ldexp(value, 60 * c));
  }
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), 3);
  REQUIRE(reports.size() == 3);
  const auto x = to_vector(ctx, xs.cspan());
  const auto part = [&](const std::vector<double>& v, std::size_t c) {
    return std::vector<double>(v.begin() + 81 * static_cast<int>(c), v.begin() + 81 * (static_cast<int>(c) + 1));
  };
  for (std::size_t c = 0; c < 3; ++c) check_report(s.whole, part(b, c), reports[c], part(x, c));
  SystemOptions options;
  options.stop.rel_tol = 1e-4;
  SystemOf<float, S> single(ctx, s.whole, options);
  CHECK(single.info().fixing_rows == static_cast<Index>(s.fixed.size()));
  const auto found = run_system(ctx, single, s.b);
  CHECK(found.report.converged());
  CHECK(true_residual(s.whole, cast<float>(s.b), found.x) <= 1e-4 * norm(s.b) * (1 + 1e-3));
}

TEST_BOTH("Near-null vectors and coordinates of all rows are restricted", "[solver][fixing][amg]") {
  // Two unknowns a node; both fixed or none.
  const Rows scalar = laplacian(18);
  Rows pairs(2 * scalar.size());
  for (Index i = 0; i < scalar.size(); ++i) {
    for (const auto& [j, value] : scalar.row[static_cast<std::size_t>(i)]) {
      pairs.at(2 * i, 2 * j) = pairs.at(2 * i + 1, 2 * j + 1) = value + (i == j ? 0.5 : 0);
      pairs.at(2 * i, 2 * j + 1) = pairs.at(2 * j + 1, 2 * i) = i == j ? 0.3 : 0.1;
    }
  }
  std::vector<Index> rows;
  for (const Index i : every(9, scalar.size())) rows.insert(rows.end(), {2 * i, 2 * i + 1});
  const FixedRows s(pairs, rows, 64, false);
  NodeCoordinates nodes{{}, 2};
  for (Index i = 0; i < scalar.size(); ++i) nodes.xyz.insert(nodes.xyz.end(), {i / 18 + 0.1 * (i % 3), i % 18 * 1.0});
  NodeCoordinates kept{{}, 2};
  for (std::size_t k = 0; k < s.kept.size(); k += 2) {
    const auto first = nodes.xyz.begin() + s.kept[k];  // 2 values a node, of 2 rows
    kept.xyz.insert(kept.xyz.end(), first, first + 2);
  }
  const auto compare = [&](const SystemOptions& of_whole, const SystemOptions& of_condensed) {
    SystemOf<double, S> whole(ctx, s.whole, of_whole), given(ctx, s.condensed, of_condensed);
    CHECK(whole.info().fixing_rows == static_cast<Index>(rows.size()));
    const auto found = run_system(ctx, whole, s.b), right = run_system(ctx, given, s.of_condensed);
    check_report(s.whole, s.b, found.report, found.x);
    CHECK(found.report.iterations == right.report.iterations);
  };
  SystemOptions of_whole = with_precond("amg"), of_condensed = of_whole;
  of_whole.spmv.coordinates = std::make_shared<NodeCoordinates>(nodes);
  of_condensed.spmv.coordinates = std::make_shared<NodeCoordinates>(kept);
  compare(of_whole, of_condensed);
  of_whole = of_condensed = with_precond("amg");
  const std::vector<double> values = noise(3 * s.whole.size(), 12);
  of_whole.precond.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(NearNullVectors{3, values});
  of_condensed.precond.of<AmgOptions>().vectors =
      std::make_shared<NearNullVectors>(NearNullVectors{3, s.of_kept(values, 3)});
  compare(of_whole, of_condensed);
  // One unknown of a node: its coordinates cannot be restricted.
  const FixedRows half(pairs, {40}, 64, false);
  of_whole = with_precond("amg");
  of_whole.spmv.coordinates = std::make_shared<NodeCoordinates>(nodes);
  SystemOf<double, S> as_given(ctx, half.whole, of_whole);
  CHECK(as_given.info().fixing_rows == 0);
}

TEST_BOTH("What is not finite in b, or is no longer finite in x, is called so", "[solver][fixing]") {
  const FixedRows s(laplacian(6), {3, 20}, 1e-200, false);
  SystemOf<double, S> system(ctx, s.whole);
  CHECK(system.info().fixing_rows == 2);
  std::vector<double> b = s.b;
  b[20] = 1e200;
  const auto beyond = run_system(ctx, system, b).report;
  CHECK(beyond.status == Status::not_finite);
  CHECK(beyond.failure.cause == Cause::solution_out_of_range);
  b[20] = NAN;
  const auto input = run_system(ctx, system, b).report;
  CHECK(input.status == Status::not_finite);
  CHECK(input.failure.cause == Cause::not_finite_input);
}

TEST_BOTH("A decision is that of the condensed system", "[solver][fixing]") {
  const FixedRows s(laplacian(14), every(7, 196), 4, false);
  SystemOf<double, S> system(ctx, s.whole, with_precond("amg"));
  const auto before = run_system(ctx, system, s.b);
  SystemOptions options;
  options.decision = decision_of(json_of(system.history().decision()));
  CHECK(options.decision->rows == s.condensed.size());
  SystemOf<double, S> next(ctx, s.whole, options);
  CHECK(next.info().fixing_rows == static_cast<Index>(s.fixed.size()));
  CHECK(next.info().preconditioner.name == "amg");
  CHECK(run_system(ctx, next, s.b).report.converged());
}

TEST_CASE("Rows that a report names are numbered as the caller's", "[solver][fixing][singular]") {
  const Context<Space::host> ctx;
  FixedRows s(laplacian(6), {0, 1, 20}, 4, false);
  // Rows 9 and 10 have entries in column 8 alone, and are the only ones there: symmetric with their columns.
  for (auto& row : s.whole.row) row.erase(8), row.erase(9), row.erase(10);
  s.whole.row[8] = {{9, 1.0}, {10, 2.0}};
  s.whole.row[9] = {{8, 1.0}};
  s.whole.row[10] = {{8, 2.0}};
  SystemOf<double, Space::host> system(ctx, s.whole);
  REQUIRE(system.info().fixing_rows == 3);
  const SolveReport report = run_system(ctx, system, noise(36, 5)).report;
  CHECK_FALSE(report.converged());
  if (report.failure.structural_rank < 0) return;  // no direct solver
  CHECK(report.failure.structural_rank == 35);
  CHECK((report.failure.unmatched_row == 9 || report.failure.unmatched_row == 10));
  CHECK((report.failure.unmatched_column == 9 || report.failure.unmatched_column == 10));
}
