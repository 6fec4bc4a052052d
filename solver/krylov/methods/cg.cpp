// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method: Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1.
#include <newel/solver/cg.hpp>

#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/cg_iteration.hpp"
#include "solver/krylov/methods/recurrence.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/krylov/resident/resident_cg.hpp"
#include "solver/krylov/steps/published_direction.hpp"
#include "solver/recycle/energy_deflation.hpp"
#include "solver/recycle/recycling.hpp"
#include "spmv/resident_view.hpp"

namespace newel {
namespace detail {
namespace {

CgState fresh_state(const MonitorState& monitor, bool preconditioned) {
  CgState state{};
  state.monitor = monitor;
  state.rho_old = std::numeric_limits<double>::infinity();
  state.preconditioned = preconditioned;
  return state;
}

// The next p, q = A p and p.q. `published`: products of A with a p that is sent while it is made; null: there are
// none.
template <class T, Space S, bool diagonal>
void multiply_direction(const Context<S>& ctx, const LinearOperator<T, S>& A,
                        [[maybe_unused]] const PublishedProduct<T>* published,
                        const CgDirection<T, diagonal>& direction, Span<T, S> q, double* pq) {
  const Span<T, S> p{direction.p, q.size};
  if constexpr (S == Space::device) {
    if (published != nullptr) {
      sweep_and_send(ctx, p.size, direction, published->rows());
      return published->multiply(ctx, p, q, pq);
    }
  }
  sweep(ctx, p.size, direction);
  A.apply_dot(ctx, p, q, pq);
}

}  // namespace

template <class T, Space S>
CgIteration<T, S>::CgIteration(const Context<S>& ctx, Index n)
    : r_(ctx, n), z_(ctx, n), p_(ctx, n), q_(ctx, n), state_(ctx, 1), coefficients_(ctx, most_coefficients) {}

template <class T, Space S>
void CgIteration<T, S>::bind(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                             Span<T, S> x) {
  graph_.bind(ctx, A, M, x);
  bound_.emplace(
      Bound{ctx, A, M, x, M != nullptr ? M->traits().diagonal.data : nullptr, A.resident_view().published});
}

// r = b - A x is there.
template <class T, Space S>
void CgIteration<T, S>::begin(const MonitorState& monitor, double residual) {
  fill<T, S>(bound_->ctx, T(0), p_);  // p = 0
  resume(monitor, residual, {std::numeric_limits<double>::infinity(), 0});
}

// One step moves, in addition to the matrix: the direction reads z, p, x and writes p, x; q = A p reads p, writes q,
// then reads both for p.q where the format cannot fuse it; the update reads q, r and writes r. Ten vectors without a
// preconditioner, twelve with one that is diagonal, whose D both sweeps read in the place of z. Any other adds its
// own pass, z = M r.
template <class T, Space S>
template <bool diagonal>
void CgIteration<T, S>::step() {
  const auto& [ctx, A, M, x, D, published] = *bound_;
  const std::int64_t n = r_.size();
  CgState* const s = state_.data();
  T *const r = r_.data(), *const p = p_.data(), *const q = q_.data();
  const bool forms_z = M != nullptr && !diagonal;
  const T* const z = forms_z ? z_.data() : r;
  if (forms_z) M->apply_dot(ctx, r_, z_, &s->rz);  // z = M r, rho = r.z
  const CgDirection<T, diagonal> direction{s, D, z, p, x.data};
  multiply_direction<T, S>(ctx, A, published, direction, q_, &s->pq);      // x += alpha p, p = z + (rho / rho_old) p,
                                                                           // q = A p, p.q
  sweep(ctx, n, CgUpdate<T, diagonal>{s, coefficients_.data(), D, q, r});  // alpha = rho / p.q, r -= alpha q, |r|
}

template <class T, Space S>
void CgIteration<T, S>::repeat(int count) {
  if (bound_->D != nullptr) return graph_.repeat(count, [this] { step<true>(); });
  graph_.repeat(count, [this] { step<false>(); });
}

// x += alpha p
template <class T, Space S>
void CgIteration<T, S>::finish() {
  sweep(bound_->ctx, r_.size(), CgLastStep<T>{state_.data(), p_.data(), bound_->x.data});
}

// With M = D the first rho = r.D r; any other M leaves it when it forms z.
template <class T, Space S>
void CgIteration<T, S>::first_rho() {
  if (bound_->D != nullptr) bound_->M->apply_dot(bound_->ctx, r_, q_, &state_.data()->rz);
}

template <class T, Space S>
void CgIteration<T, S>::resume(const MonitorState& monitor, double residual, const CgScalars& last) {
  CgState state = fresh_state(monitor, bound_->M != nullptr);
  state.rr = residual * residual;
  state.rho_old = last.rho;
  copy<CgState>(bound_->ctx, Span<const CgState, Space::host>(&state, 1), state_.span());
  first_rho();
}

template <class T, Space S>
CgScalars CgIteration<T, S>::pause() {
  const Context<S>& ctx = bound_->ctx;
  CgState* const s = state_.data();
  const CgScalars last{fetch(ctx, static_cast<const double*>(&s->rho_old)),
                       fetch(ctx, static_cast<const double*>(&s->alpha))};
  const double none = 0;
  copy<double>(ctx, Span<const double, Space::host>(&none, 1), Span<double, S>(&s->alpha, 1));
  return last;
}

template <class T, Space S>
void CgIteration<T, S>::iterate(Span<const T, S> b, int count) {
  if (count == 0) return;
  const auto& [ctx, A, M, x, D, published] = *bound_;
  ctx.make_current();
  MonitorState monitor{};
  monitor.growth_limit = std::numeric_limits<double>::infinity();
  monitor.max_iterations = count;

  copy<T>(ctx, b, r_.span());
  A.apply(ctx, T(-1), Span<const T, S>(x), T(1), r_);  // r = b - A x
  sweep(ctx, r_.size(), CgStart<T>{fresh_state(monitor, M != nullptr), state_.data(), r_.data()});
  fill<T, S>(ctx, T(0), p_);
  first_rho();
  repeat(count);
  finish();
}

/// CG as the driver moves it.
template <class T, Space S>
class CgRecurrence final : public Recurrence<T, S> {
 public:
  CgRecurrence(const Context<S>& ctx, Index n, bool resident)
      : cg_(ctx, n), start_x_(ctx, n), may_be_resident_(resident) {}

  CgIteration<T, S>& steps() { return cg_; }
  Deflation<T, S>& deflation() { return deflation_; }

  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
    if constexpr (S == Space::device) {
      if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
      ctx.make_current();
      resident_ = std::make_shared<ResidentCg<T>>(ctx, A, M);
    }
  }

  RecurrenceParts<T, S> parts() override {
    return {"cg",
            cg_.r(),
            cg_.q(),
            start_x_,
            {cg_.r(), cg_.p(), start_x_},
            &cg_.state()->monitor,
            &cg_.state()->scratch,
            Keeps::starts,
            true};
  }
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    cg_.bind(system.ctx, system.A, system.M, system.x);
    has_s_ = false;
  }
  void watch(ConvergenceMonitor<T, S>& convergence) override {
    convergence.growth.watch(first_growth, most_growth<T>,
                             [this] { return symmetry_fault(system_->ctx, system_->A, system_->M); });
    convergence.forecast.watch_spectrum(cg_.coefficients());
  }

  void begin(MonitorState monitor, double residual) override { cg_.begin(monitor, residual); }
  bool advance(int count) override {
    cg_.repeat(count);
    return true;
  }
  void complete(ConvergenceMonitor<T, S>&, bool pausing) override {
    cg_.finish();
    if (!pausing) return;
    last_ = cg_.pause();
    paused_on_chip_ = has_s_ = false;
  }
  void resume(const MonitorState& monitor, double residual) override {
    if (paused_on_chip_) cg_.resume(monitor, residual, last_);
  }

  // The tolerance was met, or p.A p <= 0 or r.M r <= 0 by rounding: no outcome by itself.
  Verdict judge(Event event) override {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = *system_;
    double* const scratch = &cg_.state()->scratch;
    if (event == Event::tolerance_met) return Verdict::confirm;
    if (event == Event::matrix_not_positive) {
      const bool is_true = is_not_positive_along<T, S>(ctx, A, cg_.p(), cg_.q(), scratch);
      return is_true ? Verdict::outcome : Verdict::confirm;
    }
    if (event == Event::precond_not_positive) {
      const bool is_true = M != nullptr && is_precond_not_positive_along<T, S>(ctx, *M, cg_.r(), cg_.q(), scratch);
      return is_true ? Verdict::outcome : Verdict::confirm;
    }
    return Verdict::outcome;
  }
  void repeat(int count) override { cg_.iterate(system_->b, count); }

  bool fits_on_chip() override {
    prepare(system_->ctx, system_->A, system_->M);
    const bool fits = [&] {
      if constexpr (S == Space::device) return resident_ != nullptr && resident_->fits();
      return false;
    }();
    deflation_.note_one_kernel(fits);
    return fits;
  }
  ResidentEnd run_on_chip([[maybe_unused]] ConvergenceMonitor<T, S>& convergence, [[maybe_unused]] KeptIterate& best,
                          [[maybe_unused]] ResidentBegin begin) override {
    ResidentEnd end = ResidentEnd::declined;
    if constexpr (S == Space::device) {
      const ResidentCgVectors<T> vectors{cg_.r(), cg_.p(), cg_.q(), start_x_, cg_.coefficients()};
      if (begin == ResidentBegin::guess) {
        end = resident_->solve(*system_, convergence, vectors);
        // The kernel has kept the guess.
        if (convergence.seen().iteration > 0) best = {convergence.report.initial_residual, 0};
      } else {
        if (begin == ResidentBegin::residual) {
          fill<T, S>(system_->ctx, T(0), cg_.p());
          last_ = {std::numeric_limits<double>::infinity(), 1};
          has_s_ = false;
        }
        end = resident_->go_on(*system_, convergence, vectors, last_, has_s_);
      }
      if (end == ResidentEnd::exchange) {
        last_ = resident_->last_scalars(system_->ctx);
        paused_on_chip_ = has_s_ = true;
      }
    }
    return end;
  }

 private:
  CgIteration<T, S> cg_;
  EnergyDeflation<T, S> deflation_{cg_.coefficients()};
  Array<T, S> start_x_;  // where the recurrence that began with the smallest residual did
  bool may_be_resident_;
  std::shared_ptr<ResidentCg<T>> resident_;  // on a device
  const SolveRequest<T, S>* system_ = nullptr;
  CgScalars last_;  // where the recurrence pauses
  bool paused_on_chip_ = false;
  bool has_s_ = false;  // q is A p, by the present A
};

#define X(T, S) template class CgIteration<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace detail

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n, bool resident)
    : RecurrenceSolver<T, S>(std::make_unique<detail::CgRecurrence<T, S>>(ctx, n, resident)) {}

template <class T, Space S>
SolveReport Cg<T, S>::run(const SolveRequest<T, S>& request) {
  const auto drive = [this](const SolveRequest<T, S>& with) { return RecurrenceSolver<T, S>::run(with); };
  if (request.recycling == nullptr) return drive(request);
  auto& deflation = this->template recurrence<detail::CgRecurrence<T, S>>().deflation();
  return request.recycling->solve(request, deflation, drive);
}

template <class T, Space S>
void Cg<T, S>::iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                       Span<const T, S> b, Span<T, S> x, int iterations) {
  detail::CgIteration<T, S>& cg = this->template recurrence<detail::CgRecurrence<T, S>>().steps();
  detail::check_system<T, S>(cg.r().size, A, M, b, x);
  if (iterations < 0)
    throw InputError("the number of iterations must be 0 or more, not " + std::to_string(iterations));
  cg.bind(ctx, A, M, x);
  cg.iterate(b, iterations);
}

template <class T, Space S>
void Cg<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  this->template recurrence<detail::CgRecurrence<T, S>>().prepare(ctx, A, M);
}

#define X(T, S) template class Cg<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
