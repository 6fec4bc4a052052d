// SPDX-License-Identifier: Apache-2.0
/// The constants of guesses from past solutions and of recycled vectors, whatever the machine. Internal.
#pragma once

namespace newel::detail {

/// What a guess takes beside its products: assumed, not fitted.
struct GuessWork {
  static constexpr int launches = 10, waits = 3;                  ///< of small kernels; for their results
  static constexpr int passes_a_vector = 4, other_passes = 12;    ///< over vectors
  static constexpr double launch_seconds = 3e-6;                  ///< on a device
  static constexpr double device_wait = 15e-6, host_wait = 1e-6;  ///< seconds
  static constexpr double unknown_product = 10;  ///< vectors that an operator of unknown entries moves
};

/// What recycled vectors add to an iteration: counted, not fitted. CG reads them in single precision, and its own
/// vectors besides; GMRES reads their images with its basis.
struct RecycleWork {
  static constexpr int launches = 5;         ///< of kernels, by CG
  static constexpr int passes_a_vector = 2;  ///< over a recycled vector
  static constexpr int other_passes = 6;     ///< over vectors of CG
};

}  // namespace newel::detail
