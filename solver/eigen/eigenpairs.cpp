// SPDX-License-Identifier: Apache-2.0
// Checks, the loop over the steps of LOBPCG, and the report.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/eigenpairs.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "solver/eigen/lobpcg.hpp"

namespace newel {
namespace detail {
namespace {

// More vectors than are wanted: those beyond converge slowest. A multiple of four, because products of three take as
// long as of four.
int block_of(int pairs) { return (pairs + std::max(2, pairs / 4) + 3) / 4 * 4; }

// Residuals are rounded to about eps |A|; |A| is known from below, up to a small factor.
constexpr double rounding_of_products = 20 * std::numeric_limits<double>::epsilon();
constexpr int power_steps = 10;
constexpr std::uint64_t power_seed = 20011;

void require(bool sound, const std::string& what) {
  if (!sound) throw InputError("eigenpairs: " + what);
}

template <Space S>
void check(const Context<S>& ctx, const EigenProblem<S>& problem, const EigenOptions& options, std::int64_t vectors,
           std::int64_t guesses) {
  require(ranks_of(ctx) == nullptr, "not possible in the context of a rank");
  require(problem.a != nullptr, "A is missing");
  const std::int64_t n = problem.a->rows();
  for (const LinearOperator<double, S>* const op : {problem.a, problem.m, problem.preconditioner})
    require(op == nullptr || (op->rows() == n && op->cols() == n),
            "expected operators of " + std::to_string(n) + " rows and columns, as A has rows");
  require(options.pairs >= 1, "expected at least one pair, found " + std::to_string(options.pairs));
  require(options.tolerance >= 0 && std::isfinite(options.tolerance), "expected a finite tolerance of at least 0");
  require(options.max_iterations >= 0, "expected at least 0 iterations");
  require(problem.inverse_mass_diagonal.empty() || problem.inverse_mass_diagonal.size == n,
          "expected as many diagonal entries of M as A has rows");
  for (const std::int64_t size : {problem.deflated.size, guesses})
    require(n > 0 ? size % n == 0 : size == 0, "expected whole columns of " + std::to_string(n) + " values");
  const std::int64_t left = n - (n > 0 ? problem.deflated.size / n : 0);
  require(options.pairs <= left, "expected at most " + std::to_string(left) +
                                     " pairs, the rows less the vectors that are left out, found " +
                                     std::to_string(options.pairs));
  require(vectors == n * options.pairs, "expected memory for " + std::to_string(options.pairs) + " vectors");
}

// About the largest eigenvalue of D^-1 A, from below, with the diagonal D of M.
template <Space S>
double largest_eigenvalue(const Context<S>& ctx, const EigenProblem<S>& problem, Pencil<S>& pencil) {
  const Span<const double, S> inverse = problem.inverse_mass_diagonal;
  Panels<S>& v = pencil.spare().x;
  Panels<S>& w = pencil.spare().a;
  v.resize(1);
  w.resize(1);
  fill_random(ctx, RandomKind::signed_length, power_seed, 0, w.panel(0));
  double found = 0;
  for (int k = 0; k < power_steps; ++k) {
    const double length = pencil.lengths(w).front();
    if (!(length > 0)) return found;
    if (inverse.empty()) {
      axpby<double, S>(ctx, 1 / length, w.panel(0), 0.0, v.panel(0));
    } else {
      multiply<double, S>(ctx, 1 / length, inverse, w.panel(0), 0.0, v.panel(0));
    }
    pencil.algebra().apply(problem.a, v, w);
    found = std::max(found, pencil.lengths(w).front());
  }
  return found;
}

// Whether the largest of the entries by magnitude is positive: adding its magnitude to all then doubles it.
template <Space S>
void make_largest_positive(const Context<S>& ctx, Span<double, S> x, Array<double, S>& shifted, double* result) {
  max_abs<double>(ctx, x, result);
  const double largest = fetch<double, S>(ctx, result);
  fill<double, S>(ctx, largest, shifted);
  axpy<double, S>(ctx, 1.0, x, shifted);
  max_abs<double>(ctx, shifted.cspan(), result);
  if (fetch<double, S>(ctx, result) < 2 * largest) scale<double, S>(ctx, -1.0, x);
}

// Iterates until the pairs have converged by products that were made anew, or may not or cannot go on.
template <Space S>
void iterate(Lobpcg<S>& iteration, const EigenOptions& options, double rounding, const EigenProgress& progress,
             EigenReport& report) {
  const auto k = static_cast<std::size_t>(options.pairs);
  bool fresh = true;
  while (true) {
    const std::vector<double>& values = iteration.values();
    require(values.size() >= k,
            "A has only " + std::to_string(values.size()) + " independent vectors beyond those left out");
    std::vector<double> residuals = iteration.residuals();
    const double largest = std::max(std::abs(values.front()), std::abs(values[k - 1]));
    report.tolerance = std::max(options.tolerance * largest, rounding);
    std::vector<int> active;
    for (std::size_t j = 0; j < residuals.size(); ++j) {
      if (j >= k || residuals[j] > report.tolerance) active.push_back(static_cast<int>(j));
    }
    const bool done = active.size() == residuals.size() - k;
    bool ended = done || report.iterations >= options.max_iterations || (progress && !progress(report.iterations));
    if (ended && fresh) {
      report.converged = done;
      report.values.assign(values.begin(), values.begin() + options.pairs);
      residuals.resize(k);
      report.residuals = std::move(residuals);
      return;
    }
    if (!ended) {
      ended = !iteration.step(active);
      fresh = false;
      if (!ended) ++report.iterations;
    }
    if (ended) {
      iteration.compute_again();
      fresh = true;
    }
  }
}

}  // namespace
}  // namespace detail

template <Space S>
EigenReport smallest_eigenpairs(const Context<S>& ctx, const EigenProblem<S>& problem, const EigenOptions& options,
                                Span<double, S> vectors, Span<const double, S> guesses,
                                const EigenProgress& progress) {
  const auto began = std::chrono::steady_clock::now();
  ctx.make_current();
  detail::check(ctx, problem, options, vectors.size, guesses.size);
  const std::int64_t n = problem.a->rows();
  const auto left_out = static_cast<int>(problem.deflated.size / n);
  EigenReport report;
  report.block = static_cast<int>(std::min<std::int64_t>(detail::block_of(options.pairs), n - left_out));
  detail::Pencil<S> pencil(ctx, problem, n, std::max(report.block, left_out));
  const double rounding = detail::rounding_of_products * detail::largest_eigenvalue(ctx, problem, pencil);
  detail::Lobpcg<S> iteration(ctx, pencil, n, report.block, guesses);
  detail::iterate(iteration, options, rounding, progress, report);
  pencil.algebra().to_columns(iteration.vectors(), options.pairs, vectors);
  Array<double, S> shifted(ctx, n), result(ctx, 1);
  for (int k = 0; k < options.pairs; ++k)
    detail::make_largest_positive<S>(ctx, vectors.subspan(k * n, n), shifted, result.data());
  ctx.synchronize();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return report;
}

#define X(S)                                                                                               \
  template EigenReport smallest_eigenpairs(const Context<S>&, const EigenProblem<S>&, const EigenOptions&, \
                                           Span<double, S>, Span<const double, S>, const EigenProgress&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
