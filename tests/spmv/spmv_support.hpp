// SPDX-License-Identifier: Apache-2.0
/// How the tests of the product formats build and call one: every line of the table, in the order that it wants, with
/// vectors in the caller's order.
#pragma once

#include <newel/core/machine.hpp>
#include <newel/spmv/registry.hpp>

#include "tests/catch.hpp"

namespace newel::testing {

/// A device like an H200: 132 multiprocessors of 2048 threads, warps of 32, 227 KB of shared memory, 50 MB of
/// second-level cache, 4.2 TB/s.
inline Machine large_gpu() {
  Machine machine;
  machine.space = Space::device;
  machine.processors = 132;
  machine.cache_bytes = 232448;
  machine.lanes = 32;
  machine.resident_threads = 2048;
  machine.shared_cache_bytes = 50 << 20;
  machine.bytes_per_second = 4.2e12;
  return machine;
}

/// Every format of the table that exists for T in S, by its bare name and with each of its variants.
template <class T, Space S>
std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const SpmvFormat& format : spmv_formats()) {
    if (format.make.get<T, S>() == nullptr) continue;
    names.push_back(format.name);
    for (const std::string& variant : format.variants) names.push_back(format.name + ":" + variant);
  }
  return names;
}

/// Calls f(zero of the value type, format, matrix) for everything there is and that the format takes.
template <Space S, class F>
void for_each_format(const std::vector<NamedMatrix>& matrices, F&& f) {
  for (const auto& [name, a] : matrices) {
    INFO(name);
    const bool square = a.rows == a.cols;
    for (const std::string& format : format_names<double, S>()) {
      INFO(format << " in double");
      if (square || !takes_square_only(format)) f(double{}, format, a);
    }
    for (const std::string& format : format_names<float, S>()) {
      INFO(format << " in single");
      if (square || !takes_square_only(format)) f(float{}, format, a);
    }
  }
}

/// Whether the format promises the same bits on every run: all of them, except for cuSPARSE's first algorithm.
template <Space S>
bool repeats_its_bits(const std::string& format) {
  return S == Space::host || format != "csr:alg1";
}

/// y and, where it was requested, x.y.
template <class T>
struct Result {
  std::vector<T> y;
  double xy = 0;
};

/// A format built for a matrix: planned, permuted where the plan says so, and called in the caller's order.
template <class T, Space S>
class Product {
 public:
  Product(const Context<S>& ctx, const CsrView<T, S>& a, const std::string& format)
      : Product(ctx, a, SpmvOptions{format}) {}
  Product(const Context<S>& ctx, const CsrView<T, S>& a, const SpmvOptions& options) : ctx_(ctx) {
    order_ = plan_order<T>(ctx, Pattern<S>(a), options);
    if (order_.natural()) {
      operator_ = make_spmv<T, S>(ctx, a, order_, options);
    } else {
      const PermutedCsr<T, S> permuted = permute(ctx, a, order_);
      operator_ = make_spmv<T, S>(ctx, permuted.view(), order_, options);
    }
    old_of_new_ = download(ctx, order_.old_of_new);
  }

  MatrixOperator<T, S>& op() { return *operator_; }

  /// alpha A x + beta y0; y is poisoned where y0 is empty. The memory around y is inspected too.
  Result<T> apply(T alpha, const std::vector<T>& x, T beta = T(0), const std::vector<T>& y0 = {}) const {
    return call(x, y0, [&](auto at_x, auto at_y, double*) { operator_->apply(ctx_, alpha, at_x, beta, at_y); });
  }
  Result<T> apply_dot(const std::vector<T>& x) const {
    return call(x, {}, [&](auto at_x, auto at_y, double* xy) { operator_->apply_dot(ctx_, at_x, at_y, xy); });
  }
  /// The same with the vectors of `x` in one batch; there is a result for each.
  std::vector<Result<T>> apply_columns(T alpha, const std::vector<std::vector<T>>& x, T beta = T(0),
                                       const std::vector<std::vector<T>>& y0 = {}) const {
    const auto k = static_cast<int>(x.size());
    return call_columns(x, y0, [&](auto at_x, auto at_y, double*, auto work) {
      operator_->apply_columns(ctx_, k, alpha, at_x, beta, at_y, work);
    });
  }
  std::vector<Result<T>> apply_dot_columns(const std::vector<std::vector<T>>& x) const {
    const auto k = static_cast<int>(x.size());
    return call_columns(x, {}, [&](auto at_x, auto at_y, double* xy, auto work) {
      operator_->apply_dot_columns(ctx_, k, at_x, at_y, xy, work);
    });
  }
  /// b - A x by the operator's residual, in place or into memory of its own, and what it says of it.
  std::pair<std::vector<T>, detail::ResidualSums> residual(const std::vector<T>& b, const std::vector<T>& x,
                                                           double unit, bool in_place = false) const {
    const Array<T, S> at_x = upload(ctx_, to_new(x));
    Array<T, S> at_b = upload(ctx_, to_new(b)), at_r = poisoned<T>(ctx_, operator_->rows());
    Array<double, S> x_max = poisoned<double>(ctx_, 1);
    max_abs<T>(ctx_, at_x.cspan(), x_max.data());
    Array<T, S>& to = in_place ? at_b : at_r;
    const auto sums = operator_->residual(ctx_, at_b.cspan(), at_x.cspan(), {unit, x_max.data()}, to.span());
    if (!sums) throw std::logic_error("a format that does not form residuals");
    return {to_old(download(ctx_, to)), *sums};
  }
  void refresh(const std::vector<T>& values) {
    const Array<T, S> there = upload(ctx_, values);
    operator_->refresh(ctx_, there.cspan());
    ctx_.synchronize();
  }

 private:
  std::vector<T> to_new(const std::vector<T>& x) const {
    if (old_of_new_.empty() || x.empty()) return x;
    std::vector<T> result;
    for (const Index old : old_of_new_) result.push_back(x[old]);
    return result;
  }
  std::vector<T> to_old(const std::vector<T>& x) const {
    if (old_of_new_.empty()) return x;
    std::vector<T> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[old_of_new_[i]] = x[i];
    return result;
  }

  template <class F>
  Result<T> call(const std::vector<T>& x, const std::vector<T>& y0, F&& f) const {
    constexpr std::int64_t guard = 64;
    const auto rows = static_cast<std::size_t>(operator_->rows());
    std::vector<T> y(rows + 2 * guard, std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> start = to_new(y0);
    std::copy(start.begin(), start.end(), y.begin() + guard);
    const Array<T, S> at_x = upload(ctx_, to_new(x));
    Array<T, S> at_y = upload(ctx_, y);
    Array<double, S> xy = poisoned<double>(ctx_, 1);
    f(at_x.cspan(), at_y.span().subspan(guard, operator_->rows()), xy.data());
    y = download(ctx_, at_y);
    const std::vector<T> inner(y.begin() + guard, y.end() - guard);
    y.erase(y.begin() + guard, y.end() - guard);
    if (!all_nan(y)) throw std::logic_error("the product wrote outside y");
    return {to_old(inner), fetch(ctx_, xy.data())};
  }

  // Vectors interleaved: number i k + c is entry i of vector c.
  std::vector<T> batch_of(const std::vector<std::vector<T>>& vectors) const {
    std::vector<T> batch(vectors.empty() ? 0 : vectors.size() * vectors.front().size());
    for (std::size_t c = 0; c < vectors.size(); ++c) {
      const std::vector<T> ordered = to_new(vectors[c]);
      for (std::size_t i = 0; i < ordered.size(); ++i) batch[i * vectors.size() + c] = ordered[i];
    }
    return batch;
  }

  template <class F>
  std::vector<Result<T>> call_columns(const std::vector<std::vector<T>>& x, const std::vector<std::vector<T>>& y0,
                                      F&& f) const {
    const std::size_t guard = 64, k = x.size(), rows = static_cast<std::size_t>(operator_->rows());
    std::vector<T> y(rows * k + 2 * guard, std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> start = batch_of(y0);
    std::copy(start.begin(), start.end(), y.begin() + guard);
    const Array<T, S> at_x = upload(ctx_, batch_of(x));
    Array<T, S> at_y = upload(ctx_, y);
    Array<double, S> xy = poisoned<double>(ctx_, static_cast<std::int64_t>(k));
    const auto work_bytes = static_cast<std::int64_t>(operator_->column_work_bytes(static_cast<int>(k)));
    Array<double, S> work = poisoned<double>(ctx_, work_bytes / 8 + 2);
    const Span<char, S> work_span(reinterpret_cast<char*>(work.data()), work_bytes);
    f(at_x.cspan(), at_y.span().subspan(guard, static_cast<std::int64_t>(rows * k)), xy.data(), work_span);
    const std::vector<double> used = download(ctx_, work);
    if (!std::isnan(used.back())) throw std::logic_error("the product wrote behind its work");
    y = download(ctx_, at_y);
    const std::vector<T> inner(y.begin() + guard, y.end() - guard);
    y.erase(y.begin() + guard, y.end() - guard);
    if (!all_nan(y)) throw std::logic_error("the product wrote outside y");
    const std::vector<double> dots = download(ctx_, xy);
    std::vector<Result<T>> results;
    for (std::size_t c = 0; c < k; ++c) {
      std::vector<T> column(rows);
      for (std::size_t i = 0; i < rows; ++i) column[i] = inner[i * k + c];
      results.push_back({to_old(column), dots[c]});
    }
    return results;
  }

  Context<S> ctx_;
  RowOrder<S> order_;
  std::vector<Index> old_of_new_;
  OperatorPtr<T, S> operator_;
};

/// x . A x with its bound: the products as in `expected_product`, and one more rounding of double for each of the
/// rows and of the `shares` that a row may be cut into.
template <class T>
DotOracle expected_dot(const HostCsr& a, const std::vector<T>& x, int shares, long double* bound) {
  DotOracle result;
  long double product_bound = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double magnitude = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const long double term = static_cast<long double>(x[i]) * a.val[k] * x[a.col[k]];
      result.value += term;
      magnitude += std::fabs(term);
    }
    result.magnitude += magnitude;
    product_bound += (a.row_length(i) + 3) * static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude;
  }
  *bound = product_bound + (a.rows + shares + 2) * std::numeric_limits<double>::epsilon() * result.magnitude;
  return result;
}

/// Checks a format's product of `a` with and without alpha and beta, and for a square one x.y beside the same
/// product.
template <class T, Space S>
void check_product(const HostCsr& a, const std::string& format, int threads) {
  INFO(format << ", " << threads << " threads");
  const auto ctx = make_context<S>(threads);
  const auto there = upload_matrix<T>(ctx, a);
  const Product<T, S> product(ctx, there.wide(), format);
  const auto x = random_vector<T>(a.cols, 1), y0 = random_vector<T>(a.rows, 2);
  CHECK(first_outside(product.apply(T(1), x).y, expected_product(a, T(1), x)) == "");
  CHECK(first_outside(product.apply(T(0.3), x, T(-0.7), y0).y, expected_product(a, T(0.3), x, T(-0.7), y0)) == "");
  if (a.rows != a.cols) return;
  const Result<T> found = product.apply_dot(x);
  CHECK(same_bits(found.y, product.apply(T(1), x).y));
  long double bound = 0;
  const DotOracle expected = expected_dot(a, x, 64, &bound);
  CHECK(std::fabs(found.xy - expected.value) <= bound);
}

/// The same pattern with small whole numbers: sums are exact in any order, so that results have one value.
inline HostCsr integer_values(HostCsr a, std::uint64_t seed) {
  Random random(seed);
  for (double& value : a.val) value = (1 + random.index(8)) * (random.index(2) == 0 ? -1 : 1);
  return a;
}
template <class T>
std::vector<T> whole_vector(Index n) {
  Random random(31);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& value : x) value = static_cast<T>(1 + random.index(4));
  return x;
}

}  // namespace newel::testing
