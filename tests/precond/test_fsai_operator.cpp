// SPDX-License-Identifier: Apache-2.0
// FSAI as an operator: applied through every format, refreshed, described.
#include "tests/precond/fsai_support.hpp"
#include "tests/spmv/spmv_support.hpp"

namespace {

HostCsr changed(const HostCsr& a) {
  HostCsr b = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) b.val[k] = a.val[k] * 0.75 + (a.col[k] == i ? 0.5 : 0.0);
  }
  return b;
}

}  // namespace

TEST_BOTH("FSAI is applied as two products through every format, in the order of that format", "[precond][fsai]") {
  const HostCsr a = fem_matrix("generate:elasticity:5");
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 4), y0 = random_vector<double>(a.rows, 5);
  for (const std::string& format : format_names<double, S>()) {
    INFO(format);
    SpmvOptions spmv;
    spmv.format = format;
    const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), spmv);
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = there.wide();
    if (!order.natural()) {
      permuted = permute(ctx, view, order);
      view = permuted.view();
    }
    const FsaiOperator<double, S> m(ctx, view, order, fsai_options(), spmv);
    const HostCsr g = factor_of(ctx, m);
    const Expected once = expected_fsai(g, x);
    CHECK(first_outside(applied(ctx, m, x), once) == "");

    const auto at_x = upload(ctx, x);
    auto y = upload(ctx, y0);
    m.apply(ctx, -1.5, at_x.cspan(), 0.75, y.span());
    Expected scaled = once;
    for (std::size_t i = 0; i < y0.size(); ++i) {
      scaled.value[i] = -1.5L * once.value[i] + 0.75L * y0[i];
      scaled.bound[i] = 1.5L * once.bound[i] + 4e-16L * (1.5L * std::fabs(once.value[i]) + std::fabs(y0[i]));
    }
    CHECK(first_outside(download(ctx, y), scaled) == "");

    auto z = poisoned<double>(ctx, a.rows);
    auto xz = poisoned<double>(ctx, 1);
    m.apply_dot(ctx, at_x.cspan(), z.span(), xz.data());
    CHECK(first_outside(download(ctx, z), once) == "");
    long double exact = 0, bound = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      exact += x[i] * once.value[i];
      bound += std::fabs(x[i]) * (once.bound[i] + x.size() * 2.3e-16L * std::fabs(once.value[i]));
    }
    CHECK(std::fabs(fetch(ctx, xz.cspan().data) - exact) <= bound);
    CHECK(m.info().detail.find("G as ") == 0);
  }
}

TEST_BOTH("FSAI takes the format that it is told, else that of the matrix", "[precond][fsai]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(50));
  SpmvOptions spmv;
  spmv.format = "bce";
  const auto detail_of = [&](const std::string& format) {
    return make_precond<double, S>(ctx, there.wide(), {}, fsai_options(1, 0, format), spmv)->info().detail;
  };
  CHECK(contains(detail_of(""), "bce"));
  CHECK(contains(detail_of("evchyb"), "evchyb"));
  CHECK(contains(message_of<InputError>([&] { detail_of("abc"); }), "abc"));
}

TEST_BOTH("FSAI refreshed is FSAI rebuilt, bit for bit, through any order, and allocates nothing",
          "[precond][fsai]") {
  const HostCsr a = fem_matrix("generate:elasticity:4"), b = changed(a);
  const auto at_a = upload_matrix<double>(ctx, a), at_b = upload_matrix<double>(ctx, b);
  const auto x = random_vector<double>(a.rows, 6);
  for (const int power : {1, 2}) {
    for (const bool renumbered : {false, true}) {
      INFO("power " << power << (renumbered ? ", renumbered" : ""));
      RowOrder<S> order;
      PermutedCsr<double, S> permuted_a, permuted_b;
      CsrView<double, S> view_a = at_a.narrow(), view_b = at_b.wide();
      if (renumbered) {
        order = make_row_order(ctx, random_order(a.rows, 8));
        permuted_a = permute(ctx, view_a, order);
        permuted_b = permute(ctx, view_b, order);
        view_a = permuted_a.view();
        view_b = permuted_b.view();
      }
      auto refreshed = fsai(ctx, view_a, fsai_options(power, 0, "bce"), order);
      const auto of_a = applied(ctx, refreshed, x);
      const std::uint64_t allocations = ctx.memory()->use().allocations;
      refreshed.refresh(ctx, at_b.matrix.val.cspan());
      CHECK(ctx.memory()->use().allocations == allocations);
      const auto rebuilt = fsai(ctx, view_b, fsai_options(power, 0, "bce"), order);
      CHECK(same_bits(download(ctx, make_array(ctx, refreshed.factor().val)),
                      download(ctx, make_array(ctx, rebuilt.factor().val))));
      CHECK(same_bits(applied(ctx, refreshed, x), applied(ctx, rebuilt, x)));
      CHECK_FALSE(same_bits(applied(ctx, refreshed, x), of_a));
    }
  }
}

TEST_BOTH("FSAI of nothing does nothing", "[precond][fsai]") {
  const auto there = upload_matrix<double>(ctx, empty_matrix(0, 0));
  auto m = fsai(ctx, there.wide());
  CHECK(m.rows() == 0);
  Array<double, S> none;
  auto xy = poisoned<double>(ctx, 1);
  m.apply(ctx, 1.0, none.cspan(), 0.0, none.span());
  m.apply_dot(ctx, none.cspan(), none.span(), xy.data());
  CHECK(fetch(ctx, xy.data()) == 0);
  m.refresh(ctx, none.cspan());
}

TEST_BOTH("FSAI tells its density, its phases and every byte that it holds", "[precond][fsai]") {
  const HostCsr a = tridiagonal_matrix(100);
  const auto there = upload_matrix<double>(ctx, a);
  for (const int power : {1, 2}) {
    const std::uint64_t before = ctx.memory()->use().bytes;
    const auto m = fsai(ctx, there.wide(), fsai_options(power));
    const OperatorInfo info = m.info();
    CHECK(info.name == "fsai");
    CHECK(info.rows == 100);
    CHECK(info.nonzeros == (power == 1 ? 2 * 199 : 2 * 297));
    CHECK(info.figures.front().second == Approx(power == 1 ? 1.0 : 494.0 / 298));
    CHECK(info.figures[1].second == power + 1);
    CHECK(info.figures.back().second == Approx((power == 1 ? 99 * 8 : 98 * 27) / 3.0));
    CHECK(info.total_bytes() == ctx.memory()->use().bytes - before);
    CHECK(info.bytes_per_product > 0);
    CHECK(info.setup_seconds.size() == 5);
  }
}
