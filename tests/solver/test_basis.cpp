// SPDX-License-Identifier: Apache-2.0
// Products with a basis against sums in long double, at widths and lengths around groups, warps and walks.
#include "tests/catch.hpp"

#include "solver/krylov/steps/basis.hpp"

using newel::detail::basis_combine;

namespace {

constexpr int widths[] = {1, 2, 3, 4, 5, 7, 8, 16, 23, 30, 31, 32, 33, 64, 65, 70};
constexpr std::int64_t lengths[] = {1, 31, 64, 65, 1000, 1025, 5003};

/// V in precision B, w in T.
template <class T, Space S, class B = T>
struct Basis {
  Context<S> ctx;
  std::int64_t n;
  int k;
  std::vector<B> V;
  std::vector<T> w;
  Array<B, S> at_V;
  Array<T, S> at_w;
  Array<double, S> h, ww, partial;
  Array<detail::MonitorState, S> monitor;

  Basis(std::int64_t n_, int k_)
      : n(n_),
        k(k_),
        V(random_vector<B>(n * k, 1)),
        w(random_vector<T>(n, 2)),
        at_V(upload(ctx, V)),
        at_w(upload(ctx, w)),
        h(poisoned<double>(ctx, k + 1)),
        ww(poisoned<double>(ctx, 1)),
        partial(poisoned<double>(ctx, detail::basis_scratch(ctx, n, k))),
        monitor(make_array(ctx, std::vector<detail::MonitorState>(1))) {}

  detail::PassGate gate() const { return {monitor.data(), nullptr, nullptr, nullptr}; }
  std::vector<T> column(int j) const { return {V.begin() + j * n, V.begin() + (j + 1) * n}; }

  /// w + sign V c, every entry with a bound of k + 2 roundings.
  Expected sum(const std::vector<double>& c, double sign, bool with_w) const {
    Expected result;
    for (std::int64_t i = 0; i < n; ++i) {
      long double value = with_w ? w[i] : T(0), magnitude = std::fabs(value);
      for (int j = 0; j < k; ++j) {
        const long double product = static_cast<long double>(static_cast<T>(c[j])) * V[j * n + i];
        value += sign * product;
        magnitude += std::fabs(product);
      }
      result.value.push_back(value);
      result.bound.push_back((k + 2) * static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude);
    }
    return result;
  }
};

template <class F>
void at_every_size(F&& f) {
  for (const int k : widths) {
    for (const std::int64_t n : lengths) {
      INFO("k = " << k << ", n = " << n);
      f(n, k, double{}, double{});
      f(n, k, double{}, float{});
      f(n, k, float{}, float{});
    }
  }
}

}  // namespace

TEST_BOTH("products with every vector of a basis are sums in double, the same bits each time", "[solver][gmres]") {
  at_every_size([](std::int64_t n, int k, auto zero, auto kept) {
    Basis<decltype(zero), S, decltype(kept)> at(n, k);
    basis_dot(at.ctx, at.gate(), at.at_V.data(), n, k, at.at_w.data(), at.h.data(), at.partial.data());
    const auto h = download(at.ctx, at.h);
    for (int j = 0; j <= k; ++j) {
      INFO("j = " << j);
      const DotOracle exact = dot_oracle(j < k ? at.column(j) : at.w, at.w);
      CHECK(std::fabs(h[j] - static_cast<double>(exact.value)) <= sum_bound(n, exact.magnitude));
    }
    basis_dot(at.ctx, at.gate(), at.at_V.data(), n, k, at.at_w.data(), at.h.data(), at.partial.data());
    CHECK(same_bits(h, download(at.ctx, at.h)));
  });
}

TEST_BOTH("combinations of a basis are added, taken away and measured", "[solver][gmres]") {
  at_every_size([](std::int64_t n, int k, auto zero, auto kept) {
    using T = decltype(zero);
    Basis<T, S, decltype(kept)> at(n, k);
    const auto c = random_vector<double>(k, 3);
    const auto at_c = upload(at.ctx, c);
    auto u = poisoned<T>(at.ctx, n);
    basis_combine(at.ctx, at.at_V.data(), n, k, at_c.data(), u.data());
    CHECK(first_outside(download(at.ctx, u), at.sum(c, 1, false)) == "");

    basis_subtract(at.ctx, at.gate(), at.at_V.data(), n, k, at_c.data(), at.at_w.data(), at.ww.data(),
                   at.partial.data());
    const auto left = download(at.ctx, at.at_w);
    CHECK(first_outside(left, at.sum(c, -1, true)) == "");
    const DotOracle squares = dot_oracle(left, left);
    CHECK(std::fabs(fetch(at.ctx, at.ww.data()) - static_cast<double>(squares.value)) <=
          sum_bound(n, squares.magnitude));
  });
}

TEST_CASE("products with a basis have the same bits whatever the number of threads", "[solver][gmres]") {
  at_every_size([](std::int64_t n, int k, auto zero, auto kept) {
    using T = decltype(zero);
    const Basis<T, Space::host, decltype(kept)> one(n, k);
    const auto c = random_vector<double>(k, 3);
    std::vector<double> first_h;
    std::vector<T> first_w;
    for (const int threads : {1, 2, 3, 16}) {
      const Context<Space::host> ctx(threads);
      std::vector<double> h(static_cast<std::size_t>(k) + 1), partial(detail::basis_scratch(ctx, n, k));
      std::vector<T> w = one.w;
      double ww = 0;
      basis_dot(ctx, one.gate(), one.V.data(), n, k, w.data(), h.data(), partial.data());
      basis_subtract(ctx, one.gate(), one.V.data(), n, k, c.data(), w.data(), &ww, partial.data());
      h.push_back(ww);
      if (threads == 1) first_h = h, first_w = w;
      CHECK(same_bits(h, first_h));
      CHECK(same_bits(w, first_w));
    }
  });
}

TEST_BOTH("a closed gate keeps every number as it was", "[solver][gmres]") {
  Basis<double, S> at(100, 5);
  detail::MonitorState stopped{};
  stopped.event = detail::Event::tolerance_met;
  at.monitor = make_array(at.ctx, std::vector<detail::MonitorState>{stopped});
  basis_dot(at.ctx, at.gate(), at.at_V.data(), 100, 5, at.at_w.data(), at.h.data(), at.partial.data());
  basis_subtract(at.ctx, at.gate(), at.at_V.data(), 100, 5, at.h.data(), at.at_w.data(), at.ww.data(),
                 at.partial.data());
  CHECK(all_nan(download(at.ctx, at.h)));
  CHECK(same_bits(download(at.ctx, at.at_w), at.w));
}

TEST_CASE("the second pass runs where the products of the shares kept would exceed the limit", "[solver][gmres]") {
  auto basis = detail::Orthogonality::start<double, double>(1000);
  const double eps = basis.loss;
  CHECK(eps == std::numeric_limits<double>::epsilon());
  CHECK_FALSE(basis.needs_second(1, 0.01));
  CHECK(basis.needs_second(1, 1e-26));
  CHECK(basis.needs_second(1, 0));
  CHECK_FALSE(basis.needs_second(0, 0));
  basis.keep_first(1, 1e-8);
  CHECK(basis.loss == Approx(1e4 * eps));
  basis.keep_first(1, 1e-8);
  CHECK(basis.loss == Approx(1e8 * eps));
  basis.keep_first(1, 1e-6);
  CHECK(basis.loss == Approx(1e11 * eps));
  CHECK(basis.needs_second(1, 1e-8));
  CHECK_FALSE(basis.needs_second(1, 0.01));
  basis.keep_first(1, 1 + 1e-9);  // never gains
  CHECK(basis.loss == Approx(1e11 * eps));
}

TEST_CASE("vectors that are rounded lose about as much orthogonality as the decision begins with",
          "[solver][gmres]") {
  for (const std::int64_t n : {100, 10000, 1000000}) {
    const auto a = random_vector<double>(n, 1);
    auto b = random_vector<double>(n, 2);
    const auto product = [n](const auto& x, const auto& y) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += double(x[i]) * double(y[i]);
      return sum;
    };
    const double share = product(a, b) / product(a, a);
    for (std::int64_t i = 0; i < n; ++i) b[i] -= share * a[i];
    const std::vector<float> kept_a(a.begin(), a.end()), kept_b(b.begin(), b.end());
    const double loss = std::fabs(product(kept_a, kept_b)) / std::sqrt(product(a, a) * product(b, b));
    const double expected = detail::Orthogonality::start<double, float>(n).loss;
    INFO("n = " << n << ", lost " << loss << ", expected " << expected);
    CHECK(loss <= 2 * expected);
    CHECK(loss >= expected / 100);
  }
}
