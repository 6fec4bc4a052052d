// SPDX-License-Identifier: Apache-2.0
// Prolongators on the device.
#include <purlin/precond/amg/transfer.hpp>

namespace purlin::detail {

template <class T>
AmgTransfer<T, Space::device>::AmgTransfer(const DeviceContext& ctx, const AmgLevel<Space::device>& level,
                                           const LevelOrder<Space::device>& order)
    : p_(ctx, level.p),
      transposed_(ctx, level.p, &level.galerkin.transposed()),
      new_of_old_(order.new_of_old.empty() ? nullptr : order.new_of_old.data()) {}

template <class T>
void AmgTransfer<T, Space::device>::refresh(const DeviceContext& ctx, const AmgLevel<Space::device>& level) {
  p_.refresh(ctx, level.p);
  transposed_.refresh(ctx, level.p, &level.galerkin.transposed());
}

template class AmgTransfer<double, Space::device>;
template class AmgTransfer<float, Space::device>;

}  // namespace purlin::detail
