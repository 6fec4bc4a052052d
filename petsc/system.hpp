// SPDX-License-Identifier: Apache-2.0
/// A LinearSystem in either space, a DistributedSystem or an OffloadedSystem, behind one interface on arrays of the
/// host. Internal.
#pragma once

#include <memory>
#include <optional>

#include <newel/solver/linear_system.hpp>

#include "local_rows.hpp"
#include "options.hpp"

namespace newel::petsc {

using HostSpan = Span<double, Space::host>;
using ConstHostSpan = Span<const double, Space::host>;

/// The system of a Mat. Vectors are this process' parts.
class System {
 public:
  virtual ~System() = default;

  virtual void refresh(ConstHostSpan values) = 0;
  virtual SolveReport solve(const StopCriterion& stop, ConstHostSpan b, HostSpan x, const ProgressFn& progress,
                            InitialGuess guess) = 0;
  /// z = M r.
  virtual void precondition(ConstHostSpan r, HostSpan z) = 0;
  virtual SystemInfo info() const = 0;
};

/// All processes of `comm` call it. One process has the whole matrix and any option; several have the options of a
/// DistributedSystem, on the host or, with the device cuda, on the GPUs of their hosts.
std::unique_ptr<System> make_system(MPI_Comm comm, const c::Settings& settings, const SystemOptions& options,
                                    const LocalRows& rows);

/// The system of one process on the device that the settings name.
std::unique_ptr<System> make_device_system(const c::Settings& settings, const SystemOptions& options,
                                           const LocalRows& rows);

}  // namespace newel::petsc
