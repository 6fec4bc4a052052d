// SPDX-License-Identifier: Apache-2.0
/// BiCGStab as one kernel: a block is a part of the matrix and has its share of every vector in shared memory.
/// Internal.
#pragma once

#include <purlin/solver/bicgstab_steps.hpp>
#include <purlin/solver/resident_bicgstab.hpp>
#include <purlin/solver/resident_residual_device.cuh>

namespace purlin::detail {
namespace {

PURLIN_HD constexpr ResidentNeeds resident_bicgstab_needs(bool scaled) { return {scaled ? 6 : 4, 2, 4, 2, 2}; }

/// A part and its vectors: p, r (s in the middle of a step), v, t, and with a diagonal that and u = M p or M s, with
/// the halo behind; own x and r0.
template <class T>
struct ResidentBicgstabPart : ResidentPart<T> {
  T *p, *r, *v, *t, *d, *u, *x, *r0;

  __device__ explicit ResidentBicgstabPart(const ResidentPart<T>& part)
      : ResidentPart<T>(part),
        p(part.vector(0)),
        r(part.vector(1)),
        v(part.vector(2)),
        t(part.vector(3)),
        d(part.vector(4)),
        u(part.vector(5)),
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

/// The steps of the recurrence from r and p, `args.iterations` at most; `seen` knows afterwards how it stands.
template <int B, bool scaled, bool on_chip, class T>
__device__ void iterate(const ResidentArgs<T>& args, ResidentBicgstabPart<T>& my, ResidentPlaces<T, B>& ahead,
                        ResidentState& seen) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  constexpr int columns = B == 6 ? 3 : B;  // more would spill
  const T *const mp = scaled ? my.u : my.p, *const ms = scaled ? my.u : my.r;
  if constexpr (scaled) {
    for (int i = thread; i < my.reach; i += threads) my.u[i] = my.d[i] * my.p[i];
  }
  double gain = 0;  // of the step before
  for (int k = 0;; ++k) {
    __syncthreads();
    double sums[3] = {};  // r0.v, r.r, r0.r
    for_each_row<B, on_chip, columns>(my.a, my.own, mp, ahead, [&](int i, T v) {
      const double r = my.r[i], r0 = my.r0[i];
      my.v[i] = v;
      post_row<B>(my, my.a, i, v);
      sums[0] += r0 * double(v);
      sums[1] += r * r;
      sums[2] += r0 * r;
    });
    meet<B>(my, my.a, sums, my.v);
    const double r0v = sums[0], rho = sums[2];
    if (k > 0) {  // of the step before: its residual is known only now
      ++seen.iteration;
      seen.residual = sqrt(sums[1]);
      if (tells()) args.log->residual[k - 1] = seen.residual;
      seen.event = bicgstab_event(seen, rho, gain);
      if (seen.event == Event::none) keep_best(args, my, seen);
    }
    if (seen.event != Event::none || k == args.iterations) return;
    const double alpha = rho / r0v;
    if (!(alpha - alpha == 0)) {
      seen.event = r0v == 0 ? Event::rho_vanished : Event::not_finite;
      return;
    }
    const T alpha_t = static_cast<T>(alpha);
#pragma unroll 2  // more would spill
    for (int i = thread; i < my.reach; i += threads) {
      const T s = my.r[i] - alpha_t * my.v[i];
      my.r[i] = s;
      if constexpr (scaled) my.u[i] = my.d[i] * s;
    }
    __syncthreads();
    double dots[4] = {};  // t.s, t.t, r0.s, r0.t
    for_each_row<B, on_chip, columns>(my.a, my.own, ms, ahead, [&](int i, T t) {
      const double s = my.r[i], r0 = my.r0[i];
      my.t[i] = t;
      post_row<B>(my, my.a, i, t);
      dots[0] += double(t) * s;
      dots[1] += double(t) * double(t);
      dots[2] += r0 * s;
      dots[3] += r0 * double(t);
    });
    meet<B>(my, my.a, dots, my.t);
    const double omega = dots[1] > 0 ? dots[0] / dots[1] : 0.0, next_rho = dots[2] - omega * dots[3];
    gain = omega * dots[0];
    const T omega_t = static_cast<T>(omega), beta_t = static_cast<T>((next_rho / rho) * (alpha / omega));
#pragma unroll 2
    for (int i = thread; i < my.reach; i += threads) {
      const T p = my.p[i], s = my.r[i], r = s - omega_t * my.t[i];
      if (i < my.own) {
        const T mp_i = scaled ? my.d[i] * p : p, ms_i = scaled ? my.u[i] : s;
        my.x[i] += alpha_t * mp_i + omega_t * ms_i;
      }
      const T next_p = r + beta_t * (p - omega_t * my.v[i]);
      my.r[i] = r;
      my.p[i] = next_p;
      if constexpr (scaled) my.u[i] = my.d[i] * next_p;
    }
  }
}

/// As in resident CG: a block has a part, a warp its slices in turn, a lane a node of them or its share of one; in
/// vector steps a thread every 512th row. x, r, p and r0 are read at the beginning and written by their owners at the
/// end, the best x when it is found. An iteration posts v and t of the marked rows and three and four sums, and reads
/// those of the halo and of every block: 16 bytes a number (8 of an entry in single precision), through the
/// second-level cache.
template <class T, int B, bool scaled, bool on_chip>
__global__ void __launch_bounds__(ResidentTuning::threads, 1) resident_bicgstab(const ResidentArgs<T> args) {
  extern __shared__ __align__(16) unsigned char base[];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  ResidentBicgstabPart<T> my(open_part < T, B, scaled ? ResidentPrecond::diagonal : ResidentPrecond::none,
                             on_chip > (args, resident_bicgstab_needs(scaled), base));
  if constexpr (scaled) load_with_halo<B>(my, my.a, args.d, my.d);
  ResidentState seen = args.before;
  ResidentPlaces<T, B> ahead;
  open_pass<B, on_chip>(my.a, ahead);
  bool goes_on = true;
  if (args.begin == ResidentBegin::guess) {
    goes_on = open_residual<B, B, on_chip>(args, my, my.a, my.a, ahead, my.t, my.r, seen);
    for (int i = thread; i < my.own; i += threads) my.x[i] = my.t[i];
    store_own(my, my.x, args.kept);
    seen.r0_norm = seen.kept_residual = seen.residual;
  } else {
    load_with_halo<B>(my, my.a, args.r, my.r);
    load_own(my, args.x, my.x);
  }
  if (args.begin == ResidentBegin::onward) {
    load_with_halo<B>(my, my.a, args.p, my.p);
    load_own(my, args.r0, my.r0);
  }
  __syncthreads();
  if (args.begin != ResidentBegin::onward) {
    for (int i = thread; i < my.own; i += threads) my.r0[i] = my.r[i];
    for (int i = thread; i < my.reach; i += threads) my.p[i] = my.r[i];
  }
  if (goes_on) {
    iterate<B, scaled, on_chip>(args, my, ahead, seen);
    if (seen.event == Event::tolerance_met) tell_true_residual<B, on_chip>(args, my, my.a, ahead, my.x, my.t);
    store_own(my, my.x, args.x);
    store_own(my, my.r, args.r);
    store_own(my, my.p, args.p);
    store_own(my, my.r0, args.r0);
  }
  if (!tells()) return;
  ResidentState& state = args.log->state;
  state.iteration = seen.iteration;
  state.event = seen.event;
  state.r0_norm = seen.r0_norm;
  state.kept_residual = seen.kept_residual;
  state.kept_at = seen.kept_at;
}

}  // namespace
}  // namespace purlin::detail
