// SPDX-License-Identifier: Apache-2.0
// Matrices that every rank gathers.
#include "distributed/precond/amg/whole_precond.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/registry.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/ranks/on_all_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/gathered_level.hpp"
#include "distributed/rows/numbers_text.hpp"
#include "distributed/rows/values_in_space.hpp"

namespace newel::detail {
namespace {

// The patterns of all ranks, one after the other.
struct WholePattern {
  std::vector<Offset> row_ptr{0}, entries;  ///< the latter: of each rank
  std::vector<Index> col;

  template <class T>
  WholePattern(Communicator& ranks, const RankRows<T>& rows) {
    std::vector<std::int64_t> lengths_and_columns;
    for (std::int64_t i = 0; i + 1 < rows.row_ptr.size; ++i) {
      lengths_and_columns.push_back(rows.row_ptr[i + 1] - rows.row_ptr[i]);
      lengths_and_columns.insert(lengths_and_columns.end(), rows.col.begin() + rows.row_ptr[i],
                                 rows.col.begin() + rows.row_ptr[i + 1]);
    }
    for (const std::string& text : ranks.texts(text_of_numbers(lengths_and_columns))) {
      const std::vector<std::int64_t> of_rank = numbers_of<std::int64_t>(text);
      const std::size_t before = col.size();
      for (auto at = of_rank.begin(); at != of_rank.end();) {
        const auto end = at + 1 + *at;
        std::transform(at + 1, end, std::back_inserter(col), [](std::int64_t j) { return static_cast<Index>(j); });
        row_ptr.push_back(static_cast<Offset>(col.size()));
        at = end;
      }
      entries.push_back(static_cast<Offset>(col.size() - before));
    }
  }
};

template <class T>
std::unique_ptr<ValueExchange<T>> exchange_of_all(const HostContext& ctx, Offset own,
                                                  const std::vector<Offset>& of_ranks) {
  std::vector<Offset> all(static_cast<std::size_t>(own));
  for (Offset k = 0; k < own; ++k) all[static_cast<std::size_t>(k)] = k;
  return std::make_unique<ValueExchange<T>>(ctx, std::vector<std::vector<Offset>>(of_ranks.size(), all), of_ranks);
}

// Coordinates of all nodes, if all ranks with rows know theirs.
std::shared_ptr<const NodeCoordinates> whole_coordinates(const HostContext& ctx, const NodeCoordinates* own,
                                                         Index rows) {
  if (!on_all_ranks(*ctx.ranks()->communicator, own != nullptr || rows == 0)) return nullptr;
  double dimension = own == nullptr ? 0 : own->dimension;
  max_over_ranks(ctx, &dimension, 1);
  auto all = std::make_shared<NodeCoordinates>();
  all->dimension = static_cast<int>(dimension);
  all->xyz = gather_values(ctx, own == nullptr ? std::vector<double>() : own->xyz);
  return dimension == 0 ? nullptr : all;
}

// Near-null vectors of all rows.
std::shared_ptr<const NearNullVectors> whole_vectors(const HostContext& ctx, const NearNullVectors* own) {
  double count = own == nullptr ? 0 : own->count;
  max_over_ranks(ctx, &count, 1);
  if (count == 0) return nullptr;
  auto all = std::make_shared<NearNullVectors>();
  all->count = static_cast<int>(count);
  all->values = gather_values(ctx, own == nullptr ? std::vector<double>() : own->values);
  return all;
}

}  // namespace

template <class T, Space S>
WholePrecond<T, S>::WholePrecond(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                                 const PrecondOptions& options)
    : rows_(A.rows()), alone_(context_alone(ctx)), is_alone_(a.first_rows.size() == 2) {
  const HostContext& host = host_context(ctx);
  const WholePattern pattern(*host.ranks()->communicator, a.rows);
  values_ = exchange_of_all<T>(host, a.rows.val.size, pattern.entries);
  SpmvOptions spmv{"csr"};
  spmv.coordinates = whole_coordinates(host, a.coordinates, rows_);
  PrecondOptions of_whole = options;
  of_whole.of<AmgOptions>().vectors = whole_vectors(host, options.of<AmgOptions>().vectors.get());
  Array<Offset, S> row_ptr_there;
  Array<Index, S> col_there;
  Array<T, S> val_there;
  const auto all = static_cast<Index>(a.first_rows.back());
  const CsrView<T, S> view(all, all,
                           in_space<Offset, S>(ctx, Span<const Offset, Space::host>(pattern.row_ptr), row_ptr_there),
                           in_space<Index, S>(ctx, Span<const Index, Space::host>(pattern.col), col_there),
                           in_space<T, S>(ctx, values_->run(a.rows.val), val_there));
  whole_ = make_precond<T, S>(alone_, view, RowOrder<S>{}, of_whole, spmv);
  if (is_alone_) return;
  if constexpr (S == Space::device) capturable_ = ranks_of(ctx)->device->capturable();
  x_ = GatheredVector<T, S>(ctx, a.first_rows);
  y_ = Array<T, S>(ctx, all);
  old_of_new_ = make_array(ctx, A.order().old_of_new.cspan());
  new_of_old_ = make_array(ctx, A.order().new_of_old.cspan());
}

template <class T, Space S>
void WholePrecond<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  std::vector<T> here;
  Array<T, S> there;
  whole_->refresh(alone_, in_space<T, S>(ctx, values_->run(on_host(ctx, values, here)), there));
}

template <class T, Space S>
void WholePrecond<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  if (is_alone_) return whole_->apply(alone_, alpha, x, beta, y);
  if (new_of_old_.empty())
    copy<T>(ctx, x, x_.own());
  else
    gather<T, S>(ctx, x, new_of_old_.cspan(), x_.own());
  whole_->apply(alone_, T(1), x_.gather(), T(0), y_.span());
  const Span<const T, S> mine = x_.part_of(y_.cspan());
  if (old_of_new_.empty()) return axpby(ctx, alpha, mine, beta, y);
  gather<T, S>(ctx, mine, old_of_new_.cspan(), x_.own());
  axpby(ctx, alpha, Span<const T, S>(x_.own()), beta, y);
}

template <class T, Space S>
void WholePrecond<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  if (is_alone_) return whole_->apply_dot(alone_, x, y, xy);
  apply(ctx, T(1), x, T(0), y);
  dot<T, S>(ctx, x, Span<const T, S>(y), xy);
}

template <class T, Space S>
OperatorTraits<T, S> WholePrecond<T, S>::traits() const {
  OperatorTraits<T, S> traits;
  traits.capturable = capturable_ && whole_->capturable();
  return traits;
}

template <class T, Space S>
OperatorInfo WholePrecond<T, S>::info() const {
  OperatorInfo info = whole_->info();
  info.rows = info.cols = rows_;
  if (is_alone_) return info;
  info.detail += ", the whole on every rank";
  info.bytes.emplace_back("values and vectors of all ranks", values_->bytes() + x_.bytes() + y_.bytes());
  return info;
}

#define X(T, S) template class WholePrecond<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
