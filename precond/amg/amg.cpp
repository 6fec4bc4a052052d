// SPDX-License-Identifier: Apache-2.0
// AMG in both spaces: what the hierarchy is made from, its refresh, and reports.
#include "precond/amg/amg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/amg/blocks/placed_csr.hpp"
#include "precond/amg/cycle/chebyshev_trial.hpp"
#include "precond/amg/cycle/column_cycle.hpp"
#include "precond/amg/cycle/single_rounding.hpp"
#include "precond/amg/setup/first_level.hpp"
#include "precond/amg/transfer/near_null_choice.hpp"
#include "precond/renumbered.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

using Figures = std::vector<std::pair<std::string, double>>;

template <Space S>
std::vector<Figures> level_figures(const std::vector<detail::AmgLevel<S>>& levels) {
  std::vector<Figures> result;
  for (const detail::AmgLevel<S>& level : levels) {
    Figures figures = {{"rows", static_cast<double>(level.a.scalar_rows())},
                       {"entries", static_cast<double>(level.a.val.size())}};
    if (!level.last()) {
      figures.insert(figures.end(), {{"vectors", static_cast<double>(level.tentative.coarse.vectors)},
                                     {"aggregates", static_cast<double>(level.aggregates.count)},
                                     {"smallest", static_cast<double>(level.aggregates.smallest)},
                                     {"mean", level.aggregates.mean},
                                     {"largest", static_cast<double>(level.aggregates.largest)},
                                     {"entries of P", static_cast<double>(level.p.val.size())}});
    }
    result.push_back(std::move(figures));
  }
  return result;
}

template <Space S>
detail::LevelOrder<S> level_order(RowOrder<S> order) {
  return {std::move(order.old_of_new), std::move(order.new_of_old)};
}

// Whether FSAI has to show that it is needed. On a device, whose FSAI takes a third of a setup, it saves a fifth to
// half of a solve even where Chebyshev's polynomial would do, which makes up for its setup in one to three solves.
template <Space S>
constexpr bool tries_chebyshev = S == Space::host;

// Whether the first level is multiplied in the hierarchy's blocks: where csr would be in its order.
template <Space S>
bool takes_blocks(const detail::BlockCsr<S>& a, const RowOrder<S>& order, const SpmvOptions& options) {
  return S == Space::host && a.row_block > 1 && order.natural() && options.format == "csr";
}

}  // namespace

template <class T, Space S>
AmgOperator<T, S>::AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options)
    : rows_(a.rows), options_(options.of<AmgOptions>()), symmetric_(options.symmetric) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("AMG needs a square matrix");
  const detail::NearNullChoice choice(options_, spmv_options.coordinates.get(), rows_);
  detail::FirstLevel<S> first = detail::make_first_level(ctx, a, order, options_.numbering, choice.node_rows());
  source_ = std::move(first.source);
  numbering_ = first.numbering;
  detail::require_diagonal(ctx, first.a, numbering_);
  clock.end("matrix");

  detail::NearNull<S> near_null = choice.vectors(ctx, rows_, numbering_, near_null_);
  rigid_ = choice.rigid(numbering_);
  hierarchy_ = detail::AmgHierarchy<S>(ctx, std::move(first.a), std::move(near_null), options_,
                                       static_cast<double>(std::numeric_limits<T>::epsilon()));
  seconds_ = clock.seconds();
  clock = {};
  const SpmvOptions of_finest = precond_spmv(options, spmv_options);
  if constexpr (std::is_same_v<T, double>) low_ = single_suffices(ctx, a);
  if (low_) {
    Array<float, S> values(ctx, a.nnz());
    convert(ctx, a.val, values.span());
    CsrView<float, S> low(Pattern<S>(a), values.cspan());
    low.value_map = a.value_map;
    low_cycle_ = make_cycle<float>(ctx, low, order, std::move(first.order), of_finest, clock);
  } else {
    cycle_ = make_cycle<T>(ctx, a, order, std::move(first.order), of_finest, clock);
  }
  between_ = Array<T, S>(ctx, rows_);
  ctx.synchronize();
  clock.end("formats");
  for (const auto* phases : {&hierarchy_.seconds(), &clock.seconds()}) {
    seconds_.insert(seconds_.end(), phases->begin(), phases->end());
  }
}

// Whether the cycle of a system in double is one in single precision.
template <class T, Space S>
bool AmgOperator<T, S>::single_suffices(const Context<S>& ctx, const CsrView<T, S>& a) {
  // Far from the range of single precision: values of A, 1 / a_ii, and what residuals become until they are small.
  constexpr double least = 1e-15, most = 1e15;
  if (options_.precision != AmgPrecision::automatic) return options_.precision == AmgPrecision::single;
  Array<double, S> norm(ctx, 1);
  norm2<T>(ctx, a.val, norm.data());
  const double usual = fetch<double, S>(ctx, norm.data()) / std::sqrt(std::max<double>(1, a.nnz()));
  if (!(usual > least && usual < most)) return false;
  // A cycle still serves where rounding hides so much of the softest vectors. See the README.
  constexpr double most_hidden = 0.02, rounding = 0.5 * std::numeric_limits<float>::epsilon();
  const double hidden = rounding * detail::rounding_of_soft_vectors(ctx, hierarchy_);
  contrast_ = !(hidden <= most_hidden);
  return !contrast_;
}

// The matrix of the first level in the format csr, in the caller's order and with the caller's values.
template <class T, Space S>
template <class C>
OperatorPtr<C, S> AmgOperator<T, S>::finest_in_csr(const Context<S>& ctx) const {
  if constexpr (S == Space::host) {
    const detail::HostBlockCsr& a = hierarchy_.levels().front().a;
    const detail::ScalarPattern<S> pattern = scalar_rows(ctx, a);
    const detail::PlacedCsr<C, S> placed(ctx, pattern, a.val.cspan());
    const ValueMap<S> of_caller = make_value_map(ctx, pattern.source.cspan(), a.val.size(), &source_);
    CsrView<C, S> view = placed.view();
    view.value_map = &of_caller;
    return make_spmv<C, S>(ctx, view, RowOrder<S>{}, SpmvOptions{});
  } else {
    static_cast<void>(ctx);
    return nullptr;
  }
}

// A smoother that nobody has asked for gives way to Chebyshev's polynomial where it refuses the matrix.
template <class T, Space S>
template <class C>
detail::SparseSmoother<C, S> AmgOperator<T, S>::first_smoother(const Context<S>& ctx, const CsrView<C, S>& a,
                                                               const RowOrder<S>& order,
                                                               const RowOrder<S>& from_nodes,
                                                               const SpmvOptions& spmv_options,
                                                               detail::PhaseClock& clock) const {
  const detail::AmgLevel<S>& level = hierarchy_.levels().front();
  if (!detail::is_sparse(level.smoother)) return {};
  detail::SparseSmoother<C, S> smoother;
  try {
    smoother =
        detail::make_sparse_smoother(ctx, a, order, level.a, from_nodes, level.smoother, symmetric_, spmv_options);
  } catch (const InputError&) {
    if (options_.smoother != AmgSmoother::automatic) throw;
  }
  clock.end("smoother of the first level");
  return smoother;
}

template <class T, Space S>
template <class C>
detail::AmgCycle<C, S> AmgOperator<T, S>::make_cycle(const Context<S>& ctx, const CsrView<C, S>& a,
                                                     const RowOrder<S>& order, RowOrder<S> from_nodes,
                                                     const SpmvOptions& spmv_options,
                                                     detail::PhaseClock& clock) const {
  detail::AmgFinest<C, S> finest = finest_of<C>();
  const detail::AmgLevel<S>& level = hierarchy_.levels().front();
  const bool inverted = level.smoother_diagonal.size() == 0;
  const bool in_trial = tries_chebyshev<S> && !inverted && options_.smoother == AmgSmoother::automatic &&
                        level.smoother == AmgSmoother::fsai;
  if (!inverted) {
    finest.in_blocks = takes_blocks(level.a, from_nodes, spmv_options);
    finest.a = finest.in_blocks ? detail::make_block_matrix<C>(ctx, level.a) : make_spmv(ctx, a, order, spmv_options);
    clock.end("formats");
    if (!in_trial) finest.smoother = first_smoother(ctx, a, order, from_nodes, spmv_options, clock);
  }
  detail::AmgCycle<C, S> cycle(ctx, std::move(finest), hierarchy_, level_order(std::move(from_nodes)),
                               options_.degree);
  if constexpr (tries_chebyshev<S>) {
    if (!in_trial) return cycle;
    clock.end("formats");
    const bool suffices = detail::chebyshev_suffices(ctx, cycle, level.a);
    clock.end("trial of the smoother");
    if (suffices) return cycle;
    from_nodes = detail::order_from_nodes(ctx, order, numbering_, rows_);
    cycle.smooth_first_with(ctx, first_smoother(ctx, a, order, from_nodes, spmv_options, clock), hierarchy_,
                            options_.degree);
  }
  return cycle;
}

template <class T, Space S>
void AmgOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  if (options_.refresh == AmgRefresh::keep) return;
  const Span<double, S> to = hierarchy_.values();
  if constexpr (std::is_same_v<T, double>) {
    gather(ctx, values, source_, to);
  } else {
    if (gathered_.size() != to.size) gathered_ = Array<T, S>(ctx, to.size);
    gather(ctx, values, source_, gathered_.span());
    convert(ctx, gathered_.cspan(), to);
  }
  detail::require_diagonal(ctx, hierarchy_.levels().front().a, numbering_);
  const bool prolongators = options_.refresh == AmgRefresh::full || moved_;
  hierarchy_.refresh(ctx, prolongators);
  moved_ = false;
  if (!low_) return cycle_.refresh(ctx, values, hierarchy_, prolongators);
  if (low_values_.size() != values.size) low_values_ = Array<float, S>(ctx, values.size);
  convert(ctx, values, low_values_.span());
  low_cycle_.refresh(ctx, low_values_.cspan(), hierarchy_, prolongators);
}

template <class T, Space S>
void AmgOperator<T, S>::move_nodes(const Context<S>& ctx, const NodeCoordinates& coordinates) {
  if (!rigid_) return;
  hierarchy_.replace_near_null(ctx, detail::rigid_body_modes(ctx, coordinates));
  ctx.synchronize();
  moved_ = true;
}

// The cycle in another order; false where a format or smoother keeps no matrix in the caller's order.
template <class T, Space S>
template <class C>
bool AmgOperator<T, S>::renumber(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options,
                                 detail::AmgCycle<C, S>& cycle) const {
  detail::AmgFinest<C, S> finest = finest_of<C>();
  if (cycle.finest_in_blocks()) {
    finest.in_blocks = takes_blocks(hierarchy_.levels().front().a, order, options);
    finest.a = finest.in_blocks ? detail::make_block_matrix<C>(ctx, hierarchy_.levels().front().a)
                                : detail::renumbered_matrix(ctx, *finest_in_csr<C>(ctx), order, options);
  } else if (cycle.finest() != nullptr) {
    finest.a = detail::renumbered_matrix(ctx, *cycle.finest(), order, options);
    if (finest.a == nullptr) return false;
  }
  if (const detail::SparseSmoother<C, S>& smoother = cycle.finest_smoother(); smoother.m != nullptr) {
    finest.smoother = {smoother.m->renumbered(ctx, order, options), smoother.of_groups};
    if (finest.smoother.m == nullptr) return false;
  }
  cycle =
      detail::AmgCycle<C, S>(ctx, std::move(finest), hierarchy_,
                             level_order(detail::order_from_nodes(ctx, order, numbering_, rows_)), options_.degree);
  return true;
}

template <class T, Space S>
OperatorPtr<T, S> AmgOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                const SpmvOptions& options) {
  const bool done = low_ ? renumber(ctx, order, options, low_cycle_) : renumber(ctx, order, options, cycle_);
  if (!done) return nullptr;
  return OperatorPtr<T, S>(new AmgOperator(std::move(*this)));
}

template <class T, Space S>
void AmgOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const bool plain = alpha == T(1) && beta == T(0);
  const Span<T, S> to = plain ? y : between_.span();
  with_cycle([&](const auto& cycle) { cycle.apply(ctx, x, to, nullptr); });
  if (!plain) axpby(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
void AmgOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  with_cycle([&](const auto& cycle) { cycle.apply(ctx, x, y, xy); });
}

template <class T, Space S>
std::uint64_t AmgOperator<T, S>::column_work_bytes(int columns) const {
  if (!together(columns)) return LinearOperator<T, S>::column_work_bytes(columns);
  return with_cycle([&](const auto& cycle) { return detail::ColumnCycle(cycle, columns).work_bytes(); }) +
         sizeof(T) * static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(rows_);
}

// M x comes to the end of the work, where it has to be added to y.
template <class T, Space S>
void AmgOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                      Span<T, S> y, Span<char, S> work) const {
  if (!together(columns)) return LinearOperator<T, S>::apply_columns(ctx, columns, alpha, x, beta, y, work);
  const bool plain = alpha == T(1) && beta == T(0);
  const auto bytes = static_cast<std::int64_t>(sizeof(T)) * y.size;
  const Span<char, S> of_cycle = work.subspan(0, work.size - bytes);
  const Span<T, S> to = plain ? y : Span<T, S>(reinterpret_cast<T*>(of_cycle.data + of_cycle.size), y.size);
  with_cycle([&](const auto& cycle) { detail::ColumnCycle(cycle, columns, of_cycle).apply(ctx, x, to); });
  if (!plain) axpby(ctx, alpha, Span<const T, S>(to), beta, y);
}

template <class T, Space S>
void AmgOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                          double* xy, Span<char, S> work) const {
  if (!together(columns)) return LinearOperator<T, S>::apply_dot_columns(ctx, columns, x, y, xy, work);
  apply_columns(ctx, columns, T(1), x, T(0), y, work);
  dot_columns<T, S>(ctx, columns, x, Span<const T, S>(y), xy);
}

template <class T, Space S>
OperatorTraits<T, S> AmgOperator<T, S>::traits() const {
  return {with_cycle([](const auto& cycle) { return cycle.capturable(); }), true};
}

template <class T, Space S>
std::string AmgOperator<T, S>::detail_text() const {
  std::string text = with_cycle([&](const auto& cycle) { return cycle.smoother_text(hierarchy_); });
  text += " of degree " + std::to_string(options_.degree) + ", " + near_null_;
  if (numbering_.by_component()) text += ", nodes numbered component by component";
  text += with_cycle([](const auto& cycle) {
    return cycle.finest() == nullptr ? std::string() : ", finest level as " + cycle.finest()->info().name;
  });
  if (low_) text += detail::single_remark;
  if (contrast_) text += detail::contrast_remark;
  text += with_cycle([](const auto& cycle) { return cycle.cycles_text(); });
  if (!hierarchy_.remark().empty()) text += "; " + hierarchy_.remark();
  return text;
}

template <class T, Space S>
OperatorInfo AmgOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = "amg";
  info.detail = detail_text();
  info.rows = info.cols = rows_;
  std::tie(info.nonzeros, info.stored_slots) = with_cycle([](const auto& c) { return c.nonzeros_and_slots(); });
  info.bytes_per_product = with_cycle([](const auto& c) { return c.bytes_per_cycle(); });
  info.figures = {{"levels", static_cast<double>(hierarchy_.levels().size())},
                  {"operator complexity", detail::operator_complexity(hierarchy_.levels())}};
  const double operations = with_cycle([](const auto& c) { return c.local_operations(); });
  if (operations > 0) info.figures.emplace_back(local_operations, operations);
  info.levels = level_figures(hierarchy_.levels());
  info.bytes = with_cycle([](const auto& c) { return c.bytes(); });
  info.bytes.emplace_back("intermediate vectors", between_.bytes());
  info.bytes.emplace_back("hierarchy for refreshes",
                          hierarchy_.bytes() + source_.bytes() + gathered_.bytes() + low_values_.bytes());
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class AmgOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
