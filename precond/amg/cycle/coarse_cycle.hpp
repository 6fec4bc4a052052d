// SPDX-License-Identifier: Apache-2.0
/// CoarseCycle: the levels of a cycle below some level as one operator. Internal.
#pragma once

#include <memory>

#include "precond/amg/cycle/hierarchy.hpp"
#include "precond/amg/cycle/two_cycles.hpp"

namespace newel::detail {

struct CoarseCycleSizes {
  Offset entries = 0;
  std::uint64_t matrix_bytes = 0, prolongator_bytes = 0, inverse_bytes = 0, vector_bytes = 0;
  std::uint64_t bytes_per_cycle = 0;  ///< that it moves
};

/// x = M b for the cycle from one level on.
template <class T, Space S>
class CoarseCycle {
 public:
  virtual ~CoarseCycle() = default;
  /// Which of the `tried` levels are solved by two cycles, for a symmetric A; see AmgCycle. Waits on the stream.
  virtual void choose_cycles(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, const TriedLevels& tried) = 0;
  /// Whether two cycles solve level k of these.
  virtual bool solved_twice(std::size_t k) const = 0;
  /// Takes the values of the hierarchy that it was made from; with `prolongators` those of the prolongators too.
  virtual void refresh(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, bool prolongators) = 0;
  /// Queued on the stream; may be captured.
  virtual void apply(const Context<S>& ctx, const T* b, T* x) const = 0;
  /// The same for several vectors, one after the other in b and x. `work`: of column_work_bytes(columns) bytes.
  virtual void apply_columns(const Context<S>& ctx, int columns, const T* b, T* x, Span<char, S> work) const = 0;
  virtual std::uint64_t column_work_bytes(int columns) const = 0;
  virtual CoarseCycleSizes sizes() const = 0;
};

/// Levels from `first` on, whose smoothers are polynomials of the diagonal, of `coarse_degree(degree)`; the
/// prolongator of the level before belongs to the caller. Null where the levels are better off one by one, on devices
/// without cooperative launches. Keeps pointers to the hierarchy's patterns.
template <class T>
std::unique_ptr<CoarseCycle<T, Space::device>> make_coarse_cycle(const DeviceContext& ctx,
                                                                 const AmgHierarchy<Space::device>& hierarchy,
                                                                 std::size_t first, int degree);

}  // namespace newel::detail
