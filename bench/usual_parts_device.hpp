// SPDX-License-Identifier: Apache-2.0
/// UsualParts: what the usual loops share, wherever their scalars are: product, preconditioner, facts. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>

#include "cusparse_product_device.hpp"
#include "measure.hpp"
#include "solve_contender.hpp"
#include "timer.hpp"
#include "usual_blas_device.hpp"

namespace newel::bench {

template <class T>
struct UsualParts {
  static constexpr Space device = Space::device;
  using Vector = Array<T, device>;

  UsualParts(const Context<device>& ctx_, const CsrView<T, device>& a, bool jacobi, cublasPointerMode_t mode)
      : ctx(ctx_), n(a.rows) {
    const double jacobi_seconds = seconds_of([&] {
      if (jacobi) D = make_precond(ctx, a, RowOrder<device>{}, PrecondOptions{}, SpmvOptions{});
      ctx.synchronize();
    });
    const double blas_seconds = seconds_of([&] {
      blas = std::make_unique<UsualBlas<T>>(ctx, n, mode);
      ctx.synchronize();
    });
    const double product_seconds = choose_product(a);
    facts.setup_seconds = jacobi_seconds + blas_seconds + product_seconds;
    facts.setup_phases = {{"diagonal", jacobi_seconds}, {"cuBLAS", blas_seconds}, {"cuSPARSE", product_seconds}};
    const OperatorInfo info = A->info();
    facts.format = info.name;
    facts.detail = info.detail;
    facts.product_bytes = info.bytes_per_product;
  }

  /// y = A x
  void multiply(const Vector& x, Vector& y) const { A->apply(ctx, T(1), x.cspan(), T(0), y.span()); }

  /// D r in `z`, or r itself where there is no preconditioner.
  const Vector& precondition(const Vector& r, Vector& z) const {
    if (D == nullptr) return r;
    blas->multiply_by_diagonal(D->traits().diagonal.data, r.data(), z.data());
    return z;
  }
  /// A vector for D r; none where there is no preconditioner.
  Vector vector_for_precond() const { return D == nullptr ? Vector() : Vector(ctx, n); }

  Context<device> ctx;
  Index n;
  OperatorPtr<T, device> D;
  OperatorPtr<T, device> A;
  std::unique_ptr<UsualBlas<T>> blas;
  SolveFacts facts;

 private:
  // Keeps the faster algorithm and returns the seconds of its setup.
  double choose_product(const CsrView<T, device>& a) {
    constexpr int products = 10;
    const Timer<device> timer(ctx);
    Vector x(ctx, n), y(ctx, n);
    fill(ctx, T(1), x.span());
    double setup = 0, fastest = 0;
    for (const CusparseFormat format : {CusparseFormat::csr_alg1, CusparseFormat::csr_alg2}) {
      OperatorPtr<T, device> candidate;
      const double seconds = seconds_of([&] {
        candidate = make_cusparse_product(ctx, a, format);
        ctx.synchronize();
      });
      const auto multiply_once = [&] { candidate->apply(ctx, T(1), x.cspan(), T(0), y.span()); };
      multiply_once();
      const double product = timer.back_to_back(products, multiply_once);
      if (A != nullptr && !(product < fastest)) continue;
      A = std::move(candidate);
      setup = seconds;
      fastest = product;
    }
    return setup;
  }
};

}  // namespace newel::bench
