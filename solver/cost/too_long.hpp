// SPDX-License-Identifier: Apache-2.0
/// TooLong: a setup that is estimated to take longer than is allowed. Internal.
#pragma once

#include <string>

#include <newel/core/error.hpp>

namespace newel::detail {

/// Thrown by a method that is made from the matrix, if `SolverMatrix::most_seconds` does not suffice.
class TooLong : public InputError {
 public:
  /// `seconds`: the least that would have to be allowed before it is worth asking again.
  TooLong(const std::string& message, double seconds) : InputError(message), seconds_(seconds) {}
  double seconds() const { return seconds_; }

 private:
  double seconds_;
};

}  // namespace newel::detail
