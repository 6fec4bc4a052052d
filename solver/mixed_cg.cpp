// SPDX-License-Identifier: Apache-2.0
// CG in single precision for a system in double.
#include <algorithm>
#include <limits>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/journal.hpp>
#include <purlin/solver/mixed_doubt.hpp>
#include <purlin/solver/mixed_solvers.hpp>
#include <purlin/solver/mixed_steps.hpp>
#include <purlin/solver/symmetry.hpp>

namespace purlin::detail {

template <Space S>
MixedCg<S>::MixedCg(const Context<S>& ctx, LowSystem<S> low)
    : low_(low), cg_(ctx, low.A.rows(), false), d_(ctx, low.A.rows()), r_(ctx, low.A.rows()) {}

// An iteration is one of Cg in single precision, half its bytes; for each digit of the residual come a product in
// double and eight passes.
template <Space S>
SolveReport MixedCg<S>::solve(const Context<S>& ctx, const LinearOperator<double, S>& A,
                              const LinearOperator<double, S>*, Span<const double, S> b, Span<double, S> x,
                              const StopCriterion& stop, const ProgressFn& progress) {
  constexpr double reduction = 0.1;
  const std::int64_t n = r_.size();
  CgState* const s = cg_.state_.data();
  const SolveArguments<double, S> system{ctx, A, nullptr, b, x, stop, progress};
  Journal<double, S> journal(name(), n, system, &s->scratch, last_iterations_);

  journal.watch_growth(first_growth, most_growth<float>,
                       [&] { return symmetry_fault<float, S>(ctx, low_.A, low_.M); });

  journal.report().method = cg_.name();
  bool more = journal.open(r_.span());  // r = b - A x
  const double unit = power_of_two_below(journal.residual());
  const std::function<void()> step = cg_.iteration(ctx, low_.A, low_.M, d_.span());
  if (more) {
    cg_.graph_.bind(ctx, low_.A, low_.M, d_.span());
    fill<float, S>(ctx, 0, cg_.p_.span());
  }
  Doubt doubt;
  for (bool first = true; more; first = false) {
    const double before = journal.residual();
    Monitor monitor = journal.fresh_monitor();
    monitor.tolerance = std::max(reduction * before, journal.tolerance()) / unit;
    monitor.growth_limit /= unit;
    monitor.residual = before / unit;
    sweep(ctx, n,
          MixedReplace{monitor, first, low_.M != nullptr, std::numeric_limits<double>::infinity(), 1 / unit,
                       r_.data(), cg_.r_.data(), d_.data(), s});
    cg_.first_rho(ctx, low_.M);
    do {
      cg_.graph_.repeat(journal.check_every(), step);
    } while (look(ctx, journal, unit));
    cg_.finish(ctx, d_.span());
    const double recurrence = journal.report().recurrence_residual;
    sweep(ctx, n, AddCorrection(d_.data(), x.data, low_.scale * unit));
    if (journal.form_residual(r_)) {  // r = b - A x
      journal.conclude(Status::converged, "");
      break;
    }
    doubt.note(before, recurrence, journal.residual());
    if (!(journal.residual() <= before)) {
      sweep(ctx, n, AddCorrection(d_.data(), x.data, -low_.scale * unit));
      journal.form_residual(r_);
    }
    if (journal.interrupted()) {
      journal.conclude(Event::none);
    } else if (journal.event() == Event::iterations_spent) {
      journal.conclude(Event::iterations_spent);
    } else if (journal.event() == Event::diverged) {
      journal.conclude(Event::diverged);
    } else if (journal.event() != Event::tolerance_met) {
      journal.conclude(Status::breakdown, "CG broke down in single precision");
    } else if (doubt.settled()) {
      journal.conclude(Status::stagnation, Doubt::reason);
    } else {
      ++journal.report().refinements;
      continue;
    }
    break;
  }
  last_iterations_ = journal.iterations();
  return journal.close(r_);
}

// Growth that is no divergence is allowed for in S too.
template <Space S>
bool MixedCg<S>::look(const Context<S>& ctx, Journal<double, S>& journal, double unit) {
  Monitor* const there = &cg_.state_.data()->monitor;
  Monitor seen = fetch(ctx, static_cast<const Monitor*>(there));
  const Event event = seen.event;
  const bool more = journal.look(seen, unit);
  if (seen.event != event) copy<Monitor>(ctx, Span<const Monitor, Space::host>(&seen, 1), Span<Monitor, S>(there, 1));
  return more;
}

#define X(S) template class MixedCg<S>;
PURLIN_FOR_SPACES(X)
#undef X

}  // namespace purlin::detail
