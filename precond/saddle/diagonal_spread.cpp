// SPDX-License-Identifier: Apache-2.0
// Estimating the condition number of a matrix that is scaled by its diagonal.
#include "precond/saddle/diagonal_spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"

namespace newel::detail {
namespace {

using HostContext = Context<Space::host>;
using Vector = std::vector<double>;

struct Tridiagonal {
  Vector diagonal, beside;

  // Eigenvalues below x, by the signs of the pivots.
  int below(double x) const {
    int count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double coupling = i > 0 ? beside[i - 1] * beside[i - 1] : 0;
      pivot = diagonal[i] - x - coupling / pivot;
      if (pivot == 0) pivot = std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  // The eigenvalue that has so many below it, by bisection.
  double eigenvalue(int place) const {
    double radius = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double left = i > 0 ? std::fabs(beside[i - 1]) : 0;
      const double right = i + 1 < diagonal.size() ? std::fabs(beside[i]) : 0;
      radius = std::max(radius, std::fabs(diagonal[i]) + left + right);
    }
    double least = -radius, most = radius;
    for (int i = 0; i < 60; ++i) {
      const double middle = (least + most) / 2;
      (below(middle) > place ? most : least) = middle;
    }
    return (least + most) / 2;
  }
};

// One thread adds, in the order of rows: few products do not need more.
double inner(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// 1 / sqrt(a_ii).
template <class T>
Vector scaling_of(const HostContext& ctx, const CsrView<T, Space::host>& a) {
  Vector scaling(static_cast<std::size_t>(a.rows), 0.0);
  parallel_for(ctx, a.rows, [&](Index i) {
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      if (a.col[k] == i) scaling[i] = 1 / std::sqrt(static_cast<double>(a.val[k]));
    }
  });
  return scaling;
}

}  // namespace

template <class T>
double diagonal_spread(const HostContext& ctx, const CsrView<T, Space::host>& a) {
  constexpr int steps = 8;
  const Vector scaling = scaling_of(ctx, a);
  const std::size_t n = scaling.size();
  Vector v(n), before(n, 0.0), next(n);
  constexpr double disorder = 0.1;
  for (std::size_t i = 0; i < n; ++i) v[i] = (1 + disorder * random_uniform(0, i)) / scaling[i];
  double norm = std::sqrt(inner(v, v));
  Tridiagonal lanczos;
  for (int step = 0; step < steps && norm > 0; ++step) {
    for (double& value : v) value /= norm;
    parallel_for(ctx, a.rows, [&](Index i) {
      double sum = 0;
      for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
        sum += static_cast<double>(a.val[k]) * scaling[a.col[k]] * v[a.col[k]];
      }
      next[i] = scaling[i] * sum;
    });
    const double coupling = step > 0 ? norm : 0, on_diagonal = inner(next, v);
    for (std::size_t i = 0; i < n; ++i) next[i] -= on_diagonal * v[i] + coupling * before[i];
    if (step > 0) lanczos.beside.push_back(coupling);
    lanczos.diagonal.push_back(on_diagonal);
    before.swap(v);
    v.swap(next);
    norm = std::sqrt(inner(v, v));
    if (!(norm > std::numeric_limits<double>::epsilon() * std::fabs(on_diagonal))) break;  // an invariant subspace
  }
  if (lanczos.diagonal.empty()) return std::numeric_limits<double>::infinity();
  const double least = lanczos.eigenvalue(0),
               most = lanczos.eigenvalue(static_cast<int>(lanczos.diagonal.size()) - 1);
  return least > 0 && std::isfinite(most) ? most / least : std::numeric_limits<double>::infinity();
}

#define X(T, S) template double diagonal_spread(const HostContext&, const CsrView<T, S>&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
