// SPDX-License-Identifier: Apache-2.0
/// Deflation: what a Krylov method does with recycled vectors, and how it finds them. Internal.
#pragma once

#include <newel/solver/krylov.hpp>
#include "solver/recycle/recycle_policy.hpp"
#include "solver/recycle/recycled_vectors.hpp"

namespace newel::detail {

/// Eigenvalues above this part of the largest are not worth deflating.
inline constexpr double small_part = 0.3;

/// Of a solve that harvests.
struct Harvest {
  int vectors = 0;
  bool complete = false;  ///< there is room for no more
  bool refined = false;   ///< they are better ones in place of as many
};

/// A member of the method, from `begin` to `end` at work in its solves.
template <class T, Space S>
class Deflation {
 public:
  Deflation() = default;
  Deflation(const Deflation&) = delete;
  Deflation& operator=(const Deflation&) = delete;
  virtual ~Deflation() = default;

  virtual RecycledKind kind() const = 0;
  /// Before a solve. The first call allocates. Throws OutOfMemory.
  virtual void begin(const SolveRequest<T, S>& request, RecycledVectors<S>& vectors, RecyclePolicy::Use use) = 0;
  /// What that solve has for its M; null: none.
  virtual const LinearOperator<T, S>* preconditioner() const = 0;
  /// After one that harvests: the vectors are there.
  virtual Harvest finish(const Context<S>& ctx) = 0;
  /// Solves are plain again.
  virtual void end() noexcept = 0;
  /// Vectors that the solve deflates, as it is now.
  virtual int deflated() const = 0;
  /// Whether the plain solve before began in one kernel that keeps its vectors on the chip of a device.
  virtual bool was_in_one_kernel() const { return false; }
  /// Whether it may turn to vectors in the middle of a plain solve.
  virtual bool assists() const { return false; }
};

}  // namespace newel::detail
