// SPDX-License-Identifier: Apache-2.0
// The first matrix of a hierarchy on the host.
#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/setup/first_level.hpp"
#include "precond/amg/setup/node_guess.hpp"

namespace newel::detail {
namespace {

// From places in `a` to places among the caller's values.
template <class T>
ValueMap<Space::host> callers_map(const HostContext& ctx, const CsrView<T, Space::host>& a,
                                  Array<Offset, Space::host>& source) {
  const bool callers = a.value_map == nullptr || a.value_map->identity();
  if (source.empty()) return callers ? ValueMap<Space::host>() : copy_of(ctx, *a.value_map);
  if (callers) return make_value_map(ctx, source.cspan(), a.nnz());
  const std::vector<Offset> place = positions_of(ctx, *a.value_map, a.nnz());
  parallel_for(ctx, source.size(), [&](Offset k) { source[k] = source[k] < 0 ? -1 : place[source[k]]; });
  return make_value_map(ctx, source.cspan(), a.value_map->source_size);
}

}  // namespace

template <class T>
FirstLevel<Space::host> make_first_level(const HostContext& ctx, const CsrView<T, Space::host>& a,
                                         const RowOrder<Space::host>& order, AmgNumbering asked, int node_rows) {
  FirstLevel<Space::host> first;
  first.numbering = find_numbering(ctx, Pattern<Space::host>(a), order, asked, node_rows);
  if (node_rows == 0 && first.numbering.node_rows == 1 && asked != AmgNumbering::by_component) {
    first.numbering.node_rows = std::max(1, guessed_node_rows(a, order));
  }
  first.order = order_from_nodes(ctx, order, first.numbering, a.rows);
  Array<Offset, Space::host> source;
  first.a = make_block_csr(ctx, a, to_vector(ctx, first.order.old_of_new.cspan()), first.numbering.node_rows, source);
  first.source = callers_map(ctx, a, source);
  return first;
}

RefusedDiagonals refused_diagonals(const HostContext& ctx, const HostBlockCsr& a, const NodeNumbering& numbering) {
  const int b = a.row_block;
  const auto entry = [&](Index i) {
    const Offset at = diagonal_at(a.pattern, i / b);
    return at < 0 ? 0.0 : a.block(at)[(i % b) * (b + 1)];
  };
  const auto refused = [&](Index i) { return !std::isfinite(1 / entry(i)) || 1 / entry(i) == 0; };
  const Index count = parallel_count<Index>(ctx, a.scalar_rows(), refused);
  if (count == 0) return {};
  Index first = 0;
  while (!refused(numbering.hierarchys(first))) ++first;
  return {first, count, entry(numbering.hierarchys(first))};
}

#define X(T, S)                                                                                                      \
  template FirstLevel<S> make_first_level(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, AmgNumbering, \
                                          int);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
