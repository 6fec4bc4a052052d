// SPDX-License-Identifier: Apache-2.0
// A rank's rows in the format that it stores them in, with their order and diagonal.
#include "distributed/rows/stored_rows.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/rank_csr.hpp"
#include "distributed/rows/rank_ehyb.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "reorder/partition_device.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

bool is_natural(const std::vector<Index>& old_of_new) { return std::is_sorted(old_of_new.begin(), old_of_new.end()); }

template <class T, Space S>
StoredRows<T, S> without_format(const RankRows<T>& a) {
  StoredRows<T, S> rows;
  rows.rows = static_cast<Index>(a.row_ptr.size - 1);
  rows.entries = a.val.size;
  return rows;
}

// `diagonal`: of each row in rank order, the position of its diagonal entry, or -1.
template <class T, Space S>
void number(const Context<S>& ctx, const RankRows<T>& a, const std::vector<Index>& old_of_new,
            const std::vector<Offset>& diagonal, StoredRows<T, S>& rows) {
  Array<Offset, S> diagonal_there;
  rows.diagonal = RankDiagonal<T, S>(
      ctx, in_space<Offset, S>(ctx, Span<const Offset, Space::host>(diagonal), diagonal_there), a.val.size);
  std::vector<T> values(diagonal.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = diagonal[i] < 0 ? T(0) : a.val[diagonal[i]];
  rows.diagonal.set(ctx, values);
  if (!is_natural(old_of_new)) rows.order = make_row_order(ctx, old_of_new);
}

// The same from the rows on the device.
template <class T, Space S>
void number_on_device(const Context<S>& ctx, const std::vector<Index>& old_of_new, StoredRows<T, S>& rows) {
  if constexpr (S == Space::device) {
    if (!is_natural(old_of_new)) {
      rows.order.old_of_new = make_array(ctx, old_of_new);
      rows.order.new_of_old = inverse_order(ctx, rows.order.old_of_new.cspan());
    }
    const RowsOnDevice<T>& from = *rows.on_device;
    const Array<Offset, S> position = diagonal_positions(ctx, *from.columns, rows.order.old_of_new.cspan());
    rows.diagonal = RankDiagonal<T, S>(ctx, position.cspan(), from.val.size());
    rows.diagonal.refresh(ctx, from.val.cspan());
  }
}

template <class T, Space S>
void store_in_csr(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                  const Span<const Index, Space::host>* order, StoredRows<T, S>& rows) {
  PhaseClock clock;
  const RowSplit split = split_rows(host_context(ctx), a.row_ptr, a.col, first_row(ctx), first_rows.back(), order);
  clock.end("split of the rows");
  number(ctx, a, split.old_of_new, split.diagonal, rows);
  clock.end("diagonal and numbering");
  rows.product = make_csr_rows<T, S>(ctx, a, split, first_rows);
  clock.end("format");
  rows.seconds.insert(rows.seconds.end(), clock.seconds().begin(), clock.seconds().end());
}

// On the device, at once or in EHYB; false on all ranks: EHYB does not suit all rows.
template <class T, Space S>
bool store_on_device(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                     RankFormat format, StoredRows<T, S>& rows) {
  if constexpr (S == Space::device) {
    PhaseClock clock;
    const ColumnsOfRank columns{a.row_ptr, a.col, first_rows, ranks_of(ctx)->communicator->rank()};
    rows.on_device = std::make_shared<const RowsOnDevice<T>>(ctx, columns, a.val);
    clock.end("rows to the device");
    rows.seconds = clock.seconds();
    if (format == RankFormat::at_once) {
      rows.product = make_rank_csr(ctx, first_rows, *rows.on_device);
      clock.end("format");
      number_on_device(ctx, {}, rows);
      clock.end("diagonal and numbering");
      rows.seconds = clock.seconds();
      return true;
    }
    if (std::unique_ptr<RankEhyb<T>> ehyb = RankEhyb<T>::make(ctx, columns, *rows.on_device)) {
      const OperatorInfo info = ehyb->info();
      rows.seconds.insert(rows.seconds.end(), info.setup_seconds.begin(), info.setup_seconds.end());
      clock = {};
      number_on_device(ctx, ehyb->old_of_new(), rows);
      rows.plan = ehyb->plan();
      rows.product = std::move(ehyb);
      clock.end("diagonal and numbering");
      rows.seconds.push_back(clock.seconds().back());
      return true;
    }
  }
  return false;
}

}  // namespace

template <class T, Space S>
RankDiagonal<T, S>::RankDiagonal(const Context<S>& ctx, Span<const Offset, S> position, Offset entries)
    : rows_(position.size),
      values_(ctx, std::max<std::int64_t>(position.size, 1)),
      source_(make_value_map(ctx, position, entries)) {}

template <class T, Space S>
void RankDiagonal<T, S>::set(const Context<S>& ctx, const std::vector<T>& values) {
  copy<T>(ctx, Span<const T, Space::host>(values), own());
}

template <class T, Space S>
void RankDiagonal<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  if (rows_ > 0) gather<T, S>(ctx, values, source_, own());
}

template <class T, Space S>
OperatorInfo StoredRows<T, S>::info() const {
  OperatorInfo info = product->info();
  info.setup_seconds = seconds;
  return info;
}

template <class T, Space S>
std::uint64_t StoredRows<T, S>::bytes() const {
  return product->info().total_bytes() + product->more_bytes() + diagonal.bytes() + order.old_of_new.bytes() +
         order.new_of_old.bytes();
}

template <class T, Space S>
StoredRows<T, S> rows_in_csr(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                             const Span<const Index, Space::host>* order) {
  StoredRows<T, S> rows = without_format<T, S>(a);
  store_in_csr(ctx, a, first_rows, order, rows);
  return rows;
}

template <class T, Space S>
StoredRows<T, S> rows_in_format(const Context<S>& ctx, const RankRows<T>& a,
                                const std::vector<std::int64_t>& first_rows, RankFormat format) {
  StoredRows<T, S> rows = without_format<T, S>(a);
  const bool to_device = S == Space::device && format != RankFormat::csr && first_rows.size() > 2;
  if (!to_device || !store_on_device(ctx, a, first_rows, format, rows)) {
    store_in_csr(ctx, a, first_rows, nullptr, rows);
  }
  return rows;
}

template <class C, class T, Space S>
std::optional<StoredRows<C, S>> in_precision(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows,
                                             const StoredRows<T, S>& rows) {
  if constexpr (S == Space::device) {
    if (rows.plan == nullptr) return std::nullopt;
    StoredRows<C, S> made;
    made.rows = rows.rows;
    made.entries = rows.entries;
    made.on_device = std::make_shared<const RowsOnDevice<C>>(ctx, *rows.on_device);
    made.product = RankEhyb<C>::make(ctx, first_rows, *made.on_device, rows.plan);
    if (made.product == nullptr) return std::nullopt;
    number_on_device(ctx, rows.plan->order.old_of_new, made);
    made.on_device.reset();
    return made;
  } else {
    static_cast<void>(ctx);
    static_cast<void>(first_rows);
    static_cast<void>(rows);
    return std::nullopt;
  }
}

#define X(T, S)                                                                                                     \
  template class RankDiagonal<T, S>;                                                                                \
  template struct StoredRows<T, S>;                                                                                 \
  template StoredRows<T, S> rows_in_csr(const Context<S>&, const RankRows<T>&, const std::vector<std::int64_t>&,    \
                                        const Span<const Index, Space::host>*);                                     \
  template StoredRows<T, S> rows_in_format(const Context<S>&, const RankRows<T>&, const std::vector<std::int64_t>&, \
                                           RankFormat);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                 \
  template std::optional<StoredRows<float, S>> in_precision( \
      const Context<S>&, const std::vector<std::int64_t>& first_rows, const StoredRows<double, S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
