// SPDX-License-Identifier: Apache-2.0
// Triangular solves on the host, level by level; levels that are not worth several threads run one after the other.
#include <algorithm>

#include "precond/incomplete/triangles.hpp"

namespace newel::detail {
namespace {

// alpha z + beta out, which is not read for beta = 0.
template <class T>
void write(T& out, T alpha, T beta, T z) {
  out = beta == T(0) ? alpha * z : alpha * z + beta * out;
}

// Of one row and k columns: from - sum of val * of[col].
template <int k, class T>
void subtract_row(const Index* col, const T* val, Offset begin, Offset end, const T* of, T (&sum)[k]) {
  for (Offset e = begin; e < end; ++e) {
    const T* const x = of + std::int64_t{col[e]} * k;
    for (int c = 0; c < k; ++c) sum[c] -= val[e] * x[c];
  }
}

template <int k, class T>
void forward_rows(const FactorView<T>& f, const TriangleArgs<T>& args, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    T sum[k];
    for (int c = 0; c < k; ++c) sum[c] = args.x[std::int64_t{args.row[i]} * k + c];
    subtract_row<k>(f.l_col, f.l_val, f.l_ptr[i], f.l_ptr[i + 1], args.y, sum);
    for (int c = 0; c < k; ++c) args.y[std::int64_t{i} * k + c] = sum[c];
  }
}

template <int k, class T>
void backward_rows(const FactorView<T>& f, const TriangleArgs<T>& args, Index begin, Index end) {
  for (Index i = end; i-- > begin;) {
    T sum[k];
    for (int c = 0; c < k; ++c) sum[c] = args.y[std::int64_t{i} * k + c] * f.d_inv[i];
    subtract_row<k>(f.u_col, f.u_val, f.u_ptr[i], f.u_ptr[i + 1], args.z, sum);
    for (int c = 0; c < k; ++c) {
      args.z[std::int64_t{i} * k + c] = sum[c];
      write(args.out[std::int64_t{args.row[i]} * k + c], args.alpha, args.beta, sum[c]);
    }
  }
}

template <int k, class T>
void solve(const Context<Space::host>& ctx, const FactorView<T>& f, const std::vector<LevelPhase>& phases,
           const TriangleArgs<T>& args) {
  for (const LevelPhase& phase : phases) {
    run_phase(ctx, phase, [&](Index begin, Index end) { forward_rows<k>(f, args, begin, end); });
  }
  for (auto phase = phases.rbegin(); phase != phases.rend(); ++phase) {
    run_phase(ctx, *phase, [&](Index begin, Index end) { backward_rows<k>(f, args, begin, end); });
  }
}

}  // namespace

TriangleWork<Space::host>::TriangleWork(const Context<Space::host>&, const FactorPattern& p) {
  constexpr double least = 16384;  // entries: several times as long as it takes to start threads
  phases_ = level_phases(p.level_begin, least, [&](Index i) {
    return 4 + 0.5 * static_cast<double>(p.parts.lower.row_length(i) + p.parts.upper.row_length(i));
  });
}

template <class T>
void solve_triangles(const Context<Space::host>& ctx, const FactorView<T>& f, const TriangleWork<Space::host>& work,
                     const TriangleArgs<T>& args, int columns) {
  switch (columns) {
    case 1:
      return solve<1>(ctx, f, work.phases(), args);
    case 2:
      return solve<2>(ctx, f, work.phases(), args);
    case 4:
      return solve<4>(ctx, f, work.phases(), args);
    default:
      return solve<8>(ctx, f, work.phases(), args);
  }
}

template <class T>
void sweep_triangles(const Context<Space::host>& ctx, const FactorView<T>& f, const TriangleArgs<T>& args, T* spare,
                     int sweeps) {
  parallel_for(ctx, f.rows, [&](Index i) { args.y[i] = args.x[args.row[i]]; });
  T *from = args.y, *to = spare;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    parallel_for(ctx, f.rows, [&](Index i) {
      T sum[1] = {args.x[args.row[i]]};
      subtract_row<1>(f.l_col, f.l_val, f.l_ptr[i], f.l_ptr[i + 1], from, sum);
      to[i] = sum[0];
    });
    std::swap(from, to);
  }
  // y is where the last sweep wrote it; the other array and z take turns.
  const T* const y = from;
  T *old = args.z, *next = to;
  parallel_for(ctx, f.rows, [&](Index i) { old[i] = y[i] * f.d_inv[i]; });
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    parallel_for(ctx, f.rows, [&](Index i) {
      T sum[1] = {y[i] * f.d_inv[i]};
      subtract_row<1>(f.u_col, f.u_val, f.u_ptr[i], f.u_ptr[i + 1], old, sum);
      next[i] = sum[0];
    });
    std::swap(old, next);
  }
  parallel_for(ctx, f.rows, [&](Index i) { write(args.out[args.row[i]], args.alpha, args.beta, old[i]); });
}

#define X(T)                                                                                                         \
  template void solve_triangles(const Context<Space::host>&, const FactorView<T>&, const TriangleWork<Space::host>&, \
                                const TriangleArgs<T>&, int);                                                        \
  template void sweep_triangles(const Context<Space::host>&, const FactorView<T>&, const TriangleArgs<T>&, T*, int);
X(double)
X(float)
#undef X

}  // namespace newel::detail
