// SPDX-License-Identifier: Apache-2.0
// On the host a pass over a level costs nothing but its work: levels stay as they are.
#include <purlin/precond/amg/coarse_cycle.hpp>

namespace purlin::detail {

template <class T>
std::unique_ptr<CoarseCycle<T, Space::host>> make_coarse_cycle(const HostContext&, const AmgHierarchy<Space::host>&,
                                                               std::size_t, int) {
  return nullptr;
}

#define X(T)                                                               \
  template std::unique_ptr<CoarseCycle<T, Space::host>> make_coarse_cycle( \
      const HostContext&, const AmgHierarchy<Space::host>&, std::size_t, int);
X(double)
X(float)
#undef X

}  // namespace purlin::detail
