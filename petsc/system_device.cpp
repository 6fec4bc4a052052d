// SPDX-License-Identifier: Apache-2.0
// The system of one process on a device.
#include "whole_system.hpp"

namespace newel::petsc {

std::unique_ptr<System> make_device_system(const c::Settings& settings, const SystemOptions& options,
                                           const LocalRows& rows) {
  const KeptDevice kept;
  if (settings.threads != 0) {
    throw InputError(
        "threads: a setup on a device takes as many threads of the host as OMP_NUM_THREADS says, or all");
  }
  return std::make_unique<WholeSystem<Space::device>>(Context<Space::device>(*settings.device), options, rows);
}

}  // namespace newel::petsc
