// SPDX-License-Identifier: Apache-2.0
// Orders of elimination: nested dissection against dense elimination, and when it is sought.
#include "tests/solver/factor_support.hpp"

#include <newel/config.hpp>
#include "reorder/dissection.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace {

using detail::ColumnPattern;
using detail::Fill;
using detail::SymmetricOrders;

constexpr double all_entries = 1e9, any_time = 1e9;

// The 7-point grid of m^3 points. With `shift` it is indefinite.
Rows cube(Index m, double shift = 0) {
  Rows a(m * m * m);
  const auto number = [m](Index x, Index y, Index z) { return (z * m + y) * m + x; };
  for (Index z = 0; z < m; ++z) {
    for (Index y = 0; y < m; ++y) {
      for (Index x = 0; x < m; ++x) {
        const Index i = number(x, y, z);
        a.at(i, i) = 6 - shift;
        if (x > 0) a.at(i, i - 1) = a.at(i - 1, i) = -1;
        if (y > 0) a.at(i, i - m) = a.at(i - m, i) = -1;
        if (z > 0) a.at(i, i - m * m) = a.at(i - m * m, i) = -1;
      }
    }
  }
  return a;
}

bool is_order(std::vector<Index> numbers, Index size) {
  std::sort(numbers.begin(), numbers.end());
  for (Index i = 0; i < size; ++i) {
    if (numbers[static_cast<std::size_t>(i)] != i) return false;
  }
  return static_cast<Index>(numbers.size()) == size;
}

#if NEWEL_HAS_METIS
std::vector<Index> dissected(const Rows& a) {
  const ColumnPattern graph = detail::symmetric_graph(sparse(a).pattern);
  return detail::dissection_order(graph.begin, graph.row);
}
#endif

}  // namespace

TEST_CASE("The graph of a pattern has both directions and no loops", "[direct]") {
  Rows a(4);
  a.at(0, 0) = a.at(0, 2) = a.at(2, 1) = a.at(1, 2) = a.at(3, 3) = 1;
  const ColumnPattern graph = detail::symmetric_graph(sparse(a).pattern);
  CHECK(graph.size == 4);
  CHECK(graph.begin == std::vector<Index>{0, 1, 2, 4, 4});
  CHECK(graph.row == std::vector<Index>{2, 2, 0, 1});
  a.at(2, 0) = 1;  // symmetric
  CHECK(detail::symmetric_graph(sparse(a).pattern).row == graph.row);
}

#if NEWEL_HAS_METIS

TEST_CASE("Nested dissection is an order with less fill than the natural one and minimum degree", "[direct]") {
  const Rows small = cube(9), plane = laplacian(30);
  for (const Rows* a : {&small, &plane}) {
    const std::vector<Index> order = dissected(*a);
    REQUIRE(is_order(order, a->size()));
    CHECK(order == dissected(*a));
    std::vector<Index> natural(order.size());
    for (std::size_t i = 0; i < natural.size(); ++i) natural[i] = static_cast<Index>(i);
    CHECK(eliminated(symmetric_pattern(*a, order)).squares <
          0.6 * eliminated(symmetric_pattern(*a, natural)).squares);
  }
  const ColumnPattern large = sparse(cube(22)).pattern;
  const ColumnPattern graph = detail::symmetric_graph(large);
  const Fill by_dissection = fill_of_ldlt(large, detail::dissection_order(graph.begin, graph.row), all_entries);
  const Fill by_degree = fill_of_ldlt(large, detail::minimum_degree_order(large), all_entries);
  CHECK(by_dissection.squares < 0.75 * by_degree.squares);
  CHECK(is_order(detail::dissection_order({0, 0, 0, 0}, {}), 3));
}

TEST_CASE("Nested dissection is sought where it saves more than it takes, and taken where it is better", "[direct]") {
  const Rows a = cube(9);
  const ColumnPattern whole = sparse(a).pattern;
  const std::vector<Index> by_degree = detail::minimum_degree_order(whole), by_dissection = dissected(a);
  REQUIRE(by_degree != by_dissection);
  const auto chosen = [&](double seconds, double most_seconds, bool dissection_is_better = true) {
    SymmetricOrders orders(whole, all_entries, most_seconds);
    bool first = true;
    const auto seconds_of = [&](const Fill&) {
      return first ? (first = false, seconds) : dissection_is_better ? seconds / 2 : 2 * seconds;
    };
    return orders.best(seconds_of).new_number;
  };
  CHECK(chosen(1, any_time) == by_dissection);
  CHECK(chosen(1, any_time, false) == by_degree);
  CHECK(chosen(1e-6, any_time) == by_degree);  // it takes longer than the factors
  CHECK(chosen(1, 0.1) == by_degree);          // both take longer than is allowed
}

#endif

TEST_CASE("An indefinite matrix whose factors fill up is solved", "[direct]") {
  const Context<Space::host> ctx;
  const Rows a = cube(22, 1.3);
  const auto b = noise(a.size());
  SystemOf<double, Space::host> system(ctx, a, system_options("direct"));
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual(a, b, found.x) <= 1e-8 * newel::testing::norm(b));
}
