// SPDX-License-Identifier: Apache-2.0
// FSAI's factor: against its definition at every size of local problem, its pattern, its size classes.
#include "tests/catch.hpp"
#include "tests/precond/fsai_support.hpp"

#include "precond/fsai/fsai_pattern.hpp"
#include "precond/sparsity.hpp"

namespace {

// Each entry within 100 eps cond of the definition's, against the largest of its row.
template <class T>
void check_definition(const HostCsr& a, const HostCsr& g) {
  const FactorOracle oracle = factor_oracle(a, g);
  const long double eps = std::numeric_limits<T>::epsilon(), local = std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < g.rows; ++i) {
    long double largest = 0;
    for (const long double value : oracle.row[i]) largest = std::max(largest, std::fabs(value));
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      const long double expected = oracle.row[i][k - g.row_ptr[i]];
      INFO("row " << i << ", entry " << k - g.row_ptr[i]);
      REQUIRE(std::fabs(g.val[k] - expected) <=
              eps * std::fabs(expected) + 100 * local * oracle.condition[i] * largest);
    }
  }
}

// (G A)_ij = 0 for i != j in G's pattern and (G A G^T)_ii = 1, up to what rounding a Cholesky solve of m unknowns in
// double, and G to T, leaves: each entry of the residual is within (4 m eps_double + eps) |A(J, J)| |g|.
template <class T>
void check_equations(const HostCsr& a, const HostCsr& g) {
  const long double eps = std::numeric_limits<T>::epsilon(), local = std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < g.rows; ++i) {
    std::map<Index, long double> row;
    long double g_norm = 0, a_norm = 0;
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      row[g.col[k]] = g.val[k];
      g_norm += static_cast<long double>(g.val[k]) * g.val[k];
    }
    std::map<Index, long double> product;
    for (const auto& [j, value] : row) {
      for (Offset k = a.row_ptr[j]; k < a.row_ptr[j + 1]; ++k) {
        if (row.count(a.col[k]) == 0) continue;
        product[a.col[k]] += value * a.val[k];
        a_norm += static_cast<long double>(a.val[k]) * a.val[k];
      }
    }
    const long double bound = (4 * row.size() * local + eps) * std::sqrt(a_norm * g_norm);
    long double diagonal = 0;
    for (const auto& [j, value] : product) {
      diagonal += value * row[j];
      INFO("row " << i << ", column " << j);
      if (j != i) REQUIRE(std::fabs(value) <= bound);
    }
    INFO("row " << i);
    REQUIRE(std::fabs(diagonal - 1) <= bound * std::sqrt(g_norm) + 4 * eps);
  }
}

std::vector<NamedMatrix> small_definite_matrices() {
  std::vector<NamedMatrix> all;
  for (const Index n : {1, 2, 31, 32, 33}) all.push_back({"tridiagonal", tridiagonal_matrix(n)});
  all.push_back({"diagonal", diagonal_matrix(70)});
  all.push_back({"random", made_definite(ragged_matrix(90, 90))});
  all.push_back({"full", full_definite_matrix(40)});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:2")});
  all.push_back({"diffusion", fem_matrix("generate:diffusion:4")});
  return all;
}

}  // namespace

TEST_BOTH("FSAI's factor is the one of the definition, for every power and in both precisions", "[precond][fsai]") {
  for (const auto& [name, a] : small_definite_matrices()) {
    const auto there = upload_matrix<double>(ctx, a);
    const auto single = upload_matrix<float>(ctx, a);
    for (const int power : {1, 2, 3}) {
      INFO(name << ", " << a.rows << " rows, power " << power);
      const HostCsr g = factor_of(ctx, fsai(ctx, there.narrow(), fsai_options(power)));
      check_definition<double>(a, g);
      check_equations<double>(a, g);
      if (power > 2) continue;
      HostCsr rounded = a;
      for (double& value : rounded.val) value = static_cast<float>(value);
      check_definition<float>(rounded, factor_of(ctx, fsai(ctx, single.wide(), fsai_options(power))));
    }
  }
}

TEST_BOTH("FSAI's factor has the pattern of the lower triangle of a power, and its diagonal grows with it",
          "[precond][fsai]") {
  const Context<Space::host> host;
  const HostCsr a = fem_matrix("generate:elasticity:3");
  const auto there = upload_matrix<double>(ctx, a);
  const auto on_host = upload_matrix<double>(host, a);
  std::vector<double> last(a.rows, 0.0);
  for (const int power : {1, 2, 3}) {
    const HostCsr g = factor_of(ctx, fsai(ctx, there.wide(), fsai_options(power)));
    const auto pattern = detail::power_of(host, Pattern<Space::host>(on_host.wide()), power, detail::Triangle::lower);
    CHECK(g.row_ptr == to_vector(host, pattern.row_ptr.cspan()));
    CHECK(g.col == to_vector(host, pattern.col.cspan()));
    // g_ii^2 = (A(J, J)^-1)_ii never shrinks when J grows.
    for (Index i = 0; i < a.rows; ++i) {
      const double diagonal = g.val[g.row_ptr[i + 1] - 1];
      CHECK(diagonal >= last[i] * (1 - 1e-12));
      last[i] = diagonal;
    }
  }
}

TEST_BOTH("FSAI solves local problems of every size class", "[precond][fsai]") {
  for (const Index n : {31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    INFO(n);
    const HostCsr a = bordered_matrix(n, 2);
    const auto there = upload_matrix<double>(ctx, a);
    const HostCsr g = factor_of(ctx, fsai(ctx, there.wide()));
    REQUIRE(g.row_length(n - 1) == n);
    check_equations<double>(a, g);
  }
}

TEST_BOTH("FSAI solves local problems at the end of shared memory and beyond", "[precond][fsai]") {
  const std::vector<Index> limits = detail::fsai_limits(machine_of(ctx));
  const Index last = limits.empty() ? 238 : limits.back();
  CHECK(last < 1000);
  for (const Index n : {last, last + 1, Index{240}, Index{1000}}) {
    INFO(n);
    const HostCsr a = bordered_matrix(n, 1);
    const auto there = upload_matrix<double>(ctx, a);
    check_equations<double>(a, factor_of(ctx, fsai(ctx, there.wide())));
  }
  // More rows than there is scratch for at a time take turns.
  const HostCsr a = bordered_matrix(last + 9, 9);
  const auto there = upload_matrix<float>(ctx, a);
  check_equations<float>(a, factor_of(ctx, fsai(ctx, there.wide())));
}

TEST_BOTH("FSAI on the pattern of a full matrix is its inverse", "[precond][fsai]") {
  const HostCsr a = full_definite_matrix(45);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = fsai(ctx, there.wide());
  const auto x = random_vector<double>(a.rows, 3);
  const std::vector<double> found = applied(ctx, m, product_oracle(a, x));
  const Dense d = dense_of(a);
  const long double condition = frobenius(d) * frobenius(inverse_of(d));
  for (Index i = 0; i < a.rows; ++i) {
    CHECK(std::fabs(found[i] - x[i]) <= 100 * 2.3e-16L * condition * norm_oracle(x));
  }
}

#if NEWEL_HAS_CUDA
TEST_CASE("FSAI's factor on the device is that of the host, to rounding", "[precond][fsai][device]") {
  const Context<Space::host> host;
  const Context<Space::device> device;
  for (const HostCsr& a : {fem_matrix("generate:elasticity:4"), bordered_matrix(150, 3)}) {
    const auto here = upload_matrix<double>(host, a);
    const auto there = upload_matrix<double>(device, a);
    const HostCsr g = factor_of(host, fsai(host, here.wide())), d = factor_of(device, fsai(device, there.wide()));
    REQUIRE(g.col == d.col);
    for (Index i = 0; i < a.rows; ++i) {
      const double diagonal = g.val[g.row_ptr[i + 1] - 1];
      for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
        REQUIRE(std::fabs(g.val[k] - d.val[k]) <= 1e-12 * diagonal);
      }
    }
  }
}
#endif

TEST_BOTH("A threshold thins FSAI's factor out, and its equations still hold on what is left", "[precond][fsai]") {
  const HostCsr a = fem_matrix("generate:elasticity:3");
  const auto there = upload_matrix<double>(ctx, a);
  double density = 1 + 1e-12;
  for (const double drop : {0.0, 0.1, 0.3}) {
    const auto m = fsai(ctx, there.wide(), fsai_options(1, drop));
    const OperatorInfo info = m.info();
    const double found = info.figures.front().second;
    CHECK(info.figures.front().first == "density");
    CHECK(found < density + (drop == 0 ? 1e-12 : 0));
    density = found;
    check_equations<double>(a, factor_of(ctx, m));
  }
  CHECK(fsai(ctx, there.wide(), fsai_options(2, 0.1)).info().figures.front().second > 1);
}
