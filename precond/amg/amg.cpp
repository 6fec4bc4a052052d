// SPDX-License-Identifier: Apache-2.0
// AMG in both spaces: what the hierarchy is made from, its refresh, and reports.
#include <purlin/precond/amg/amg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/near_null_choice.hpp>
#include <purlin/precond/matrix_on_host.hpp>
#include <purlin/precond/renumbered.hpp>
#include <purlin/reorder/blocks.hpp>
#include <purlin/spmv/phase_clock.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin {
namespace {

using detail::BlockCsr;
using detail::HostContext;

// Throws ZeroDiagonal that names the first row, in the caller's numbering, whose diagonal entry has no finite
// inverse.
void require_diagonal(const HostContext& ctx, const BlockCsr& a) {
  const int b = a.row_block;
  const auto entry = [&](Index i) {
    const Offset at = detail::diagonal_at(a.pattern, i / b);
    return at < 0 ? 0.0 : a.block(at)[(i % b) * (b + 1)];
  };
  const auto refused = [&](Index i) { return !std::isfinite(1 / entry(i)) || 1 / entry(i) == 0; };
  const Index count = detail::parallel_count<Index>(ctx, a.scalar_rows(), refused);
  if (count == 0) return;
  Index first = 0;
  while (!refused(first)) ++first;
  throw ZeroDiagonal(first, count, entry(first));
}

// From places in `a` to places among the caller's values.
template <class T, Space S>
ValueMap<Space::host> callers_map(const Context<S>& ctx, const CsrView<T, S>& a, Array<Offset, Space::host>& source) {
  const HostContext& host = host_context(ctx);
  if (a.value_map == nullptr || a.value_map->identity()) return make_value_map(host, source.cspan(), a.nnz());
  const std::vector<Offset> place = positions_of(ctx, *a.value_map, a.nnz());
  detail::parallel_for(host, source.size(), [&](Offset k) { source[k] = source[k] < 0 ? -1 : place[source[k]]; });
  return make_value_map(host, source.cspan(), a.value_map->source_size);
}

// Unknowns of a node in the caller's numbering: what is said, else what the pattern shows.
template <class T>
int node_rows_of(const HostContext& ctx, const CsrView<T, Space::host>& a, const std::vector<Index>& old_of_new,
                 int said) {
  constexpr Index largest = 6;
  if (said > 0) return said;
  if (old_of_new.empty()) return static_cast<int>(node_block_size(ctx, Pattern<Space::host>(a), largest));
  Array<Offset, Space::host> source;
  const BlockCsr scalar = detail::make_block_csr(ctx, a, old_of_new, 1, source);
  const CsrView<double, Space::host> view(a.rows, a.cols, scalar.pattern.row_ptr.cspan(), scalar.pattern.col.cspan(),
                                          scalar.val.cspan());
  return static_cast<int>(node_block_size(ctx, Pattern<Space::host>(view), largest));
}

using Figures = std::vector<std::pair<std::string, double>>;

std::vector<Figures> level_figures(const std::vector<detail::AmgLevel>& levels) {
  std::vector<Figures> result;
  for (const detail::AmgLevel& level : levels) {
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

}  // namespace

template <class T, Space S>
AmgOperator<T, S>::AmgOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                               const PrecondOptions& options, const SpmvOptions& spmv_options)
    : rows_(a.rows), options_(options.of<AmgOptions>()), symmetric_(options.symmetric) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("AMG needs a square matrix");
  const HostContext& host = host_context(ctx);
  const std::vector<Index> old_of_new = to_vector(ctx, order.old_of_new.cspan());
  Csr<T, Space::host> kept;
  const CsrView<T, Space::host> matrix = detail::matrix_on_host(ctx, a, kept);
  const detail::NearNullChoice choice(options_, spmv_options.coordinates.get(), rows_);
  const int block = node_rows_of(host, matrix, old_of_new, choice.node_rows());
  Array<Offset, Space::host> source;
  BlockCsr blocks = detail::make_block_csr(host, matrix, old_of_new, block, source);
  kept = {};
  source_ = callers_map(ctx, a, source);
  source = {};
  require_diagonal(host, blocks);
  clock.end("matrix");

  const detail::NearNull near_null = choice.vectors(rows_, block, near_null_);
  hierarchy_ = detail::AmgHierarchy(host, std::move(blocks), near_null, options_,
                                    static_cast<double>(std::numeric_limits<T>::epsilon()));
  seconds_ = clock.seconds();
  clock = {};
  const bool inverted = hierarchy_.levels().front().smoother_diagonal.empty();
  detail::AmgFinest<T, S> finest;
  if (!inverted) finest = make_finest(ctx, a, order, precond_spmv(options, spmv_options));
  cycle_ = detail::AmgCycle<T, S>(ctx, std::move(finest), hierarchy_, old_of_new, options_.degree);
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
  const HostContext& host = host_context(ctx);
  Span<const T, Space::host> on_host;
  if constexpr (S == Space::host) {
    on_host = values;
  } else {
    if (caller_values_.size() != values.size) caller_values_ = Array<T, Space::host>(host, values.size);
    copy<T>(ctx, values, caller_values_.span());
    on_host = caller_values_.cspan();
  }
  const Span<double, Space::host> to = hierarchy_.values();
  if (gathered_.size() != to.size) gathered_ = Array<T, Space::host>(host, to.size);
  gather(host, on_host, source_, gathered_.span());
  detail::parallel_for(host, to.size, [&](Offset k) { to[k] = static_cast<double>(gathered_[k]); });
  require_diagonal(host, hierarchy_.levels().front().a);
  const bool prolongators = options_.refresh == AmgRefresh::full;
  hierarchy_.refresh(host, prolongators);
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
  detail::AmgCycle<T, S> cycle(ctx, std::move(finest), hierarchy_, to_vector(ctx, order.old_of_new.cspan()),
                               options_.degree);
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
  if constexpr (S == Space::host) {
    info.bytes.emplace_back("hierarchy for refreshes", hierarchy_.bytes() + source_.bytes() + gathered_.bytes());
  }
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class AmgOperator<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
