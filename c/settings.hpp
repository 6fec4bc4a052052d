// SPDX-License-Identifier: Apache-2.0
/// The options of the C interface, which come as two texts, as the structs of the library. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

namespace newel::c {

struct Settings {
  SystemOptions options;
  bool single = false;
  bool complex = false;  ///< values; real and imaginary parts lie next to each other
  int threads = 0;
  std::optional<int> device;      ///< its number; none: the host
  std::vector<int> devices;       ///< that share a system; used if there are several
  CUstream_st* stream = nullptr;  ///< of the caller's; null: one of the system's own
  int index_base = 0;
  std::optional<Triangle> half;
  double expected_solves = 0;
  InitialGuess guess = InitialGuess::in_x;  ///< of every solve

  /// Throws InputError that lists what there is.
  void set(const std::string& name, const std::string& value);

  /// The options for a matrix of that size.
  SystemOptions options_for(Index rows, int block) const;
};

}  // namespace newel::c
