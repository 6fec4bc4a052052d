// SPDX-License-Identifier: Apache-2.0
// AMG in both spaces: what the hierarchy is made from, its refresh, and reports.
#include "precond/amg/amg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/column_cycle.hpp"
#include "precond/amg/cycle/single_rounding.hpp"
#include "precond/amg/setup/first_level.hpp"
#include "precond/amg/transfer/near_null_choice.hpp"
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

// Whether the cycle of a system in double is one in single precision. `contrast`: it would hide soft vectors.
template <Space S>
bool single_suffices(const Context<S>& ctx, const CsrView<double, S>& a, const detail::CycleSource<S>& source,
                     bool& contrast) {
  // Far from the range of single precision: values of A, 1 / a_ii, and what residuals become until they are small.
  constexpr double least = 1e-15, most = 1e15;
  const AmgPrecision asked = source.options.precision;
  if (asked != AmgPrecision::automatic) return asked == AmgPrecision::single;
  Array<double, S> norm(ctx, 1);
  norm2<double>(ctx, a.val, norm.data());
  const double usual = fetch<double, S>(ctx, norm.data()) / std::sqrt(std::max<double>(1, a.nnz()));
  if (!(usual > least && usual < most)) return false;
  // A cycle still serves where rounding hides so much of the softest vectors. See the README.
  constexpr double most_hidden = 0.02, rounding = 0.5 * std::numeric_limits<float>::epsilon();
  const double hidden = rounding * detail::rounding_of_soft_vectors(ctx, source.hierarchy);
  contrast = !(hidden <= most_hidden);
  return !contrast;
}

}  // namespace

template <class T, Space S>
AmgOperator<T, S>::AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options)
    : rows_(a.rows) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("AMG needs a square matrix");
  source_.options = options.of<AmgOptions>();
  source_.symmetric = options.symmetric;
  const detail::NearNullChoice choice(source_.options, spmv_options.coordinates.get(), rows_);
  detail::FirstLevel<S> first =
      detail::make_first_level(ctx, a, order, source_.options.numbering, choice.node_rows());
  source_.values = std::move(first.source);
  source_.numbering = first.numbering;
  detail::require_diagonal(ctx, first.a, source_.numbering);
  clock.end("matrix");

  detail::NearNull<S> near_null = choice.vectors(ctx, rows_, source_.numbering, near_null_);
  rigid_ = choice.rigid(source_.numbering);
  source_.hierarchy = detail::AmgHierarchy<S>(ctx, std::move(first.a), std::move(near_null), source_.options,
                                              static_cast<double>(std::numeric_limits<T>::epsilon()));
  seconds_ = clock.seconds();
  clock = {};
  const SpmvOptions of_finest = precond_spmv(options, spmv_options);
  if constexpr (std::is_same_v<T, double>) cycle_.low = single_suffices(ctx, a, source_, contrast_);
  if (cycle_.low) {
    Array<float, S> values(ctx, a.nnz());
    convert(ctx, a.val, values.span());
    CsrView<float, S> low(Pattern<S>(a), values.cspan());
    low.value_map = a.value_map;
    cycle_.single = source_.make(ctx, low, order, std::move(first.order), of_finest, true, clock);
  } else {
    cycle_.own = source_.make(ctx, a, order, std::move(first.order), of_finest, false, clock);
  }
  between_ = Array<T, S>(ctx, rows_);
  ctx.synchronize();
  clock.end("formats");
  for (const auto* phases : {&source_.hierarchy.seconds(), &clock.seconds()}) {
    seconds_.insert(seconds_.end(), phases->begin(), phases->end());
  }
}

template <class T, Space S>
void AmgOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  const AmgRefresh scope = source_.options.refresh;
  if (scope == AmgRefresh::keep) return;
  detail::AmgHierarchy<S>& hierarchy = source_.hierarchy;
  const Span<double, S> to = hierarchy.values();
  if constexpr (std::is_same_v<T, double>) {
    gather(ctx, values, source_.values, to);
  } else {
    if (gathered_.size() != to.size) gathered_ = Array<T, S>(ctx, to.size);
    gather(ctx, values, source_.values, gathered_.span());
    convert(ctx, gathered_.cspan(), to);
  }
  detail::require_diagonal(ctx, hierarchy.levels().front().a, source_.numbering);
  const bool prolongators = scope == AmgRefresh::full || moved_;
  hierarchy.refresh(ctx, prolongators);
  moved_ = false;
  cycle_.refresh(ctx, values, hierarchy, prolongators);
}

template <class T, Space S>
void AmgOperator<T, S>::move_nodes(const Context<S>& ctx, const NodeCoordinates& coordinates) {
  if (!rigid_) return;
  source_.hierarchy.replace_near_null(ctx, detail::rigid_body_modes(ctx, coordinates));
  ctx.synchronize();
  moved_ = true;
}

template <class T, Space S>
OperatorPtr<T, S> AmgOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                const SpmvOptions& options) {
  const bool done = cycle_.low ? source_.renumber(ctx, order, options, true, cycle_.single)
                               : source_.renumber(ctx, order, options, false, cycle_.own);
  if (!done) return nullptr;
  return OperatorPtr<T, S>(new AmgOperator(std::move(*this)));
}

template <class T, Space S>
void AmgOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const bool plain = alpha == T(1) && beta == T(0);
  const Span<T, S> to = plain ? y : between_.span();
  cycle_.with([&](const auto& cycle) { cycle.apply(ctx, x, to, nullptr); });
  if (!plain) axpby(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
void AmgOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  cycle_.with([&](const auto& cycle) { cycle.apply(ctx, x, y, xy); });
}

template <class T, Space S>
std::uint64_t AmgOperator<T, S>::column_work_bytes(int columns) const {
  if (!cycle_.together(columns)) return LinearOperator<T, S>::column_work_bytes(columns);
  return cycle_.with([&](const auto& cycle) { return detail::ColumnCycle(cycle, columns).work_bytes(); }) +
         sizeof(T) * static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(rows_);
}

// M x comes to the end of the work, where it has to be added to y.
template <class T, Space S>
void AmgOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                      Span<T, S> y, Span<char, S> work) const {
  if (!cycle_.together(columns)) return LinearOperator<T, S>::apply_columns(ctx, columns, alpha, x, beta, y, work);
  const bool plain = alpha == T(1) && beta == T(0);
  const auto bytes = static_cast<std::int64_t>(sizeof(T)) * y.size;
  const Span<char, S> of_cycle = work.subspan(0, work.size - bytes);
  const Span<T, S> to = plain ? y : Span<T, S>(reinterpret_cast<T*>(of_cycle.data + of_cycle.size), y.size);
  cycle_.with([&](const auto& cycle) { detail::ColumnCycle(cycle, columns, of_cycle).apply(ctx, x, to); });
  if (!plain) axpby(ctx, alpha, Span<const T, S>(to), beta, y);
}

template <class T, Space S>
void AmgOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                          double* xy, Span<char, S> work) const {
  if (!cycle_.together(columns)) return LinearOperator<T, S>::apply_dot_columns(ctx, columns, x, y, xy, work);
  apply_columns(ctx, columns, T(1), x, T(0), y, work);
  dot_columns<T, S>(ctx, columns, x, Span<const T, S>(y), xy);
}

template <class T, Space S>
OperatorTraits<T, S> AmgOperator<T, S>::traits() const {
  return {cycle_.with([](const auto& cycle) { return cycle.levels().capturable(); }), true};
}

template <class T, Space S>
OperatorInfo AmgOperator<T, S>::info() const {
  const detail::AmgHierarchy<S>& hierarchy = source_.hierarchy;
  OperatorInfo info = cycle_.with([](const auto& cycle) { return cycle.levels().info(); });
  info.name = "amg";
  info.detail = cycle_.with([&](const auto& cycle) { return cycle.levels().smoother_text(hierarchy); });
  info.detail += " of degree " + std::to_string(source_.options.degree) + ", " + near_null_;
  if (source_.numbering.by_component()) info.detail += ", nodes numbered component by component";
  info.detail += cycle_.with([](const auto& cycle) {
    return cycle.finest() == nullptr ? std::string() : ", finest level as " + cycle.finest()->info().name;
  });
  if (cycle_.low) info.detail += detail::single_remark;
  if (contrast_) info.detail += detail::contrast_remark;
  info.detail += cycle_.with([](const auto& cycle) { return cycle.levels().cycles_text(); });
  if (!hierarchy.remark().empty()) info.detail += "; " + hierarchy.remark();
  info.rows = info.cols = rows_;
  info.figures.insert(info.figures.begin(), {{"levels", static_cast<double>(hierarchy.levels().size())},
                                             {"operator complexity", operator_complexity(hierarchy.levels())}});
  info.levels = level_figures(hierarchy.levels());
  info.bytes.emplace_back("intermediate vectors", between_.bytes());
  info.bytes.emplace_back("hierarchy for refreshes",
                          hierarchy.bytes() + source_.values.bytes() + gathered_.bytes() + cycle_.low_values.bytes());
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class AmgOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
