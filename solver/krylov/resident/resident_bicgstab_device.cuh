// SPDX-License-Identifier: Apache-2.0
/// BiCGStab as one kernel: a block is a part of the matrix and has its share of every vector in shared memory.
/// Internal.
#pragma once

#include "solver/krylov/steps/bicgstab_recurrence.hpp"
#include "solver/krylov/resident/resident_bicgstab.hpp"
#include "solver/krylov/resident/resident_residual_device.cuh"

namespace newel::detail {
namespace {

NEWEL_HD constexpr ResidentNeeds resident_bicgstab_needs(ResidentPrecond precond) {
  const bool matrix = precond == ResidentPrecond::matrix;
  return {precond == ResidentPrecond::diagonal ? 6 : matrix ? 5 : 4, 2, 4, matrix ? 4 : 2, matrix ? 4 : 2};
}

/// A part and its vectors: p, r (s in the middle of a step), v, t, the diagonal where M is one, and with any M
/// u = M p or M s, with the halo behind; own x and r0.
template <class T>
struct ResidentBicgstabPart : ResidentPart<T> {
  T *p, *r, *v, *t, *d, *u, *x, *r0;

  __device__ ResidentBicgstabPart(const ResidentPart<T>& part, ResidentPrecond precond)
      : ResidentPart<T>(part),
        p(part.vector(0)),
        r(part.vector(1)),
        v(part.vector(2)),
        t(part.vector(3)),
        d(part.vector(4)),
        u(part.vector(precond == ResidentPrecond::matrix ? 4 : 5)),
        x(part.own_vector(0)),
        r0(part.own_vector(1)) {}
};

/// The verdict on the step before: |r| is new, `gain` is that step's |s|^2 - |r|^2 = (t.s)^2 / t.t, rho the next
/// one's.
__device__ inline Event bicgstab_event(const ResidentState& seen, double rho, double gain) {
  const Event event = event_of(seen.residual, seen.tolerance, seen.iteration, seen.max_iterations);
  if (event != Event::none) return event;
  const double s_norm = sqrt(seen.residual * seen.residual + gain);
  return bicgstab_breakdown(seen.epsilon, sqrt(gain), s_norm, rho, seen.r0_norm, seen.residual);
}

/// Keeps x where it is the best so far and the last one that was kept lies long enough ago.
template <class T>
__device__ void keep_best(const ResidentArgs<T>& args, const ResidentBicgstabPart<T>& my, ResidentState& seen) {
  if (seen.iteration < seen.kept_at + iterations_between_keeping || !(seen.residual < seen.kept_residual)) return;
  store_own(my, my.x, args.kept);
  seen.kept_at = seen.iteration;
  seen.kept_residual = seen.residual;
}

/// What the first synchronisation of a step gives about the previous step, whose residual is known only now.
template <class T>
__device__ __forceinline__ void judge_step(const ResidentArgs<T>& args, const ResidentBicgstabPart<T>& my, int k,
                                           double residual, double rho, double gain, ResidentState& seen) {
  if (k == 0) return;
  ++seen.iteration;
  seen.residual = residual;
  if (is_reporting_thread()) args.log->residual[k - 1] = residual;
  seen.event = bicgstab_event(seen, rho, gain);
  if (seen.event == Event::none) keep_best(args, my, seen);
}

/// Columns of a block that a lane loads at once where it loads no place ahead: more would spill.
template <int B>
constexpr int bicgstab_columns = B == 6 ? 3 : B;

/// Places that are loaded at once; where M is a matrix, its share takes registers too. As resident_places.
constexpr int matrix_places[2][4] = {{0, 3, 1, 0}, {0, 6, 3, 1}};
template <class T, int B, ResidentPrecond precond, ResidentStorage storage>
using BicgstabPlaces = std::conditional_t<precond == ResidentPrecond::matrix,
                                          EhybPlaces<T, B, B == 6 ? 0 : matrix_places[sizeof(T) == 4][B % 4]>,
                                          ResidentPlaces<T, B, storage>>;

/// u = M z with A's halo. A synchronisation of neighbours.
template <int B, ResidentStorage storage, class T>
__device__ __forceinline__ void apply_matrix(const ResidentArgs<T>& args, ResidentBicgstabPart<T>& my, const T* z) {
  constexpr bool on_chip = stays_on_chip(storage);
  const ResidentShare<T> m = first_of<B, on_chip>(args, my);
  const ResidentShare<T> a = matrix_of<B, ResidentPrecond::matrix, storage>(args, my);
  BicgstabPlaces<T, B, ResidentPrecond::matrix, storage> begun;
  open_pass<B, on_chip>(m, my.own, begun);
  for_each_row<B, on_chip, bicgstab_columns<B>, false>(m, my.own, z, begun, [&](int i, T value) {
    my.u[i] = value;
    post_row<B>(my, a, i, value);
  });
  swap_entries<B>(my, a, my.u);
}

/// Calls `row(i, (A z)_i)` for every own row.
template <int B, ResidentPrecond precond, ResidentStorage storage, class T, class Row>
__device__ __forceinline__ void multiply(const ResidentArgs<T>& args, const ResidentBicgstabPart<T>& my,
                                         BicgstabPlaces<T, B, precond, storage>& ahead, const T* z, const Row& row) {
  constexpr bool on_chip = stays_on_chip(storage);
  const auto a = matrix_of<B, precond, storage>(args, my);
  if constexpr (precond == ResidentPrecond::matrix) {
    BicgstabPlaces<T, B, precond, storage> begun;
    open_pass<B, on_chip>(a, my.own, begun);
    for_each_row<B, on_chip, bicgstab_columns<B>, false>(a, my.own, z, begun, row);
  } else {
    for_each_row<B, on_chip, bicgstab_columns<B>>(a, my.own, z, ahead, row);
  }
}

/// s = r - alpha v in the place of r, and u = D s; where M is a matrix, x += alpha M p before M s is in u.
template <ResidentPrecond precond, class T>
__device__ __forceinline__ void half_step(const ResidentBicgstabPart<T>& my, int reach, T alpha) {
  const int threads = static_cast<int>(blockDim.x);
#pragma unroll 2  // more would spill
  for (int i = static_cast<int>(threadIdx.x); i < reach; i += threads) {
    const T s = bicgstab_next_r(my.r[i], alpha, my.v[i]);
    my.r[i] = s;
    if constexpr (precond == ResidentPrecond::diagonal) my.u[i] = my.d[i] * s;
    if constexpr (precond == ResidentPrecond::matrix) {
      if (i < my.own) my.x[i] += alpha * my.u[i];
    }
  }
}

/// x += alpha M p + omega M s, r = s - omega t, p = r + beta (p - omega v), and u = D p.
template <ResidentPrecond precond, class T>
__device__ __forceinline__ void full_step(const ResidentBicgstabPart<T>& my, int reach, T alpha, T omega, T beta) {
  constexpr bool scaled = precond == ResidentPrecond::diagonal;
  const int threads = static_cast<int>(blockDim.x);
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < reach; i += threads) {
    const T p = my.p[i], s = my.r[i], r = bicgstab_next_r(s, omega, my.t[i]);
    if (i < my.own) {
      if constexpr (precond == ResidentPrecond::matrix) {
        my.x[i] += omega * my.u[i];
      } else {
        const T mp_i = scaled ? my.d[i] * p : p, ms_i = scaled ? my.u[i] : s;
        my.x[i] = bicgstab_next_x(my.x[i], alpha, mp_i, omega, ms_i);
      }
    }
    const T next_p = bicgstab_next_p(r, beta, p, omega, my.v[i]);
    my.r[i] = r;
    my.p[i] = next_p;
    if constexpr (scaled) my.u[i] = my.d[i] * next_p;
  }
}

/// The steps of the recurrence from r and p, `args.iterations` at most; `seen` knows afterwards how it stands.
template <int B, ResidentPrecond precond, ResidentStorage storage, class T>
__device__ void iterate(const ResidentArgs<T>& args, ResidentBicgstabPart<T>& my,
                        BicgstabPlaces<T, B, precond, storage>& ahead, ResidentState& seen) {
  constexpr bool scaled = precond == ResidentPrecond::diagonal, matrix = precond == ResidentPrecond::matrix;
  const T *const mp = scaled || matrix ? my.u : my.p, *const ms = scaled || matrix ? my.u : my.r;
  const auto lead = lead_of<B, precond, storage>(args, my);
  const int reach = my.own + lead.halo;
  if constexpr (scaled) {
    const int threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < reach; i += threads) my.u[i] = my.d[i] * my.p[i];
  }
  double gain = 0;  // of the step before
  for (int k = 0;; ++k) {
    publish(my, lead, mp);
    if constexpr (matrix) apply_matrix<B, storage>(args, my, my.p);
    double sums[3] = {};  // r0.v, r.r, r0.r
    multiply<B, precond, storage>(args, my, ahead, mp, [&](int i, T v) {
      const double r = my.r[i], r0 = my.r0[i];
      my.v[i] = v;
      post_row<B>(my, lead, i, v);
      sums[0] += r0 * double(v);
      sums[1] += r * r;
      sums[2] += r0 * r;
    });
    synchronise<B>(my, lead, sums, my.v);
    const double r0v = sums[0], rho = sums[2];
    judge_step(args, my, k, sqrt(sums[1]), rho, gain, seen);
    if (seen.event != Event::none || k == args.iterations) return;
    const double alpha = bicgstab_alpha(rho, r0v);
    if (!bicgstab_is_sound(alpha)) {
      seen.event = bicgstab_alpha_event(r0v);
      return;
    }
    half_step<precond>(my, reach, static_cast<T>(alpha));
    publish(my, lead, ms);
    if constexpr (matrix) apply_matrix<B, storage>(args, my, my.r);
    double dots[4] = {};  // t.s, t.t, r0.s, r0.t
    multiply<B, precond, storage>(args, my, ahead, ms, [&](int i, T t) {
      const double s = my.r[i], r0 = my.r0[i];
      my.t[i] = t;
      post_row<B>(my, lead, i, t);
      dots[0] += double(t) * s;
      dots[1] += double(t) * double(t);
      dots[2] += r0 * s;
      dots[3] += r0 * double(t);
    });
    synchronise<B>(my, lead, dots, my.t);
    const double omega = bicgstab_omega(dots[0], dots[1]), next_rho = dots[2] - omega * dots[3];
    gain = omega * dots[0];
    full_step<precond>(my, reach, static_cast<T>(alpha), static_cast<T>(omega),
                       static_cast<T>(bicgstab_beta(next_rho, rho, alpha, omega)));
  }
}

/// As in resident CG: a block has a part, a warp its slices in turn, a lane a node of them or its share of one; in
/// vector steps a thread every 512th row. x, r, p and r0 are read at the beginning and written by their owners at the
/// end, the best x when it is found. An iteration posts v and t of the marked rows and three and four sums, and reads
/// those of the halo and of every block: 16 bytes a number (8 of an entry in single precision), through the
/// second-level cache. Where M is a matrix it posts and reads M p and M s as well.
template <class T, int B, ResidentPrecond precond, ResidentStorage storage>
__global__ void __launch_bounds__(ResidentTuning::threads, 1) resident_bicgstab(const ResidentArgs<T> args) {
  constexpr bool on_chip = stays_on_chip(storage);
  extern __shared__ __align__(16) unsigned char base[];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  ResidentBicgstabPart<T> my(open_part<T, B, precond, storage>(args, resident_bicgstab_needs(precond), base),
                             precond);
  if constexpr (precond == ResidentPrecond::diagonal) {
    load_with_halo<B>(my, matrix_of<B, precond, storage>(args, my), args.d, my.d);
  }
  ResidentState seen = args.before;
  BicgstabPlaces<T, B, precond, storage> ahead;
  open_pass<B, on_chip>(matrix_of<B, precond, storage>(args, my), my.own, ahead);
  bool goes_on = true;
  if (args.begin == ResidentBegin::guess) {
    goes_on = open_residual<B, B, on_chip>(args, my, matrix_of<B, precond, storage>(args, my),
                                           lead_of<B, precond, storage>(args, my), ahead, my.t, my.r, seen);
    for (int i = thread; i < my.own; i += threads) my.x[i] = my.t[i];
    store_own(my, my.x, args.kept);
    seen.r0_norm = seen.kept_residual = seen.residual;
  } else {
    load_with_halo<B>(my, lead_of<B, precond, storage>(args, my), args.r, my.r);
    load_own(my, args.x, my.x);
  }
  if (args.begin == ResidentBegin::onward) {
    load_with_halo<B>(my, lead_of<B, precond, storage>(args, my), args.p, my.p);
    load_own(my, args.r0, my.r0);
  }
  __syncthreads();
  if (args.begin != ResidentBegin::onward) {
    for (int i = thread; i < my.own; i += threads) my.r0[i] = my.r[i];
    for (int i = thread; i < my.reach; i += threads) my.p[i] = my.r[i];
  }
  if (goes_on) {
    iterate<B, precond, storage>(args, my, ahead, seen);
    store_own(my, my.x, args.x);
    store_own(my, my.r, args.r);
    store_own(my, my.p, args.p);
    store_own(my, my.r0, args.r0);
  }
  if (!is_reporting_thread()) return;
  ResidentState& state = args.log->state;
  state.iteration = seen.iteration;
  state.event = seen.event;
  state.r0_norm = seen.r0_norm;
  state.kept_residual = seen.kept_residual;
  state.kept_at = seen.kept_at;
}

}  // namespace
}  // namespace newel::detail
