// SPDX-License-Identifier: Apache-2.0
// ELL-WARP as an operator: variants, orders, thresholds and shared rows.
#include "tests/catch.hpp"
#include "tests/spmv/ell_warp_support.hpp"

#include <newel/spmv/registry.hpp>
#include "spmv/ell_warp/ell_warp.hpp"

namespace {

const std::vector<std::string> all_variants = {"ellwarp",    "ellwarp:k1",  "ellwarp:k1r", "ellwarp:k1rs",
                                               "ellwarp:k2", "ellwarp:k2r", "ellwarp:k2rs"};

SpmvOptions options_of(const std::string& format, Index threshold = 0, Index window = 0) {
  SpmvOptions options;
  options.format = format;
  options.ell_warp_threshold = threshold;
  options.ell_warp_window = window;
  return options;
}

// y of op, x.y where it is requested; all in op's order.
template <class T, Space S>
std::vector<T> applied(const Context<S>& ctx, const MatrixOperator<T, S>& op, T alpha, const std::vector<T>& x,
                       T beta, const std::vector<T>& y0) {
  const Array<T, S> at_x = upload(ctx, x);
  Array<T, S> y = beta == T(0) ? poisoned<T>(ctx, op.rows()) : upload(ctx, y0);
  op.apply(ctx, alpha, at_x.cspan(), beta, y.span());
  return download(ctx, y);
}

double figure_of(const OperatorInfo& info, const std::string& name) {
  for (const auto& [figure, value] : info.figures) {
    if (figure == name) return value;
  }
  return -1;
}

// Short rows, and some of `length` entries at the beginning, in the middle, side by side and at the end.
HostCsr matrix_with_long_rows(Index n, Index length) {
  return random_matrix(n, n, 23, [&](Index i) {
    const bool is_long = i == 0 || i == n / 2 || i == n / 2 + 1 || i == n - 1;
    return is_long ? Offset{length} + i % 3 : Offset{i % 5};
  });
}

}  // namespace

TEST_BOTH("Plain ellwarp is k2rs in the planned order, k2 in any other and for rectangles, and says so",
          "[ellwarp]") {
  const auto there = upload_matrix<double>(ctx, power_law_matrix(500)),
             wide = upload_matrix<double>(ctx, ragged_matrix(90, 200));
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), options_of("ellwarp"));
  REQUIRE_FALSE(order.natural());
  CHECK(contains(order.report.method, "sorted by length"));
  const auto permuted = permute(ctx, there.wide(), order);
  const OperatorInfo planned = make_spmv(ctx, permuted.view(), order, options_of("ell-warp"))->info();
  CHECK(planned.name == "ellwarp:k2rs");
  CHECK(figure_of(planned, "threshold") > 0);
  const auto long_rows = upload_matrix<double>(ctx, matrix_with_long_rows(9000, 30000));
  const RowOrder<S> long_order = plan_order<double>(ctx, Pattern<S>(long_rows.wide()), options_of("ellwarp"));
  const auto long_permuted = permute(ctx, long_rows.wide(), long_order);
  CHECK(make_spmv(ctx, long_permuted.view(), long_order, options_of("ellwarp"))->info().name == "ellwarp:k2rs");
  const OperatorInfo foreign = make_spmv(ctx, there.wide(), {}, options_of("ellwarp"))->info();
  CHECK(foreign.name == "ellwarp:k2");
  CHECK(contains(foreign.detail, "are not in the planned order"));
  CHECK(contains(make_spmv(ctx, there.wide(), {}, options_of("ellwarp:k1r"))->info().detail,
                 "rows in their given order"));
  const OperatorInfo rectangle = make_spmv(ctx, wide.wide(), {}, options_of("ellwarp"))->info();
  CHECK(rectangle.name == "ellwarp:k2");
  CHECK(contains(rectangle.detail, "the matrix is not square"));
}

TEST_BOTH("Only the variants that renumber plan an order, and only they want square matrices", "[ellwarp]") {
  const auto there = upload_matrix<double>(ctx, power_law_matrix(500));
  for (const std::string& format : all_variants) {
    INFO(format);
    const bool k = format == "ellwarp:k1" || format == "ellwarp:k2";
    CHECK(plan_order<double>(ctx, Pattern<S>(there.wide()), options_of(format)).natural() == k);
    CHECK(takes_square_only(format) == (!k && format != "ellwarp"));
  }
}

TEST_BOTH("A planned order holds rows by falling length, or is natural where they come so", "[ellwarp]") {
  const HostCsr a = power_law_matrix(700);
  const auto there = upload_matrix<double>(ctx, a);
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.narrow()), options_of("ellwarp:k1r", 0, 700));
  const std::vector<Index> old_of_new = download(ctx, order.old_of_new), new_of_old = download(ctx, order.new_of_old);
  for (Index i = 0; i < a.rows; ++i) {
    CHECK(new_of_old[old_of_new[i]] == i);
    if (i > 0) CHECK(a.row_length(old_of_new[i - 1]) >= a.row_length(old_of_new[i]));
  }
  const auto diagonal = upload_matrix<double>(ctx, diagonal_matrix(700));
  CHECK(plan_order<double>(ctx, Pattern<S>(diagonal.wide()), options_of("ellwarp:k1r")).natural());
}

TEST_CASE("Orders of two windows are two plans of the cache", "[ellwarp]") {
  const Context<Space::host> ctx(2);
  const HostCsr a = power_law_matrix(700);
  const TemporaryFolder folder;
  const auto planned = [&](Index window) {
    SpmvOptions options = options_of("ellwarp", 0, window);
    options.plan_cache = folder.path().string();
    return download(ctx, plan_order<double>(ctx, Pattern<Space::host>(view_of(a)), options).old_of_new);
  };
  const std::vector<Index> narrow = planned(40), wide = planned(700);
  CHECK(narrow != wide);
  CHECK(planned(40) == narrow);
  CHECK(planned(700) == wide);
}

TEST_BOTH("Every variant is right in any order, with any threshold and window", "[ellwarp]") {
  for (const HostCsr& a : {power_law_matrix(900), ragged_matrix(1000, 1000), fem_matrix("generate:diffusion:6")}) {
    const auto there = upload_matrix<double>(ctx, a);
    const RowOrder<S> order = make_row_order(ctx, random_order(a.rows, 5));
    const auto permuted = permute(ctx, there.wide(), order);
    const HostCsr b = download_matrix(ctx, permuted.matrix);
    const auto x = random_vector<double>(a.cols), y0 = random_vector<double>(a.rows, 8);
    const Expected expected = expected_product(b, 0.3, x, 0.7, y0);
    for (const std::string& format : all_variants) {
      for (const Index threshold : {0, 1, 3, 30, 100000}) {
        for (const Index window : {0, 1, 40, 100000}) {
          INFO(format << ", threshold " << threshold << ", window " << window);
          const auto op = make_spmv(ctx, permuted.view(), order, options_of(format, threshold, window));
          CHECK(first_outside(applied(ctx, *op, 0.3, x, 0.7, y0), expected) == "");
        }
      }
    }
  }
}

TEST_BOTH("Long rows, wherever they stand, are shared by warps", "[ellwarp]") {
  const HostCsr a = matrix_with_long_rows(9000, 30000);
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.cols), y0 = random_vector<double>(a.rows, 8);
  for (const std::string& format : all_variants) {
    INFO(format);
    const auto op = make_spmv(ctx, there.wide(), {}, options_of(format));
    CHECK(figure_of(op->info(), "shared rows") == 4);
    CHECK(first_outside(applied(ctx, *op, 1.0, x, 0.0, y0), expected_product(a, 1.0, x)) == "");
    const auto first = applied(ctx, *op, 0.3, x, 0.7, y0);
    CHECK(first_outside(first, expected_product(a, 0.3, x, 0.7, y0)) == "");
    CHECK(same_bits(applied(ctx, *op, 0.3, x, 0.7, y0), first));
    Array<double, S> at_x = upload(ctx, x), y = poisoned<double>(ctx, a.rows), xy = poisoned<double>(ctx, 1);
    op->apply_dot(ctx, at_x.cspan(), y.span(), xy.data());
    CHECK(same_bits(download(ctx, y), applied(ctx, *op, 1.0, x, 0.0, y0)));
    CHECK(fetch(ctx, xy.data()) == Approx(static_cast<double>(dot_oracle(x, download(ctx, y)).value)));
  }
}

TEST_BOTH("A row of a million entries is cut into a thousand chunks or more", "[ellwarp]") {
  constexpr Index n = 1000000;
  Random random(3);
  HostCsr a;
  a.rows = 3;
  a.cols = n;
  for (Index j = 0; j < n + 2; ++j) {
    a.col.push_back(j == 0 ? 7 : j == n + 1 ? 9 : j - 1);
    a.val.push_back(random.value());
  }
  a.row_ptr = {0, 1, n + 1, n + 2};
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(n);
  const auto op = make_spmv(ctx, there.wide(), {}, options_of("ellwarp"));
  CHECK(figure_of(op->info(), "warps") >= 977);
  CHECK(figure_of(op->info(), "padding") < 0.001);
  CHECK(first_outside(applied(ctx, *op, 1.0, x, 0.0, {}), expected_product(a, 1.0, x)) == "");
}

TEST_BOTH("K2 with a threshold that no row exceeds is K1, bit for bit and byte for byte", "[ellwarp]") {
  const HostCsr a = ragged_matrix(3000, 2000);
  const auto there = upload_matrix<float>(ctx, a);
  const auto x = random_vector<float>(a.cols);
  const auto k1 = make_spmv(ctx, there.wide(), {}, options_of("ellwarp:k1"));
  const auto k2 = make_spmv(ctx, there.wide(), {}, options_of("ellwarp:k2", 12));
  CHECK(same_bits(applied(ctx, *k1, 1.0f, x, 0.0f, {}), applied(ctx, *k2, 1.0f, x, 0.0f, {})));
  CHECK(k1->info().bytes == k2->info().bytes);
  CHECK(contains(k2->info().detail, "no row halved"));
}

TEST_BOTH("info tells threshold, longest row, warps and padding", "[ellwarp]") {
  const HostCsr a = ragged_matrix(4000, 4000);
  const auto there = upload_matrix<double>(ctx, a);
  const OperatorInfo info = make_spmv(ctx, there.wide(), {}, options_of("ellwarp:k2", 5))->info();
  Offset longest = 0;
  for (Index i = 0; i < a.rows; ++i) longest = std::max(longest, a.row_length(i));
  CHECK(figure_of(info, "threshold") == 5);
  CHECK(figure_of(info, "longest row") == static_cast<double>(longest));
  CHECK(figure_of(info, "warps") >= 4000 / (S == Space::host ? 8 : 32));
  CHECK(figure_of(info, "padding") == info.padding_ratio());
  CHECK(contains(info.detail, "rows above 5 entries halved"));
}
