// SPDX-License-Identifier: Apache-2.0
// Coarse levels of AMG that two cycles solve, on a host.
#include <Eigen/Eigenvalues>

#include "tests/catch.hpp"
#include "tests/precond/smoother_support.hpp"

namespace purlin::testing {
namespace {

constexpr Space host = Space::host;

// A grid of 18 x 18 whose couplings are random between 1 / spread and spread.
HostCsr random_grid(double spread) {
  constexpr Index side = 18, n = side * side;
  const std::vector<double> random = random_vector<double>(2 * n, 3);
  Rows rows(n);
  const auto couple = [&](bool inside, Index i, Index j, double at) {
    if (!inside) return;
    const double c = std::pow(spread, at);
    rows[i][j] -= c, rows[j][i] -= c;
    rows[i][i] += c, rows[j][j] += c;
  };
  for (Index i = 0; i < n; ++i) {
    couple(i % side + 1 < side, i, i + 1, random[2 * i]);
    couple(i + side < n, i, i + side, random[2 * i + 1]);
    if (i % 37 == 0) rows[i][i] += 1e-2;
  }
  return from_rows(n, rows);
}

PrecondOptions symmetric_options(int degree = 2) {
  PrecondOptions options = small_levels(6);
  options.of<AmgOptions>().degree = degree;
  options.symmetric = true;
  return options;
}

// The sets of levels solved by two cycles that give M.
template <Space S>
std::vector<std::set<std::size_t>> solved_twice(const Context<S>& ctx, const AmgOperator<double, S>& m, int degree) {
  const auto& levels = m.hierarchy().levels();
  AmgOptions options;
  options.degree = degree;
  std::vector<std::set<std::size_t>> found;
  for (unsigned bits = 0; bits < 1u << (levels.size() - 2); ++bits) {
    std::set<std::size_t> twice;
    for (std::size_t l = 1; l + 1 < levels.size(); ++l) {
      if ((bits >> (l - 1) & 1) != 0) twice.insert(l);
    }
    if (difference_on_vectors(ctx, m, cycle_oracle(ctx, levels, 0, options, twice)) < 1e-8) found.push_back(twice);
  }
  return found;
}

// The smallest eigenvalue of M A on level l, M the cycle from there on.
double slowest(const std::vector<detail::AmgLevel<host>>& levels, std::size_t l, int degree) {
  AmgOptions options;
  options.degree = degree;
  const Context<host> ctx;
  const EigenDense ma = cycle_oracle(ctx, levels, l, options) * eigen_dense(ctx, levels[l].a);
  return Eigen::EigenSolver<EigenDense>(ma, false).eigenvalues().real().minCoeff();
}

}  // namespace

TEST_CASE("On a host AMG solves levels on which its cycle is slow by two, with Chebyshev's weights", "[amg]") {
  const Context<host> ctx;
  for (const double spread : {1e1, 1e5}) {
    for (const int degree : {1, 2, 3}) {
      const auto m = amg<double, host>(ctx, random_grid(spread), symmetric_options(degree));
      const auto sets = solved_twice(ctx, m, degree);
      INFO("spread " << spread << ", degree " << degree);
      REQUIRE(sets.size() == 1);
      CHECK(sets.front().count(1) == (spread > 100 ? 1u : 0u));
      const std::string text = sets.front().empty()       ? ""
                               : sets.front().size() == 1 ? ", two cycles on level 2"
                                                          : ", two cycles on levels 2 and 3";
      CHECK(contains(m.info().detail, "two cycles") == !text.empty());
      CHECK(contains(m.info().detail, text));
      for (const std::size_t l : sets.front()) CHECK(slowest(m.hierarchy().levels(), l, degree) < 0.2);
    }
  }
}

TEST_BOTH("AMG takes one cycle on a device, and where M need not be symmetric", "[amg]") {
  const auto ctx = make_context<S>();
  for (const bool symmetric : {false, true}) {
    PrecondOptions options = symmetric_options();
    options.symmetric = symmetric;
    const auto sets = solved_twice(ctx, amg<double, S>(ctx, random_grid(1e5), options), 2);
    REQUIRE(sets.size() == 1);
    CHECK(sets.front().empty() == (S != host || !symmetric));
  }
}

TEST_CASE("AMG with two cycles on a level is symmetric and definite, in single precision too", "[amg]") {
  const Context<host> ctx;
  PrecondOptions options = symmetric_options();
  const EigenDense exact = dense_operator(ctx, amg<double, host>(ctx, random_grid(1e5), options));
  CHECK(largest(exact - exact.transpose()) < 1e-9 * largest(exact));
  CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(0.5 * (exact + exact.transpose())).eigenvalues()(0) > 0);
  options.of<AmgOptions>().precision = AmgPrecision::single;
  const EigenDense rounded = dense_operator(ctx, amg<double, host>(ctx, random_grid(1e5), options));
  CHECK(largest(rounded - exact) < 1e-3 * largest(exact));
  CHECK(largest(rounded - rounded.transpose()) < 1e-3 * largest(exact));
}

TEST_CASE("New values reach both cycles of a level of AMG", "[amg]") {
  const Context<host> ctx;
  const HostCsr a = random_grid(1e5);
  HostCsr scaled = a;
  for (double& value : scaled.val) value *= 16;  // exact, and so is what the cycle makes of it
  for (const AmgPrecision precision : {AmgPrecision::system, AmgPrecision::single}) {
    PrecondOptions options = symmetric_options();
    options.of<AmgOptions>().precision = precision;
    auto m = amg<double, host>(ctx, a, options);
    const auto x = random_vector<double>(a.rows);
    auto expected = applied(ctx, m, x);
    for (double& value : expected) value /= 16;
    const auto values = upload(ctx, scaled.val);
    m.refresh(ctx, values.cspan());
    CHECK(same_bits(applied(ctx, m, x), expected));
  }
}

TEST_CASE("AMG counts the bytes and entries of levels that two cycles solve", "[amg]") {
  const Context<host> ctx;
  PrecondOptions options = symmetric_options();
  const OperatorInfo twice = amg<double, host>(ctx, random_grid(1e5), options).info();
  options.symmetric = false;
  const OperatorInfo once = amg<double, host>(ctx, random_grid(1e5), options).info();
  CHECK(twice.bytes_per_product > once.bytes_per_product);
  CHECK(twice.nonzeros == once.nonzeros);
  CHECK(twice.total_bytes() > once.total_bytes());
}

TEST_CASE("With AMG the iterations for a thin elastic body do not grow with its mesh", "[amg][data]") {
  if (skipped_without_data()) return;
  std::vector<int> counts;
  for (const std::string refined : {"0", "1"}) {
    const MeshSystem system("mesh:" + data_folder() + "/meshes/part_wheelset.mesh.gz:elasticity:" + refined);
    counts.push_back(cg_iterations(system.a, PrecondOptions(), 1e-8, system.coordinates));
  }
  CHECK(counts[1] <= 1.25 * counts[0]);  // one cycle: 30 and 47
  CHECK(counts[1] < 30);
}

}  // namespace purlin::testing
