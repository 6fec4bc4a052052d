// SPDX-License-Identifier: Apache-2.0
/// The scalars of the usual loops on the device, and the kernels of one thread that divide them. Internal.
#pragma once

#include <cuda_runtime.h>

namespace newel::bench {

/// One object in device memory. cuBLAS writes the sums and reads the factors. Once `done`, factors are 0 and the
/// iterations left in a graph change neither x nor r.
template <class T>
struct UsualState {
  T rr;            ///< r.r, by cuBLAS at the end of each iteration
  T rho, rho_old;  ///< CG: r.z, and that of the iteration before; BiCGStab: r0.r in rho, the old one in rho_old
  T curvature;     ///< CG: p.q; BiCGStab: r0.v
  T ts, tt;        ///< BiCGStab: t.s, t.t
  T alpha, minus_alpha;
  T omega, minus_omega;
  T beta;
  T one;
  double wanted;  ///< r.r that is small enough
  int iterations, most;
  int done;
};

/// CG, before the direction: whether it has ended; beta = rho / rho_old, 0 in the first iteration. `rho_is_rr`: there
/// is no preconditioner.
template <class T>
void usual_cg_direction(cudaStream_t stream, UsualState<T>* state, bool rho_is_rr);
/// CG, behind p.q: alpha = rho / p.q, and an iteration more.
template <class T>
void usual_cg_update(cudaStream_t stream, UsualState<T>* state);

/// BiCGStab, behind r0.v: whether it has ended; alpha = rho / r0.v, and an iteration more.
template <class T>
void usual_bicgstab_half_step(cudaStream_t stream, UsualState<T>* state);
/// BiCGStab, behind t.s and t.t: omega.
template <class T>
void usual_bicgstab_step(cudaStream_t stream, UsualState<T>* state);
/// BiCGStab, behind r0.r: beta = (rho / rho_old) (alpha / omega).
template <class T>
void usual_bicgstab_direction(cudaStream_t stream, UsualState<T>* state);

}  // namespace newel::bench
