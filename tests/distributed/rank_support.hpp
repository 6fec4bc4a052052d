// SPDX-License-Identifier: Apache-2.0
/// Ranks in threads, and a matrix whose rows they share.
#pragma once

#include <exception>
#include <functional>
#include <stdexcept>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/rank_team.hpp>
#include <newel/distributed/distributed_system.hpp>

#include "tests/catch.hpp"
#include "tests/support.hpp"

namespace newel::testing {

using Rows = MapRows;

/// A check on a rank: Catch's are for one thread. What does not hold is thrown, and `on_ranks` returns it.
inline void rank_check(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}
#define RANK_CHECK(...) newel::testing::rank_check((__VA_ARGS__), #__VA_ARGS__)

/// Facts that do not depend on how rows are shared.
inline void rank_check_traits(const MatrixTraits& found, const MatrixTraits& whole) {
  RANK_CHECK(found.symmetric() == whole.symmetric());
  RANK_CHECK(found.pattern_symmetric == whole.pattern_symmetric);
  RANK_CHECK(found.max_abs == whole.max_abs);
  RANK_CHECK(found.max_asymmetry == whole.max_asymmetry);
  RANK_CHECK(found.relative_asymmetry == whole.relative_asymmetry);
  RANK_CHECK(found.empty_rows.count == whole.empty_rows.count);
  RANK_CHECK(found.missing_diagonal.count == whole.missing_diagonal.count);
  RANK_CHECK(found.zero_diagonal.count == whole.zero_diagonal.count);
  RANK_CHECK(found.negative_diagonal.count == whole.negative_diagonal.count);
  RANK_CHECK(found.undamped_rows == whole.undamped_rows);
}

/// Calls f(communicator) on as many threads as there are ranks; what each threw, empty where it threw nothing.
inline std::vector<std::string> on_ranks(int size, const std::function<void(std::shared_ptr<Communicator>)>& f) {
  std::vector<std::string> thrown;
  for (const std::exception_ptr& failure : RankTeam(size).failures_of(f)) {
    thrown.emplace_back();
    try {
      if (failure != nullptr) std::rethrow_exception(failure);
    } catch (const std::exception& what) {
      thrown.back() = what.what();
    }
  }
  return thrown;
}

/// Rows first, first + 1, ... of a matrix.
struct OwnRows {
  Index first = 0;
  std::vector<Offset> row_ptr = {0};
  std::vector<std::int64_t> col;
  std::vector<double> val;

  OwnRows(const HostCsr& a, Index first_, Index rows) : first(first_) {
    for (Index i = first; i < first + rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        col.push_back(a.col[k]);
        val.push_back(a.val[k]);
      }
      row_ptr.push_back(static_cast<Offset>(col.size()));
    }
  }
  Index rows() const { return static_cast<Index>(row_ptr.size()) - 1; }
  RankRows<double> view() const {
    return {Span<const Offset, host>(row_ptr), Span<const std::int64_t, host>(col), Span<const double, host>(val)};
  }
  template <class Vector>
  std::vector<double> part_of(const Vector& whole) const {
    return {whole.begin() + first, whole.begin() + first + rows()};
  }
};

/// A rank's share: of an odd number of ranks, more than one, unlike lengths, and one that has no row.
inline OwnRows share_of(const HostCsr& a, int rank, int size) {
  const auto bound = [&](int r) {
    if (r == size) return a.rows;
    const Index even = static_cast<Index>(std::int64_t{a.rows} * r / size);
    return size % 2 == 1 && r == 2 ? static_cast<Index>(std::int64_t{a.rows} / size) : even;  // rank 1 has no row
  };
  return OwnRows(a, bound(rank), bound(rank + 1) - bound(rank));
}

/// What a solve on ranks gives: x of all, and every rank's report.
struct RankSolve {
  std::vector<double> x;
  std::vector<SolveReport> reports;
};

inline RankSolve solve_on_ranks(int size, const HostCsr& a, const std::vector<double>& b,
                                const SystemOptions& options) {
  RankSolve found;
  found.x.resize(b.size());
  found.reports.resize(static_cast<std::size_t>(size));
  const std::vector<std::string> thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), size);
    const Context<host> ctx(1);
    DistributedSystem<double> system(ctx, ranks, own.view(), options);
    const std::vector<double> own_b = own.part_of(b);
    std::vector<double> own_x(own_b.size(), 0.0);
    found.reports[static_cast<std::size_t>(ranks->rank())] = system.solve(own_b, own_x);
    std::copy(own_x.begin(), own_x.end(), found.x.begin() + own.first);
  });
  for (const std::string& what : thrown) {
    if (!what.empty()) throw std::runtime_error(what);
  }
  return found;
}

inline SystemOptions choice_of(const std::string& solver, const std::string& precond = "auto") {
  SystemOptions options;
  options.solver.name = solver;
  options.precond.name = precond;
  return options;
}

inline std::vector<double> rhs_of(const HostCsr& a) { return product_oracle(a, random_vector<double>(a.rows, 3)); }

/// Every rank reports the same.
inline void check_equal(const std::vector<SolveReport>& reports) {
  for (const SolveReport& report : reports) {
    CHECK(report.status == reports[0].status);
    CHECK(report.iterations == reports[0].iterations);
    CHECK(report.true_residual == reports[0].true_residual);
    CHECK(report.history == reports[0].history);
    CHECK(report.reason == reports[0].reason);
    CHECK(report.seconds == reports[0].seconds);
  }
}

/// The Laplacian of a line of n nodes with free ends: singular, with the constants as null space.
inline HostCsr neumann_line(Index n) {
  Rows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (const Index j : {i - 1, i + 1}) {
      if (j < 0 || j >= n) continue;
      rows[i][j] = -1;
      rows[i][i] += 1;
    }
  }
  return from_rows(n, rows);
}

/// A x = b is solved, by an x whose mean is 0.
inline void check_mean_free(const HostCsr& a, const RankSolve& found, const std::vector<double>& b) {
  CHECK(found.reports[0].converged());
  CHECK(residual_norm(a, found.x, b) <= 1.01e-8 * norm_oracle(b));
  long double mean = 0;
  for (const double value : found.x) mean += value;
  CHECK(std::fabs(static_cast<double>(mean)) <= 1e-10 * norm_oracle(found.x));
}

}  // namespace newel::testing
