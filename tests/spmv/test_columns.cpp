// SPDX-License-Identifier: Apache-2.0
// Products with k vectors at once: every format, on every awkward matrix, against a coordinate loop in long double.
#include "tests/spmv/spmv_support.hpp"

#include "core/vectors/column_ops.hpp"

namespace {

template <class T>
std::vector<std::vector<T>> random_columns(Index n, int k, std::uint64_t seed) {
  std::vector<std::vector<T>> columns;
  for (int c = 0; c < k; ++c) columns.push_back(random_vector<T>(n, seed + static_cast<std::uint64_t>(c)));
  return columns;
}

}  // namespace

TEST_BOTH("Every format multiplies k vectors at once, each to the bound of its own product", "[spmv][columns]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const Product<T, S> product(ctx, there.wide(), format);
    for (const int k : {1, 2, 4, 8}) {
      INFO(k << " columns");
      const auto x = random_columns<T>(a.cols, k, 10), y0 = random_columns<T>(a.rows, k, 30);
      const auto plain = product.apply_columns(T(1), x), scaled = product.apply_columns(T(0.3), x, T(-0.7), y0);
      for (int c = 0; c < k; ++c) {
        CHECK(first_outside(plain[c].y, expected_product(a, T(1), x[c])) == "");
        CHECK(first_outside(scaled[c].y, expected_product(a, T(0.3), x[c], T(-0.7), y0[c])) == "");
      }
      if (a.rows != a.cols) continue;
      const auto with_dots = product.apply_dot_columns(x);
      for (int c = 0; c < k; ++c) {
        CHECK(first_outside(with_dots[c].y, expected_product(a, T(1), x[c])) == "");
        long double bound = 0;
        const DotOracle expected = expected_dot(a, x[c], 64, &bound);
        CHECK(std::fabs(with_dots[c].xy - expected.value) <= bound);
      }
    }
  });
}

TEST_CASE("On the host a vector of a batch gets the bits that it gets alone", "[spmv][columns]") {
  std::vector<NamedMatrix> matrices = awkward_square_matrices();
  matrices.push_back(
      {"rows unlike those before them", random_matrix(9000, 9000, 55, [](Index i) { return Offset{i * 7 % 19}; })});
  for (const int threads : {1, 2}) {
    const auto ctx = make_context<Space::host>(threads);
    for_each_format<Space::host>(matrices, [&](auto zero, const std::string& format, const HostCsr& a) {
      using T = decltype(zero);
      const auto there = upload_matrix<T>(ctx, a);
      const Product<T, Space::host> product(ctx, there.wide(), format);
      for (const int k : {2, 4, 8}) {
        INFO(k << " columns");
        const auto x = random_columns<T>(a.cols, k, 50);
        const auto together = product.apply_dot_columns(x);
        for (int c = 0; c < k; ++c) {
          const Result<T> alone = product.apply_dot(x[c]);
          CHECK(same_bits(together[c].y, alone.y));
          CHECK(together[c].xy == alone.xy);
        }
      }
    });
  }
}

TEST_BOTH("NaN in one vector of a batch stays there", "[spmv][columns]") {
  for_each_format<S>(awkward_square_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const Product<T, S> product(ctx, there.wide(), format);
    for (const int k : {2, 4, 8}) {
      auto x = random_columns<T>(a.cols, k, 70);
      for (T& value : x[1]) value = std::numeric_limits<T>::quiet_NaN();
      const auto found = product.apply_dot_columns(x);
      for (int c = 0; c < k; ++c) {
        if (c == 1) continue;
        INFO("column " << c << " of " << k);
        CHECK(first_outside(found[c].y, expected_product(a, T(1), x[c])) == "");
        CHECK(std::isfinite(found[c].xy));
      }
    }
  });
}

TEST_BOTH("Products of k vectors allocate nothing, and see refreshed values", "[spmv][columns]") {
  const HostCsr a = power_law_matrix(3000), fresh = integer_values(a, 41);
  const auto there = upload_matrix<double>(ctx, a);
  const auto values = upload(ctx, fresh.val);
  for (const std::string& format : format_names<double, S>()) {
    INFO(format);
    Product<double, S> product(ctx, there.wide(), format);
    for (const int k : {1, 2, 4, 8}) {
      auto x = upload(ctx, random_vector<double>(std::int64_t{a.cols} * k));
      auto y = poisoned<double>(ctx, std::int64_t{a.rows} * k);
      auto xy = poisoned<double>(ctx, k);
      Array<char, S> work(ctx, static_cast<std::int64_t>(product.op().column_work_bytes(k)));
      const std::uint64_t before = ctx.memory()->use().allocations;
      product.op().apply_columns(ctx, k, 1.0, x.cspan(), 0.0, y.span(), work.span());
      product.op().apply_dot_columns(ctx, k, x.cspan(), y.span(), xy.data(), work.span());
      CHECK(ctx.memory()->use().allocations == before);
    }
    product.refresh(fresh.val);
    const auto x = random_columns<double>(a.cols, 4, 90);
    const auto found = product.apply_columns(1.0, x);
    for (int c = 0; c < 4; ++c) CHECK(first_outside(found[c].y, expected_product(fresh, 1.0, x[c])) == "");
  }
}

TEST_BOTH("An operator of the caller's own multiplies k vectors one after the other", "[spmv][columns]") {
  const Index n = 70;
  // y = alpha 3 x + beta y
  const FunctionOperator<double, S> triple(n, n, [](const auto& c, double alpha, auto x, double beta, auto y) {
    axpby<double, S>(c, 3 * alpha, x, beta, y);
  });
  for (const int k : {1, 2, 4, 8}) {
    const auto x = random_vector<double>(std::int64_t{n} * k, 1), y0 = random_vector<double>(std::int64_t{n} * k, 2);
    const auto at_x = upload(ctx, x);
    auto at_y = upload(ctx, y0);
    auto xy = poisoned<double>(ctx, k);
    Array<char, S> work(ctx, static_cast<std::int64_t>(triple.column_work_bytes(k)));
    triple.apply_columns(ctx, k, 0.5, at_x.cspan(), 2.0, at_y.span(), work.span());
    const auto y = download(ctx, at_y);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(1.5 * x[i] + 2 * y0[i]));
    triple.apply_dot_columns(ctx, k, at_x.cspan(), at_y.span(), xy.data(), work.span());
    const auto dots = download(ctx, xy);
    for (int c = 0; c < k; ++c) {
      double expected = 0;
      for (Index i = 0; i < n; ++i) expected += 3 * x[i * k + c] * x[i * k + c];
      CHECK(dots[c] == Approx(expected));
    }
  }
}

TEST_BOTH("Columns go into a batch and out of it, and their dot products are their own", "[columns]") {
  for (const std::int64_t n : {0, 1, 31, 1000, 40000}) {
    for (const int k : {1, 2, 4, 8}) {
      INFO(n << " x " << k);
      auto batch = poisoned<double>(ctx, n * k), other = poisoned<double>(ctx, n * k);
      for (int c = 0; c < k; ++c) {
        put_column<double, S>(ctx, upload(ctx, random_vector<double>(n, 100 + c)).cspan(), k, c, batch.span());
        put_column<double, S>(ctx, upload(ctx, random_vector<double>(n, 200 + c)).cspan(), k, c, other.span());
      }
      const auto batch_values = download(ctx, batch);
      auto dots = poisoned<double>(ctx, k);
      dot_columns<double, S>(ctx, k, batch.cspan(), other.cspan(), dots.data());
      const auto found = download(ctx, dots);
      for (int c = 0; c < k; ++c) {
        const auto x = random_vector<double>(n, 100 + c), y = random_vector<double>(n, 200 + c);
        auto back = poisoned<double>(ctx, n);
        take_column<double, S>(ctx, batch.cspan(), k, c, back.span());
        CHECK(download(ctx, back) == x);
        for (std::int64_t i = 0; i < n; ++i) {
          if (batch_values[i * k + c] != x[i]) FAIL("entry " << i << " of column " << c);
        }
        const DotOracle expected = dot_oracle(x, y);
        CHECK(std::fabs(found[c] - expected.value) <=
              static_cast<double>(n + 2) * std::numeric_limits<double>::epsilon() * expected.magnitude);
      }
    }
  }
  auto batch = poisoned<double>(ctx, 16), column = poisoned<double>(ctx, 7);
  CHECK_THROWS_AS((put_column<double, S>(ctx, column.cspan(), 2, 0, batch.span())), InputError);
  CHECK_THROWS_AS((take_column<double, S>(ctx, batch.cspan(), 2, 2, column.span())), InputError);
  CHECK_THROWS_AS((dot_columns<double, S>(ctx, 3, batch.cspan(), batch.cspan(), column.data())), InputError);
}
