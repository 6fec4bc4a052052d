// SPDX-License-Identifier: Apache-2.0
// Every line of the table of formats, on every awkward matrix, against a coordinate loop in long double.
#include "tests/spmv/spmv_support.hpp"

TEST_BOTH("Every format multiplies every awkward matrix, from row pointers of either width", "[spmv]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols);
    const Expected expected = expected_product(a, T(1), x);
    Product<T, S> wide(ctx, there.wide(), format), narrow(ctx, there.narrow(), format);
    CHECK(wide.op().rows() == a.rows);
    CHECK(wide.op().cols() == a.cols);
    CHECK(first_outside(wide.apply(T(1), x).y, expected) == "");
    CHECK(first_outside(narrow.apply(T(1), x).y, expected) == "");
  });
}

TEST_BOTH("A format that numbers rows and columns alike refuses a rectangular matrix and says so", "[spmv]") {
  const auto there = upload_matrix<double>(ctx, ragged_matrix(30, 20));
  for (const std::string& format : format_names<double, S>()) {
    if (!takes_square_only(format)) continue;
    INFO(format);
    SpmvOptions options;
    options.format = format;
    const auto message = message_of<InputError>([&] { (void)make_spmv<double, S>(ctx, there.wide(), {}, options); });
    CHECK(contains(message, "30 x 20"));
    CHECK(contains(message, format));
  }
}

TEST_BOTH("Every format gives the same bits on every run, where it promises so", "[spmv]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    if (!repeats_its_bits<S>(format)) return;
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols, 3), y0 = random_vector<T>(a.rows, 4);
    const Product<T, S> product(ctx, there.wide(), format), twin(ctx, there.wide(), format);
    const auto first = product.apply(T(0.3), x, T(0.7), y0).y;
    CHECK(same_bits(twin.apply(T(0.3), x, T(0.7), y0).y, first));
    for (int run = 0; run < 3; ++run) CHECK(same_bits(product.apply(T(0.3), x, T(0.7), y0).y, first));
    if (a.rows != a.cols) return;
    const Result<T> with_dot = product.apply_dot(x);
    for (int run = 0; run < 3; ++run) {
      const Result<T> again = product.apply_dot(x);
      CHECK(same_bits(again.y, with_dot.y));
      CHECK(again.xy == with_dot.xy);
    }
  });
}

TEST_BOTH("Every format scales by alpha and beta, and reads no y for a beta of 0", "[spmv]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols, 1), y0 = random_vector<T>(a.rows, 2);
    const Product<T, S> product(ctx, there.wide(), format);
    for (const T alpha : {T(1), T(-1), T(0.3), T(0)}) {
      for (const T beta : {T(0), T(1), T(-1), T(0.7)}) {
        INFO("alpha = " << alpha << ", beta = " << beta);
        const auto found = product.apply(alpha, x, beta, beta == T(0) ? std::vector<T>() : y0);
        CHECK(first_outside(found.y, expected_product(a, alpha, x, beta, y0)) == "");
      }
    }
  });
}

TEST_BOTH("Every format also computes x.y on request", "[spmv]") {
  for_each_format<S>(awkward_square_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.cols);
    const auto found = Product<T, S>(ctx, there.narrow(), format).apply_dot(x);
    CHECK(first_outside(found.y, expected_product(a, T(1), x)) == "");
    long double bound = 0;
    const DotOracle expected = expected_dot(a, x, 64, &bound);
    CHECK(std::fabs(found.xy - expected.value) <= bound);
  });
}

TEST_BOTH("Every format refreshed is the format rebuilt", "[spmv]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    // Whole numbers: the same value whatever the order of the sums.
    const HostCsr fresh = integer_values(a, 41);
    const auto old_matrix = upload_matrix<T>(ctx, a), new_matrix = upload_matrix<T>(ctx, fresh);
    Product<T, S> refreshed(ctx, old_matrix.wide(), format);
    refreshed.refresh(converted<T>(fresh.val));
    const auto x = whole_vector<T>(a.cols);
    const std::vector<T> expected = product_oracle(fresh, x);
    CHECK(refreshed.apply(T(1), x).y == expected);
    CHECK((Product<T, S>(ctx, new_matrix.wide(), format).apply(T(1), x).y == expected));

    if (!repeats_its_bits<S>(format)) return;
    refreshed.refresh(converted<T>(a.val));
    const auto rough = random_vector<T>(a.cols);
    const Product<T, S> rebuilt(ctx, old_matrix.wide(), format);
    CHECK(same_bits(refreshed.apply(T(1), rough).y, rebuilt.apply(T(1), rough).y));
  });
}

TEST_BOTH("Every format built from a permuted matrix takes values in the caller's order", "[spmv]") {
  for_each_format<S>(awkward_square_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const HostCsr fresh = integer_values(a, 42);
    const RowOrder<S> first = make_row_order(ctx, random_order(a.rows, 1));
    const RowOrder<S> second = make_row_order(ctx, random_order(a.rows, 2));
    const auto old_matrix = upload_matrix<T>(ctx, a), new_matrix = upload_matrix<T>(ctx, fresh);
    const auto old_once = permute(ctx, old_matrix.wide(), first);
    const auto old_twice = permute(ctx, old_once.view(), second);
    const auto new_once = permute(ctx, new_matrix.wide(), first);
    const auto new_twice = permute(ctx, new_once.view(), second);
    const auto x = whole_vector<T>(a.cols);

    Product<T, S> once(ctx, old_once.view(), format), twice(ctx, old_twice.view(), format);
    once.refresh(converted<T>(fresh.val));
    twice.refresh(converted<T>(fresh.val));
    CHECK(once.apply(T(1), x).y == product_oracle(download_matrix(ctx, new_once.matrix), x));
    CHECK(twice.apply(T(1), x).y == product_oracle(download_matrix(ctx, new_twice.matrix), x));
    CHECK((twice.apply(T(1), x).y == Product<T, S>(ctx, new_twice.view(), format).apply(T(1), x).y));
  });
}

TEST_BOTH("Values written into a format's own slots are a refresh", "[spmv]") {
  for_each_format<S>(awkward_square_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const HostCsr fresh = integer_values(a, 43);
    const RowOrder<S> order = make_row_order(ctx, random_order(a.rows, 3));
    const auto old_matrix = upload_matrix<T>(ctx, a), new_matrix = upload_matrix<T>(ctx, fresh);
    const auto permuted = permute(ctx, old_matrix.wide(), order), expected = permute(ctx, new_matrix.wide(), order);
    Product<T, S> written(ctx, permuted.view(), format);
    const Slots<T, S> slots = written.op().slots(ctx);
    REQUIRE(static_cast<std::int64_t>(slots.entry.size()) == slots.values.size);
    std::vector<T> slot_values(slots.entry.size(), T(0));
    std::vector<int> met(fresh.val.size(), 0);
    for (std::size_t k = 0; k < slot_values.size(); ++k) {
      if (slots.entry[k] < 0) continue;
      ++met[slots.entry[k]];
      slot_values[k] = static_cast<T>(fresh.val[slots.entry[k]]);
    }
    CHECK(std::all_of(met.begin(), met.end(), [](int times) { return times == 1; }));
    copy<T>(ctx, Span<const T, Space::host>(slot_values.data(), slots.values.size), slots.values);
    written.op().slots_written(ctx);
    const auto x = whole_vector<T>(a.cols);
    CHECK(written.apply(T(1), x).y == product_oracle(download_matrix(ctx, expected.matrix), x));
  });
}

TEST_BOTH("A format keeps copies: the caller's matrix may go", "[spmv]") {
  const HostCsr a = dominant_matrix(500);
  for (const std::string& format : format_names<double, S>()) {
    auto there = upload_matrix<double>(ctx, a);
    const RowOrder<S> order = make_row_order(ctx, random_order(a.rows));
    auto permuted = permute(ctx, there.wide(), order);
    Product<double, S> product(ctx, permuted.view(), format);
    const HostCsr b = download_matrix(ctx, permuted.matrix);
    const auto x = random_vector<double>(a.cols);
    permuted = PermutedCsr<double, S>();
    there = upload_matrix<double>(ctx, diagonal_matrix(500));
    CHECK(first_outside(product.apply(1.0, x).y, expected_product(b, 1.0, x)) == "");
    product.refresh(a.val);
    CHECK(first_outside(product.apply(1.0, x).y, expected_product(b, 1.0, x)) == "");
  }
}

TEST_BOTH("A refresh with another number of values is refused with both numbers", "[spmv]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(10));
  const auto permuted = permute(ctx, there.wide(), make_row_order(ctx, random_order(10)));
  const auto none = upload_matrix<double>(ctx, empty_matrix(3, 3));
  const auto values = upload(ctx, random_vector<double>(29));
  for (const std::string& format : format_names<double, S>()) {
    for (const auto& view : {there.wide(), permuted.view()}) {
      Product<double, S> product(ctx, view, format);
      const std::string message = message_of<InputError>([&] { product.op().refresh(ctx, values.cspan()); });
      CHECK(contains(message, "expected 28 values, found 29"));
      CHECK_THROWS_AS(product.op().refresh(ctx, values.cspan().subspan(0, 27)), InputError);
    }
    Product<double, S> nothing(ctx, none.wide(), format);
    CHECK_THROWS_AS(nothing.op().refresh(ctx, values.cspan()), InputError);
    nothing.op().refresh(ctx, values.cspan().subspan(0, 0));
  }
}

TEST_BOTH("apply, apply_dot and refresh allocate nothing", "[spmv]") {
  const HostCsr a = power_law_matrix(3000);
  const auto there = upload_matrix<double>(ctx, a);
  const auto permuted = permute(ctx, there.wide(), make_row_order(ctx, random_order(a.rows)));
  const auto x = upload(ctx, random_vector<double>(a.cols));
  auto y = poisoned<double>(ctx, a.rows);
  auto xy = poisoned<double>(ctx, 1);
  for (const std::string& format : format_names<double, S>()) {
    Product<double, S> product(ctx, permuted.view(), format);
    const std::uint64_t before = ctx.memory()->use().allocations;
    product.op().apply(ctx, 1.0, x.cspan(), 0.0, y.span());
    product.op().apply_dot(ctx, x.cspan(), y.span(), xy.data());
    product.op().refresh(ctx, there.matrix.val.cspan());
    CHECK(ctx.memory()->use().allocations == before);
  }
}
