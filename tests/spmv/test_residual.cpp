// SPDX-License-Identifier: Apache-2.0
// The residuals of every format against sums in 113 bits, where almost everything cancels.

#include "core/vectors/twice_sum.hpp"

#include "tests/spmv/spmv_support.hpp"

namespace {

__extension__ typedef __float128 Wide;

double magnitude(Wide value) { return static_cast<double>(value < 0 ? -value : value); }

// Numbers with all digits of T, over ten orders of magnitude.
template <class T>
std::vector<T> full_vector(Index n, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> v;
  for (Index i = 0; i < n; ++i) {
    const double digits = random.value() + 1e-8 * random.value();
    v.push_back(static_cast<T>(digits * std::pow(10.0, 10 * random.value() / 2)));
  }
  return v;
}

// What is known of b - A x without the library. |r - exact| <= 2^-100 `size`.
struct WideResidual {
  std::vector<Wide> r;
  std::vector<double> size;      // |b| + |A||x|
  std::vector<double> row_size;  // sum_j |a_ij| max |x| + |b_i|
  double beyond_square = 0;
};

template <class T>
WideResidual wide_residual(const HostCsr& a, const std::vector<T>& values, const std::vector<T>& b,
                           const std::vector<T>& x) {
  WideResidual expected;
  double x_max = 0;
  for (const T v : x) x_max = std::max(x_max, std::fabs(static_cast<double>(v)));
  for (Index i = 0; i < a.rows; ++i) {
    Wide r = b[i];
    double size = std::fabs(static_cast<double>(b[i])), row = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Wide product = Wide(values[k]) * Wide(x[a.col[k]]);
      r -= product;
      size += magnitude(product);
      row += std::fabs(static_cast<double>(values[k]));
    }
    expected.r.push_back(r);
    expected.size.push_back(size);
    expected.row_size.push_back(row * x_max + std::fabs(static_cast<double>(b[i])));
    if (row == 0) expected.beyond_square += double(b[i]) * double(b[i]);
  }
  return expected;
}

// A x as T has it: b - A x is then all rounding.
template <class T>
std::vector<T> rounded_image(const HostCsr& a, const std::vector<T>& values, const std::vector<T>& x) {
  std::vector<T> b;
  const WideResidual minus = wide_residual<T>(a, values, std::vector<T>(static_cast<std::size_t>(a.rows)), x);
  for (const Wide r : minus.r) b.push_back(static_cast<T>(-r));
  return b;
}

}  // namespace

TEST_BOTH("Every format forms residuals of pure rounding, and bounds what it loses", "[spmv][residual]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    const std::vector<T> values = full_vector<T>(static_cast<Index>(a.nnz()), 3), x = full_vector<T>(a.cols, 4);
    const std::vector<T> b = rounded_image<T>(a, values, x);
    Product<T, S> product(ctx, there.wide(), format);
    product.refresh(values);
    const auto [r, sums] = product.residual(b, x, 0x1p-3);
    const WideResidual expected = wide_residual<T>(a, values, b, x);
    double square = 0, sum = 0, most_error = 0, worst_row = 0;
    bool right = true;
    for (Index i = 0; i < a.rows; ++i) {
      const double exact = static_cast<double>(expected.r[i]);
      // Twice the precision of double, and the last rounding to T.
      const double most_off = 1e-25 * (a.row_length(i) + 2) * expected.size[i];
      const double rounding = std::numeric_limits<T>::epsilon() * std::fabs(exact);
      right = right && std::fabs(static_cast<double>(r[i]) - exact) <= most_off + rounding;
      most_error += most_off + 0x1p-53 * std::fabs(exact);
      square += exact * exact;
      sum += std::fabs(exact);
      if (expected.row_size[i] > 0) worst_row = std::max(worst_row, std::fabs(exact) / expected.row_size[i]);
    }
    CHECK(right);
    const double close = 1e-9 + 8 * a.rows * 1e-16;
    CHECK(sums.square * 0x1p-6 == Approx(square).epsilon(close));
    CHECK(sums.sum * 0x1p-3 == Approx(sum).epsilon(close));
    CHECK(sums.worst_row == Approx(worst_row).epsilon(close));
    CHECK(sums.beyond_square * 0x1p-6 == Approx(expected.beyond_square).epsilon(close));
    CHECK(sums.error_sum * 0x1p-3 <= 1.01 * most_error);
  });
}

TEST_BOTH("What a format calls the error of its residual bounds the true one", "[spmv][residual]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    if (sizeof(T) == 4) return;  // what is returned is rounded once more
    const auto there = upload_matrix<T>(ctx, a);
    const std::vector<T> values = full_vector<T>(static_cast<Index>(a.nnz()), 5), x = full_vector<T>(a.cols, 6);
    const std::vector<T> b = rounded_image<T>(a, values, x);
    Product<T, S> product(ctx, there.wide(), format);
    product.refresh(values);
    const auto [r, sums] = product.residual(b, x, 1, true);
    const WideResidual expected = wide_residual<T>(a, values, b, x);
    double error = 0;
    for (Index i = 0; i < a.rows; ++i) error += magnitude(Wide(r[i]) - expected.r[i]) - 0x1p-100 * expected.size[i];
    CHECK(error <= sums.error_sum);
  });
}

TEST_BOTH("A residual of integers is exact, and is said to be", "[spmv][residual]") {
  for_each_format<S>(awkward_matrices(), [&](auto zero, const std::string& format, const HostCsr& a) {
    using T = decltype(zero);
    const auto there = upload_matrix<T>(ctx, a);
    std::vector<T> values, x, b;
    for (Offset k = 0; k < a.nnz(); ++k) values.push_back(static_cast<T>(k % 7 - 3));
    for (Index j = 0; j < a.cols; ++j) x.push_back(static_cast<T>(j % 5 - 2));
    const WideResidual image = wide_residual<T>(a, values, std::vector<T>(static_cast<std::size_t>(a.rows)), x);
    for (Index i = 0; i < a.rows; ++i) b.push_back(static_cast<T>(i % 3 - image.r[i]));
    Product<T, S> product(ctx, there.wide(), format);
    product.refresh(values);
    const auto [r, sums] = product.residual(b, x, 1);
    bool exact = true;
    for (Index i = 0; i < a.rows; ++i) exact = exact && r[i] == static_cast<T>(i % 3);
    CHECK(exact);
    CHECK(sums.error_sum == 0);
  });
}

TEST_BOTH("Products that underflow count as lost", "[spmv][residual]") {
  const HostCsr a = diagonal_matrix(3);
  const auto there = upload_matrix<double>(ctx, a);
  Product<double, S> product(ctx, there.wide(), "csr");
  product.refresh({1e-300, 1e-300, 1e-300});
  const auto [r, sums] = product.residual({0, 0, 0}, {1e-300, 0, 1}, 1);
  CHECK(r == std::vector<double>{0, 0, -1e-300});
  CHECK(sums.error_sum > 0);
  CHECK(sums.error_sum < 1e-300);
}

TEST_BOTH("The largest magnitude of a vector is found wherever it stands, and a NaN too", "[core][max_abs]") {
  Array<double, S> result(ctx, 1);
  const auto largest = [&](const auto& v) {
    using T = std::decay_t<decltype(v[0])>;
    const Array<T, S> there = upload(ctx, v);
    max_abs<T>(ctx, there.cspan(), result.data());
    return fetch(ctx, static_cast<const double*>(result.data()));
  };
  CHECK(largest(std::vector<double>{}) == 0);
  for (const std::size_t n : {1, 31, 32, 33, 255, 256, 257, 100000}) {
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<double> v(n, 0.5);
      v[at] = -3;
      CHECK(largest(v) == 3);
      CHECK(largest(std::vector<float>(v.begin(), v.end())) == 3);
      v[at] = std::nan("");
      CHECK(std::isnan(largest(v)));
      v[at] = -HUGE_VAL;
      CHECK(std::isinf(largest(v)));
    }
  }
}
