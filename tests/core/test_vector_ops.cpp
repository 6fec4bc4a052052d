// SPDX-License-Identifier: Apache-2.0
// The vector primitives against plain loops, at lengths around lanes, warps and chunks.
#include "tests/catch.hpp"

namespace {

constexpr std::int64_t lengths[] = {0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 100003};

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

// value_i with a bound of `roundings` relative errors of eps against magnitude_i.
template <class T, class Value, class Magnitude>
Expected expect(std::int64_t n, int roundings, Value&& value, Magnitude&& magnitude) {
  Expected e;
  for (std::int64_t i = 0; i < n; ++i) {
    e.value.push_back(value(i));
    e.bound.push_back(roundings * static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude(i));
  }
  return e;
}

template <class T, Space S>
struct Vectors {
  Context<S> ctx;
  std::vector<T> x, y, d;
  Array<T, S> at_x, at_y, at_d;
  Array<double, S> scalar;

  Vectors(const Context<S>& context, std::int64_t n)
      : ctx(context),
        x(random_vector<T>(n, 1)),
        y(random_vector<T>(n, 2)),
        d(random_vector<T>(n, 3)),
        at_x(upload(ctx, x)),
        at_y(upload(ctx, y)),
        at_d(upload(ctx, d)),
        scalar(poisoned<double>(ctx, 1)) {}

  double result() const { return fetch(ctx, scalar.data()); }
};

template <class F>
void at_every_length(F&& f) {
  for (const std::int64_t n : lengths) {
    INFO("n = " << n);
    f(n, double{});
    f(n, float{});
  }
}

}  // namespace

TEST_BOTH("fill writes every element", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    auto x = poisoned<T>(ctx, n);
    fill<T>(ctx, T(0.25), x.span());
    CHECK(download(ctx, x) == std::vector<T>(n, T(0.25)));
  });
}

TEST_BOTH("scale multiplies, and writes zeros over anything for a factor of 0", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    Vectors<T, S> v(ctx, n);
    scale<T>(ctx, T(-1.75), v.at_x.span());
    const auto expected = expect<T>(
        n, 1, [&](auto i) { return -1.75L * v.x[i]; }, [&](auto i) { return std::fabs(1.75L * v.x[i]); });
    CHECK(first_outside(download(ctx, v.at_x), expected) == "");
    auto nans = poisoned<T>(ctx, n);
    scale<T>(ctx, T(0), nans.span());
    CHECK(download(ctx, nans) == std::vector<T>(n, T(0)));
  });
}

TEST_BOTH("axpby is alpha x + beta y, and axpy has a beta of 1", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    const T alpha = T(1.3), beta = T(-0.7);
    Vectors<T, S> v(ctx, n);
    const auto check = [&](T a, T b, const Array<T, S>& found) {
      const auto expected = expect<T>(
          n, 3, [&](auto i) { return (long double)(a)*v.x[i] + (long double)(b)*v.y[i]; },
          [&](auto i) { return std::fabs((long double)(a)*v.x[i]) + std::fabs((long double)(b)*v.y[i]); });
      CHECK(first_outside(download(ctx, found), expected) == "");
    };
    axpby<T>(ctx, alpha, v.at_x.cspan(), beta, v.at_y.span());
    check(alpha, beta, v.at_y);
    v.at_y = upload(ctx, v.y);
    axpy<T>(ctx, alpha, v.at_x.cspan(), v.at_y.span());
    check(alpha, T(1), v.at_y);
    v.at_y = upload(ctx, v.y);
    axpby<T>(ctx, T(0), v.at_x.cspan(), beta, v.at_y.span());
    check(T(0), beta, v.at_y);
    CHECK(same_bits(download(ctx, v.at_x), v.x));
  });
}

TEST_BOTH("axpby with a beta of 0 does not read y", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    Vectors<T, S> v(ctx, n);
    auto y = poisoned<T>(ctx, n);
    axpby<T>(ctx, T(2), v.at_x.cspan(), T(0), y.span());
    std::vector<T> twice = v.x;
    for (T& value : twice) value *= 2;
    CHECK(same_bits(download(ctx, y), twice));
  });
}

TEST_BOTH("multiply is alpha d x + beta y, reads no y for a beta of 0, and may work in place", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    const T alpha = T(1.3), beta = T(-0.7);
    Vectors<T, S> v(ctx, n);
    const auto expected = [&](T b) {
      return expect<T>(
          n, 4, [&](auto i) { return (long double)(alpha)*v.d[i] * v.x[i] + (long double)(b)*v.y[i]; },
          [&](auto i) {
            return std::fabs((long double)(alpha)*v.d[i] * v.x[i]) + std::fabs((long double)(b)*v.y[i]);
          });
    };
    multiply<T>(ctx, alpha, v.at_d.cspan(), v.at_x.cspan(), beta, v.at_y.span());
    CHECK(first_outside(download(ctx, v.at_y), expected(beta)) == "");
    auto y = poisoned<T>(ctx, n);
    multiply<T>(ctx, alpha, v.at_d.cspan(), v.at_x.cspan(), T(0), y.span());
    CHECK(first_outside(download(ctx, y), expected(T(0))) == "");
    multiply<T>(ctx, alpha, v.at_d.cspan(), v.at_x.cspan(), T(0), v.at_x.span());
    CHECK(same_bits(download(ctx, v.at_x), download(ctx, y)));
  });
}

TEST_BOTH("multiply_dot is d x with the dot product of both", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    Vectors<T, S> v(ctx, n);
    auto y = poisoned<T>(ctx, n);
    multiply_dot<T>(ctx, v.at_d.cspan(), v.at_x.cspan(), y.span(), v.scalar.data());
    const std::vector<T> found = download(ctx, y);
    const auto expected = expect<T>(
        n, 1, [&](auto i) { return (long double)(v.d[i]) * v.x[i]; },
        [&](auto i) { return std::fabs((long double)(v.d[i]) * v.x[i]); });
    CHECK(first_outside(found, expected) == "");
    const DotOracle xy = dot_oracle(v.x, found);
    CHECK(std::fabs(v.result() - xy.value) <= sum_bound(n, xy.magnitude));
  });
}

TEST_BOTH("dot, norm2 and sum add in double whatever the vectors are", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    Vectors<T, S> v(ctx, n);
    dot<T>(ctx, v.at_x.cspan(), v.at_y.cspan(), v.scalar.data());
    const DotOracle xy = dot_oracle(v.x, v.y);
    CHECK(std::fabs(v.result() - xy.value) <= sum_bound(n, xy.magnitude));
    norm2<T>(ctx, v.at_x.cspan(), v.scalar.data());
    const long double norm = std::sqrt(dot_oracle(v.x, v.x).value);
    CHECK(std::fabs(v.result() - norm) <= sum_bound(n, norm));
    sum<T>(ctx, v.at_x.cspan(), v.scalar.data());
    const DotOracle total = dot_oracle(v.x, std::vector<T>(n, T(1)));
    CHECK(std::fabs(v.result() - total.value) <= sum_bound(n, total.magnitude));
  });
}

TEST_BOTH("The reductions of nothing are 0", "[vector_ops]") {
  Vectors<double, S> v(ctx, 0);
  dot<double>(ctx, v.at_x.cspan(), v.at_y.cspan(), v.scalar.data());
  CHECK(v.result() == 0);
  v.scalar = poisoned<double>(ctx, 1);
  norm2<double>(ctx, v.at_x.cspan(), v.scalar.data());
  CHECK(v.result() == 0);
  v.scalar = poisoned<double>(ctx, 1);
  sum<double>(ctx, v.at_x.cspan(), v.scalar.data());
  CHECK(v.result() == 0);
  v.scalar = poisoned<double>(ctx, 1);
  multiply_dot<double>(ctx, v.at_d.cspan(), v.at_x.cspan(), v.at_y.span(), v.scalar.data());
  CHECK(v.result() == 0);
}

TEST_BOTH("A NaN anywhere reaches the norm", "[vector_ops]") {
  for (const std::int64_t n : {1, 33, 4097, 100003}) {
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> x = random_vector<float>(n);
      x[at] = nan_of<float>;
      const auto there = upload(ctx, x);
      Array<double, S> norm = upload(ctx, std::vector<double>{0});
      norm2<float>(ctx, there.cspan(), norm.data());
      CHECK(std::isnan(fetch(ctx, norm.data())));
    }
  }
}

TEST_BOTH("A reduction gives the same bits on every run", "[vector_ops]") {
  for (const std::int64_t n : {33, 4097, 100003, 2000003}) {
    Vectors<double, S> v(ctx, n);
    std::vector<double> results;
    for (int run = 0; run < 20; ++run) {
      dot<double>(ctx, v.at_x.cspan(), v.at_y.cspan(), v.scalar.data());
      results.push_back(v.result());
    }
    CHECK(same_bits(results, std::vector<double>(results.size(), results[0])));
  }
}

TEST_CASE("A reduction on the host gives the same bits for any number of threads", "[vector_ops]") {
  for (const std::int64_t n : {33, 4097, 100003, 5000011}) {
    std::vector<double> dots, sums, norms;
    for (const int threads : {1, 2, 3, 7}) {
      Vectors<float, Space::host> v(Context<Space::host>(threads), n);
      dot<float>(v.ctx, v.at_x.cspan(), v.at_y.cspan(), v.scalar.data());
      dots.push_back(v.result());
      sum<float>(v.ctx, v.at_x.cspan(), v.scalar.data());
      sums.push_back(v.result());
      norm2<float>(v.ctx, v.at_x.cspan(), v.scalar.data());
      norms.push_back(v.result());
    }
    CHECK(same_bits(dots, std::vector<double>(dots.size(), dots[0])));
    CHECK(same_bits(sums, std::vector<double>(sums.size(), sums[0])));
    CHECK(same_bits(norms, std::vector<double>(norms.size(), norms[0])));
  }
}

TEST_BOTH("subtract_mean leaves a vector whose mean is rounding", "[vector_ops]") {
  at_every_length([&](std::int64_t n, auto type) {
    using T = decltype(type);
    std::vector<T> x = random_vector<T>(n);
    for (T& value : x) value += T(3);
    auto there = upload(ctx, x);
    Array<double, S> total(ctx, 1);
    sum<T>(ctx, there.cspan(), total.data());
    const long double mean = n == 0 ? 0 : (long double)(fetch(ctx, total.data())) / n;
    subtract_mean<T>(ctx, total.data(), there.span());
    // The mean is rounded to T, and so is the difference.
    const auto expected = expect<T>(
        n, 2, [&](auto i) { return x[i] - mean; },
        [&](auto i) { return std::fabs((long double)(x[i])) + std::fabs(mean); });
    CHECK(first_outside(download(ctx, there), expected) == "");
  });
}

TEST_BOTH("convert goes from either precision to either", "[vector_ops]") {
  for (const std::int64_t n : lengths) {
    std::vector<double> wide = random_vector<double>(n);
    for (double& value : wide) value /= 3;
    const std::vector<float> narrow(wide.begin(), wide.end());
    const auto at_wide = upload(ctx, wide);
    auto to_float = poisoned<float>(ctx, n);
    convert<double, float>(ctx, at_wide.cspan(), to_float.span());
    CHECK(same_bits(download(ctx, to_float), narrow));
    auto to_double = poisoned<double>(ctx, n);
    convert<float, double>(ctx, to_float.cspan(), to_double.span());
    CHECK(same_bits(download(ctx, to_double), std::vector<double>(narrow.begin(), narrow.end())));
    convert<double, double>(ctx, at_wide.cspan(), to_double.span());
    CHECK(same_bits(download(ctx, to_double), wide));
  }
}

TEST_BOTH("Vectors of different lengths are refused with the operation and both lengths", "[vector_ops]") {
  const auto three = upload(ctx, std::vector<double>{1, 2, 3});
  auto four = upload(ctx, std::vector<double>{1, 2, 3, 4});
  auto other = upload(ctx, std::vector<double>{5, 6, 7});
  Array<double, S> scalar(ctx, 1);
  Array<float, S> narrow(ctx, 4);
  const auto refused = [&](auto&& f) {
    const std::string message = message_of<InputError>(f);
    return contains(message, "3") && contains(message, "4");
  };
  CHECK(refused([&] { axpby<double>(ctx, 1, three.cspan(), 1, four.span()); }));
  CHECK(refused([&] { axpy<double>(ctx, 1, three.cspan(), four.span()); }));
  CHECK(refused([&] { multiply<double>(ctx, 1, three.cspan(), four.cspan(), 1, other.span()); }));
  CHECK(refused([&] { multiply<double>(ctx, 1, three.cspan(), three.cspan(), 1, four.span()); }));
  CHECK(refused([&] { multiply_dot<double>(ctx, four.cspan(), three.cspan(), other.span(), scalar.data()); }));
  CHECK(refused([&] { multiply_dot<double>(ctx, three.cspan(), three.cspan(), four.span(), scalar.data()); }));
  CHECK(refused([&] { dot<double>(ctx, three.cspan(), four.cspan(), scalar.data()); }));
  CHECK(refused([&] { convert<double, float>(ctx, three.cspan(), narrow.span()); }));
  CHECK(download(ctx, four) == std::vector<double>{1, 2, 3, 4});
  CHECK(contains(message_of<InputError>([&] { dot<double>(ctx, three.cspan(), four.cspan(), scalar.data()); }),
                 "dot: vectors of lengths 3 and 4"));
}

TEST_BOTH("The primitives allocate nothing", "[vector_ops]") {
  Vectors<double, S> v(ctx, 10000);
  const std::uint64_t before = ctx.memory()->use().allocations;
  fill<double>(ctx, 1, v.at_x.span());
  scale<double>(ctx, 2, v.at_x.span());
  axpby<double>(ctx, 1, v.at_x.cspan(), 2, v.at_y.span());
  multiply<double>(ctx, 1, v.at_d.cspan(), v.at_x.cspan(), 2, v.at_y.span());
  multiply_dot<double>(ctx, v.at_d.cspan(), v.at_x.cspan(), v.at_y.span(), v.scalar.data());
  dot<double>(ctx, v.at_x.cspan(), v.at_y.cspan(), v.scalar.data());
  norm2<double>(ctx, v.at_x.cspan(), v.scalar.data());
  sum<double>(ctx, v.at_x.cspan(), v.scalar.data());
  subtract_mean<double>(ctx, v.scalar.data(), v.at_x.span());
  CHECK(ctx.memory()->use().allocations == before);
}
