// SPDX-License-Identifier: Apache-2.0
// The places of a matrix's entries in a pattern that has them all.
#include <newel/solver/updated_system.hpp>

#include <optional>
#include <utility>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"

namespace newel {
namespace {

// For each entry of a pattern the position in `a`, or none; nothing if `a` has further entries. Both ascend in a row.
std::optional<std::vector<Offset>> places_in(const std::vector<Offset>& row_ptr, const std::vector<Index>& col,
                                             const Pattern<Space::host>& a) {
  std::vector<Offset> places(col.size(), ValueMap<Space::host>::none64);
  for (Index i = 0; i < a.rows; ++i) {
    Offset at = row_ptr[static_cast<std::size_t>(i)];
    const Offset end = row_ptr[static_cast<std::size_t>(i) + 1];
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      while (at < end && col[static_cast<std::size_t>(at)] < a.col[k]) ++at;
      if (at == end || col[static_cast<std::size_t>(at)] != a.col[k]) return std::nullopt;
      places[static_cast<std::size_t>(at++)] = k;
    }
  }
  return places;
}

template <class T, Space S>
void gather_values(const Context<S>& ctx, Span<const T, S> from, const std::vector<Offset>& places, Span<T, S> to) {
  ValueMap<S> map;
  map.wide = make_array(ctx, places);
  map.source_size = from.size;
  gather<T, S>(ctx, from, map, to);
}

// A complex value is two real ones next to each other.
template <class T, Space S>
void gather_values(const Context<S>& ctx, Span<const std::complex<T>, S> from, const std::vector<Offset>& places,
                   Span<std::complex<T>, S> to) {
  constexpr Offset none = ValueMap<S>::none64;
  std::vector<Offset> of_parts;
  of_parts.reserve(2 * places.size());
  for (const Offset k : places) {
    of_parts.push_back(k == none ? none : 2 * k);
    of_parts.push_back(k == none ? none : 2 * k + 1);
  }
  gather_values<T, S>(ctx, {reinterpret_cast<const T*>(from.data), 2 * from.size}, of_parts,
                      {reinterpret_cast<T*>(to.data), 2 * to.size});
}

}  // namespace

template <class V, Space S>
UpdatedSystem<V, S>::UpdatedSystem(const Context<S>& ctx, const MatrixInput<V, S>& a, SystemOptions options)
    : ctx_(ctx), options_(std::move(options)) {
  ctx_.make_current();
  const AssembledMatrix<V, S> given(ctx_, a);
  set_up(given.view());
}

template <class V, Space S>
void UpdatedSystem<V, S>::set_up(const CsrView<V, S>& a) {
  auto made = std::make_unique<System>(ctx_, a, options_);
  const detail::HostPattern on_host(ctx_, Pattern<S>(a));
  const Pattern<Space::host>& pattern = on_host.view();
  std::vector<Offset> row_ptr;
  for (Index i = 0; i <= a.rows; ++i) row_ptr.push_back(pattern.row_begin(i));
  std::vector<Index> col(pattern.col.data, pattern.col.data + pattern.col.size);
  Array<V, S> values(ctx_, a.nnz());
  system_ = std::move(made);
  values_ = std::move(values);
  rows_ = a.rows;
  row_ptr_ = std::move(row_ptr);
  col_ = std::move(col);
}

template <class V, Space S>
bool UpdatedSystem<V, S>::update(const MatrixInput<V, S>& a, RefreshScope scope) {
  ctx_.make_current();
  const AssembledMatrix<V, S> given(ctx_, a);
  const CsrView<V, S> view = given.view();
  std::optional<std::vector<Offset>> places;
  if (view.rows == rows_ && view.cols == rows_) {
    places = places_in(row_ptr_, col_, detail::HostPattern(ctx_, Pattern<S>(view)).view());
  }
  if (!places) {
    set_up(view);
    return true;
  }
  gather_values(ctx_, view.val, *places, values_.span());
  system_->refresh(values_.cspan(), scope);
  return false;
}

#define X(T, S)                       \
  template class UpdatedSystem<T, S>; \
  template class UpdatedSystem<std::complex<T>, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
