// SPDX-License-Identifier: Apache-2.0
/// EnergyCorrection: the additive correction of a preconditioner by recycled vectors. Internal.
#pragma once

#include <newel/spmv/operator.hpp>
#include "solver/krylov/steps/monitor_state.hpp"
#include "solver/recycle/recycled_vectors.hpp"

namespace newel::detail {

/// z += tau W E^-1 W^T r with E = W^T A W. The factors of vectors that depend on others are zero.
template <class T, Space S>
class EnergyCorrection {
 public:
  /// For vectors of n unknowns; the first call allocates. Throws OutOfMemory.
  void make_room(const Context<S>& ctx, std::int64_t n, int most);
  /// E for the present version of W: a product for each vector, if that has changed. Waits for the stream.
  void update(const Context<S>& ctx, RecycledVectors<S>& W, const LinearOperator<T, S>& A);
  /// z += tau W E^-1 W^T r, and *rz += the product of that with r. Queued.
  void correct(const Context<S>& ctx, Span<const T, S> r, T factor, Span<T, S> z, double* rz) const;

  /// Vectors of the last `update`.
  int held() const { return held_; }
  /// Their first column.
  const float* vectors() const { return W_; }

 private:
  std::int64_t n_ = 0;
  int most_ = 0, held_ = 0;
  std::uint64_t version_ = 0;  ///< of the vectors that E is of; 0: none
  const float* W_ = nullptr;
  Array<T, S> w_, image_;
  mutable Array<double, S> small_, partial_;
  Array<MonitorState, S> running_;
};

}  // namespace newel::detail
