// SPDX-License-Identifier: Apache-2.0
/// CycleSource: what the cycles of a matrix are made from; and the one that is used, in its precision. Internal.
#pragma once

#include "precond/amg/cycle/amg_cycle.hpp"
#include "precond/amg/setup/node_numbering.hpp"

namespace newel::detail {

/// In the caller's numbering of nodes, whatever the order of the solver.
template <Space S>
struct CycleSource {
  AmgOptions options;
  bool symmetric = false;
  NodeNumbering numbering;
  ValueMap<S> values;  ///< where the hierarchy's values stand among the caller's
  AmgHierarchy<S> hierarchy;

  /// The cycle in C for `a`, which was renumbered to `order`; `from_nodes` leads there from the hierarchy's
  /// numbering. `converts`: its b and x are in double. `clock` gets phases.
  template <class C>
  AmgCycle<C, S> make(const Context<S>& ctx, const CsrView<C, S>& a, const RowOrder<S>& order, RowOrder<S> from_nodes,
                      const SpmvOptions& spmv_options, bool converts, PhaseClock& clock) const;

  /// `cycle` in another order; false, and the cycle unchanged, where a format or smoother keeps no matrix in the
  /// caller's order.
  template <class C>
  bool renumber(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& spmv_options, bool converts,
                AmgCycle<C, S>& cycle) const;
};

/// A system's cycle: in its precision, or in single precision.
template <class T, Space S>
struct ChosenCycle {
  bool low = false;  ///< `single` is in use, in a system in double
  AmgCycle<T, S> own;
  AmgCycle<float, S> single;
  Array<float, S> low_values;  ///< of a refresh

  /// f of the cycle that is in use.
  template <class F>
  decltype(auto) with(F&& f) const {
    return low ? f(single) : f(own);
  }
  /// Whether vectors are taken together.
  bool together(int columns) const {
    return columns > 1 && with([](const auto& cycle) { return cycle.has_columns(); });
  }
  void refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy<S>& hierarchy, bool prolongators) {
    if (!low) return own.refresh(ctx, values, hierarchy, prolongators);
    if (low_values.size() != values.size) low_values = Array<float, S>(ctx, values.size);
    convert(ctx, values, low_values.span());
    single.refresh(ctx, low_values.cspan(), hierarchy, prolongators);
  }
};

}  // namespace newel::detail
