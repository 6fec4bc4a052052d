// SPDX-License-Identifier: Apache-2.0
/// The two triangular solves of an application. Internal.
#pragma once

#include <vector>

#include "precond/incomplete/factor_pattern.hpp"
#include "precond/incomplete/factor_view.hpp"
#include "precond/incomplete/level_phases.hpp"

namespace newel::detail {

/// out = alpha M x + beta out for M = (L D U)^-1 and k vectors at once, interleaved; row i of the factors is entry
/// row[i] of the vectors. x may be out if the solves are exact: it is read before out is written.
template <class T>
struct TriangleArgs {
  const Index* row;
  T alpha, beta;
  const T* x;
  T* out;
  T *y, *z;  ///< k rows each, in the order of the factors
};

/// What solves need besides the factors, made once.
template <Space S>
class TriangleWork;

template <>
class TriangleWork<Space::host> {
 public:
  TriangleWork(const Context<Space::host>& ctx, const FactorPattern& pattern);
  const std::vector<LevelPhase>& phases() const { return phases_; }
  std::size_t bytes() const { return phases_.size() * sizeof(LevelPhase); }

 private:
  std::vector<LevelPhase> phases_;
};

/// Rows of one level that a warp solves together, each by as many lanes.
struct RowTask {
  Index first;
  std::int16_t count, lanes;
};

template <>
class TriangleWork<Space::device> {
 public:
  TriangleWork(const Context<Space::device>& ctx, const FactorPattern& pattern);
  std::size_t bytes() const { return tasks_.bytes() + tickets_.bytes(); }

  Array<RowTask, Space::device> tasks_;
  mutable Array<unsigned, Space::device> tickets_;  ///< of the forward and of the backward solve, 0 between calls
};

/// Exactly: L y = x, then D U z = y. On the device y and z hold no_value between calls. `columns`: 1, 2, 4 or 8.
template <class T>
void solve_triangles(const Context<Space::host>& ctx, const FactorView<T>& f, const TriangleWork<Space::host>& work,
                     const TriangleArgs<T>& args, int columns);
template <class T>
void solve_triangles(const Context<Space::device>& ctx, const FactorView<T>& f,
                     const TriangleWork<Space::device>& work, const TriangleArgs<T>& args, int columns);

/// By so many Jacobi sweeps on each of the two: y <- x - (L - I) y from y = x, then z <- D^-1 y - (U - I) z from z =
/// D^-1 y. One vector; `spare` holds as many values as y.
template <class T>
void sweep_triangles(const Context<Space::host>& ctx, const FactorView<T>& f, const TriangleArgs<T>& args, T* spare,
                     int sweeps);
template <class T>
void sweep_triangles(const Context<Space::device>& ctx, const FactorView<T>& f, const TriangleArgs<T>& args, T* spare,
                     int sweeps);

/// Makes y and z ready for solve_triangles. On the host they need no preparation.
template <class T>
void prepare_vectors(const Context<Space::host>&, T*, std::int64_t) {}
template <class T>
void prepare_vectors(const Context<Space::device>& ctx, T* values, std::int64_t count);

}  // namespace newel::detail
