// SPDX-License-Identifier: Apache-2.0
// The steps of CG as sweeps over vectors.
#include "solver/krylov/monitor/cg_iteration.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/cg_steps.hpp"

namespace newel::detail {
namespace {

CgState fresh_state(const MonitorState& monitor, bool preconditioned) {
  CgState state{};
  state.monitor = monitor;
  state.rho_old = std::numeric_limits<double>::infinity();
  state.preconditioned = preconditioned;
  return state;
}

}  // namespace

template <class T, Space S>
CgIteration<T, S>::CgIteration(const Context<S>& ctx, Index n)
    : r_(ctx, n), z_(ctx, n), p_(ctx, n), q_(ctx, n), state_(ctx, 1), coefficients_(ctx, most_coefficients) {}

template <class T, Space S>
double* CgIteration<T, S>::scratch() {
  return &state_.data()->scratch;
}

// One step moves, in addition to the matrix: the direction reads z, p, x and writes p, x; q = A p reads p, writes q,
// then reads both for p.q where the format cannot fuse it; the update reads q, r and writes r. Ten vectors without a
// preconditioner, twelve with one that is diagonal, whose D both steps read in the place of z. Any other adds its own
// pass, z = M r.
template <class T, Space S>
typename CgIteration<T, S>::Step CgIteration<T, S>::bind(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                                         const LinearOperator<T, S>* M, Span<T, S> x) {
  graph_.bind(ctx, A, M, x);
  const std::int64_t n = r_.size();
  const T* const d = M != nullptr ? M->diagonal().data : nullptr;
  CgState* const s = state_.data();
  CgCoefficients* const coefficients = coefficients_.data();
  const Span<T, S> r = r_, p = p_, q = q_, z = M != nullptr && d == nullptr ? z_.span() : r;
  const auto direction = [=, &ctx] {
    if (d != nullptr) return sweep(ctx, n, CgDirection<T, true>{s, d, r.data, p.data, x.data});
    sweep(ctx, n, CgDirection<T, false>{s, nullptr, z.data, p.data, x.data});
  };
  const auto update = [=, &ctx] {
    if (d != nullptr) return sweep(ctx, n, CgUpdate<T, true>{s, coefficients, d, q.data, r.data});
    sweep(ctx, n, CgUpdate<T, false>{s, coefficients, nullptr, q.data, r.data});
  };
  return [=, &ctx, &A] {
    if (z.data != r.data) M->apply_dot(ctx, r, z, &s->rz);  // z = M r, rho = r.z
    direction();                                            // x += alpha p, p = z + (rho / rho_old) p
    A.apply_dot(ctx, p, q, &s->pq);                         // q = A p, p.q
    update();                                               // r -= alpha q, |r|, with D: rho = r.D r
  };
}

template <class T, Space S>
void CgIteration<T, S>::begin(const Context<S>& ctx, const LinearOperator<T, S>* M, const MonitorState& monitor,
                              double residual) {
  CgState start = fresh_state(monitor, M != nullptr);
  start.rr = residual * residual;
  copy<CgState>(ctx, Span<const CgState, Space::host>(&start, 1), state_.span());
  fill<T, S>(ctx, T(0), p_);
  first_rho(ctx, M);
}

template <class T, Space S>
void CgIteration<T, S>::resume(const Context<S>& ctx, const LinearOperator<T, S>* M, const MonitorState& monitor,
                               double residual, const CgScalars& last) {
  CgState state = fresh_state(monitor, M != nullptr);
  state.rr = residual * residual;
  state.rho_old = last.rho;
  copy<CgState>(ctx, Span<const CgState, Space::host>(&state, 1), state_.span());
  first_rho(ctx, M);
}

// With D the first rho = r.D r; any other M leaves it when it forms z.
template <class T, Space S>
void CgIteration<T, S>::first_rho(const Context<S>& ctx, const LinearOperator<T, S>* M) {
  if (M != nullptr && !M->diagonal().empty()) M->apply_dot(ctx, r_, q_, &state_.data()->rz);
}

template <class T, Space S>
void CgIteration<T, S>::finish(const Context<S>& ctx, Span<T, S> x) {
  sweep(ctx, r_.size(), CgLastStep<T>{state_.data(), p_.data(), x.data});
}

template <class T, Space S>
CgScalars CgIteration<T, S>::pause(const Context<S>& ctx) {
  CgState* const s = state_.data();
  const CgScalars last{fetch(ctx, static_cast<const double*>(&s->rho_old)),
                       fetch(ctx, static_cast<const double*>(&s->alpha))};
  const double none = 0;
  copy<double>(ctx, Span<const double, Space::host>(&none, 1), Span<double, S>(&s->alpha, 1));
  return last;
}

template <class T, Space S>
void CgIteration<T, S>::iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                Span<const T, S> b, Span<T, S> x, int count) {
  if (count == 0) return;
  ctx.make_current();
  const Step step = bind(ctx, A, M, x);
  MonitorState monitor{};
  monitor.growth_limit = std::numeric_limits<double>::infinity();
  monitor.max_iterations = count;

  copy<T>(ctx, b, r_.span());
  A.apply(ctx, T(-1), Span<const T, S>(x), T(1), r_);  // r = b - A x
  sweep(ctx, r_.size(), CgStart<T>{fresh_state(monitor, M != nullptr), state_.data(), r_.data()});
  fill<T, S>(ctx, T(0), p_);
  first_rho(ctx, M);
  repeat(count, step);
  finish(ctx, x);
}

template <class T, Space S>
void return_to_best(CgIteration<T, S>& cg, const SolveRequest<T, S>& system, ConvergenceMonitor<T, S>& convergence,
                    Span<const T, S> start, const CgHistory& recurrence) {
  const auto& [ctx, A, M, b, x, stop, progress, guess, exchange] = system;
  const std::vector<double>& history = convergence.report().history;
  const auto first = history.begin() + recurrence.begin;
  const auto last = recurrence.end < 0 ? history.end() : history.begin() + recurrence.end + 1;
  const auto best = std::min_element(first, last);
  copy<T>(ctx, start, x);
  cg.iterate(ctx, A, M, b, x, static_cast<int>(best - first));
  if (convergence.form_residual(cg.r()) || convergence.residual() <= *first) return;
  copy<T>(ctx, start, x);
  convergence.form_residual(cg.r());
}

#define X(T, S)                                                                                            \
  template class CgIteration<T, S>;                                                                        \
  template void return_to_best(CgIteration<T, S>&, const SolveRequest<T, S>&, ConvergenceMonitor<T, S>&, \
                               Span<const T, S>, const CgHistory&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
