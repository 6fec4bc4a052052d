// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method.
#include <purlin/solver/cg.hpp>

#include <purlin/core/instantiate.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/journal.hpp>

namespace purlin {

using namespace detail;

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n) : r_(ctx, n), z_(ctx, n), p_(ctx, n), q_(ctx, n), state_(ctx, 1) {}

// One iteration moves, beside the matrix: z = M r reads r and D, writes z (Jacobi); p reads z and p, writes p; q = A
// p reads p, writes q, then reads both for p.q where the format cannot fuse it; the update reads p, q, x, r and
// writes x, r. Fourteen vectors with Jacobi, eleven without a preconditioner.
template <class T, Space S>
SolveReport Cg<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                            Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress) {
  const std::int64_t n = r_.size();
  CgState* const s = state_.data();
  const Span<T, S> r = r_, p = p_, q = q_, z = M != nullptr ? z_.span() : r;
  Journal<T, S> journal(name(), n, {ctx, A, M, b, x, stop, progress}, &s->scratch);

  bool more = journal.open(r);  // r = b - A x
  while (more) {
    CgState start{};
    start.monitor = journal.fresh_monitor();
    start.rr = journal.residual() * journal.residual();
    start.preconditioned = M != nullptr;
    start.first = true;
    copy<CgState>(ctx, Span<const CgState, Space::host>(&start, 1), state_.span());
    do {
      for (int k = 0; k < journal.check_every(); ++k) {
        if (M != nullptr) M->apply_dot(ctx, Span<const T, S>(r), z, &s->rz);  // z = M r, rho = r.z
        sweep(ctx, n, CgDirection<T>{s, z.data, p.data});                     // p = z + (rho / rho_old) p
        A.apply_dot(ctx, Span<const T, S>(p), q, &s->pq);                     // q = A p, p.q
        sweep(ctx, n, CgUpdate<T>{s, p.data, q.data, x.data, r.data});        // x += alpha p, r -= alpha q, |r|
      }
    } while (journal.look(&s->monitor));
    journal.conclude(journal.event());
    more = journal.event() == Event::tolerance_met && !journal.confirm(r, q);  // r = b - A x
  }
  return journal.close(r);
}

#define X(T, S) template class Cg<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
