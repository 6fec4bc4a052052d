// SPDX-License-Identifier: Apache-2.0
/// Move: what a solve is advised to do where it stands. Internal.
#pragma once

#include <string>
#include <utility>

namespace newel::detail {

/// The next thing to do, as a value.
struct Move {
  enum class Kind {
    inspect_values,           ///< look at the values of A for the seconds of setups, and ask again
    format,                   ///< go on in the format `to`
    stronger_preconditioner,  ///< build the preconditioner `to`, on probation
    weaker_preconditioner,    ///< return to the one before, which gained more
  };

  explicit Move(Kind what, std::string name = {}, int allowed = 0, double seconds = 0)
      : kind(what), to(std::move(name)), allowed_for_a_tenth(allowed), weaker_seconds(seconds) {}

  Kind kind;
  std::string to;  ///< a name of the tables
  /// Iterations in which a stronger preconditioner has to bring each tenth of a residual.
  int allowed_for_a_tenth;
  /// Of an iteration with the present preconditioner, in the format that it would get.
  double weaker_seconds;
};

}  // namespace newel::detail
