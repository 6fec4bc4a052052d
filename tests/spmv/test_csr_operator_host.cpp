// SPDX-License-Identifier: Apache-2.0
// csr on the host: shares that cut rows, for many numbers of threads.
#include "tests/spmv/spmv_support.hpp"

namespace {

using Host = Context<Space::host>;

// Every row full.
HostCsr full_matrix(Index rows, Index cols) {
  Random random(53);
  HostCsr a;
  a.rows = rows;
  a.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      a.col.push_back(j);
      a.val.push_back(random.value());
    }
    a.row_ptr.push_back(a.nnz());
  }
  return a;
}

// So many rows that a share of them is not guessed, none of which has as many entries as the one before it.
HostCsr unlike_rows() {
  return random_matrix(40000, 40000, 55, [](Index i) { return Offset{i * 7 % 19}; });
}

// Matrices of several shares each.
std::vector<NamedMatrix> large_matrices() {
  std::vector<NamedMatrix> all;
  all.push_back({"cuts at row ends", diagonal_matrix(65536)});
  all.push_back({"dense row in the middle", dense_row_matrix(40000, 20000)});
  all.push_back({"dense first row", dense_row_matrix(40000, 0)});
  all.push_back({"dense last row", dense_row_matrix(40000, 39999)});
  all.push_back({"one row", full_matrix(1, 100000)});
  all.push_back({"a long row between empty ones",
                 random_matrix(3, 200000, 52, [](Index i) { return Offset{i == 1 ? 200000 : 0}; })});
  all.push_back({"nothing but empty rows", empty_matrix(200000, 7)});
  all.push_back({"runs of empty rows", ragged_matrix(60000, 60000)});
  all.push_back({"x beyond the caches", random_matrix(3000, 2000000, 54, [](Index i) { return Offset{i % 40}; })});
  all.push_back({"power law", power_law_matrix(20000)});
  all.push_back({"rows of 0 to 18 entries", unlike_rows()});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:12")});
  return all;
}

std::size_t shares_of(const HostCsr& a, int threads) {
  const Host ctx(threads);
  const auto there = upload_matrix<double>(ctx, a);
  const OperatorInfo info = make_spmv<double, Space::host>(ctx, there.wide(), {})->info();
  return static_cast<std::size_t>(std::stoul(info.detail));
}

template <class T>
void check_threads(const HostCsr& a, int threads) {
  INFO(threads << " threads");
  const Host ctx(threads);
  const auto there = upload_matrix<T>(ctx, a);
  const auto x = random_vector<T>(a.cols, 1), y0 = random_vector<T>(a.rows, 2);
  const Product<T, Space::host> product(ctx, there.wide(), "csr");
  CHECK(first_outside(product.apply(T(1), x).y, expected_product(a, T(1), x)) == "");
  CHECK(first_outside(product.apply(T(-0.3), x, T(0.7), y0).y, expected_product(a, T(-0.3), x, T(0.7), y0)) == "");
  if (a.rows != a.cols) return;
  const Result<T> found = product.apply_dot(x);
  CHECK(same_bits(found.y, product.apply(T(1), x).y));
  long double bound = 0;
  const DotOracle expected = expected_dot(a, x, threads, &bound);
  CHECK(std::fabs(found.xy - expected.value) <= bound);
}

}  // namespace

TEST_CASE("csr multiplies with any number of threads, wherever the shares cut", "[spmv]") {
  for (const auto& [name, a] : large_matrices()) {
    INFO(name);
    CHECK(shares_of(a, 64) > 3);
    for (const int threads : {1, 2, 3, 5, 8, 64}) {
      check_threads<double>(a, threads);
      check_threads<float>(a, threads);
    }
  }
}

TEST_CASE("csr keeps what is not finite to the rows that have it", "[spmv]") {
  const HostCsr a = unlike_rows();
  const Host ctx(2);
  const auto there = upload_matrix<double>(ctx, a);
  const Product<double, Space::host> product(ctx, there.wide(), "csr");
  auto x = random_vector<double>(a.cols, 1);
  const Index bad = 12345;
  x[bad] = std::numeric_limits<double>::infinity();
  const std::vector<double> y = product.apply(1.0, x).y;
  Index rows_with = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = a.col.begin() + a.row_ptr[i], end = a.col.begin() + a.row_ptr[i + 1];
    const bool has_it = std::find(begin, end, bad) != end;
    rows_with += has_it ? 1 : 0;
    if (std::isfinite(y[i]) == has_it) FAIL("row " << i);
  }
  CHECK(rows_with > 0);
}

TEST_CASE("csr multiplies with more threads than rows", "[spmv]") {
  for (const Index n : {0, 1, 2, 5}) {
    check_threads<double>(tridiagonal_matrix(n), 8);
    check_threads<float>(empty_matrix(n, n), 8);
  }
}

TEST_CASE("csr cuts as many shares as there are threads, as long as there is work for them", "[spmv]") {
  const Host ctx(1);
  const auto one = upload_matrix<double>(ctx, tridiagonal_matrix(100));
  CHECK(make_spmv<double, Space::host>(ctx, one.wide(), {})->info().detail == "1 share of the work");
  CHECK(shares_of(tridiagonal_matrix(100), 8) == 1);
  CHECK(shares_of(diagonal_matrix(65536), 3) == 3);
  CHECK(shares_of(diagonal_matrix(65536), 1000) < 100);
  CHECK(shares_of(empty_matrix(0, 0), 8) == 1);
}

TEST_CASE("csr cuts no more shares than an apply keeps sums for", "[spmv]") {
  const HostCsr a = full_matrix(40, 110000);
  REQUIRE(shares_of(a, 264) == 256);
  check_threads<double>(a, 264);
}

TEST_CASE("The shares of the construction decide the bits, not the threads of the apply", "[spmv]") {
  const HostCsr a = dense_row_matrix(40000, 20000);
  const Host three(3);
  const auto there = upload_matrix<float>(three, a);
  const auto op = make_spmv<float, Space::host>(three, there.wide(), {});
  const auto x = upload(three, random_vector<float>(a.cols));
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3, 5}) {
    auto y = poisoned<float>(three, a.rows);
    op->apply(Host(threads), 1.0f, x.cspan(), 0.0f, y.span());
    results.push_back(download(three, y));
    CHECK(same_bits(results.back(), results.front()));
  }
}
