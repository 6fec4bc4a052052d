// SPDX-License-Identifier: Apache-2.0
/// ColumnProgress: one caller's callback for the solves of many columns. Internal.
#pragma once

#include <utility>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// Passes the column to the callback, and stops every column once the callback has returned false.
class ColumnProgress {
 public:
  ColumnProgress(const ProgressFn& progress, Index columns) : progress_(progress), columns_(columns) {}
  ColumnProgress(const ColumnProgress&) = delete;
  ColumnProgress& operator=(const ColumnProgress&) = delete;

  /// What the solve of `column` is handed; empty where the caller gave none. Valid as long as this object.
  ProgressFn of(Index column) {
    if (!progress_) return {};
    return [this, column](const Progress& now) { return report(now, column); };
  }

  /// The callback has returned false.
  bool stopped() const { return stopped_; }

 private:
  bool report(Progress now, Index column) {
    now.column = column;
    now.columns = columns_;
    if (!stopped_) stopped_ = !progress_(now);
    return !stopped_;
  }

  const ProgressFn& progress_;
  Index columns_;
  bool stopped_ = false;
};

}  // namespace newel::detail
