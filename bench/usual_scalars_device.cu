// SPDX-License-Identifier: Apache-2.0
// Kernels of one thread between cuBLAS calls.
#include "core/memory/context_device.hpp"

#include "usual_scalars_device.hpp"

namespace newel::bench {
namespace {

template <class T>
__device__ void end_where_due(UsualState<T>& s) {
  const bool more = static_cast<double>(s.rr) > s.wanted && s.iterations < s.most;  // NaN ends it
  if (!more) s.done = 1;
}

template <class T>
__global__ void cg_direction(UsualState<T>* state, bool rho_is_rr) {
  UsualState<T>& s = *state;
  end_where_due(s);
  if (rho_is_rr) s.rho = s.rr;
  s.beta = s.done || s.iterations == 0 ? T(0) : s.rho / s.rho_old;
  s.rho_old = s.rho;
}

template <class T>
__global__ void cg_update(UsualState<T>* state) {
  UsualState<T>& s = *state;
  s.alpha = s.done ? T(0) : s.rho / s.curvature;
  s.minus_alpha = -s.alpha;
  if (!s.done) ++s.iterations;
}

template <class T>
__global__ void bicgstab_half_step(UsualState<T>* state) {
  UsualState<T>& s = *state;
  end_where_due(s);
  s.alpha = s.done ? T(0) : s.rho / s.curvature;
  s.minus_alpha = -s.alpha;
  if (!s.done) ++s.iterations;
}

template <class T>
__global__ void bicgstab_step(UsualState<T>* state) {
  UsualState<T>& s = *state;
  s.omega = s.done || s.tt == T(0) ? T(0) : s.ts / s.tt;
  s.minus_omega = -s.omega;
  s.rho_old = s.rho;
}

template <class T>
__global__ void bicgstab_direction(UsualState<T>* state) {
  UsualState<T>& s = *state;
  s.beta = s.done || s.omega == T(0) ? T(0) : s.rho / s.rho_old * (s.alpha / s.omega);
}

}  // namespace

template <class T>
void usual_cg_direction(cudaStream_t stream, UsualState<T>* state, bool rho_is_rr) {
  cg_direction<T><<<1, 1, 0, stream>>>(state, rho_is_rr);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void usual_cg_update(cudaStream_t stream, UsualState<T>* state) {
  cg_update<T><<<1, 1, 0, stream>>>(state);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void usual_bicgstab_half_step(cudaStream_t stream, UsualState<T>* state) {
  bicgstab_half_step<T><<<1, 1, 0, stream>>>(state);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void usual_bicgstab_step(cudaStream_t stream, UsualState<T>* state) {
  bicgstab_step<T><<<1, 1, 0, stream>>>(state);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void usual_bicgstab_direction(cudaStream_t stream, UsualState<T>* state) {
  bicgstab_direction<T><<<1, 1, 0, stream>>>(state);
  NEWEL_CHECK_LAUNCH();
}

#define X(T)                                                            \
  template void usual_cg_direction(cudaStream_t, UsualState<T>*, bool); \
  template void usual_cg_update(cudaStream_t, UsualState<T>*);          \
  template void usual_bicgstab_half_step(cudaStream_t, UsualState<T>*); \
  template void usual_bicgstab_step(cudaStream_t, UsualState<T>*);      \
  template void usual_bicgstab_direction(cudaStream_t, UsualState<T>*);
X(double)
X(float)
#undef X

}  // namespace newel::bench
