// SPDX-License-Identifier: Apache-2.0
/// OwnProgress: a callback by which the library itself watches a solve. Internal.
#pragma once

#include <utility>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// What the library asks about a solve, around a caller's callback if there is one. `is_watched` tells the two apart:
/// for itself the library need not be asked often.
class OwnProgress {
 public:
  OwnProgress(ProgressFn ask, bool watched) : ask_(std::move(ask)), watched_(watched) {}
  bool operator()(const Progress& now) const { return ask_(now); }
  bool watched() const { return watched_; }

 private:
  ProgressFn ask_;
  bool watched_;
};

/// Whether a caller of the library watches the solve.
inline bool is_watched(const ProgressFn& progress) {
  const auto* const own = progress.target<OwnProgress>();
  return own != nullptr ? own->watched() : static_cast<bool>(progress);
}

}  // namespace newel::detail
