// SPDX-License-Identifier: Apache-2.0
/// Move: what a solve is advised to do where it stands. Internal.
#pragma once

#include <string>

namespace newel::detail {

/// The next thing to do, as a value.
struct Move {
  enum class Kind {
    inspect_values,           ///< look at the values of A for the seconds of setups, and ask again
    format,                   ///< go on in the format `to`
    stronger_preconditioner,  ///< build the preconditioner `to`, on probation
    weaker_preconditioner,    ///< return to the one before, which gained more
  };
  Kind kind = Kind::inspect_values;
  std::string to;  ///< a name of the tables
  int allowed_for_a_tenth =
      0;                      ///< iterations in which a stronger preconditioner has to bring each tenth of a residual
  double weaker_seconds = 0;  ///< of an iteration with the present preconditioner, in the format that it would get
};

}  // namespace newel::detail
