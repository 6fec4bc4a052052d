// SPDX-License-Identifier: Apache-2.0
// Prolongators on the device.
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {
namespace {

// Where P's rows stand in solver order; null: it is the hierarchy's, or rows come in blocks, which it may take apart.
const Index* places_of_rows(const AmgLevel<Space::device>& level, const LevelOrder<Space::device>& order) {
  return order.new_of_old.empty() || level.p.row_block > 1 ? nullptr : order.new_of_old.data();
}

}  // namespace

template <class T>
AmgTransfer<T, Space::device>::AmgTransfer(const DeviceContext& ctx, const AmgLevel<Space::device>& level,
                                           const LevelOrder<Space::device>& order)
    : p_(ctx, level.p, nullptr, places_of_rows(level, order)),
      transposed_(ctx, level.p, &level.galerkin.transposed(), places_of_rows(level, order)),
      place_(places_of_rows(level, order) != nullptr || order.new_of_old.empty() ? nullptr
                                                                                 : order.new_of_old.data()) {}

template <class T>
void AmgTransfer<T, Space::device>::refresh(const DeviceContext& ctx, const AmgLevel<Space::device>& level) {
  p_.refresh(ctx, level.p);
  transposed_.refresh(ctx, level.p, &level.galerkin.transposed());
}

template class AmgTransfer<double, Space::device>;
template class AmgTransfer<float, Space::device>;

}  // namespace newel::detail
