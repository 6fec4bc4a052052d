// SPDX-License-Identifier: Apache-2.0
/// EquivalentSystem: A x = b solved through another system B y = c. Internal.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <newel/solver/linear_system.hpp>
#include "solver/chain/returned_x.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

/// What is asked of x in the units of A x = b.
struct ResidualUnits {
  double rhs_norm = 0, tolerance = 0;  ///< of b
  double initial_residual = 0;         ///< |b - A x0|
  double relative = 0;                 ///< the tolerance divided by |b|
  int row_shift = 0;
  double row_norm = 0;      ///< 2^-row_shift |E b|; 0: rows are not judged
  double row_relative = 0;  ///< the tolerance of the rows divided by |E b|
};

template <class T, Space S>
class EquivalentSolve;

/// What its solves work with.
template <class T, Space S>
struct EquivalentVectors {
  Array<T, S> c, y;              ///< of B
  Array<T, S> best, correction;  ///< of the length of x
  ReturnedResidual<T, S> judge;
};

/// A, b and x become B, c and y; the system of B is an ordinary one. EquivalentSolve solves through it.
template <class T, Space S>
class EquivalentSystem {
 public:
  virtual ~EquivalentSystem() = default;
  EquivalentSystem(const EquivalentSystem&) = delete;
  EquivalentSystem& operator=(const EquivalentSystem&) = delete;

  /// New values of the pattern of A.
  virtual void refresh(const CsrView<T, S>& a, RefreshScope scope) = 0;
  /// Of all nodes of the caller's.
  virtual void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) = 0;
  /// What solves use, and how B was made of A.
  virtual SystemInfo info() const = 0;
  virtual SystemDecision decision() const = 0;

  LinearSystem<T, S>& inner() { return *inner_; }
  const LinearSystem<T, S>& inner() const { return *inner_; }

  /// c = 2^-shift times the right-hand side of B for the right-hand side v of A; the shift.
  virtual int carry_rhs(Span<const T, S> v, Span<T, S> c) = 0;
  /// y of a guess x.
  virtual void carry_guess(int shift, Span<const T, S> x, Span<T, S> y) = 0;
  /// x of the solution y for that right-hand side.
  virtual void carry_back(int shift, Span<const T, S> v, Span<const T, S> y, Span<T, S> x) = 0;
  /// Whether a residual of B is one of A.
  virtual bool same_units() const = 0;
  /// The norm of the scaled rows of v; with `of_rhs` in units that it sets. 0: rows are not judged.
  virtual double row_norm(ResidualUnits& units, Span<const T, S> v, bool of_rhs) = 0;
  /// Rows that a report of B names.
  virtual void name_rows(SolveReport& report) const = 0;

  /// The largest number where the norm of a finite v is beyond the range.
  double norm_of(Span<const T, S> v);

 protected:
  /// Of A with so many rows; `set_inner` follows.
  EquivalentSystem(const Context<S>& ctx, Index rows);
  void set_inner(const CsrView<T, S>& B, SystemOptions options);

  Context<S> ctx_;
  std::optional<LinearSystem<T, S>> inner_;
  Array<T, S> work_;  ///< of the length of x
  Array<double, S> scratch_;

 private:
  friend class EquivalentSolve<T, S>;
  EquivalentVectors<T, S> vectors_;
};

}  // namespace newel::detail
