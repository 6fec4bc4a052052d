// SPDX-License-Identifier: Apache-2.0
// The first level of a cycle: its matrix and its smoother, in the order and format of the solver.
#include "precond/amg/cycle_source.hpp"

#include <utility>

#include <newel/core/error.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/chebyshev_trial.hpp"
#include "precond/renumbered.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

template <Space S>
LevelOrder<S> level_order(RowOrder<S> order) {
  return {std::move(order.old_of_new), std::move(order.new_of_old)};
}

// Whether FSAI has to show that it is needed. On a device, whose FSAI takes a third of a setup, it saves a fifth to
// half of a solve even where Chebyshev's polynomial would do, which makes up for its setup in one to three solves.
template <Space S>
constexpr bool tries_chebyshev = S == Space::host;

// Whether the first level is multiplied in the hierarchy's blocks: where csr would be in its order.
template <Space S>
bool takes_blocks(const BlockCsr<S>& a, const RowOrder<S>& order, const SpmvOptions& options) {
  return S == Space::host && a.row_block > 1 && order.natural() && options.format == "csr";
}

// The matrix of the first level in the format csr, in the caller's order and with the caller's values.
template <class C, Space S>
OperatorPtr<C, S> finest_in_csr(const Context<S>& ctx, const CycleSource<S>& from) {
  if constexpr (S == Space::host) {
    const HostBlockCsr& a = from.hierarchy.levels().front().a;
    const ScalarPattern<S> pattern = scalar_rows(ctx, a);
    const PlacedCsr<C, S> placed(ctx, pattern, a.val.cspan());
    const ValueMap<S> of_caller = make_value_map(ctx, pattern.source.cspan(), a.val.size(), &from.values);
    CsrView<C, S> view = placed.view();
    view.value_map = &of_caller;
    return make_spmv<C, S>(ctx, view, RowOrder<S>{}, SpmvOptions{});
  } else {
    static_cast<void>(ctx), static_cast<void>(from);
    return nullptr;
  }
}

// A smoother that nobody has asked for gives way to Chebyshev's polynomial where it refuses the matrix.
template <class C, Space S>
SparseSmoother<C, S> first_smoother(const Context<S>& ctx, const CycleSource<S>& from, const CsrView<C, S>& a,
                                    const RowOrder<S>& order, const RowOrder<S>& from_nodes,
                                    const SpmvOptions& spmv_options, PhaseClock& clock) {
  const AmgLevel<S>& level = from.hierarchy.levels().front();
  if (!is_sparse(level.smoother)) return {};
  SparseSmoother<C, S> smoother;
  try {
    smoother = make_sparse_smoother(ctx, a, order, level.a, from_nodes, level.smoother, from.symmetric, spmv_options);
  } catch (const InputError&) {
    if (from.options.smoother != AmgSmoother::automatic) throw;
  }
  clock.end("smoother of the first level");
  return smoother;
}

template <class C, Space S>
AmgFinest<C, S> empty_finest(const CycleSource<S>& from, bool converts) {
  AmgFinest<C, S> finest;
  finest.converts = converts;
  finest.symmetric = from.symmetric;
  return finest;
}

}  // namespace

template <Space S>
template <class C>
AmgCycle<C, S> CycleSource<S>::make(const Context<S>& ctx, const CsrView<C, S>& a, const RowOrder<S>& order,
                                    RowOrder<S> from_nodes, const SpmvOptions& spmv_options, bool converts,
                                    PhaseClock& clock) const {
  AmgFinest<C, S> finest = empty_finest<C>(*this, converts);
  const AmgLevel<S>& level = hierarchy.levels().front();
  const bool inverted = level.smoother_diagonal.size() == 0;
  const bool in_trial = tries_chebyshev<S> && !inverted && options.smoother == AmgSmoother::automatic &&
                        level.smoother == AmgSmoother::fsai;
  if (!inverted) {
    finest.in_blocks = takes_blocks(level.a, from_nodes, spmv_options);
    finest.a = finest.in_blocks ? make_block_matrix<C>(ctx, level.a) : make_spmv(ctx, a, order, spmv_options);
    clock.end("formats");
    if (!in_trial) finest.smoother = first_smoother(ctx, *this, a, order, from_nodes, spmv_options, clock);
  }
  AmgCycle<C, S> cycle(ctx, std::move(finest), hierarchy, level_order(std::move(from_nodes)), options.degree);
  if constexpr (tries_chebyshev<S>) {
    if (!in_trial) return cycle;
    clock.end("formats");
    const bool suffices = chebyshev_suffices(ctx, cycle, level.a);
    clock.end("trial of the smoother");
    if (suffices) return cycle;
    from_nodes = order_from_nodes(ctx, order, numbering, a.rows);
    cycle.smooth_first_with(ctx, first_smoother(ctx, *this, a, order, from_nodes, spmv_options, clock), hierarchy,
                            options.degree);
  }
  return cycle;
}

template <Space S>
template <class C>
bool CycleSource<S>::renumber(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& spmv_options,
                              bool converts, AmgCycle<C, S>& cycle) const {
  AmgFinest<C, S> finest = empty_finest<C>(*this, converts);
  const BlockCsr<S>& a = hierarchy.levels().front().a;
  if (cycle.finest_in_blocks()) {
    finest.in_blocks = takes_blocks(a, order, spmv_options);
    finest.a = finest.in_blocks ? make_block_matrix<C>(ctx, a)
                                : renumbered_matrix(ctx, *finest_in_csr<C>(ctx, *this), order, spmv_options);
  } else if (cycle.finest() != nullptr) {
    finest.a = renumbered_matrix(ctx, *cycle.finest(), order, spmv_options);
    if (finest.a == nullptr) return false;
  }
  if (const SparseSmoother<C, S>& smoother = cycle.levels()[0].sparse; smoother.m != nullptr) {
    finest.smoother = {smoother.m->renumbered(ctx, order, spmv_options), smoother.of_groups};
    if (finest.smoother.m == nullptr) return false;
  }
  cycle = AmgCycle<C, S>(ctx, std::move(finest), hierarchy,
                         level_order(order_from_nodes(ctx, order, numbering, a.scalar_rows())), options.degree);
  return true;
}

#define X(C, S)                                                                                             \
  template AmgCycle<C, S> CycleSource<S>::make(const Context<S>&, const CsrView<C, S>&, const RowOrder<S>&, \
                                               RowOrder<S>, const SpmvOptions&, bool, PhaseClock&) const;   \
  template bool CycleSource<S>::renumber(const Context<S>&, const RowOrder<S>&, const SpmvOptions&, bool,   \
                                         AmgCycle<C, S>&) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
