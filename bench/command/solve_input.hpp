// SPDX-License-Identifier: Apache-2.0
/// SolveInput: one system in a space and a precision, and what every solution of it is judged by.
#pragma once

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>

#include "bench/product_oracle.hpp"
#include "apps/common/exit_status.hpp"
#include "matrix.hpp"

namespace newel::cli {

/// Why `work` could not be done; empty where it was.
template <class Work>
std::string reason_to_refuse(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return message_from_one(error);
  } catch (const std::bad_alloc&) {
    return "the operating system refused an allocation on the host";
  }
  return "";
}

/// A, b and room for x in S.
template <class T, Space S>
class SolveInput {
 public:
  /// Converts and uploads `a`, which must outlive it, and `b`. Throws InputError where they exceed the precision.
  SolveInput(const Context<Space::host>& host, const Context<S>& ctx, const Csr<double, Space::host>& a,
             const std::vector<double>& b)
      : host_(host), ctx_(ctx), matrix_(host, a), placed_(ctx, matrix_.view()) {
    const Array<T, Space::host> rounded =
        to_precision<T>(host, {b.data(), static_cast<std::int64_t>(b.size())}, "the right-hand side");
    rhs_.assign(rounded.begin(), rounded.end());
    b_ = make_array(ctx, rhs_);
    x_ = Array<T, S>(ctx, a.rows);
  }

  const CsrView<T, S>& a() const { return placed_.view(); }
  Span<const T, S> values() const { return placed_.values(); }
  Span<const T, S> b() const { return b_.cspan(); }
  Span<T, S> x() { return x_.span(); }

  /// Of the present x.
  bench::TrueResidual true_residual() const {
    return bench::true_residual<T>(host_, matrix_.view(), rhs_, to_vector(ctx_, x_.cspan()));
  }

  /// What a true residual may be where a solve says that it has met `tolerance`.
  static double allowed(const bench::TrueResidual& found, double tolerance) {
    constexpr double norm_slack = 1 + 1e-6;  // of norms summed in double from values rounded to T
    return tolerance * norm_slack + found.rounding;
  }

 private:
  Context<Space::host> host_;
  const Context<S>& ctx_;
  InPrecision<T> matrix_;
  PlacedMatrix<T, S> placed_;
  std::vector<T> rhs_;
  Array<T, S> b_, x_;
};

}  // namespace newel::cli
