// SPDX-License-Identifier: Apache-2.0
// Structurally singular systems: those that have a solution are solved, the others end soon, and say what remains for
// every x. Judged by orthogonalised columns in long double.
#include "tests/solver/systems.hpp"

#include "solver/direct/completed_matrix.hpp"

namespace {

using HostSystem = LinearSystem<double, Space::host>;
using Column = std::vector<long double>;

long double product(const Column& v, const Column& w) {
  long double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * w[i];
  return sum;
}

void subtract(Column& v, long double times, const Column& w) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] -= times * w[i];
}

/// The rank of A, and the least |b - A x|: by Gram and Schmidt, twice, with the largest column first.
struct LeastSquares {
  LeastSquares(const Rows& a, const std::vector<double>& b) : rest(b.begin(), b.end()) {
    const std::size_t n = a.row.size();
    std::vector<Column> columns(n, Column(n, 0));
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [j, value] : a.row[i]) columns[static_cast<std::size_t>(j)][i] = value;
    }
    std::vector<Column> basis;
    long double first = 0;
    while (!columns.empty()) {
      const auto most = std::max_element(columns.begin(), columns.end(), [](const Column& v, const Column& w) {
        return product(v, v) < product(w, w);
      });
      Column q = *most;
      columns.erase(most);
      for (int pass = 0; pass < 2; ++pass) {
        for (const Column& earlier : basis) subtract(q, product(q, earlier), earlier);
      }
      const long double size = std::sqrt(product(q, q));
      first = std::max(first, size);
      if (!(size > 1e-12L * first)) break;
      for (long double& value : q) value /= size;
      for (Column& left : columns) subtract(left, product(left, q), q);
      basis.push_back(q);
    }
    rank = static_cast<Index>(basis.size());
    for (int pass = 0; pass < 2; ++pass) {
      for (const Column& q : basis) subtract(rest, product(rest, q), q);
    }
    least = static_cast<double>(std::sqrt(product(rest, rest)));
  }
  Column rest;
  Index rank = 0;
  double least = 0;
};

// The most rows that can be paired with different columns: by augmenting paths.
Index structural_rank(const Rows& a) {
  std::vector<Index> row_of(a.row.size(), -1);
  std::vector<char> tried;
  const std::function<bool(Index)> pair = [&](Index i) {
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      if (value == 0 || std::exchange(tried[static_cast<std::size_t>(j)], 1) != 0) continue;
      Index& other = row_of[static_cast<std::size_t>(j)];
      if (other >= 0 && !pair(other)) continue;
      other = i;
      return true;
    }
    return false;
  };
  Index rank = 0;
  for (Index i = 0; i < a.size(); ++i) {
    tried.assign(a.row.size(), 0);
    rank += pair(i) ? 1 : 0;
  }
  return rank;
}

// Values of about 1 in random places, and a diagonal with gaps.
Rows random_pattern(Index n, std::uint64_t seed) {
  Rows a(n);
  const auto places = noise(n * n, seed), sizes = noise(n * n, seed + 5000), gaps = noise(n, seed + 9000);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(i * n + j);
      if (places[k] < 4.0 / static_cast<double>(n) - 1) a.at(i, j) = sizes[k] + (sizes[k] < 0 ? -0.2 : 0.2);
    }
    if (gaps[static_cast<std::size_t>(i)] < 0.6) a.at(i, i) = 2 + gaps[static_cast<std::size_t>(i)];
  }
  return a;
}

void clear_column(Rows& a, Index j) {
  for (auto& row : a.row) row.erase(j);
}

// Columns 3, 4 and 5 have entries in two rows alone.
Rows three_columns_in_two_rows(Index k) {
  Rows a = laplacian(k, 0.4);
  for (const Index j : {3, 4, 5}) {
    clear_column(a, j);
    a.at(2, j) = 1.0 + j;
    a.at(7, j) = 2.0 - j;
  }
  return a;
}

Rows without_column(Index k, Index j) {
  Rows a = laplacian(k, 0.4);
  clear_column(a, j);
  return a;
}

// Unknowns of which no equation knows, and equations of none, as of a mesh with nodes that no element has.
Rows with_idle_nodes(Index k) {
  Rows a = laplacian(k);
  for (const Index i : {4, 17, 18}) {
    a.row[static_cast<std::size_t>(i)].clear();
    clear_column(a, i);
  }
  return a;
}

std::vector<Rows> structurally_singular() {
  return {three_columns_in_two_rows(9), without_column(9, 40),         with_idle_nodes(9),
          without_column(30, 333),      three_columns_in_two_rows(45), with_idle_nodes(40)};
}

SolveReport reported(const Rows& a, const std::vector<double>& b, const char* solver,
                     std::vector<double>* x = nullptr, const std::vector<double>& guess = {}) {
  const Context<Space::host> ctx;
  SystemOf<double, Space::host> system(ctx, a, system_options(solver));
  const auto found = run_system(ctx, system, b, guess);
  if (x != nullptr) *x = found.x;
  return found.report;
}

}  // namespace

TEST_CASE("A structurally singular system with a solution is solved, and an unknown of no equation keeps the guess",
          "[singular][structure]") {
  for (const Rows& a : structurally_singular()) {
    const auto b = a.rhs_for(noise(a.size(), 3));
    const std::vector<double> guess = noise(a.size(), 8);
    for (const char* solver : {"direct", "auto"}) {
      CAPTURE(a.size(), solver);
      std::vector<double> x;
      const SolveReport report = reported(a, b, solver, &x, guess);
      CAPTURE(report.reason);
      CHECK(report.converged());
      CHECK(true_residual(a, b, x) <= 1e-8 * norm(b));
      std::set<Index> used;
      for (const auto& row : a.row) {
        for (const auto& entry : row) used.insert(entry.first);
      }
      for (Index j = 0; j < a.size(); ++j) {
        if (used.count(j) == 0) CHECK(x[static_cast<std::size_t>(j)] == guess[static_cast<std::size_t>(j)]);
      }
    }
  }
}

TEST_CASE("A structurally singular system without a solution is said to have none after one solver at most",
          "[singular][structure]") {
  for (const Rows& a : structurally_singular()) {
    const auto b = noise(a.size(), 9);
    for (const char* solver : {"direct", "auto"}) {
      CAPTURE(a.size(), solver);
      std::vector<double> x;
      const SolveReport report = reported(a, b, solver, &x);
      CAPTURE(report.reason);
      CHECK(report.attempts.size() <= 2);
      if (report.failure.cause == Cause::zero_row) continue;
      CHECK(report.status == Status::breakdown);
      CHECK(report.failure.cause == Cause::singular);
      CHECK(report.failure.structural_rank == structural_rank(a));
      CHECK(report.failure.level > 0);
      CHECK_THAT(report.reason, Catch::Contains("of |b| or more remains for every x"));
      if (a.size() > 100) continue;
      const LeastSquares exact(a, b);
      CHECK(report.failure.level * norm(b) <= exact.least);
      CHECK(report.failure.level * norm(b) >= 0.98 * exact.least);
      CHECK(true_residual(a, b, x) <= exact.least * (1 + 1e-6));
    }
  }
}

TEST_CASE("Of random patterns those with a solution are solved, and no more is said to remain than does",
          "[singular][structure]") {
  int solved = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Index n = 5 + static_cast<Index>(seed % 37);
    Rows a = random_pattern(n, seed);
    if (seed % 4 == 0) clear_column(a, n / 2);
    if (seed % 5 == 0) a.row[static_cast<std::size_t>(n / 3)] = {{n / 2, 0.0}};
    const Index rank = structural_rank(a);
    CAPTURE(seed, n, rank);
    const auto in_range = a.rhs_for(noise(n, seed + 7)), other = noise(n, seed + 8);
    const LeastSquares exact(a, other);
    for (const char* solver : {"direct", "auto"}) {
      CAPTURE(solver);
      std::vector<double> x;
      const SolveReport report = reported(a, in_range, solver, &x);
      if (report.converged()) CHECK(true_residual(a, in_range, x) <= 1e-8 * norm(in_range));
      if (exact.rank == rank) CHECK(report.converged());
      solved += rank < n && report.converged() ? 1 : 0;
      const SolveReport failed = reported(a, other, solver, &x);
      if (failed.converged()) CHECK(true_residual(a, other, x) <= 1e-8 * norm(other));
      if (failed.failure.cause != Cause::singular) continue;
      CHECK(failed.failure.level * norm(other) <= exact.least * (1 + 1e-9));
      if (rank < n) CHECK(failed.failure.structural_rank == rank);
      if (rank < n && exact.rank == rank) CHECK(failed.failure.level > 0);
      without += failed.failure.level > 0 ? 1 : 0;
    }
  }
  CHECK(solved > 40);
  CHECK(without > 40);
}

TEST_CASE("New values may leave other rows without a partner, or none", "[singular][structure]") {
  const Context<Space::host> ctx;
  const Rows whole = laplacian(8, 0.4);
  const auto with_zeros_in = [&](const std::vector<Index>& columns) {
    Rows a = whole;
    for (auto& row : a.row) {
      for (auto& [j, value] : row) {
        if (std::find(columns.begin(), columns.end(), j) != columns.end()) value = 0;
      }
    }
    return a;
  };
  for (const char* solver : {"direct", "auto"}) {
    SystemOf<double, Space::host> system(ctx, with_zeros_in({5}), system_options(solver));
    for (const std::vector<Index>& columns : {std::vector<Index>{5}, {5, 30}, {}, {12}, {12}, {}}) {
      const Rows a = with_zeros_in(columns);
      refresh(ctx, system, a);
      CAPTURE(solver, columns);
      const auto b = a.rhs_for(noise(a.size(), 3)), other = noise(a.size(), 4);
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.converged());
      CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
      const auto again = run_system(ctx, system, other);
      CHECK(again.report.converged() == columns.empty());
      if (columns.empty()) continue;
      CHECK(again.report.failure.structural_rank == a.size() - static_cast<Index>(columns.size()));
    }
  }
}

TEST_CASE("Rows in very different units are said to have no solution in the units of b", "[singular][structure]") {
  Rows a = three_columns_in_two_rows(7);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value *= std::ldexp(1.0, 30 * (i % 9) - 120);
  }
  const auto b = noise(a.size(), 5);
  const SolveReport report = reported(a, b, "direct");
  CHECK(report.failure.cause == Cause::singular);
  CHECK(report.failure.structural_rank == a.size() - 1);
  Rows scaled = a;  // in units that long double takes, by columns
  CHECK(report.failure.level * norm(b) <= LeastSquares(scaled, b).least * (1 + 1e-9));
}

TEST_CASE("An entry more for each row without a partner makes the pattern regular, symmetric where that is possible",
          "[singular][structure]") {
  int completed_ones = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const bool idle = seed % 6 == 0;
    const Rows a = idle ? with_idle_nodes(6) : random_pattern(3 + static_cast<Index>(seed % 20), seed);
    detail::ColumnPattern rows{a.size(), {0}, {}};
    std::vector<double> values;
    for (const auto& row : a.row) {
      for (const auto& [j, value] : row) {
        rows.row.push_back(j);
        values.push_back(value);
      }
      rows.begin.push_back(rows.entries());
    }
    const Context<Space::host> ctx;
    detail::CompletedMatrix completed(rows);
    completed.new_values() = values;
    const Index rank = structural_rank(a);
    CAPTURE(seed, a.size(), rank);
    CHECK(completed.complete(ctx) == (rank < a.size()));
    CHECK(completed.added() == a.size() - rank);
    if (rank == a.size()) continue;
    ++completed_ones;
    CHECK(!completed.renew(ctx));
    if (idle) CHECK(completed.adds_symmetric());
    Rows made(a.size());
    for (Index i = 0; i < a.size(); ++i) {
      const auto begin = completed.rows()->begin[static_cast<std::size_t>(i)];
      const auto end = completed.rows()->begin[static_cast<std::size_t>(i) + 1];
      for (Index e = begin; e < end; ++e) {
        const Index j = completed.rows()->row[static_cast<std::size_t>(e)];
        CHECK((e == begin || completed.rows()->row[static_cast<std::size_t>(e) - 1] < j));
        made.at(i, j) = completed.values()[static_cast<std::size_t>(e)];
      }
    }
    CHECK(structural_rank(made) == a.size());
    for (Index i = 0; i < a.size(); ++i) {
      for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) CHECK(made.at(i, j) == value);
    }
    completed.take_A();
    CHECK(completed.added() == 0);
    CHECK(completed.values() == values);
  }
  CHECK(completed_ones > 20);
}
