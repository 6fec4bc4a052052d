// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method.
#include <purlin/solver/cg.hpp>

#include <limits>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/journal.hpp>

namespace purlin {

using namespace detail;

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n) : r_(ctx, n), z_(ctx, n), p_(ctx, n), q_(ctx, n), state_(ctx, 1) {}

// One iteration moves, beside the matrix: the direction reads z, p, x and writes p, x; q = A p reads p, writes q,
// then reads both for p.q where the format cannot fuse it; the update reads q, r and writes r. Ten vectors without a
// preconditioner, twelve with one that is diagonal, whose D both steps read in the place of z. Any other adds its own
// pass, z = M r.
template <class T, Space S>
SolveReport Cg<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                            Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress) {
  const std::int64_t n = r_.size();
  const bool preconditioned = M != nullptr;
  const T* const d = preconditioned ? M->diagonal().data : nullptr;
  CgState* const s = state_.data();
  const Span<T, S> r = r_, p = p_, q = q_, z = preconditioned && d == nullptr ? z_.span() : r;
  const auto direction = [&] {
    if (d != nullptr) return sweep(ctx, n, CgDirection<T, true>{s, d, r.data, p.data, x.data});
    sweep(ctx, n, CgDirection<T, false>{s, nullptr, z.data, p.data, x.data});
  };
  const auto update = [&] {
    if (d != nullptr) return sweep(ctx, n, CgUpdate<T, true>{s, d, q.data, r.data});
    sweep(ctx, n, CgUpdate<T, false>{s, nullptr, q.data, r.data});
  };
  Journal<T, S> journal(name(), n, {ctx, A, M, b, x, stop, progress}, &s->scratch, last_iterations_);

  bool more = journal.open(r);  // r = b - A x
  while (more) {
    CgState start{};
    start.monitor = journal.fresh_monitor();
    start.rr = journal.residual() * journal.residual();
    start.rho_old = std::numeric_limits<double>::infinity();
    start.preconditioned = preconditioned;
    copy<CgState>(ctx, Span<const CgState, Space::host>(&start, 1), state_.span());
    fill<T, S>(ctx, T(0), p);
    if (d != nullptr) M->apply_dot(ctx, r, q, &s->rz);  // the first rho = r.D r
    do {
      for (int k = 0; k < journal.check_every(); ++k) {
        if (z.data != r.data) M->apply_dot(ctx, r, z, &s->rz);  // z = M r, rho = r.z
        direction();                                            // x += alpha p, p = z + (rho / rho_old) p
        A.apply_dot(ctx, p, q, &s->pq);                         // q = A p, p.q
        update();                                               // r -= alpha q, |r|, with D: rho = r.D r
      }
    } while (journal.look(&s->monitor));
    sweep(ctx, n, CgLastStep<T>{s, p.data, x.data});  // x += alpha p
    journal.conclude(journal.event());
    more = journal.event() == Event::tolerance_met && !journal.confirm(r, q);  // r = b - A x
  }
  last_iterations_ = journal.iterations();
  return journal.close(r);
}

#define X(T, S) template class Cg<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
