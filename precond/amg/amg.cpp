// SPDX-License-Identifier: Apache-2.0
// AMG in both spaces: what the hierarchy is made from, its refresh, and reports.
#include <purlin/precond/amg/amg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/first_level.hpp>
#include <purlin/precond/amg/near_null_choice.hpp>
#include <purlin/precond/renumbered.hpp>
#include <purlin/spmv/phase_clock.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin {
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
detail::LevelOrder<S> level_order(const Context<S>& ctx, const RowOrder<S>& order) {
  return {make_array(ctx, order.old_of_new.cspan()), make_array(ctx, order.new_of_old.cspan())};
}

}  // namespace

template <class T, Space S>
AmgOperator<T, S>::AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options)
    : rows_(a.rows), options_(options.of<AmgOptions>()), symmetric_(options.symmetric) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("AMG needs a square matrix");
  const detail::NearNullChoice choice(options_, spmv_options.coordinates.get(), rows_);
  detail::FirstLevel<S> first = detail::make_first_level(ctx, a, order, choice.node_rows());
  source_ = std::move(first.source);
  detail::require_diagonal(ctx, first.a);
  clock.end("matrix");

  detail::NearNull<S> near_null = choice.vectors(ctx, rows_, first.a.row_block, near_null_);
  hierarchy_ = detail::AmgHierarchy<S>(ctx, std::move(first.a), std::move(near_null), options_,
                                       static_cast<double>(std::numeric_limits<T>::epsilon()));
  seconds_ = clock.seconds();
  clock = {};
  const bool inverted = hierarchy_.levels().front().smoother_diagonal.size() == 0;
  detail::AmgFinest<T, S> finest;
  if (!inverted) finest = make_finest(ctx, a, order, precond_spmv(options, spmv_options));
  cycle_ = detail::AmgCycle<T, S>(ctx, std::move(finest), hierarchy_, level_order(ctx, order), options_.degree);
  between_ = Array<T, S>(ctx, rows_);
  ctx.synchronize();
  clock.end("formats");
  for (const auto* phases : {&hierarchy_.seconds(), &clock.seconds()}) {
    seconds_.insert(seconds_.end(), phases->begin(), phases->end());
  }
}

// A smoother that nobody has asked for gives way to Chebyshev's where it refuses the matrix.
template <class T, Space S>
detail::AmgFinest<T, S> AmgOperator<T, S>::make_finest(const Context<S>& ctx, const CsrView<T, S>& a,
                                                       const RowOrder<S>& order,
                                                       const SpmvOptions& spmv_options) const {
  detail::AmgFinest<T, S> finest;
  finest.symmetric = symmetric_;
  finest.a = make_spmv(ctx, a, order, spmv_options);
  const AmgSmoother smoother = hierarchy_.levels().front().smoother;
  try {
    finest.smoother = detail::make_sparse_smoother(ctx, a, order, smoother, symmetric_, spmv_options);
  } catch (const InputError&) {
    if (options_.smoother != AmgSmoother::automatic) throw;
  }
  return finest;
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
  detail::require_diagonal(ctx, hierarchy_.levels().front().a);
  const bool prolongators = options_.refresh == AmgRefresh::full;
  hierarchy_.refresh(ctx, prolongators);
  cycle_.refresh(ctx, values, hierarchy_, prolongators);
}

template <class T, Space S>
OperatorPtr<T, S> AmgOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                const SpmvOptions& options) {
  detail::AmgFinest<T, S> finest;
  finest.symmetric = symmetric_;
  if (cycle_.finest() != nullptr) {
    finest.a = detail::renumbered_matrix(ctx, *cycle_.finest(), order, options);
    if (finest.a == nullptr) return nullptr;
  }
  if (cycle_.finest_smoother() != nullptr) {
    finest.smoother = cycle_.finest_smoother()->renumbered(ctx, order, options);
    if (finest.smoother == nullptr) return nullptr;
  }
  detail::AmgCycle<T, S> cycle(ctx, std::move(finest), hierarchy_, level_order(ctx, order), options_.degree);
  std::unique_ptr<AmgOperator> moved(new AmgOperator(std::move(*this)));
  moved->cycle_ = std::move(cycle);
  return moved;
}

template <class T, Space S>
void AmgOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  if (alpha == T(1) && beta == T(0)) return cycle_.apply(ctx, x, y);
  cycle_.apply(ctx, x, between_.span());
  axpby(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
std::string AmgOperator<T, S>::detail_text() const {
  std::string text = cycle_.smoother_text(hierarchy_);
  text += " of degree " + std::to_string(options_.degree) + ", " + near_null_;
  const MatrixOperator<T, S>* const finest = cycle_.finest();
  if (finest != nullptr) text += ", finest level as " + finest->info().name;
  if (!hierarchy_.remark().empty()) text += "; " + hierarchy_.remark();
  return text;
}

template <class T, Space S>
OperatorInfo AmgOperator<T, S>::info() const {
  OperatorInfo info;
  info.name = "amg";
  info.detail = detail_text();
  info.rows = info.cols = rows_;
  std::tie(info.nonzeros, info.stored_slots) = cycle_.nonzeros_and_slots();
  info.bytes_per_product = cycle_.bytes_per_cycle();
  info.figures = {{"levels", static_cast<double>(hierarchy_.levels().size())},
                  {"operator complexity", hierarchy_.operator_complexity()}};
  info.levels = level_figures(hierarchy_.levels());
  info.bytes = cycle_.bytes();
  info.bytes.emplace_back("intermediate vector", between_.bytes());
  info.bytes.emplace_back("hierarchy for refreshes", hierarchy_.bytes() + source_.bytes() + gathered_.bytes());
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class AmgOperator<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
