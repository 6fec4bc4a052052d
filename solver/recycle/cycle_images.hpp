// SPDX-License-Identifier: Apache-2.0
/// CycleImages: what the operator of a basis makes of recycled vectors, in front of that basis. Internal.
#pragma once

#include <functional>
#include <vector>

#include <newel/core/array.hpp>
#include "solver/krylov/steps/gmres_steps.hpp"
#include "solver/recycle/harmonic_ritz.hpp"
#include "solver/recycle/recycled_vectors.hpp"

namespace newel::detail {

/// C R = B U with orthonormal C, for the vectors U and the operator B of a cycle of GMRES. C precedes the basis V in
/// memory, so one pass over both makes all products of a step. `small` are the numbers of a cycle (GmresArrays).
template <class T, Space S, class B>
class CycleImages {
 public:
  using Product = std::function<void(Span<const T, S> v, Span<T, S> w)>;

  /// For cycles of at most `length` columns of n, with `room` columns in front of them.
  CycleImages(Index n, int length, int room) : n_(n), length_(length), room_(room) {}

  int room() const { return room_; }
  /// Columns of C in the present cycle.
  int held() const { return held_; }
  /// The first call allocates. Throws OutOfMemory.
  void make_room(const Context<S>& ctx);
  /// Cycles have no columns of C.
  void clear() noexcept { held_ = 0; }

  /// C and R, by a product with each vector, if these or the values have changed. `image` has length n. A vector
  /// whose image is not finite becomes zero. Waits for the stream.
  void prepare(const Context<S>& ctx, RecycledVectors<S>& U, const Product& product, B* V, Span<T, S> image);
  /// r = r - C C^T r. Returns |r|; waits for the stream.
  double project(const Context<S>& ctx, const B* V, Span<T, S> r);
  /// w = w + U s with R s = C^T r - P y, after so many columns. Waits for the stream.
  void add_vectors(const Context<S>& ctx, RecycledVectors<S>& U, Span<const double, S> small, int columns,
                   Span<T, S> w);
  /// What a cycle of so many columns has found. Waits for the stream.
  CycleRelation relation(const Context<S>& ctx, RecycledVectors<S>& U, Span<const double, S> small, const B* V,
                         int columns);
  /// Combinations of [U V], one of length n for each row, one after the other in `made`.
  void combine(const Context<S>& ctx, RecycledVectors<S>& U, const B* V, int columns, const SmallMatrix& rows,
               Span<float, S> made);

 private:
  bool add_image(const Context<S>& ctx, B* C, int column, Span<T, S> image);
  std::vector<double> vectors_part(const Context<S>& ctx, RecycledVectors<S>& U, const B* V, int columns);

  Index n_;
  int length_, room_;
  int held_ = 0;
  std::uint64_t version_ = 0;  ///< of the vectors that C and R are of; 0: none
  SmallMatrix R_;
  std::vector<int> active_;        ///< vectors that do not depend on others; the columns of the others in C are zero
  std::vector<double> projected_;  ///< C^T r of the cycle
  Array<T, S> source_;
  Array<double, S> numbers_, partial_;
  Array<MonitorState, S> running_;
};

}  // namespace newel::detail
