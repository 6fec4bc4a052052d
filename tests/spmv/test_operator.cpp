// SPDX-License-Identifier: Apache-2.0
// A user's own operators: a lambda and a class, with the default of apply_dot.
#include "tests/catch.hpp"

#include <newel/spmv/operator.hpp>

namespace {

// D, without a matrix.
template <class T, Space S>
class DiagonalOperator final : public LinearOperator<T, S> {
 public:
  DiagonalOperator(const Context<S>& ctx, const std::vector<T>& d) : d_(upload(ctx, d)) {}
  Index rows() const override { return static_cast<Index>(d_.size()); }
  Index cols() const override { return rows(); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    multiply<T, S>(ctx, alpha, d_.cspan(), x, beta, y);
  }

 private:
  Array<T, S> d_;
};

template <class T, Space S>
void check_doubling() {
  const auto ctx = make_context<S>();
  const Index n = 4097;
  int calls = 0;
  const FunctionOperator<T, S> twice(n, n,
                                     [&](const Context<S>& c, T alpha, Span<const T, S> x, T beta, Span<T, S> y) {
                                       ++calls;
                                       axpby<T, S>(c, 2 * alpha, x, beta, y);
                                     });
  const LinearOperator<T, S>& op = twice;
  CHECK(op.rows() == n);
  CHECK(op.cols() == n);
  const auto x = random_vector<T>(n);
  const auto at_x = upload(ctx, x);
  auto y = poisoned<T>(ctx, n);
  auto xy = poisoned<double>(ctx, 1);
  op.apply_dot(ctx, at_x.cspan(), y.span(), xy.data());
  CHECK(calls == 1);
  std::vector<T> expected = x;
  for (T& value : expected) value *= 2;
  CHECK(same_bits(download(ctx, y), expected));
  const DotOracle dot = dot_oracle(x, expected);
  CHECK(std::fabs(fetch(ctx, xy.data()) - dot.value) <=
        (n + 2) * std::numeric_limits<double>::epsilon() * dot.magnitude);
  op.apply(ctx, T(-1), at_x.cspan(), T(1), y.span());
  CHECK(same_bits(download(ctx, y), std::vector<T>(n, T(0))));
}

}  // namespace

TEST_BOTH("A lambda is an operator, and x.y comes with it", "[operator]") {
  check_doubling<double, S>();
  check_doubling<float, S>();
}

TEST_BOTH("A user's class is an operator, and x.y comes with it", "[operator]") {
  const auto d = random_vector<double>(1000, 1), x = random_vector<double>(1000, 2);
  const DiagonalOperator<double, S> op(ctx, d);
  const auto at_x = upload(ctx, x);
  auto y = poisoned<double>(ctx, 1000);
  auto xy = poisoned<double>(ctx, 1);
  op.apply_dot(ctx, at_x.cspan(), y.span(), xy.data());
  const std::vector<double> found = download(ctx, y);
  const DotOracle dot = dot_oracle(x, found);
  CHECK(std::fabs(fetch(ctx, xy.data()) - dot.value) <=
        1002 * std::numeric_limits<double>::epsilon() * dot.magnitude);
  CHECK(found[17] == Approx(d[17] * x[17]));
}

TEST_BOTH("An operator may be a rectangle", "[operator]") {
  // The first half of x.
  const FunctionOperator<double, S> half(50, 100, [](const auto& c, double alpha, auto x, double beta, auto y) {
    axpby<double, S>(c, alpha, x.subspan(0, 50), beta, y);
  });
  const auto x = random_vector<double>(100);
  const auto at_x = upload(ctx, x);
  auto y = poisoned<double>(ctx, 50);
  half.apply(ctx, 1.0, at_x.cspan(), 0.0, y.span());
  CHECK(half.rows() == 50);
  CHECK(half.cols() == 100);
  CHECK(same_bits(download(ctx, y), std::vector<double>(x.begin(), x.begin() + 50)));
}

TEST_CASE("What an operator is made of adds up", "[operator]") {
  OperatorInfo info;
  CHECK(info.total_bytes() == 0);
  CHECK(info.padding_ratio() == 0);
  info.bytes = {{"values", 80}, {"columns", 40}};
  info.nonzeros = 8;
  info.stored_slots = 10;
  CHECK(info.total_bytes() == 120);
  CHECK(info.padding_ratio() == Approx(0.25));
}
