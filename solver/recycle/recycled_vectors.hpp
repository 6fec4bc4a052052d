// SPDX-License-Identifier: Apache-2.0
/// RecycledVectors: the vectors W that a sequence of solves deflates, and the small matrix that belongs to them.
/// Internal.
#pragma once

#include <newel/core/array.hpp>
#include <newel/spmv/operator.hpp>
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// z += tau W E^-1 W^T r with E = W^T A W. The factors of vectors that depend on others are zero.
template <class T, Space S>
class RecycledVectors {
 public:
  explicit RecycledVectors(int most = 0) : most_(most) {}

  int most() const { return most_; }
  int held() const { return held_; }
  /// Where the next vectors go, and how many fit there: behind those that are held, or over the oldest.
  int place() const { return next_ == most_ ? 0 : next_; }
  int room(int wanted) const { return wanted < most_ - place() ? wanted : most_ - place(); }
  Span<float, S> vector(int j) { return {W_.data() + j * n_, n_}; }

  /// Room for vectors of n unknowns; the first call allocates. Throws OutOfMemory.
  void make_room(const Context<S>& ctx, std::int64_t n);
  /// So many have been written to `place()`; `largest` is the largest eigenvalue that is known of M A.
  void added(int count, double largest);
  void forget();
  /// A has other values.
  void values_changed() { current_ = false; }
  /// E for the present values of A: a product for each vector, if anything has changed. Waits for the stream.
  void update(const Context<S>& ctx, const LinearOperator<T, S>& A);
  /// z += tau W E^-1 W^T r, and *rz += the product of that with r. Queued.
  void correct(const Context<S>& ctx, Span<const T, S> r, T factor, Span<T, S> z, double* rz) const;

  /// Products with A so far.
  std::int64_t products() const { return products_; }

  /// What another run needs besides the vectors.
  struct State {
    int held = 0, next = 0;
    double tau = 0;
    bool current = false;  ///< E has been made, for the present values of A
  };
  State state() const { return {held_, next_, tau_, current_}; }
  void begin_state(const Context<S>& ctx, std::int64_t n, const State& state);

 private:
  int most_;
  std::int64_t n_ = 0;
  int held_ = 0, next_ = 0;
  double tau_ = 0;
  bool current_ = false;  ///< E is of the present W and A
  bool counted_ = false;  ///< its products are among those of the run that a state came from
  std::int64_t products_ = 0;
  Array<float, S> W_;
  Array<T, S> w_, image_;
  mutable Array<double, S> small_, partial_;
  Array<MonitorState, S> running_;
};

}  // namespace newel::detail
