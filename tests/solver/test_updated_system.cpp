// SPDX-License-Identifier: Apache-2.0
// Matrices that lose and regain entries: what is refreshed, what is set up again, and the same x as a new system.
#include "tests/solver/problem.hpp"

#include <newel/solver/updated_system.hpp>

namespace {

// Without the entries (i, i + 1) and (i + 1, i) of each i that `step` divides.
HostCsr with_fewer_entries(const HostCsr& a, Index step) {
  MapRows rows(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col[k], low = std::min(i, j);
      if (std::max(i, j) - low == 1 && low % step == 0) continue;
      rows[static_cast<std::size_t>(i)][j] = a.val[k] * (i == j ? 1.5 : 1);
    }
  }
  return from_rows(a.cols, rows);
}

template <Space S>
std::vector<double> solved(const Context<S>& ctx, LinearSystem<double, S>& system, const std::vector<double>& b) {
  const auto there = upload(ctx, b);
  auto x = upload(ctx, std::vector<double>(b.size(), 0.0));
  CHECK(system.solve(there.cspan(), x.span()).converged());
  return download(ctx, x);
}

}  // namespace

TEST_BOTH("A matrix with fewer entries is a refresh, and one with others a new setup", "[refresh][update]") {
  Problem<S> whole("generate:convection:6:1");
  Problem<S> fewer(with_fewer_entries(whole.a, 3));
  REQUIRE(fewer.a.nnz() < whole.a.nnz());
  SystemOptions options = system_options("bicgstab", "jacobi", "csr");
  options.stop.rel_tol = 1e-12;
  UpdatedSystem<double, S> updated(whole.ctx, whole.there.wide(), options);
  const std::vector<double>& b = whole.b_host;
  const auto* const first = &updated.system();
  CHECK(residual_norm(whole.a, solved(whole.ctx, updated.system(), b), b) <= 1e-11 * norm_oracle(b));

  CHECK_FALSE(updated.update(fewer.there.wide()));
  CHECK(&updated.system() == first);
  CHECK(residual_norm(fewer.a, solved(whole.ctx, updated.system(), b), b) <= 1e-11 * norm_oracle(b));

  CHECK_FALSE(updated.update(whole.there.wide()));  // they come back
  const std::vector<double> again = solved(whole.ctx, updated.system(), b);
  LinearSystem<double, S> made(whole.ctx, whole.there.wide(), options);
  CHECK(again == solved(whole.ctx, made, b));  // bit for bit

  UpdatedSystem<double, S> from_fewer(whole.ctx, fewer.there.wide(), options);
  CHECK(from_fewer.update(whole.there.wide()));
  CHECK(solved(whole.ctx, from_fewer.system(), b) == again);
  Problem<S> smaller("generate:convection:5:1");
  CHECK(from_fewer.update(smaller.there.wide()));
  CHECK(from_fewer.system().rows() == smaller.a.rows);
}

TEST_CASE("An update takes triplets in any order, sums repeated ones, and keeps the system if a setup fails",
          "[refresh][update]") {
  const Context<Space::host> ctx;
  const std::vector<std::int32_t> rows = {0, 0, 1, 1, 2}, cols = {0, 1, 0, 1, 2};
  const std::vector<double> val = {4, 1, 1, 4, 2};
  using Input = MatrixInput<double, Space::host>;
  const auto triplets = [](const std::vector<std::int32_t>& i, const std::vector<std::int32_t>& j,
                           const std::vector<double>& v) {
    const auto n = static_cast<std::int64_t>(v.size());
    return Input::coo(3, 3, {i.data(), n}, {j.data(), n}, {v.data(), n});
  };
  UpdatedSystem<double, Space::host> updated(ctx, triplets(rows, cols, val),
                                             system_options("bicgstab", "jacobi", "csr"));
  CHECK_FALSE(updated.update(triplets({2, 1, 0, 1}, {2, 1, 0, 1}, {5, 1, 8, 3})));  // diag(8, 4, 5)
  CHECK(solved(ctx, updated.system(), {8, 8, 10}) == std::vector<double>{1, 2, 2});
  CHECK_THROWS_AS(updated.update(triplets({0, 1, 2}, {0, 1, 0}, {1, 1, 1})), InputError);  // no diagonal in row 2
  CHECK(solved(ctx, updated.system(), {8, 8, 10}) == std::vector<double>{1, 2, 2});
  CHECK_FALSE(updated.update(triplets(rows, cols, val)));
}

TEST_CASE("Complex values are updated too", "[refresh][update][complex]") {
  using Value = std::complex<double>;
  const Context<Space::host> ctx;
  const std::vector<std::int32_t> row_ptr = {0, 2, 4}, col = {0, 1, 0, 1};
  const std::vector<Value> val = {{4, 1}, {1, 0}, {0, 1}, {5, -1}};
  using Input = MatrixInput<Value, Space::host>;
  UpdatedSystem<Value, Space::host> updated(ctx,
                                            Input::csr(2, 2, {row_ptr.data(), 3}, {col.data(), 4}, {val.data(), 4}));
  const std::vector<std::int32_t> fewer_ptr = {0, 1, 3}, fewer_col = {0, 0, 1};
  const std::vector<Value> fewer = {{0, 2}, {1, 0}, {0, 4}};
  CHECK_FALSE(updated.update(Input::csr(2, 2, {fewer_ptr.data(), 3}, {fewer_col.data(), 3}, {fewer.data(), 3})));
  const std::vector<Value> b = {{2, 0}, {4, -1}};  // 2i x = 2: x = -i; x + 4i y = 4 - i: y = -i
  std::vector<Value> x(2);
  CHECK(updated.system().solve({b.data(), 2}, {x.data(), 2}, {}, InitialGuess::zero).converged());
  for (const Value value : x) CHECK(std::abs(value - Value(0, -1)) <= 1e-7);
}
