// SPDX-License-Identifier: Apache-2.0
// Fill, structural rank and condition of the direct solver, against dense counting and dense inverses.
#include "tests/solver/factor_support.hpp"

#include <Eigen/Dense>

#include "solver/direct/factor_rows.hpp"
#include "solver/direct/fill.hpp"
#include "solver/direct/scaled_factors.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace {

using detail::ColumnPattern;
using detail::ScaledFactors;
using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

// As the direct solver finds it.
Index structural_rank(const Sparse& s) {
  return detail::matching_of(Context<Space::host>(1), s.pattern, s.values).matched;
}

Rows transposed(const Rows& a) {
  Rows b(a.size());
  for (Index i = 0; i < a.size(); ++i) {
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) b.at(j, i) = value;
  }
  return b;
}

Dense dense(const Rows& a) {
  Dense d = Dense::Zero(a.size(), a.size());
  for (Index i = 0; i < a.size(); ++i) {
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) d(i, j) = value;
  }
  return d;
}

// Entries of random sizes at random places; with `diagonal` there too.
Rows random_rows(Index n, double density, std::uint64_t seed, bool with_diagonal) {
  Rows a(n);
  const auto places = noise(n * n, seed), values = noise(n * n, seed + 1000);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(i * n + j);
      if ((places[k] + 1) / 2 < density || (with_diagonal && i == j)) a.at(i, j) = values[k] + (i == j ? 3 : 0);
    }
  }
  return a;
}

void require_fill(const detail::Fill& found, const detail::Fill& expected) {
  CHECK(found.entries == expected.entries);
  CHECK(found.squares == expected.squares);
}

// The largest sum of columns.
long double one_norm(const Dense& a) { return a.cwiseAbs().colwise().sum().maxCoeff(); }

}  // namespace

TEST_CASE("Missing diagonal entries change nothing in the order of minimum degree", "[direct]") {
  const Rows whole = laplacian(30);
  for (const Index every : {1, 2, 3, 7}) {
    Rows a = whole;
    for (Index i = 0; i < a.size(); i += every) a.row[static_cast<std::size_t>(i)].erase(i);
    CAPTURE(every);
    CHECK(detail::minimum_degree_order(sparse(a).pattern) == detail::minimum_degree_order(sparse(whole).pattern));
  }
}

TEST_CASE("Entries on one side of the diagonal alone are in the order of minimum degree", "[direct]") {
  const Index n = 400;
  for (const bool above : {true, false}) {
    Rows a = laplacian(20), whole = a;
    const auto places = noise(2 * n, 7);
    for (Index k = 0; k < n; ++k) {  // as many as A has
      const auto end = [&](Index e) {
        return static_cast<Index>((places[static_cast<std::size_t>(e)] + 1) / 2 * n) % n;
      };
      const auto [i, j] = std::minmax({end(2 * k), end(2 * k + 1)});
      if (i == j) continue;
      whole.at(i, j) = whole.at(j, i) = 1e-20;
      (above ? a.at(i, j) : a.at(j, i)) = 1e-20;
    }
    CAPTURE(above);
    CHECK(detail::minimum_degree_order(sparse(a).pattern) == detail::minimum_degree_order(sparse(whole).pattern));
  }
}

TEST_CASE("A matrix that is symmetric to rounding and has more entries above the diagonal is solved", "[direct]") {
  const Context<Space::host> ctx;
  Rows a = laplacian(20);
  for (Index i = 0; i + 37 < a.size(); i += 3) a.at(i, i + 37) += 1e-18;
  SystemOf<double, Space::host> system(ctx, a, system_options("direct"));
  const auto b = noise(a.size());
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("The fill of both factorisations is that of a dense elimination", "[direct]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = 5 + static_cast<Index>(seed % 12);
    const auto size = static_cast<std::size_t>(n);
    const Rows a = random_rows(n, 0.15, seed, true);
    const std::vector<Index> new_number = shuffled(n);
    DensePattern squared(size, std::vector<bool>(size));
    Rows symmetric(n);
    for (Index i = 0; i < n; ++i) {
      for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
        const auto q = static_cast<std::size_t>(new_number[static_cast<std::size_t>(j)]);
        symmetric.at(i, j) = symmetric.at(j, i) = 1;
        for (const auto& [l, other] : a.row[static_cast<std::size_t>(i)]) {
          squared[q][static_cast<std::size_t>(new_number[static_cast<std::size_t>(l)])] = true;
        }
      }
    }
    CAPTURE(seed);
    require_fill(detail::fill_of_ldlt(sparse(symmetric).pattern, new_number, 1e9),
                 eliminated(symmetric_pattern(a, new_number)));
    require_fill(detail::fill_of_lu(sparse(transposed(a)).pattern, new_number, 1e9), eliminated(squared));
  }
  const Rows a = random_rows(9, 0.5, 3, true);
  CHECK(std::isinf(detail::fill_of_lu(sparse(a).pattern, shuffled(9), 12).entries));
}

TEST_CASE("The structural rank is the size of the largest matching, found by trying all", "[direct]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = 1 + static_cast<Index>(seed % 7);
    Rows a = random_rows(n, 0.3, seed, false);
    if (seed % 3 == 0 && !a.row.front().empty()) a.row.front().begin()->second = 0;  // stored, and none
    std::vector<Index> columns(static_cast<std::size_t>(n));
    std::iota(columns.begin(), columns.end(), 0);
    Index most = 0;
    do {
      Index pairs = 0;
      for (Index i = 0; i < n; ++i) {
        const auto& row = a.row[static_cast<std::size_t>(i)];
        const auto found = row.find(columns[static_cast<std::size_t>(i)]);
        pairs += found != row.end() && found->second != 0 ? 1 : 0;
      }
      most = std::max(most, pairs);
    } while (std::next_permutation(columns.begin(), columns.end()));
    const Sparse s = sparse(a);
    CAPTURE(seed);
    CHECK(structural_rank(s) == most);
  }
  // Every column can be paired only if all the others move on: each greedy choice is wrong.
  const Index n = 2000;
  Rows chain(n);
  for (Index i = 0; i < n; ++i) {
    chain.at(i, i) = 1;
    if (i > 0) chain.at(i, i - 1) = 1;
  }
  chain.at(0, n - 1) = 1;
  chain.row[static_cast<std::size_t>(n - 1)].erase(n - 1);
  const Sparse s = sparse(chain);
  CHECK(structural_rank(s) == n);
}

TEST_CASE("The condition is that of the dense inverse, from either factors", "[direct]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = 2 + static_cast<Index>(seed % 23);
    Rows a = random_rows(n, 0.3, seed, true);
    const bool symmetric = seed % 2 == 0;
    if (symmetric) {
      Rows sum(n);
      const Rows t = transposed(a);
      for (Index i = 0; i < n; ++i) {
        for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) sum.at(i, j) += value;
        for (const auto& [j, value] : t.row[static_cast<std::size_t>(i)]) sum.at(i, j) += value;
      }
      a = sum;
    }
    // Nearly dependent rows: conditions up to 1e9.
    for (const auto& [j, value] : std::map<Index, double>(a.row[0])) {
      if (!symmetric) a.at(1, j) = value * (1 + std::pow(10.0, -static_cast<double>(seed % 9)) * (j == 0 ? 1 : 0));
    }
    const Sparse s = sparse(a);
    const detail::HostFactorisation kind = symmetric ? detail::eigen_ldlt() : detail::eigen_lu();
    detail::SymmetricOrders orders(s.pattern, 1e9, 1e9);
    ScaledFactors factors(kind, std::make_shared<ColumnPattern>(s.pattern), 1e9, orders);
    CHECK(factors.cost().bytes > 0);
    factors.analyse();
    const bool made = factors.factorise(s.values);
    Dense scaled = dense(a);
    if (!symmetric) {
      for (Index i = 0; i < n; ++i) {
        const auto most = static_cast<double>(scaled.row(i).cwiseAbs().maxCoeff());
        scaled.row(i) *= std::ldexp(1.0L, -std::ilogb(most));
      }
      for (Index j = 0; j < n; ++j) {
        const auto most = static_cast<double>(scaled.col(j).cwiseAbs().maxCoeff());
        if (most > 0) scaled.col(j) *= std::ldexp(1.0L, -std::ilogb(most));
      }
    } else {
      std::vector<int> half(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) {
        half[static_cast<std::size_t>(i)] =
            -(std::ilogb(static_cast<double>(scaled.row(i).cwiseAbs().maxCoeff())) / 2);
      }
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          scaled(i, j) *= std::ldexp(1.0L, half[static_cast<std::size_t>(i)] + half[static_cast<std::size_t>(j)]);
        }
      }
    }
    const Eigen::FullPivLU<Dense> lu(scaled);
    CAPTURE(seed, n, symmetric);
    if (!made || !lu.isInvertible()) continue;
    const auto exact = static_cast<double>(one_norm(scaled) * one_norm(lu.inverse()));
    const double estimate = factors.condition();
    CHECK(estimate <= exact * (1 + 1e-4));
    CHECK(estimate >= exact / 10);
  }
}
