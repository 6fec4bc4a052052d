// SPDX-License-Identifier: Apache-2.0
/// CycleDeflation: recycled vectors in the cycles of GMRES, taken from their Hessenberg matrices. Internal.
#pragma once

#include <newel/core/array.hpp>
#include "solver/recycle/cycle_images.hpp"
#include "solver/recycle/deflation.hpp"

namespace newel::detail {

/// GCRO-DR (M. Parks, E. de Sturler, G. Mackey, D. Johnson, S. Maiti, "Recycling Krylov subspaces for sequences of
/// linear systems", SIAM J. Sci. Comput. 28 (2006), section 3). With B = A M, or M A from the left, and k vectors U,
/// C R = B U with orthonormal C. A cycle begins with (I - C C^T) r, and its products are made orthogonal to C as well
/// as to V; so B V_p = C P + V_{p+1} H. The least squares problem remains that of H. Its y gives x += M (V y + U s)
/// with R s = C^T r - P y, which costs one combination in a cycle.
///
/// A solve that harvests replaces U by harmonic Ritz vectors of [U V] after each cycle, and of V if it deflates none
/// (then only after a cycle that is as long as those before). B U is always computed, never combined, so U may be
/// rounded to single precision, and whatever is in U, the residual is that of x. A plain solve, which shows what
/// vectors save, turns to those that there are after ten cycles, and if it would stagnate.
template <class T, Space S, class B>
class CycleDeflation final : public Deflation<T, S> {
 public:
  using Product = typename CycleImages<T, S, B>::Product;

  /// For cycles of at most `length` columns of n, with `room` columns in front of them.
  CycleDeflation(Index n, int length, int room) : n_(n), images_(n, length, room) {}

  int room() const { return images_.room(); }
  /// Whether the present solve needs the numbers of its cycles.
  bool works() const { return vectors_ != nullptr; }

  RecycledKind kind() const override { return RecycledKind::cycles; }
  void begin(const SolveRequest<T, S>& request, RecycledVectors<S>& vectors, RecyclePolicy::Use use) override;
  const LinearOperator<T, S>* preconditioner() const override { return M_; }
  Harvest finish(const Context<S>& ctx) override;
  void end() noexcept override;
  /// Columns of C in the present cycle.
  int deflated() const override { return images_.held(); }
  bool assists() const override { return room() > 0; }

  /// In the middle of a solve that deflates none: later cycles leave out the vectors that there are. False if there
  /// are none, or they are left out already.
  bool assist();

  /// Before a cycle: C and R = B U, by a product with each vector, if these or the values have changed. `image` has
  /// length n. Waits for the stream.
  void prepare(const Context<S>& ctx, const Product& product, B* V, Span<T, S> image);
  /// r = r - C C^T r. Returns |r|; waits for the stream.
  double project(const Context<S>& ctx, const B* V, Span<T, S> r);
  /// w = w + U s after so many columns, whose numbers are in `small`. Waits for the stream.
  void add_vectors(const Context<S>& ctx, Span<const double, S> small, int columns, Span<T, S> w);
  /// Replaces U if the solve harvests. Waits for the stream.
  void harvest(const Context<S>& ctx, Span<const double, S> small, const B* V, int columns);

 private:
  Index n_;
  CycleImages<T, S, B> images_;
  Array<float, S> others_;  ///< that will replace the vectors
  RecycledVectors<S>* vectors_ = nullptr;
  const LinearOperator<T, S>* M_ = nullptr;
  RecyclePolicy::Use use_{};
  int cycles_ = 0;                                ///< of this solve
  int longest_ = 0, before_ = 0, harvested_ = 0;  ///< columns; vectors before it, and of its last harvest
};

}  // namespace newel::detail
