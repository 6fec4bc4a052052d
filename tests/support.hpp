// SPDX-License-Identifier: Apache-2.0
/// What the tests share: contexts, transfers between plain vectors and either space, and oracles in long double that
/// use nothing of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <newel/core/csr.hpp>

#include "tests/matrices.hpp"

namespace newel::testing {

constexpr Space host = Space::host;

/// A context of space S; `threads` is for the host, 0 being all.
template <Space S>
Context<S> make_context(int threads = 0) {
  if constexpr (S == Space::host) {
    return Context<S>(threads);
  } else {
    (void)threads;
    return Context<S>();
  }
}

template <class T, Space S>
Array<T, S> upload(const Context<S>& ctx, const std::vector<T>& from) {
  return make_array(ctx, from);
}

template <class T, Space S>
std::vector<T> download(const Context<S>& ctx, const Array<T, S>& from) {
  return to_vector(ctx, from.cspan());
}

/// n NaNs: what an output holds before it is written.
template <class T, Space S>
Array<T, S> poisoned(const Context<S>& ctx, std::int64_t n) {
  return make_array(ctx, std::vector<T>(static_cast<std::size_t>(n), std::numeric_limits<T>::quiet_NaN()));
}

/// Numbers in [-1, 1), none of them 0, the same ones in both precisions.
template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& value : x) value = static_cast<T>(random.value());
  return x;
}

/// A random permutation of 0 .. n-1.
inline std::vector<Index> random_order(Index n, std::uint64_t seed = 1) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[i] = i;
  Random random(seed);
  for (Index i = n - 1; i > 0; --i) std::swap(order[i], order[random.index(i + 1)]);
  return order;
}

template <class T>
std::vector<T> converted(const std::vector<double>& from) {
  std::vector<T> result;
  for (const double value : from) result.push_back(static_cast<T>(value));
  return result;
}

/// A test matrix in space S, with row pointers of both widths.
template <class T, Space S>
struct Uploaded {
  Csr<T, S> matrix;
  Array<std::int32_t, S> row_ptr32;

  CsrView<T, S> wide() const { return CsrView<T, S>(matrix); }
  CsrView<T, S> narrow() const {
    return CsrView<T, S>(matrix.rows, matrix.cols, row_ptr32.cspan(), matrix.col.cspan(), matrix.val.cspan());
  }
};

/// An owning copy of a test matrix in the context's space.
template <class T, Space S>
Csr<T, S> make_matrix(const Context<S>& ctx, const HostCsr& a) {
  Csr<T, S> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = make_array(ctx, a.row_ptr);
  result.col = make_array(ctx, a.col);
  result.val = make_array(ctx, converted<T>(a.val));
  return result;
}

template <class T, Space S>
Uploaded<T, S> upload_matrix(const Context<S>& ctx, const HostCsr& a) {
  const std::vector<std::int32_t> narrow(a.row_ptr.begin(), a.row_ptr.end());
  return {make_matrix<T>(ctx, a), make_array(ctx, narrow)};
}

/// The matrix as plain vectors again.
template <class T, Space S>
HostCsr download_matrix(const Context<S>& ctx, const Csr<T, S>& a) {
  HostCsr result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_ptr = download(ctx, a.row_ptr);
  result.col = download(ctx, a.col);
  const std::vector<T> val = download(ctx, a.val);
  result.val.assign(val.begin(), val.end());
  return result;
}

/// An exact result (as far as long double is) and the magnitude that rounding errors are measured against.
struct Expected {
  std::vector<long double> value;
  std::vector<long double> bound;  ///< what |computed - value| may be
};

/// y = alpha A x + beta y0, with beta = 0 not reading y0. A row of m entries takes at most m + 3 roundings on the way
/// to any partial result, whatever the order of the sum, each of a relative size of eps / 2: the bound is (m + 3) eps
/// (|alpha| |A||x| + |beta| |y0|)_i.
template <class T>
Expected expected_product(const HostCsr& a, T alpha, const std::vector<T>& x, T beta = T(0),
                          const std::vector<T>& y0 = {}) {
  const long double eps = std::numeric_limits<T>::epsilon();
  Expected result;
  for (Index i = 0; i < a.rows; ++i) {
    long double sum = 0, magnitude = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const long double product = static_cast<long double>(a.val[k]) * x[a.col[k]];
      sum += product;
      magnitude += std::fabs(product);
    }
    sum *= alpha;
    magnitude *= std::fabs(alpha);
    if (beta != T(0)) {
      sum += static_cast<long double>(beta) * y0[i];
      magnitude += std::fabs(static_cast<long double>(beta) * y0[i]);
    }
    result.value.push_back(sum);
    result.bound.push_back((a.row_length(i) + 3) * eps * magnitude);
  }
  return result;
}

/// Where `found` first leaves the bound, as a sentence; empty where it never does. NaN is always outside.
template <class T>
std::string first_outside(const std::vector<T>& found, const Expected& expected) {
  if (found.size() != expected.value.size()) return "the lengths differ";
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::fabs(found[i] - expected.value[i]) <= expected.bound[i]) continue;
    std::ostringstream text;
    text.precision(17);
    text << "entry " << i << " is " << found[i] << ", expected " << expected.value[i] << " +- " << expected.bound[i];
    return text.str();
  }
  return "";
}

/// x.y, and sum of |x_i y_i|, in long double.
struct DotOracle {
  long double value = 0;
  long double magnitude = 0;
};
template <class T, class U>
DotOracle dot_oracle(const std::vector<T>& x, const std::vector<U>& y) {
  DotOracle result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double product = static_cast<long double>(x[i]) * y[i];
    result.value += product;
    result.magnitude += std::fabs(product);
  }
  return result;
}

/// |x| in the 2-norm.
template <class T>
double norm_oracle(const std::vector<T>& x) {
  return static_cast<double>(std::sqrt(dot_oracle(x, x).value));
}

/// b - A x, row by row in long double, and its 2-norm: what a solution is judged by.
template <class T>
double residual_norm(const HostCsr& a, const std::vector<T>& x, const std::vector<T>& b) {
  long double total = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double r = b[i];
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) r -= static_cast<long double>(a.val[k]) * x[a.col[k]];
    total += r * r;
  }
  return static_cast<double>(std::sqrt(total));
}

/// A x rounded to T once: a right-hand side whose solution is known.
template <class T>
std::vector<T> product_oracle(const HostCsr& a, const std::vector<T>& x) {
  std::vector<T> y;
  for (const long double value : expected_product<T>(a, T(1), x).value) y.push_back(static_cast<T>(value));
  return y;
}

/// Whether two vectors hold the same bits, NaN included.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
bool all_nan(const std::vector<T>& x) {
  return std::all_of(x.begin(), x.end(), [](T value) { return std::isnan(value); });
}

inline bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

inline bool same_matrix(const HostCsr& a, const HostCsr& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && same_bits(a.val, b.val);
}

/// n + 2 roundings of double at most: a product of doubles, the sum, and nothing of the vectors' own precision.
inline double sum_bound(std::int64_t n, long double magnitude) {
  return static_cast<double>((n + 2) * std::numeric_limits<double>::epsilon() * magnitude);
}

/// The message of the E that `f` throws; empty where it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace newel::testing
