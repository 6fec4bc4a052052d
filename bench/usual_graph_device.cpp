// SPDX-License-Identifier: Apache-2.0
// Blocks of iterations of cuBLAS and cuSPARSE calls, captured once and launched until they have done.
#include "usual_solve_device.hpp"

#include <cmath>

#include "captured_graph_device.hpp"
#include "usual_parts_device.hpp"
#include "usual_scalars_device.hpp"

namespace newel::bench {
namespace {

constexpr int block = 16;  // iterations of a graph: as often as Newel's loops poll by default

template <class T>
class GraphSolve : public BuiltSolve<T, Space::device> {
 public:
  GraphSolve(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : parts_(ctx, a, jacobi, CUBLAS_POINTER_MODE_DEVICE), r_(ctx, a.rows), p_(ctx, a.rows), state_(ctx, 1) {}

  SolveEnd solve(Span<const T, Space::device> b, Span<T, Space::device> x, const SolveGoal& goal) override {
    const cudaStream_t stream = parts_.ctx.stream();
    fill(parts_.ctx, T(0), x);
    copy<T>(parts_.ctx, b, r_.span());
    start();
    UsualState<T>& seen = *host_.get();
    seen = {};
    seen.rho_old = seen.one = T(1);
    put(seen);
    parts_.blas->dot(r_.data(), r_.data(), &s()->rr);
    parts_.blas->dot(r_.data(), r_.data(), &s()->rho);
    poll();
    const double rhs_square = static_cast<double>(seen.rr);
    if (captured_x_ != x.data) record(x.data);
    seen.wanted = goal.tolerance * goal.tolerance * rhs_square;
    seen.most = goal.max_iterations;
    put(seen);
    const auto more = [&] { return static_cast<double>(seen.rr) > seen.wanted && seen.iterations < seen.most; };
    while (more()) {
      graph_.launch(stream);
      poll();
    }
    const auto rr = static_cast<double>(seen.rr);
    SolveEnd end;
    end.status = !std::isfinite(rr) ? "not_finite" : rr <= seen.wanted ? "converged" : "max_iterations";
    end.iterations = seen.iterations;
    end.recurrence_residual = std::sqrt(rhs_square > 0 ? rr / rhs_square : rr);
    return end;
  }

  SolveFacts facts() const override {
    SolveFacts facts = parts_.facts;
    facts.detail += ", blocks of " + std::to_string(block) + " iterations";
    return facts;
  }

 protected:
  using Vector = Array<T, Space::device>;

  // What there is to do, from r = b, before the first block.
  virtual void start() = 0;
  virtual void queue_iteration(T* x) = 0;

  UsualState<T>* s() { return state_.data(); }
  cudaStream_t stream() const { return parts_.ctx.stream(); }

  UsualParts<T> parts_;
  Vector r_, p_;

 private:
  // An iteration that changes nothing goes first: kernels that have never run may have to be loaded, which a capture
  // does not allow.
  void record(T* x) {
    UsualState<T> ended = *host_.get();
    ended.done = 1;
    put(ended);
    queue_iteration(x);
    parts_.ctx.synchronize();
    graph_.capture(stream(), [&] {
      for (int k = 0; k < block; ++k) queue_iteration(x);
    });
    captured_x_ = x;
  }
  void put(const UsualState<T>& from) {
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(s(), &from, sizeof from, cudaMemcpyHostToDevice, stream()));
    parts_.ctx.synchronize();
  }
  void poll() {
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(host_.get(), s(), sizeof(UsualState<T>), cudaMemcpyDeviceToHost, stream()));
    parts_.ctx.synchronize();
  }

  Array<UsualState<T>, Space::device> state_;
  Pinned<UsualState<T>> host_;
  CapturedGraph graph_;
  const T* captured_x_ = nullptr;
};

template <class T>
class GraphCg final : public GraphSolve<T> {
 public:
  GraphCg(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : GraphSolve<T>(ctx, a, jacobi), z_(this->parts_.vector_for_precond()), q_(ctx, a.rows) {}

 private:
  void start() override { fill(this->parts_.ctx, T(0), this->p_.span()); }

  void queue_iteration(T* x) override {
    const UsualParts<T>& parts = this->parts_;
    const UsualBlas<T>& blas = *parts.blas;
    UsualState<T>* const s = this->s();
    T *const r = this->r_.data(), *const p = this->p_.data();
    const Array<T, Space::device>& z = parts.precondition(this->r_, z_);  // z = D r
    if (parts.D != nullptr) blas.dot(r, z.data(), &s->rho);               // rho = r.z
    usual_cg_direction(this->stream(), s, parts.D == nullptr);            // beta = rho / rho_old
    blas.scal(&s->beta, p);                                               // p = z + beta p
    blas.axpy(&s->one, z.data(), p);
    parts.multiply(this->p_, q_);  // q = A p
    blas.dot(p, q_.data(), &s->curvature);
    usual_cg_update(this->stream(), s);        // alpha = rho / p.q
    blas.axpy(&s->alpha, p, x);                // x += alpha p
    blas.axpy(&s->minus_alpha, q_.data(), r);  // r -= alpha q
    blas.dot(r, r, &s->rr);
  }

  Array<T, Space::device> z_, q_;
};

template <class T>
class GraphBicgstab final : public GraphSolve<T> {
 public:
  GraphBicgstab(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : GraphSolve<T>(ctx, a, jacobi),
        ph_(this->parts_.vector_for_precond()),
        sh_(this->parts_.vector_for_precond()),
        r0_(ctx, a.rows),
        v_(ctx, a.rows),
        t_(ctx, a.rows) {}

 private:
  void start() override {
    copy<T>(this->parts_.ctx, this->r_.cspan(), r0_.span());       // r0 = r
    copy<T>(this->parts_.ctx, this->r_.cspan(), this->p_.span());  // p = r
  }

  void queue_iteration(T* x) override {
    const UsualParts<T>& parts = this->parts_;
    const UsualBlas<T>& blas = *parts.blas;
    UsualState<T>* const s = this->s();
    T *const r = this->r_.data(), *const p = this->p_.data();
    const Array<T, Space::device>& ph = parts.precondition(this->p_, ph_);  // p^ = D p
    parts.multiply(ph, v_);                                                 // v = A p^
    blas.dot(r0_.data(), v_.data(), &s->curvature);
    usual_bicgstab_half_step(this->stream(), s);                            // alpha = rho / r0.v
    blas.axpy(&s->alpha, ph.data(), x);                                     // x += alpha p^
    blas.axpy(&s->minus_alpha, v_.data(), r);                               // s = r - alpha v
    const Array<T, Space::device>& sh = parts.precondition(this->r_, sh_);  // s^ = D s
    parts.multiply(sh, t_);                                                 // t = A s^
    blas.dot(t_.data(), r, &s->ts);
    blas.dot(t_.data(), t_.data(), &s->tt);
    usual_bicgstab_step(this->stream(), s);    // omega = t.s / t.t
    blas.axpy(&s->omega, sh.data(), x);        // x += omega s^
    blas.axpy(&s->minus_omega, t_.data(), r);  // r = s - omega t
    blas.dot(r, r, &s->rr);
    blas.dot(r0_.data(), r, &s->rho);
    usual_bicgstab_direction(this->stream(), s);  // beta = (rho / rho_old) (alpha / omega)
    blas.axpy(&s->minus_omega, v_.data(), p);     // p = r + beta (p - omega v)
    blas.scal(&s->beta, p);
    blas.axpy(&s->one, r, p);
  }

  Array<T, Space::device> ph_, sh_, r0_, v_, t_;
};

}  // namespace

template <class T>
std::unique_ptr<BuiltSolve<T, Space::device>> make_usual_graph(const Context<Space::device>& ctx,
                                                               const CsrView<T, Space::device>& a, bool cg,
                                                               bool jacobi) {
  if (cg) return std::make_unique<GraphCg<T>>(ctx, a, jacobi);
  return std::make_unique<GraphBicgstab<T>>(ctx, a, jacobi);
}

template std::unique_ptr<BuiltSolve<double, Space::device>> make_usual_graph(const Context<Space::device>&,
                                                                             const CsrView<double, Space::device>&,
                                                                             bool, bool);
template std::unique_ptr<BuiltSolve<float, Space::device>> make_usual_graph(const Context<Space::device>&,
                                                                            const CsrView<float, Space::device>&,
                                                                            bool, bool);

}  // namespace newel::bench
