// SPDX-License-Identifier: Apache-2.0
/// A LinearSystem of either space and precision behind one interface that takes untyped pointers. Internal.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "matrix_pointers.hpp"
#include "settings.hpp"

namespace newel::c {

class System {
 public:
  virtual ~System() = default;
  virtual Index rows() const = 0;
  /// Throws InputError if no solve can have so many columns.
  virtual void require_columns(std::int64_t columns) const {
    if (columns < 1 || columns > std::numeric_limits<Index>::max()) throw InputError("columns: expected at least 1");
  }
  virtual void refresh(const void* values, RefreshScope scope) = 0;
  virtual void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) = 0;
  virtual std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b,
                                         void* x, const ProgressFn& progress) = 0;
  virtual void multiply(const void* x, void* y) = 0;
  virtual SystemInfo info() const = 0;
  virtual SystemDecision decision() const = 0;
  /// How values travel between the devices that share the rows; empty: none do.
  virtual std::string link() const { return ""; }
};

/// Throws what a LinearSystem throws. Where the settings name devices, what the functions below make.
std::unique_ptr<System> make_system(const Settings& settings, const MatrixPointers& matrix);

/// A system on the device `settings.device`. Defined only with CUDA on.
std::unique_ptr<System> make_device_system(const Settings& settings, const MatrixPointers& matrix);

/// A system that `settings.devices` share. Defined only with CUDA on.
std::unique_ptr<System> make_team_system(const Settings& settings, const MatrixPointers& matrix);

}  // namespace newel::c
