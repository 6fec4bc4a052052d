// SPDX-License-Identifier: Apache-2.0
/// CG as one kernel: a block is a part of the matrix and has its share of every vector in shared memory. Internal.
#pragma once

#include <purlin/solver/resident_part_device.cuh>

namespace purlin::detail {
namespace {

/// Tells the others a row's number, where one of them reads it.
template <int B, class T>
__device__ __forceinline__ void post_row(const ResidentPart<T>& my, int i, T value) {
  if (my.marked[i / B]) my.exchange.post_entry(my.first_row + i, value);
}

/// The meeting of an iteration: every block's sums, in the same order everywhere, and the halo's entries of what was
/// posted, to stand behind the own ones of `to` (null: no entries). Ends with the block in step.
template <int B, class T>
__device__ __forceinline__ void meet(ResidentPart<T>& my, double (&sums)[Exchange::sums], T* to) {
  my.exchange.post_sums(sums);
  if (to != nullptr) {
    my.exchange.template collect_entries<T>(
        my.halo, [&](int i) { return Offset{my.halo_node[i / B]} * B + i % B; }, to + my.own);
  }
  my.exchange.collect_sums(sums);
}

/// sum of |b - A u|^2 over the own rows, u being the vector in question; `row(i, b - A u)` for each.
template <int B, bool on_chip, class T, class Row>
__device__ __forceinline__ double residual_of(const EhybView<T>& a, const ResidentPart<T>& my,
                                              ResidentPlaces<T, B>& ahead, const T* b, const Row& row) {
  double square = 0;
  for_each_row<B, on_chip>(a, my, ahead, [&](int i, T sum) {
    const T r = load_cached(b + my.first_row + i) - sum;
    square += double(r) * double(r);
    row(i, r);
  });
  return square;
}

/// r = b - A x and the norms. False where they are no numbers to work with.
template <int B, bool on_chip, class T>
__device__ bool open_residual(const EhybView<T>& a, const ResidentArgs<T>& args, ResidentPart<T>& my,
                              ResidentPlaces<T, B>& ahead, ResidentState& seen) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  load_with_halo<B>(my, args.x, my.u);
  __syncthreads();
  double sums[Exchange::sums] = {};
  for (int i = thread; i < my.own; i += threads) {
    const double b = load_cached(args.b + my.first_row + i);
    sums[0] += b * b;
    my.x[i] = my.u[i];
    my.p[i] = 0;
  }
  for (int i = thread; i < my.own + my.halo; i += threads) my.s[i] = 0;
  sums[1] = residual_of<B, on_chip>(a, my, ahead, args.b, [&](int i, T r) {
    my.r[i] = r;
    post_row<B>(my, i, r);
  });
  meet<B>(my, sums, my.r);
  seen.rhs_norm = sqrt(sums[0]);
  seen.initial_residual = seen.residual = sqrt(sums[1]);
  seen.tolerance = fmax(args.rel_tol * seen.rhs_norm, args.abs_tol);
  const auto safe = [&](double norm) { return norm - norm == 0 && norm >= least_safe_norm; };
  seen.started = safe(seen.rhs_norm) && safe(seen.initial_residual);
  return seen.started && !(seen.initial_residual <= seen.tolerance);
}

/// The steps of the recurrence, `args.iterations` at most; `seen` knows afterwards how it stands.
template <int B, bool scaled, bool on_chip, class T>
__device__ void iterate(const EhybView<T>& a, const ResidentArgs<T>& args, ResidentPart<T>& my,
                        ResidentPlaces<T, B>& ahead, ResidentState& seen) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const bool writes = blockIdx.x == 0 && thread == 0;
  for (int i = thread; i < my.own + my.halo; i += threads) my.u[i] = scaled ? my.d[i] * my.r[i] : my.r[i];
  for (int k = 0;; ++k) {
    __syncthreads();
    double sums[Exchange::sums] = {};  // r.u, w.u, r.r
    for_each_row<B, on_chip>(a, my, ahead, [&](int i, T w) {
      const double r = my.r[i], u = my.u[i];
      my.w[i] = w;
      post_row<B>(my, i, w);
      sums[0] += r * u;
      sums[1] += double(w) * u;
      sums[2] += r * r;
    });
    meet<B>(my, sums, my.w);
    const double rho = sums[0], uw = sums[1];
    if (k > 0) {  // of the step before: its residual is known only now
      ++seen.iteration;
      seen.residual = sqrt(sums[2]);
      if (writes) args.log->residual[k - 1] = seen.residual;
      seen.event = event_of(seen.residual, seen.tolerance, seen.iteration, seen.max_iterations);
    }
    if (seen.event != Event::none || k == args.iterations) return;
    const double beta = rho / seen.rho, drop = beta * rho / seen.alpha, pq = uw - drop;
    if (!(rho > 0) || !(uw > 0) || !(pq > 0)) {
      // p.A p is a difference here. Far below 0 it proves what u.A u <= 0 proves; near 0 the loop has to find out.
      const bool finite = rho - rho == 0 && uw - uw == 0;
      seen.undecided = finite && rho > 0 && uw > 0 && -pq <= resident_doubt<T> * (uw + drop);
      if (seen.undecided) return;
      seen.event = !finite ? Event::not_finite : rho <= 0 ? Event::precond_not_positive : Event::matrix_not_positive;
      return;
    }
    seen.rho = rho;
    seen.alpha = rho / pq;
    const T alpha_t = static_cast<T>(seen.alpha), beta_t = static_cast<T>(beta);
    for (int i = thread; i < my.own + my.halo; i += threads) {
      const T s = my.w[i] + beta_t * my.s[i], r = my.r[i] - alpha_t * s;
      if (i < my.own) {
        const T p = my.u[i] + beta_t * my.p[i];
        my.p[i] = p;
        my.x[i] += alpha_t * p;
      }
      my.s[i] = s;
      my.r[i] = r;
      my.u[i] = scaled ? my.d[i] * r : r;
    }
  }
}

/// |b - A x| of the present x, which no block needs to have seen the others' of.
template <int B, bool on_chip, class T>
__device__ double true_residual(const EhybView<T>& a, const ResidentArgs<T>& args, ResidentPart<T>& my,
                                ResidentPlaces<T, B>& ahead) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < my.own; i += threads) {
    my.u[i] = my.x[i];
    post_row<B>(my, i, my.x[i]);
  }
  double sums[Exchange::sums] = {};
  meet<B>(my, sums, my.u);
  sums[0] = residual_of<B, on_chip>(a, my, ahead, args.b, [](int, T) {});
  sums[1] = sums[2] = 0;
  meet<B>(my, sums, static_cast<T*>(nullptr));
  return sqrt(sums[0]);
}

/// A block has a part, a warp its slices in turn, a lane a node of them or its share of one; in vector steps a thread
/// every 512th row. In shared memory: u = M r, r, s, w and the diagonal of M, with the halo, own p and x, and with
/// `on_chip` the part's numbers and columns, which else stream by. x, r, p and s are read at the beginning and
/// written by their owners at the end. An iteration posts w of the marked rows and three sums, and reads those of the
/// halo and of every block: 16 bytes a number (8 of an entry in single precision), through the second-level cache.
template <class T, int B, bool scaled, bool on_chip>
__global__ void __launch_bounds__(ResidentTuning::threads, 1)
    resident_cg(const EhybView<T> a, const ResidentArgs<T> args) {
  extern __shared__ __align__(16) unsigned char base[];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  ResidentPart<T> my = open_part<T, B, scaled, on_chip>(a, args, base);
  if constexpr (scaled) load_with_halo<B>(my, args.d, my.d);
  ResidentState seen = args.before;
  ResidentPlaces<T, B> ahead;
  open_pass<B, on_chip>(my, ahead);
  bool goes_on = true;
  if (args.first) {
    goes_on = open_residual<B, on_chip>(a, args, my, ahead, seen);
  } else {
    load_with_halo<B>(my, args.r, my.r);
    load_with_halo<B>(my, args.s, my.s);
    for (int i = thread; i < my.own; i += threads) {
      my.p[i] = args.p[my.first_row + i];
      my.x[i] = args.x[my.first_row + i];
    }
  }
  if (goes_on) {
    __syncthreads();
    iterate<B, scaled, on_chip>(a, args, my, ahead, seen);
    if (seen.event == Event::tolerance_met) seen.true_residual = true_residual<B, on_chip>(a, args, my, ahead);
    for (int i = thread; i < my.own; i += threads) {
      args.x[my.first_row + i] = my.x[i];
      args.r[my.first_row + i] = my.r[i];
      args.p[my.first_row + i] = my.p[i];
      args.s[my.first_row + i] = my.s[i];
    }
  }
  if (blockIdx.x != 0 || thread != 0) return;
  args.log->state = seen;
}

}  // namespace
}  // namespace purlin::detail
