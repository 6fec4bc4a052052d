// SPDX-License-Identifier: Apache-2.0
/// BlockFactors: incomplete factors, or FSAI, of the system of a block, in shared memory. Internal.
#pragma once

#include "solver/batched/inverse/batched_inverse.hpp"
#include "solver/batched/block_entries_device.cuh"

namespace newel::detail {

/// ILU(0) (Saad, algorithm 10.4): a thread computes an entry of a level, lanes share a row of a triangular solve.
/// FSAI: a thread computes a row of G, and an entry of each product with G and its transpose.
template <class T, class Shape>
class BlockFactors : public BlockEntries<T, Shape> {
  using Base = BlockEntries<T, Shape>;

 public:
  using Base::each;
  using Base::wait;
  using typename Base::At;
  using typename Base::Own;

  using Base::Base;

  /// Begins with system s.
  __device__ __forceinline__ void take(Index s) {
    this->load(s);
    is_ilu() ? factorise() : approximate();
  }

  static constexpr __device__ bool is_local() { return false; }
  static __device__ __forceinline__ T scaled(At, T r) { return r; }

 protected:
  using Base::args_;

  /// f(i, (M r)_i)
  template <class F>
  __device__ __forceinline__ void apply(const Own& r, F&& f) const {
    T* const z = exchange(0);
    each([&](At i) { z[i.row] = r[i]; });
    wait();
    if (is_ilu()) {
      const BlockSchedule& plan = args_.schedule;
      solve_rows(plan.lower, plan.lower_level, plan.lower_levels, z);
      solve_rows(plan.upper, plan.upper_level, plan.upper_levels, z);
      each([&](At i) { f(i, z[i.row]); });
    } else {
      multiply(z, f);
    }
  }

 private:
  __device__ __forceinline__ bool is_ilu() const { return args_.problem.limits.inverse == BatchedInverse::ilu; }
  __device__ __forceinline__ T* factors() const { return this->template in<T>(args_.memory.inverse); }
  __device__ __forceinline__ T* exchange(int which) const {
    return this->template in<T>(args_.memory.exchange) + which * args_.layout.padded_rows();
  }

  __device__ __forceinline__ void factorise() const {
    const BlockSchedule& plan = args_.schedule;
    const T* const values = this->values();
    T* const a = factors();
    for (int e = static_cast<int>(threadIdx.x); e < plan.entries; e += static_cast<int>(blockDim.x)) a[e] = values[e];
    wait();
    for (int level = 0; level < plan.step_levels; ++level) {
      const int end = plan.step_level[level + 1];
      for (int at = plan.step_level[level] + static_cast<int>(threadIdx.x); at < end;
           at += static_cast<int>(blockDim.x)) {
        const FactorStep step = plan.step[at];
        T entry = a[step.entry];
        for (int k = step.first_pair; k < plan.step[at + 1].first_pair; ++k)
          entry -= a[plan.pair[k].left] * a[plan.pair[k].upper];
        if (step.pivot == step.entry) {
          entry = inverse_or_one(entry);
        } else if (step.pivot != no_position) {
          entry *= a[step.pivot];
        }
        a[step.entry] = entry;
      }
      wait();
    }
  }

  // z = D^-1 (z - N z), level by level: N has the entries of `row`, D their pivots.
  __device__ __forceinline__ void solve_rows(const SolveRow* row, const int* level, int levels, T* z) const {
    const BlockSchedule& plan = args_.schedule;
    const T* const a = factors();
    const int lanes = plan.lanes_of_row, lane = static_cast<int>(threadIdx.x) % lanes;
    const int side_by_side = static_cast<int>(blockDim.x) / lanes, own = static_cast<int>(threadIdx.x) / lanes;
    for (int l = 0; l < levels; ++l) {
      const int end = level[l + 1];
      for (int at = level[l]; at < end; at += side_by_side) {
        const bool here = at + own < end;
        const SolveRow of = here ? row[at + own] : SolveRow{0, 0, 0, no_position};
        T sum = 0;
        for (int e = of.first + lane; e < of.first + of.count; e += lanes) sum += a[e] * z[plan.column[e]];
        for (int apart = lanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (!here || lane != 0) continue;
        const T left = z[of.row] - sum;
        z[of.row] = of.pivot == no_position ? left : left * a[of.pivot];
      }
      wait();
    }
  }

  // The rows of G. A worker has the local problem of one row at a time.
  __device__ __forceinline__ void approximate() const {
    const BlockSchedule& plan = args_.schedule;
    const T* const values = this->values();
    const int workers = args_.memory.workers, worker = static_cast<int>(threadIdx.x);
    if (worker < workers) {
      double* const a = this->template in<double>(args_.memory.scratch) + worker * fsai_local_size(plan.longest);
      for (int row = worker; row < args_.layout.rows; row += workers) {
        const int first = plan.row_first[row], m = plan.row_first[row + 1] - first;
        const int* const local = plan.local + plan.local_first[row];
        for (int k = 0; k < fsai_local_size(m); ++k)
          a[k] = local[k] >= 0 ? static_cast<double>(values[local[k]]) : 0.0;
        solve_fsai_row<T>(a, m);
        for (int k = 0; k < m; ++k) factors()[first + k] = static_cast<T>(a[fsai_local_size(m - 1) + k]);
      }
    }
    wait();
  }

  // f(i, (G^T G r)_i)
  template <class F>
  __device__ __forceinline__ void multiply(const T* r, F&& f) const {
    const BlockSchedule& plan = args_.schedule;
    const T* const g = factors();
    T* const u = exchange(1);
    each([&](At i) {
      T sum = 0;
      const bool here = i.row < args_.layout.rows;
      const int end = here ? plan.row_first[i.row + 1] : 0;
      for (int e = here ? plan.row_first[i.row] : 0; e < end; ++e) sum += g[e] * r[plan.column[e]];
      u[i.row] = sum;
    });
    wait();
    each([&](At i) {
      T sum = 0;
      const bool here = i.row < args_.layout.rows;
      const int end = here ? plan.transposed_first[i.row + 1] : 0;
      for (int k = here ? plan.transposed_first[i.row] : 0; k < end; ++k) {
        const FactorPair place = plan.transposed[k];
        sum += g[place.left] * u[place.upper];
      }
      f(i, sum);
    });
  }
};

}  // namespace newel::detail
