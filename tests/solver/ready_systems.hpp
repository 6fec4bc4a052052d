// SPDX-License-Identifier: Apache-2.0
/// Systems in CSR whose solver is called directly.
#pragma once

#include "tests/solver/systems.hpp"

namespace newel::testing {

/// A matrix in a space as CSR, and preconditioners of it by name.
template <class T, Space S>
struct Ready {
  Arrays<T, S> arrays;
  OperatorPtr<T, S> A;
  Ready(const Context<S>& ctx, const Rows& a)
      : arrays(ctx, a), A(make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{"csr"})) {}
  OperatorPtr<T, S> precond(const Context<S>& ctx, const std::string& name) const {
    return make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{name}, SpmvOptions{"csr"});
  }
};

inline StopCriterion stop_after(int iterations, double rel_tol = 1e-14) {
  StopCriterion stop = stop_at(rel_tol);
  stop.max_iterations = iterations;
  return stop;
}

/// Products in plain loops: those of the library's formats may depend on how threads share the rows.
class PlainProducts final : public LinearOperator<double, Space::host> {
 public:
  explicit PlainProducts(const Rows& of) : of_(of) {}
  Index rows() const override { return of_.size(); }
  Index cols() const override { return of_.size(); }
  void apply(const Context<Space::host>&, double alpha, Span<const double, Space::host> x, double beta,
             Span<double, Space::host> y) const override {
    for (Index i = 0; i < of_.size(); ++i) {
      double sum = beta == 0 ? 0 : beta * y[i];
      for (const auto& [j, value] : of_.row[static_cast<std::size_t>(i)]) sum += alpha * value * x[j];
      y[i] = sum;
    }
  }

 private:
  const Rows& of_;
};

}  // namespace newel::testing
