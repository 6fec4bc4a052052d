// SPDX-License-Identifier: Apache-2.0
/// ArnoldiBasis: the orthonormal columns of a cycle of GMRES, with its small numbers. Internal.
#pragma once

#include <type_traits>

#include <newel/core/vector_ops.hpp>
#include "solver/krylov/steps/basis.hpp"
#include "solver/krylov/steps/gmres_steps.hpp"

namespace newel::detail {

/// At most m + 1 columns of length n, kept in B, after `room` columns C of recycled vectors. All passes stop with the
/// recurrence.
template <class T, Space S, class B>
class ArnoldiBasis {
 public:
  ArnoldiBasis(const Context<S>& ctx, Index n, int m, int room)
      : n_(n),
        m_(m),
        room_(room),
        basis_(ctx, (std::int64_t{room} + m + 1) * n),
        newest_(ctx, std::is_same_v<T, B> ? 0 : n),
        small_(ctx, GmresArrays::size(m, room)),
        partial_(ctx, basis_scratch(ctx, n, room + m + 1)),
        state_(ctx, 1) {}

  /// Column j; those of C have numbers below 0.
  Span<B, S> v(int j) { return {basis_.data() + std::int64_t{room_ + j} * n_, n_}; }
  /// v_j, the last that was made, in T.
  Span<const T, S> newest(int j) {
    if constexpr (std::is_same_v<T, B>) {
      return v(j);
    } else {
      return newest_.cspan();
    }
  }
  GmresState* state() { return state_.data(); }
  GmresArrays small(int column = 0) { return {small_.data(), m_, room_, column}; }
  /// All that `small` points at.
  Span<const double, S> numbers() const { return small_.cspan(); }

  /// v_0 = first / residual, which is its norm.
  void start(const Context<S>& ctx, const GmresState& start, Span<T, S> first, double residual) {
    copy<GmresState>(ctx, Span<const GmresState, Space::host>(&start, 1), state_.span());
    copy<double>(ctx, Span<const double, Space::host>(&residual, 1), Span<double, S>(small().g, 1));
    sweep(ctx, n_, GmresScale<T, B>{state_.data(), first.data, v(0).data, newest_.data()});
  }

  /// w, made orthogonal to the last `recycled` columns of C and to v_0 .. v_j, is v_{j+1}.
  void append(const Context<S>& ctx, int j, int recycled, Span<T, S> w) {
    GmresState* const s = state_.data();
    const GmresArrays a = small(j);
    const int all = recycled + j + 1;
    const B* const V = v(-recycled).data;  // [C V] for V
    double *const h = a.h - recycled, *const h2 = a.h2 - recycled, *const partial = partial_.data();
    const PassGate first{&s->monitor, nullptr, nullptr, nullptr};
    const PassGate second{&s->monitor, &s->basis, a.h + j + 1, &s->after_first};
    basis_dot(ctx, first, V, n_, all, w.data, h, partial);                           // h = V^T w
    basis_subtract(ctx, first, V, n_, all, h, w.data, &s->after_first, partial);     // w = w - V h
    basis_dot(ctx, second, V, n_, all, w.data, h2, partial);                         // h2 = V^T w
    basis_subtract(ctx, second, V, n_, all, h2, w.data, &s->after_second, partial);  // w = w - V h2, h = h + h2
    sweep(ctx, 0, GmresRotate{s, a, j});                                             // column j of R, |g_{j+1}|
    sweep(ctx, n_, GmresScale<T, B>{s, w.data, v(j + 1).data, newest_.data()});      // v_{j+1} = w / |w|
  }

  /// w = V y
  void combine(const Context<S>& ctx, int columns, const double* y, Span<T, S> w) {
    basis_combine(ctx, v(0).data, n_, columns, y, w.data);
  }

  /// A second pass that does not run leaves nothing there.
  void clear_second_products(const Context<S>& ctx) {
    const std::int64_t products = GmresArrays::products_size(m_, room_);
    fill<double, S>(ctx, 0.0, small_.span().subspan(products, products));
  }

 private:
  Index n_;
  int m_, room_;
  Array<B, S> basis_;
  Array<T, S> newest_;  // the last column in T; empty where B is T
  Array<double, S> small_, partial_;
  Array<GmresState, S> state_;
};

}  // namespace newel::detail
