// SPDX-License-Identifier: Apache-2.0
/// GatheredCycle: the coarse levels of multigrid on ranks, on each of them alone. Internal.
#pragma once

#include <vector>

#include "distributed/rows/gathered_vector.hpp"
#include "precond/amg/cycle/amg_cycle.hpp"

namespace newel::detail {

/// The correction of a gathered level. Every rank computes all of it, so that a vector is exchanged once.
template <class T, Space S>
class GatheredCycle {
 public:
  GatheredCycle() = default;
  /// `alone`: a context without other ranks; `ctx`: of the ranks whose level has `first_rows`. `hierarchy` has to
  /// outlive the cycle.
  GatheredCycle(const Context<S>& ctx, const Context<S>& alone, const std::vector<std::int64_t>& first_rows,
                const AmgHierarchy<S>& hierarchy, int degree, bool symmetric);

  void refresh(const Context<S>& alone, const AmgHierarchy<S>& hierarchy, bool prolongators) {
    cycle_.refresh(alone, {}, hierarchy, prolongators);
  }

  /// This rank's part of b, to be written before `apply`.
  Span<T, S> b() const { return b_.own(); }
  /// Returns this rank's part of x = M b.
  Span<const T, S> apply(const Context<S>& ctx) const {
    const Span<const T, S> all = b_.gather();
    cycle_.template apply<T>(ctx, all, x_.span(), nullptr);
    return b_.part_of(x_.cspan());
  }

  const AmgCycle<T, S>& cycle() const { return cycle_; }
  std::uint64_t vector_bytes() const { return b_.bytes() + x_.bytes(); }

 private:
  AmgCycle<T, S> cycle_;
  mutable GatheredVector<T, S> b_;
  mutable Array<T, S> x_;
};

}  // namespace newel::detail
