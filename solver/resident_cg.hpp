// SPDX-License-Identifier: Apache-2.0
/// ResidentCg: a solve by conjugate gradients as one kernel whose blocks keep their part of the system on the chip.
/// Internal; on a device only.
#pragma once

#include <cstddef>
#include <cstdint>

#include <purlin/solver/journal.hpp>
#include <purlin/spmv/ehyb/ehyb.hpp>

namespace purlin::detail {

/// The scalars that one launch hands to the host, and by it to the next.
struct ResidentState {
  double tolerance;
  double residual;  ///< after so many iterations
  int iteration;
  int max_iterations;
  Event event;
  bool undecided;           ///< p.A p came out at or below 0, but no farther than rounding takes it
  bool started;             ///< false: norms out of range; x is as it was
  double rhs_norm;          ///< |b|
  double initial_residual;  ///< |b - A x| of the guess
  double true_residual;     ///< the same of the result, where the tolerance was met
  double rho;               ///< r.M r of the last step
  double alpha;             ///< and its length
};

/// What a launch leaves.
struct ResidentLog {
  static constexpr int most_iterations = 256;

  ResidentState state;
  double residual[most_iterations];  ///< after each iteration of the launch
};

/// How a resident solve ends.
enum class ResidentEnd {
  told,                  ///< the journal has said its last word
  rest_is_for_the_loop,  ///< the usual loop is to go on from x, with r = b - A x; the journal is open
};

/// What one launch is told.
template <class T>
struct ResidentTask {
  Span<const T, Space::device> b, d;  ///< d: the diagonal of M, or empty
  Span<T, Space::device> x;
  T *r, *p, *s;  ///< kept from launch to launch
  double rel_tol, abs_tol;
  int iterations;  ///< of this launch, at most
};

/// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25 (1989),
/// their CG with s = 1: the dot products r.M r and (M r).A M r stand beside each other, so that the machine meets
/// once an iteration. In exact arithmetic it is the usual CG, iterate by iterate.
///
/// One block of threads has one part of an EHYB matrix. Its rows of all vectors lie in shared memory, and of r, s = A
/// p and M r also what its halo needs: each block repeats for its halo what the owners do for their rows, so that
/// only w = A M r is exchanged, in the same step as the sums. Where the part's numbers and columns fit too, they stay
/// there. Needs every part of the matrix to be at work at the same time, one a multiprocessor, without extra rows.
template <class T>
class ResidentCg {
 public:
  /// For A and M, which may turn out not to admit it.
  ResidentCg(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
             const LinearOperator<T, Space::device>* M);

  bool fits() const { return fits_; }

  /// Whether it was made for these.
  bool serves(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
              const LinearOperator<T, Space::device>* M) const;

  /// Solves and tells the journal. Where the card does not take the launch, all is left to the loop, now and later.
  ResidentEnd solve(const SolveArguments<T, Space::device>& system, Journal<T, Space::device>& journal,
                    Span<T, Space::device> r, Span<T, Space::device> p, Span<T, Space::device> s);

 private:
  bool plan(const Context<Space::device>& ctx);
  void mark_boundary(const Context<Space::device>& ctx);
  bool launch(const Context<Space::device>& ctx, const ResidentTask<T>& task, bool first);

  std::uint64_t matrix_;  // A's serial number
  const void* context_;   // its state
  EhybView<T> view_{};
  bool scaled_, diagonal_, fits_ = false;
  bool matrix_on_chip_ = false;
  std::size_t shared_bytes_ = 0;
  // The last meeting at most: as many as a launch may have are counted. When the count begins anew, after hours, the
  // words that carry the same number have long been written over.
  unsigned epoch_ = 0;
  Array<unsigned char, Space::device> marked_;  // a node: whether another part reads it
  Array<std::uint64_t, Space::device> posted_;  // what blocks tell each other
};

}  // namespace purlin::detail
