// SPDX-License-Identifier: Apache-2.0
/// Small systems for the solver tests, and residuals that share no code with the library.
#pragma once

#include "tests/solver/options.hpp"

#include <newel/precond/registry.hpp>
#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include <newel/solver/gmres.hpp>

namespace newel::testing {

/// A method by its name, for GMRES with the length of its cycles and the side of M.
inline SolverOptions solver_options(const std::string& name, int restart = 0, bool left = false) {
  SolverOptions options{name};
  options.of<GmresOptions>() = {restart, left};
  return options;
}

/// Of the methods that have a kernel for what fits on the chip.
inline void set_resident(SolverOptions& options, bool resident) {
  options.of<CgOptions>().resident = options.of<BicgstabOptions>().resident = resident;
}

/// A sparse matrix as the test sees it: rows of (column, value) in ascending columns.
struct Rows {
  std::vector<std::map<Index, double>> row;

  explicit Rows(Index n) : row(static_cast<std::size_t>(n)) {}
  Index size() const { return static_cast<Index>(row.size()); }
  double& at(Index i, Index j) { return row[static_cast<std::size_t>(i)][j]; }

  /// y = A x in long double.
  std::vector<long double> times(const std::vector<double>& x) const {
    std::vector<long double> y(row.size(), 0.0L);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const auto& [j, a] : row[i]) y[i] += static_cast<long double>(a) * x[static_cast<std::size_t>(j)];
    }
    return y;
  }
  std::vector<double> rhs_for(const std::vector<double>& x) const {
    const auto y = times(x);
    return {y.begin(), y.end()};
  }
};

inline double norm(const std::vector<double>& v) {
  long double sum = 0;
  for (const double value : v) sum += static_cast<long double>(value) * value;
  return static_cast<double>(std::sqrt(sum));
}

/// |b - A x|
template <class T>
double true_residual(const Rows& a, const std::vector<T>& b, const std::vector<T>& x) {
  const auto y = a.times(std::vector<double>(x.begin(), x.end()));
  long double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (b[i] - y[i]) * (b[i] - y[i]);
  return static_cast<double>(std::sqrt(sum));
}

/// The arrays of a Rows in a space, with a view.
template <class T, Space S>
struct Arrays {
  Index n;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  Array<T, S> val;

  Arrays(const Context<S>& ctx, const Rows& a) : n(a.size()) {
    std::vector<Offset> pointers = {0};
    std::vector<Index> columns;
    std::vector<T> values;
    for (const auto& row : a.row) {
      for (const auto& [j, value] : row) {
        columns.push_back(j);
        values.push_back(static_cast<T>(value));
      }
      pointers.push_back(static_cast<Offset>(columns.size()));
    }
    row_ptr = make_array(ctx, pointers);
    col = make_array(ctx, columns);
    val = make_array(ctx, values);
  }
  CsrView<T, S> view() const { return {n, n, row_ptr.span(), col.span(), val.span()}; }
};

/// A system with the arrays that it was made from.
template <class T, Space S>
struct SystemOf : private Arrays<T, S>, LinearSystem<T, S> {
  SystemOf(const Context<S>& ctx, const Rows& a, const SystemOptions& options = {})
      : Arrays<T, S>(ctx, a), LinearSystem<T, S>(ctx, this->view(), options) {}
};

/// Deterministic numbers in [-1, 1].
inline std::vector<double> noise(Index n, std::uint64_t seed = 1) {
  std::vector<double> v(static_cast<std::size_t>(n));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (double& value : v) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  return v;
}

/// A permutation without structure.
inline std::vector<Index> shuffled(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto keys = noise(n, 77);
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return keys[i] < keys[j]; });
  return order;
}

/// Nothing beside the diagonal.
inline Rows diagonal(const std::vector<double>& entries) {
  Rows a(static_cast<Index>(entries.size()));
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) = entries[static_cast<std::size_t>(i)];
  return a;
}

/// The second difference in one dimension.
inline Rows line(Index n, double scale = 1, double diagonal = 2) {
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = diagonal * scale;
    if (i > 0) a.at(i, i - 1) = a.at(i - 1, i) = -scale;
  }
  return a;
}

/// -u'' - v'' on k x k interior points, five-point stencil; plus a wind along x that makes it non-symmetric.
inline Rows laplacian(Index k, double wind = 0, double shift = 0) {
  Rows a(k * k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      const Index r = i * k + j;
      a.at(r, r) = 4 + shift;
      if (j > 0) a.at(r, r - 1) = -1 - wind;
      if (j + 1 < k) a.at(r, r + 1) = -1 + wind;
      if (i > 0) a.at(r, r - k) = -1;
      if (i + 1 < k) a.at(r, r + k) = -1;
    }
  }
  return a;
}

/// The same with no boundary at all: rows sum to zero, singular, constant null space.
inline Rows neumann(Index k) {
  Rows a = laplacian(k);
  for (Index r = 0; r < a.size(); ++r) {
    double off = 0;
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(r)]) off += j == r ? 0 : value;
    a.at(r, r) = -off;
  }
  return a;
}

template <class T>
std::vector<T> cast(const std::vector<double>& v) {
  return std::vector<T>(v.begin(), v.end());
}

/// CSR whose product has the same bits on every run, in both spaces.
inline SpmvOptions same_bits() { return {"csr"}; }

template <class T, Space S>
struct Solved {
  SolveReport report;
  std::vector<T> x;
};

/// Runs one solver on a system, x starting from `guess` (zeros when empty), with vectors in S.
template <class T, Space S>
Solved<T, S> run_solver(const Context<S>& ctx, KrylovSolver<T, S>& solver, const LinearOperator<T, S>& A,
                        const LinearOperator<T, S>* M, const std::vector<double>& b, const StopCriterion& stop,
                        const std::vector<double>& guess = {}, const ProgressFn& progress = {},
                        InitialGuess from = InitialGuess::in_x) {
  const auto bs = make_array(ctx, cast<T>(b));
  auto xs = make_array(ctx, guess.empty() ? std::vector<T>(b.size(), T(0)) : cast<T>(guess));
  Solved<T, S> result;
  result.report = solver.run({ctx, A, M, bs.cspan(), xs.span(), stop, progress, from});
  result.x = to_vector(ctx, xs.cspan());
  return result;
}

/// The same for a whole system.
template <class T, Space S>
Solved<T, S> run_system(const Context<S>& ctx, LinearSystem<T, S>& system, const std::vector<double>& b,
                        const std::vector<double>& guess = {}, const ProgressFn& progress = {}) {
  const auto bs = make_array(ctx, cast<T>(b));
  auto xs = make_array(ctx, guess.empty() ? std::vector<T>(b.size(), T(0)) : cast<T>(guess));
  Solved<T, S> result;
  result.report = system.solve(bs.cspan(), xs.span(), progress);
  result.x = to_vector(ctx, xs.cspan());
  return result;
}

/// From a guess of zeros: x.
template <Space S>
std::vector<double> solve_with(const Context<S>& ctx, LinearSystem<double, S>& system, const std::vector<double>& b,
                               SolveReport* report = nullptr) {
  const auto solved = run_system(ctx, system, b);
  if (report != nullptr) *report = solved.report;
  return solved.x;
}

/// Gives a system the values of another matrix of the same pattern.
template <Space S>
void refresh(const Context<S>& ctx, LinearSystem<double, S>& system, const Rows& a) {
  const Arrays<double, S> arrays(ctx, a);
  system.refresh(arrays.val.cspan());
  ctx.synchronize();
}

}  // namespace newel::testing
