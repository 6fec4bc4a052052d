// SPDX-License-Identifier: Apache-2.0
// The first matrix of a hierarchy on the device.
#include "core/vectors/instantiate.hpp"
#include "precond/amg/blocks/block_csr_device.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/setup/first_level.hpp"

namespace newel::detail {
namespace {

struct FoundDiagonals {
  unsigned long long first, count;
};

// A thread has a row.
struct FindRefusedDiagonals {
  DiagonalView diagonal;
  NodeNumbering numbering;
  FoundDiagonals* found;

  __device__ void operator()(std::int64_t i) const {
    const double inverse = 1 / diagonal[i];
    if (isfinite(inverse) && inverse != 0) return;
    atomicMin(&found->first, static_cast<unsigned long long>(numbering.callers(static_cast<Index>(i))));
    atomicAdd(&found->count, 1ull);
  }
};

}  // namespace

template <class T>
FirstLevel<Space::device> make_first_level(const DeviceContext& ctx, const CsrView<T, Space::device>& a,
                                           const RowOrder<Space::device>& order, AmgNumbering asked, int node_rows) {
  FirstLevel<Space::device> first;
  CallersPattern pattern = in_callers_order(ctx, Pattern<Space::device>(a), order);
  first.numbering = find_numbering(ctx, pattern.pattern, asked, node_rows);
  first.order = order_from_nodes(ctx, order, first.numbering, a.rows);
  if (first.numbering.by_component()) pattern = in_callers_order(ctx, Pattern<Space::device>(a), first.order);
  const int block = first.numbering.node_rows;
  DeviceArray<Offset> source;
  first.a = make_block_csr<T>(ctx, pattern, a.val, block, source);
  const bool in_place = first.order.natural() && block == 1 && first.a.pattern.blocks() == a.nnz();
  if (in_place && a.value_map != nullptr) {
    first.source = copy_of(ctx, *a.value_map);
  } else if (!in_place) {
    const bool mapped = a.value_map != nullptr && !a.value_map->identity();
    first.source = make_value_map(ctx, source.cspan(), a.nnz(), mapped ? a.value_map : nullptr);
  }
  ctx.synchronize();
  return first;
}

RefusedDiagonals refused_diagonals(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                                   const NodeNumbering& numbering) {
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  DeviceArray<FoundDiagonals> found = make_array(ctx, std::vector<FoundDiagonals>{{~0ull, 0}});
  for_elements(ctx, a.scalar_rows(), FindRefusedDiagonals{{a, place.data()}, numbering, found.data()});
  const FoundDiagonals refused = value_at(ctx, found, 0);
  if (refused.count == 0) return {};
  const auto callers = static_cast<Index>(refused.first);
  const Index row = numbering.hierarchys(callers);
  const Offset at = value_at(ctx, place, row / a.row_block);
  const Offset of_block = Offset{row % a.row_block} * (a.row_block + 1);
  return {callers, static_cast<Index>(refused.count),
          at < 0 ? 0.0 : value_at(ctx, a.val, at * a.block_size() + of_block)};
}

#define X(T, S)                                                                                                      \
  template FirstLevel<S> make_first_level(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, AmgNumbering, \
                                          int);
NEWEL_FOR_TYPES(X, Space::device)
#undef X

}  // namespace newel::detail
