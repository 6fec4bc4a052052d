// SPDX-License-Identifier: Apache-2.0
/// A system with a right-hand side for a known x, in a space.
#pragma once

#include "tests/solver/options.hpp"
#include "tests/spmv/spmv_support.hpp"

#include <newel/solver/registry.hpp>

namespace newel::testing {

/// b for a known x, and a guess of zeros.
template <Space S>
struct Problem {
  Context<S> ctx;
  HostCsr a;
  std::vector<double> b_host;
  Uploaded<double, S> there;
  Array<double, S> b, x;

  explicit Problem(const std::string& system) : Problem(fem_matrix(system)) {}
  explicit Problem(HostCsr matrix, int threads = 0)  // of a host, 0 for its default
      : ctx(make_context<S>(threads)), a(std::move(matrix)), there(upload_matrix<double>(ctx, a)) {
    std::vector<double> x_true(static_cast<std::size_t>(a.rows));
    for (std::size_t i = 0; i < x_true.size(); ++i) x_true[i] = 1 + static_cast<double>(i % 7);
    b_host = product_oracle(a, x_true);
    b = upload(ctx, b_host);
    x = upload(ctx, std::vector<double>(x_true.size(), 0.0));
  }

  std::unique_ptr<KrylovSolver<double, S>> solver(const std::string& name) const {
    return make_solver<double, S>(ctx, a.rows, SolverOptions{name});
  }
};

}  // namespace newel::testing
