// SPDX-License-Identifier: Apache-2.0
/// The system of a Mat, which follows the Mat: nothing, new values, or a new setup. Internal.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "facts.hpp"
#include "system.hpp"

namespace newel::petsc {

/// What a system is set up with, besides the Mat.
struct Request {
  const c::Settings& settings;                         ///< solver, format, device, ...
  const PrecondOptions& precond;                       ///< instead of that of the settings
  std::shared_ptr<const NodeCoordinates> coordinates;  ///< of this process' nodes; null: unknown
  std::string key;                                     ///< another key needs a new setup
};

/// Keeps a system as long as the Mat is the same object with the same pattern (MatGetNonzeroState), null spaces and
/// options. Then new values, by the Mat's state, are a refresh.
class SystemOfMat {
 public:
  /// All processes of `a` call it.
  void update(Mat a, const Request& request);

  /// Calls use(system), after `update`. What it throws ends the system: ranks cannot communicate any more after that.
  template <class Use>
  auto keeping(Use&& use) {
    try {
      return use(*system_);
    } catch (...) {
      system_.reset();
      throw;
    }
  }
  const System& system() const { return *system_; }
  bool made() const { return system_ != nullptr; }
  /// The null space that Newel does not know, of the last update; null: none.
  MatNullSpace other_null_space() const { return other_; }

  int setups() const { return setups_; }
  int refreshes() const { return refreshes_; }

 private:
  // What has been seen of the Mat.
  struct Seen {
    std::array<PetscObjectId, 3> identity = {};
    PetscObjectState pattern = 0, values = 0;
    std::string key;
  };
  enum class Work { nothing, refresh, setup };

  Work work_for(Mat a, const Seen& now) const;
  void set_up(Mat a, const Request& request);

  std::unique_ptr<System> system_;
  Seen seen_;
  MatNullSpace other_ = nullptr;
  int setups_ = 0, refreshes_ = 0;
};

}  // namespace newel::petsc
