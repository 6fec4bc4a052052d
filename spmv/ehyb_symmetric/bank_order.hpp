// SPDX-License-Identifier: Apache-2.0
/// In which order the pairs of a round stand, on the host and on the device alike. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// What order_by_banks works in, for up to so many pairs and banks.
NEWEL_HD Index bank_order_room(Index pairs, Index banks) { return pairs + 5 * banks; }

/// Writes the pairs 0 .. n - 1 into `order` so that `banks` of them side by side touch as many banks of shared memory
/// as can be: one pair for each bank of first nodes at a time, from the fullest banks first, no two with the same
/// bank of second nodes; then, where such pairs are not enough, two of a bank, and so on. `first(k)` and `second(k)`
/// are the banks of pair k's nodes. `room` has bank_order_room(n, banks) places.
template <class First, class Second>
NEWEL_HD void order_by_banks(Index n, Index banks, const First& first, const Second& second, Index* room,
                             Index* order) {
  Index* const next = room;  // the pair that waits behind, in the list of the bank of its first node
  Index* const head = next + n;
  Index* const waiting = head + banks;  // pairs
  Index* const fullest = waiting + banks;
  Index* const of_first = fullest + banks;
  Index* const of_second = of_first + banks;
  for (Index b = 0; b < banks; ++b) {
    head[b] = -1;
    waiting[b] = 0;
    fullest[b] = b;
  }
  for (Index k = n; k-- > 0;) {
    const Index b = first(k);
    next[k] = head[b];
    head[b] = k;
    ++waiting[b];
  }
  for (Index done = 0; done < n;) {
    for (Index i = 1; i < banks; ++i) {  // nearly sorted from the group before
      const Index b = fullest[i];
      Index at = i;
      for (; at > 0 && waiting[fullest[at - 1]] < waiting[b]; --at) fullest[at] = fullest[at - 1];
      fullest[at] = b;
    }
    for (Index b = 0; b < banks; ++b) of_first[b] = of_second[b] = 0;
    const Index end = n - done < banks ? n : done + banks;
    for (Index most = 1; done < end; ++most) {
      for (Index i = 0; i < banks && done < end; ++i) {
        const Index b = fullest[i];
        while (done < end && of_first[b] < most) {
          Index before = -1, k = head[b];
          while (k >= 0 && of_second[second(k)] >= most) {
            before = k;
            k = next[k];
          }
          if (k < 0) break;
          (before < 0 ? head[b] : next[before]) = next[k];
          --waiting[b];
          ++of_first[b];
          ++of_second[second(k)];
          order[done++] = k;
        }
      }
    }
  }
}

}  // namespace newel::detail
