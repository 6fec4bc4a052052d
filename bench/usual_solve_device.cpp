// SPDX-License-Identifier: Apache-2.0
// CG and BiCGStab by cuBLAS and cuSPARSE calls alone, scalars on the host.
#include "usual_solve_device.hpp"

#include <cmath>
#include <functional>
#include <tuple>

#include <newel/core/error.hpp>

#include "usual_parts_device.hpp"

namespace newel::bench {
namespace {

// What both loops start from, stop by and report.
template <class T>
class HostScalarSolve : public BuiltSolve<T, Space::device> {
 public:
  HostScalarSolve(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : parts_(ctx, a, jacobi, CUBLAS_POINTER_MODE_HOST), r_(ctx, a.rows), p_(ctx, a.rows) {}

  SolveEnd solve(Span<const T, Space::device> b, Span<T, Space::device> x, const SolveGoal& goal) override {
    fill(parts_.ctx, T(0), x);
    copy<T>(parts_.ctx, b, r_.span());
    rhs_norm_ = norm_ = norm_of(r_);
    iterations_ = 0;
    const double wanted = goal.tolerance * rhs_norm_;
    iterate(x.data, [&] { return std::isfinite(norm_) && norm_ > wanted && iterations_ < goal.max_iterations; });
    parts_.ctx.synchronize();
    SolveEnd end;
    end.status = !std::isfinite(norm_) ? "not_finite" : norm_ <= wanted ? "converged" : "max_iterations";
    end.iterations = iterations_;
    end.recurrence_residual = rhs_norm_ > 0 ? norm_ / rhs_norm_ : norm_;
    return end;
  }

  SolveFacts facts() const override { return parts_.facts; }

 protected:
  using Vector = Array<T, Space::device>;
  using More = std::function<bool()>;

  // Iterates from r = b, x = 0 as long as `more` says, and keeps |r| in norm_.
  virtual void iterate(T* x, const More& more) = 0;

  T dot(const Vector& u, const Vector& v) const {
    T result = 0;
    parts_.blas->dot(u.data(), v.data(), &result);
    return result;
  }
  double norm_of(const Vector& v) const {  // cublasDnrm2 guards against overflow and is slower
    return std::sqrt(static_cast<double>(dot(v, v)));
  }
  // y += alpha x
  void axpy(T alpha, const Vector& x, T* y) const { parts_.blas->axpy(&alpha, x.data(), y); }
  void scal(T alpha, Vector& x) const { parts_.blas->scal(&alpha, x.data()); }

  UsualParts<T> parts_;
  Vector r_, p_;
  double rhs_norm_ = 0, norm_ = 0;
  int iterations_ = 0;
};

template <class T>
class HostScalarCg final : public HostScalarSolve<T> {
 public:
  HostScalarCg(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : HostScalarSolve<T>(ctx, a, jacobi), z_(this->parts_.vector_for_precond()), q_(ctx, a.rows) {}

 private:
  // Two scalars an iteration come back to the host, three with a preconditioner.
  void iterate(T* x, const std::function<bool()>& more) override {
    auto [parts, r, p] = std::tie(this->parts_, this->r_, this->p_);
    T rho_old = 1, rr = static_cast<T>(this->norm_ * this->norm_);
    for (; more(); ++this->iterations_) {
      const Array<T, Space::device>& z = parts.precondition(r, z_);  // z = D r
      const T rho = &z == &r ? rr : this->dot(r, z);                 // rho = r.z
      if (this->iterations_ == 0) {
        copy<T>(parts.ctx, z.cspan(), p.span());  // p = z
      } else {
        this->scal(rho / rho_old, p);  // p = z + (rho / rho_old) p
        this->axpy(T(1), z, p.data());
      }
      parts.multiply(p, q_);                   // q = A p
      const T alpha = rho / this->dot(p, q_);  // alpha = rho / p.q
      this->axpy(alpha, p, x);                 // x += alpha p
      this->axpy(-alpha, q_, r.data());        // r -= alpha q
      rr = this->dot(r, r);
      this->norm_ = std::sqrt(static_cast<double>(rr));
      rho_old = rho;
    }
  }

  Array<T, Space::device> z_, q_;
};

template <class T>
class HostScalarBicgstab final : public HostScalarSolve<T> {
 public:
  HostScalarBicgstab(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, bool jacobi)
      : HostScalarSolve<T>(ctx, a, jacobi),
        ph_(this->parts_.vector_for_precond()),
        sh_(this->parts_.vector_for_precond()),
        r0_(ctx, a.rows),
        v_(ctx, a.rows),
        t_(ctx, a.rows) {}

 private:
  // Five scalars an iteration come back to the host.
  void iterate(T* x, const std::function<bool()>& more) override {
    auto [parts, r, p] = std::tie(this->parts_, this->r_, this->p_);
    copy<T>(parts.ctx, r.cspan(), r0_.span());  // r0 = r
    copy<T>(parts.ctx, r.cspan(), p.span());    // p = r
    T rho = static_cast<T>(this->norm_ * this->norm_);
    for (; more(); ++this->iterations_) {
      const Array<T, Space::device>& ph = parts.precondition(p, ph_);  // p^ = D p
      parts.multiply(ph, v_);                                          // v = A p^
      const T alpha = rho / this->dot(r0_, v_);                        // alpha = rho / r0.v
      this->axpy(alpha, ph, x);                                        // x += alpha p^
      this->axpy(-alpha, v_, r.data());                                // s = r - alpha v
      const Array<T, Space::device>& sh = parts.precondition(r, sh_);  // s^ = D s
      parts.multiply(sh, t_);                                          // t = A s^
      const T tt = this->dot(t_, t_);
      const T omega = tt == T(0) ? T(0) : this->dot(t_, r) / tt;  // omega = t.s / t.t
      this->axpy(omega, sh, x);                                   // x += omega s^
      this->axpy(-omega, t_, r.data());                           // r = s - omega t
      this->norm_ = this->norm_of(r);
      const T rho_new = this->dot(r0_, r);
      const T beta = rho_new / rho * (alpha / omega);
      this->axpy(-omega, v_, p.data());  // p = r + beta (p - omega v)
      this->scal(beta, p);
      this->axpy(T(1), r, p.data());
      rho = rho_new;
    }
  }

  Array<T, Space::device> ph_, sh_, r0_, v_, t_;
};

}  // namespace

std::string name_of(UsualScalars scalars) {
  return scalars == UsualScalars::on_host ? "cublas+cusparse" : "cublas+cusparse:graph";
}

template <class T>
std::unique_ptr<BuiltSolve<T, Space::device>> make_usual_solve(const Context<Space::device>& ctx,
                                                               const CsrView<T, Space::device>& a,
                                                               const std::string& solver, const std::string& precond,
                                                               UsualScalars scalars) {
  if (!competitors_know(solver, precond)) {
    throw InputError("the usual loops are cg and bicgstab, with none or jacobi; found " + solver + " with " +
                     precond);
  }
  const bool jacobi = precond == "jacobi";
  if (scalars == UsualScalars::in_graph) return make_usual_graph(ctx, a, solver == "cg", jacobi);
  if (solver == "cg") return std::make_unique<HostScalarCg<T>>(ctx, a, jacobi);
  return std::make_unique<HostScalarBicgstab<T>>(ctx, a, jacobi);
}

template std::unique_ptr<BuiltSolve<double, Space::device>> make_usual_solve(const Context<Space::device>&,
                                                                             const CsrView<double, Space::device>&,
                                                                             const std::string&, const std::string&,
                                                                             UsualScalars);
template std::unique_ptr<BuiltSolve<float, Space::device>> make_usual_solve(const Context<Space::device>&,
                                                                            const CsrView<float, Space::device>&,
                                                                            const std::string&, const std::string&,
                                                                            UsualScalars);

}  // namespace newel::bench
