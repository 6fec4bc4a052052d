// SPDX-License-Identifier: Apache-2.0
// Triangular solves on the device: one kernel for each triangle. Its warps take rows in the order of levels, and wait
// for each entry of the solution that they need (W. Liu, A. Li, J. Hogg, I. S. Duff, B. Vinter, "A
// synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016; here rows wait for values,
// which are their own flags).
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "precond/incomplete/posted_value_device.cuh"
#include "precond/incomplete/triangles.hpp"

namespace newel::detail {
namespace {

// Not measured yet: few enough warps that those which wait leave the memory to those which do not.
struct TriangleTuning {
  static constexpr int threads = 128;
  static constexpr int blocks_per_processor = 4;
  static constexpr int sweep_threads = 256;
  static constexpr int sweep_lanes = 8;
};

template <class T>
struct DeviceTriangles {
  FactorView<T> f;
  const RowTask* tasks;
  unsigned count;
  unsigned* tickets;
};

// What a lane has of a row's product with values that may not be there yet.
template <int k, class T>
__device__ void add_row(const Index* col, const T* val, Offset begin, Offset end, int lane, int lanes, const T* of,
                        T (&sum)[k]) {
  for (Offset e = begin + lane; e < end; e += lanes) {
    const T* const x = of + static_cast<Offset>(col[e]) * k;
    const T factor = val[e];
#pragma unroll
    for (int c = 0; c < k; ++c) sum[c] += factor * wait_for(x + c);
  }
}

// The sums of `lanes` neighbouring lanes, a power of two, in all of them.
template <int k, class T>
__device__ void join_lanes(int lanes, T (&sum)[k]) {
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int c = 0; c < k; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], apart);
  }
}

// y_i = x_i - sum l_ij y_j; and z is taken back. A warp has a task at a time, a few lanes a row.
template <class T, int k>
__global__ void __launch_bounds__(TriangleTuning::threads)
    forward_kernel(DeviceTriangles<T> t, TriangleArgs<T> args) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned ticket = next_ticket(t.tickets);
  if (ticket == 0 && lane == 0) t.tickets[1] = 0;
  while (ticket < t.count) {
    const RowTask task = t.tasks[ticket];
    ticket = next_ticket(t.tickets);
    const int own = lane / task.lanes, part = lane % task.lanes;
    const Index i = task.first + own;
    const bool has_row = own < task.count;
    T sum[k] = {};
    if (has_row) add_row<k>(t.f.l_col, t.f.l_val, t.f.l_ptr[i], t.f.l_ptr[i + 1], part, task.lanes, args.y, sum);
    join_lanes<k>(task.lanes, sum);
    if (!has_row || part != 0) continue;
    const T* const x = args.x + static_cast<Offset>(args.row[i]) * k;
#pragma unroll
    for (int c = 0; c < k; ++c) {
      const Offset at = static_cast<Offset>(i) * k + c;
      post(args.y + at, x[c] - sum[c]);
      clear(args.z + at);
    }
  }
}

// z_i = y_i / d_i - sum u_ij z_j, which goes to `out` too; and y is taken back.
template <class T, int k>
__global__ void __launch_bounds__(TriangleTuning::threads)
    backward_kernel(DeviceTriangles<T> t, TriangleArgs<T> args) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned ticket = next_ticket(t.tickets + 1);
  if (ticket == 0 && lane == 0) t.tickets[0] = 0;
  while (ticket < t.count) {
    const RowTask task = t.tasks[t.count - 1 - ticket];
    ticket = next_ticket(t.tickets + 1);
    const int own = lane / task.lanes, part = lane % task.lanes;
    const Index i = task.first + own;
    const bool has_row = own < task.count;
    T sum[k] = {};
    if (has_row) add_row<k>(t.f.u_col, t.f.u_val, t.f.u_ptr[i], t.f.u_ptr[i + 1], part, task.lanes, args.z, sum);
    join_lanes<k>(task.lanes, sum);
    if (!has_row || part != 0) continue;
    T* const out = args.out + static_cast<Offset>(args.row[i]) * k;
#pragma unroll
    for (int c = 0; c < k; ++c) {
      const Offset at = static_cast<Offset>(i) * k + c;
      const T z = args.y[at] * t.f.d_inv[i] - sum[c];
      post(args.z + at, z);
      clear(args.y + at);
      out[c] = args.beta == T(0) ? args.alpha * z : args.alpha * z + args.beta * out[c];
    }
  }
}

template <int k, class T>
void launch_solves(const DeviceContext& ctx, const DeviceTriangles<T>& t, const TriangleArgs<T>& args) {
  constexpr unsigned warps = TriangleTuning::threads / 32;
  const unsigned most = static_cast<unsigned>(ctx.multiprocessors()) * TriangleTuning::blocks_per_processor;
  const unsigned blocks = std::min(most, (t.count + warps - 1) / warps);
  const cudaStream_t stream = ctx.state().stream();
  forward_kernel<T, k><<<blocks, TriangleTuning::threads, 0, stream>>>(t, args);
  NEWEL_CHECK_LAUNCH();
  backward_kernel<T, k><<<blocks, TriangleTuning::threads, 0, stream>>>(t, args);
  NEWEL_CHECK_LAUNCH();
}

// One sweep over a triangle: to = start - (triangle - I) from, by a few lanes a row.
template <class T, bool backward, class Start, class Write>
__device__ void sweep_row(const FactorView<T>& f, const T* from, const Start& start, const Write& write) {
  constexpr int lanes = TriangleTuning::sweep_lanes;
  const Offset thread = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Offset row = thread / lanes;
  const bool has_row = row < f.rows;
  const auto i = static_cast<Index>(has_row ? row : 0);
  const Offset* const ptr = backward ? f.u_ptr : f.l_ptr;
  const Index* const col = backward ? f.u_col : f.l_col;
  const T* const val = backward ? f.u_val : f.l_val;
  T sum[1] = {};
  if (has_row && from != nullptr) {
    for (Offset e = ptr[i] + thread % lanes; e < ptr[i + 1]; e += lanes) sum[0] += val[e] * from[col[e]];
  }
  join_lanes<1>(lanes, sum);
  if (has_row && thread % lanes == 0) write(i, start(i) - sum[0]);
}

// from = null: to = x in the order of the factors.
template <class T>
__global__ void __launch_bounds__(TriangleTuning::sweep_threads)
    forward_sweep(FactorView<T> f, TriangleArgs<T> args, const T* from, T* to) {
  sweep_row<T, false>(
      f, from, [&](Index i) { return args.x[args.row[i]]; }, [&](Index i, T value) { to[i] = value; });
}

// from = null: to = D^-1 y. to = null: the result goes to `out`.
template <class T>
__global__ void __launch_bounds__(TriangleTuning::sweep_threads)
    backward_sweep(FactorView<T> f, TriangleArgs<T> args, const T* y, const T* from, T* to) {
  const auto write = [&](Index i, T z) {
    if (to != nullptr) {
      to[i] = z;
      return;
    }
    T& out = args.out[args.row[i]];
    out = args.beta == T(0) ? args.alpha * z : args.alpha * z + args.beta * out;
  };
  sweep_row<T, true>(
      f, from, [&](Index i) { return y[i] * f.d_inv[i]; }, write);
}

// As many rows at once as keep the lanes of a warp busy with about two entries each.
int lanes_for(double entries_of_row) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes < entries_of_row) lanes *= 2;
  return lanes;
}

}  // namespace

TriangleWork<Space::device>::TriangleWork(const DeviceContext& ctx, const FactorPattern& p) {
  std::vector<RowTask> tasks;
  for (Index l = 0; l < p.levels(); ++l) {
    const Index begin = p.level_begin[l], end = p.level_begin[l + 1];
    const Offset entries = p.parts.lower.row_ptr[end] - p.parts.lower.row_ptr[begin] + p.parts.upper.row_ptr[end] -
                           p.parts.upper.row_ptr[begin];
    int lanes = lanes_for(0.5 * static_cast<double>(entries) / (end - begin));
    while (lanes < 32 && (end - begin) * lanes * 2 <= 32) lanes *= 2;  // a level of few rows
    const Index rows = 32 / lanes;
    for (Index i = begin; i < end; i += rows) {
      tasks.push_back({i, static_cast<std::int16_t>(std::min(rows, end - i)), static_cast<std::int16_t>(lanes)});
    }
  }
  tasks_ = make_array(ctx, tasks);
  tickets_ = make_array(ctx, std::vector<unsigned>(2, 0));
}

template <class T>
void solve_triangles(const DeviceContext& ctx, const FactorView<T>& f, const TriangleWork<Space::device>& work,
                     const TriangleArgs<T>& args, int columns) {
  if (f.rows == 0) return;
  const DeviceTriangles<T> t{f, work.tasks_.data(), static_cast<unsigned>(work.tasks_.size()), work.tickets_.data()};
  switch (columns) {
    case 1:
      return launch_solves<1>(ctx, t, args);
    case 2:
      return launch_solves<2>(ctx, t, args);
    case 4:
      return launch_solves<4>(ctx, t, args);
    default:
      return launch_solves<8>(ctx, t, args);
  }
}

template <class T>
void sweep_triangles(const DeviceContext& ctx, const FactorView<T>& f, const TriangleArgs<T>& args, T* spare,
                     int sweeps) {
  if (f.rows == 0) return;
  constexpr int threads = TriangleTuning::sweep_threads;
  const auto blocks =
      static_cast<unsigned>((static_cast<Offset>(f.rows) * TriangleTuning::sweep_lanes + threads - 1) / threads);
  const cudaStream_t stream = ctx.state().stream();
  T *from = args.y, *to = spare;
  forward_sweep<T><<<blocks, threads, 0, stream>>>(f, args, static_cast<const T*>(nullptr), from);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    forward_sweep<T><<<blocks, threads, 0, stream>>>(f, args, from, to);
    std::swap(from, to);
  }
  const T* const y = from;
  T *old = args.z, *next = to;
  backward_sweep<T><<<blocks, threads, 0, stream>>>(f, args, y, static_cast<const T*>(nullptr), old);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    T* const target = sweep + 1 < sweeps ? next : nullptr;
    backward_sweep<T><<<blocks, threads, 0, stream>>>(f, args, y, old, target);
    std::swap(old, next);
  }
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void prepare_vectors(const DeviceContext& ctx, T* values, std::int64_t count) {
  if (count == 0) return;
  NEWEL_CHECK_CUDA(
      cudaMemsetAsync(values, no_value_byte, static_cast<std::size_t>(count) * sizeof(T), ctx.state().stream()));
}

#define X(T)                                                                                                    \
  template void solve_triangles(const DeviceContext&, const FactorView<T>&, const TriangleWork<Space::device>&, \
                                const TriangleArgs<T>&, int);                                                   \
  template void sweep_triangles(const DeviceContext&, const FactorView<T>&, const TriangleArgs<T>&, T*, int);   \
  template void prepare_vectors(const DeviceContext&, T*, std::int64_t);
X(double)
X(float)
#undef X

}  // namespace newel::detail
