// SPDX-License-Identifier: Apache-2.0
/// ColumnCycle: a multigrid cycle for several vectors at once. Internal.
#pragma once

#include <memory>
#include <vector>

#include "precond/amg/cycle/amg_cycle.hpp"

namespace newel::detail {

/// The cycle of an AmgCycle for k vectors: each matrix, prolongator and smoother is read once for all of them.
/// Vectors of the levels are interleaved, in memory of the caller; only where a device has coarse levels in one
/// kernel, theirs lie one after the other. Sums have the order of a cycle for one vector where products of several
/// vectors have it.
template <class T, Space S>
class ColumnCycle {
 public:
  /// Of `columns` vectors: 2, 4 or 8. `work` has `work_bytes()`, aligned like an Array; without it the object only
  /// tells how many that is. `cycle` and `work` outlive it. `cycle` has columns.
  ColumnCycle(const AmgCycle<T, S>& cycle, int columns, Span<char, S> work = {});

  std::uint64_t work_bytes() const { return work_bytes_; }

  /// X = M B for interleaved vectors; see AmgCycle::apply. Queued on the stream.
  template <class V>
  void apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x);

 private:
  /// Shares out `work`; without memory it counts.
  class Shares;
  /// As much of an Array's interface as a level's cycle needs.
  template <class Value>
  struct Vector {
    Span<Value, S> all;
    Value* data() const { return all.data; }
    std::int64_t size() const { return all.size; }
    Span<Value, S> span() const { return all; }
    Span<const Value, S> cspan() const { return all; }
  };
  /// An operator for all columns.
  template <class Value>
  struct Product {
    const LinearOperator<Value, S>* of = nullptr;
    int columns = 1;
    Span<char, S> work = {};
    const Product* operator->() const { return this; }
    bool operator==(std::nullptr_t) const { return of == nullptr; }
    void apply(const Context<S>& ctx, Value alpha, Span<const Value, S> x, Value beta, Span<Value, S> y) const {
      of->apply_columns(ctx, columns, alpha, x, beta, y, work);
    }
  };
  struct Again {
    Vector<T> b, x;
    Product<double> exact;
    Vector<double> exact_r, exact_x;
  };
  /// See level_cycle.hpp.
  struct Level {
    const CycleLevel<T, S>& of;
    const SmootherSteps& steps;
    Product<T> a;
    struct {
      Product<T> m;
    } sparse;
    Vector<T> smoother;  ///< an entry for each entry of the other vectors
    Vector<T> r, d, z, b, x;
    std::unique_ptr<Again> again;
  };
  struct Levels {
    const CycleLevels<T, S>& of;
    int columns;
    std::vector<Level> all;
    Vector<T> own_b, own_x;
    Span<char, S> product_work, transfer_work, coarse_work;

    const Level& operator[](std::size_t l) const { return all[l]; }
    bool coarsens(std::size_t l) const { return of.coarsens(l); }
    bool end(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const;
    template <class Next>
    void correct_below(const Context<S>& ctx, std::size_t l, const Next& next) const;
  };

  void share_out(Shares shares);

  Levels levels_;
  std::uint64_t work_bytes_ = 0;
};

}  // namespace newel::detail
