// SPDX-License-Identifier: Apache-2.0
/// CG as one kernel: a block is a part of the matrix and has its share of every vector in shared memory. Internal.
#pragma once

#include "solver/krylov/steps/cg_recurrence.hpp"
#include "solver/krylov/resident/resident_residual_device.cuh"

namespace newel::detail {
namespace {

/// The square root of T's epsilon: what rounding may take from p.A p, of its terms, after many steps.
template <class T>
constexpr double undecided_margin = sizeof(T) == 8 ? 1.5e-8 : 3.5e-4;

NEWEL_HD constexpr ResidentNeeds resident_cg_needs(ResidentPrecond precond) {
  const bool factors = precond == ResidentPrecond::factors;
  return {precond == ResidentPrecond::diagonal ? 5 : 4, 2, 3, factors ? 3 : 1, factors ? 4 : 2};
}

/// Across devices the halo of w is used as it arrives, and has no place.
NEWEL_HD constexpr ResidentNeeds resident_cg_needs_across(ResidentPrecond precond, ResidentRoom room) {
  const bool keeps_diagonal = precond == ResidentPrecond::diagonal && room == ResidentRoom::all;
  return {keeps_diagonal ? 4 : 3, room == ResidentRoom::x_in_memory ? 2 : 3, 3, 1, 2};
}

/// A part and its vectors: u, r, s, w = A u (before that G r), and the diagonal of M, with the halo behind; own p and
/// x. Across devices w is own, and the diagonal and x may be in memory.
template <class T, bool across>
struct ResidentCgPart : ResidentPart<T, across> {
  T *u, *r, *s, *w, *d, *p, *x;

  __device__ ResidentCgPart(const ResidentArgs<T>& args, const ResidentPart<T, across>& part)
      : ResidentPart<T, across>(part), u(part.vector(0)), r(part.vector(1)), s(part.vector(2)) {
    if constexpr (across) {
      const bool d_here = args.room == ResidentRoom::all, x_here = args.room != ResidentRoom::x_in_memory;
      d = d_here ? part.vector(3) : args.diagonal + part.first_row + part.halo_before;
      w = part.own_vector(0);
      p = part.own_vector(1);
      x = x_here ? part.own_vector(2) : args.x + part.first_row;
    } else {
      w = part.vector(3);
      d = part.vector(4);
      p = part.own_vector(0);
      x = part.own_vector(1);
    }
  }
};

/// Places that are loaded at once where there are factors, whose shares take registers too; as resident_places.
constexpr int factor_places[2][4] = {{0, 3, 1, 0}, {0, 6, 3, 2}};
template <class T, int B>
using FactorPlaces = EhybPlaces<T, B, B == 6 ? 0 : factor_places[sizeof(T) == 4][B % 4]>;

/// u = G^T (G r) with A's halo; the thread's share of r.M r = |G r|^2. Two synchronisations of neighbours.
template <int B, bool on_chip, class T, bool across>
__device__ __forceinline__ double apply_factors(const ResidentArgs<T>& args, ResidentCgPart<T, across>& my) {
  constexpr bool again = false;
  double rho = 0;
  {
    const ResidentShare<T> g = first_of<1, on_chip>(args, my), gt = second_of<1, on_chip>(args, my);
    FactorPlaces<T, 1> ahead;
    open_pass<1, on_chip>(g, my.own, ahead);
    for_each_row<1, on_chip, 1, again>(g, my.own, my.r, ahead, [&](int i, T value) {
      my.w[i] = value;
      post_row<1>(my, gt, i, value);
      rho += double(value) * double(value);
    });
    swap_entries<1>(my, gt, my.w);
  }
  {
    const ResidentShare<T> gt = second_of<1, on_chip>(args, my);
    const ResidentShare<T> a = share_at<T, B, on_chip>(my.record[0], args.a, my.base);
    FactorPlaces<T, 1> ahead;
    open_pass<1, on_chip>(gt, my.own, ahead);
    for_each_row<1, on_chip, 1, again>(gt, my.own, my.w, ahead, [&](int i, T value) {
      my.u[i] = value;
      post_row<B>(my, a, i, value);
    });
    swap_entries<B>(my, a, my.u);
  }
  return rho;
}

/// The steps of the recurrence, `args.iterations` at most; `seen` knows afterwards how it stands.
template <int B, ResidentPrecond precond, ResidentStorage storage, class T, bool across>
__device__ void iterate(const ResidentArgs<T>& args, ResidentCgPart<T, across>& my,
                        ResidentPlaces<T, B, storage>& ahead, ResidentState& seen) {
  constexpr bool scaled = precond == ResidentPrecond::diagonal, factors = precond == ResidentPrecond::factors;
  constexpr bool on_chip = stays_on_chip(storage);
  constexpr int L = lead_block<precond, B>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int reach = my.own + lead_of<B, precond, storage>(args, my).halo;
  if constexpr (!factors) {
    for (int i = thread; i < reach; i += threads) my.u[i] = scaled ? my.d[i] * my.r[i] : my.r[i];
  }
  for (int k = 0;; ++k) {
    publish(my, matrix_of<B, precond, storage>(args, my), my.u);
    double sums[3] = {};  // r.u, w.u, r.r
    if constexpr (factors) sums[0] = apply_factors<B, on_chip>(args, my);
    const auto a = matrix_of<B, precond, storage>(args, my);
    const auto lead = lead_of<B, precond, storage>(args, my);
    const auto row = [&](int i, T w) {
      const double r = my.r[i], u = my.u[i];
      my.w[i] = w;
      post_row<L>(my, lead, i, w);
      if constexpr (!factors) sums[0] += r * u;
      sums[1] += double(w) * u;
      sums[2] += r * r;
    };
    if constexpr (factors) {
      FactorPlaces<T, B> begun;
      open_pass<B, on_chip>(a, my.own, begun);
      for_each_row<B, on_chip, B == 6 ? 3 : B, false>(a, my.own, my.u, begun, row);
    } else {
      for_each_row<B, on_chip>(a, my.own, my.u, ahead, row);
    }
    synchronise<L>(my, lead, sums, across ? nullptr : my.w);
    const double rho = sums[0], uw = sums[1];
    if (k > 0) {  // of the step before: its residual is known only now
      ++seen.iteration;
      seen.residual = sqrt(sums[2]);
      if (is_reporting_thread()) args.log->residual[k - 1] = seen.residual;
      seen.event = event_of(seen.residual, seen.tolerance, seen.iteration, seen.max_iterations);
    }
    if (seen.event != Event::none || k == args.iterations) return;
    const double beta = cg_beta(rho, seen.rho), drop = beta * rho / seen.alpha, pq = uw - drop;
    if (!cg_is_sound(rho, uw) || !(pq > 0)) {
      // p.A p is a difference here. Far below 0 it proves what u.A u <= 0 proves; near 0 the loop has to find out.
      seen.undecided = cg_is_finite(rho, uw) && rho > 0 && uw > 0 && -pq <= undecided_margin<T> * (uw + drop);
      if (!seen.undecided) seen.event = cg_breakdown(rho, uw);
      return;
    }
    seen.rho = rho;
    seen.alpha = cg_alpha(rho, pq);
    seen.gained += seen.alpha * rho;
    if (is_reporting_thread()) note_coefficients(args.coefficients, seen.iteration, seen.alpha, beta);
    const T alpha_t = static_cast<T>(seen.alpha), beta_t = static_cast<T>(beta);
    const auto step = [&](int i, T w) {
      T s, r;
      cg_next_p(w, beta_t, my.s[i], s);
      cg_next_r(my.r[i], alpha_t, s, r);
      if (i < my.own) {
        T p;
        cg_next_p(my.u[i], beta_t, my.p[i], p);
        my.p[i] = p;
        cg_next_x(my.x[i], alpha_t, p, my.x[i]);
      }
      my.s[i] = s;
      my.r[i] = r;
      if constexpr (!factors) my.u[i] = scaled ? my.d[i] * r : r;
    };
    const int here = across ? my.own : reach;
#pragma unroll 2  // more would spill
    for (int i = thread; i < here; i += threads) step(i, my.w[i]);
    if constexpr (across) take_late<L>(my, lead, [&](int i, T w) { step(my.own + i, w); });
  }
}

/// A block has a part, a warp its slices in turn, a lane a node of them or its share of one; in vector steps a thread
/// every 512th row. In shared memory: the vectors, and with `on_chip` the part's values and columns, which else
/// stream by. x, r, p and s are read at the beginning and written by their owners at the end. An iteration posts w of
/// the marked rows and three sums, and reads those of the halo and of every block: 16 bytes a number (8 of an entry
/// in single precision), through the second-level cache. With factors it posts and reads G r and u = M r as well.
template <class T, int B, ResidentPrecond precond, ResidentStorage storage, bool across = false>
__global__ void __launch_bounds__(ResidentTuning::threads, 1) resident_cg(const ResidentArgs<T> args) {
  constexpr int L = lead_block<precond, B>;
  constexpr bool on_chip = stays_on_chip(storage);
  extern __shared__ __align__(16) unsigned char base[];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const ResidentNeeds needs = across ? resident_cg_needs_across(precond, args.room) : resident_cg_needs(precond);
  ResidentCgPart<T, across> my(args, open_part<T, B, precond, storage, across>(args, needs, base));
  if constexpr (precond == ResidentPrecond::diagonal) {
    load_with_halo<B>(my, matrix_of<B, precond, storage>(args, my), args.d, my.d);
  }
  ResidentState seen = args.before;
  seen.gained = 0;
  ResidentPlaces<T, B, storage> ahead;
  open_pass<B, on_chip>(matrix_of<B, precond, storage>(args, my), my.own, ahead);
  bool goes_on = true;
  if (args.begin == ResidentBegin::guess) {
    goes_on = open_residual<B, L, on_chip>(args, my, matrix_of<B, precond, storage>(args, my),
                                           lead_of<B, precond, storage>(args, my), ahead, my.u, my.r, seen);
    for (int i = thread; i < my.own; i += threads) {
      my.x[i] = my.u[i];
      my.p[i] = 0;
    }
    store_own(my, my.u, args.kept);
    for (int i = thread; i < my.reach; i += threads) my.s[i] = 0;
  } else {
    const auto lead = lead_of<B, precond, storage>(args, my);
    load_with_halo<L>(my, lead, args.r, my.r);
    load_with_halo<L>(my, lead, args.s, my.s);
    load_own(my, args.p, my.p);
    load_own(my, args.x, my.x);
  }
  if (goes_on) {
    __syncthreads();
    iterate<B, precond, storage>(args, my, ahead, seen);
    store_own(my, my.x, args.x);
    store_own(my, my.r, args.r);
    store_own(my, my.p, args.p);
    store_own(my, my.s, args.s);
  }
  if (!is_reporting_thread()) return;
  ResidentState& state = args.log->state;
  state.iteration = seen.iteration;
  state.event = seen.event;
  state.undecided = seen.undecided;
  state.rho = seen.rho;
  state.alpha = seen.alpha;
  state.gained = seen.gained;
  state.epoch = my.exchange.epoch;
}

}  // namespace
}  // namespace newel::detail
