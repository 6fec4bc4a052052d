// SPDX-License-Identifier: Apache-2.0
// When a solve is one kernel, and how such a kernel is launched.
#include <algorithm>
#include <vector>

#include <purlin/core/machine.hpp>
#include <purlin/solver/resident_part_device.cuh>

namespace purlin::detail {
namespace {

// A thread marks a node of the list of halo nodes; several may mark the same one.
__global__ void mark_nodes(const Index* node, Index count, unsigned char* marked) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) marked[node[i]] = 1;
}

}  // namespace

template <class T>
ResidentSystem<T>::ResidentSystem(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                                  const LinearOperator<T, Space::device>* M, Method method)
    : matrix_(A.serial()),
      context_(&ctx.state()),
      method_(method(M != nullptr)),
      scaled_(M != nullptr),
      diagonal_(M == nullptr || M->diagonal().data != nullptr) {
  static_assert(sizeof(ResidentLog) <= Context<Space::device>::State::page_bytes);
  const auto* matrix = dynamic_cast<const EhybOperator<T, Space::device>*>(&A);
  if (matrix == nullptr || !diagonal_) return;
  view_ = matrix->view();
  const auto& state = ctx.state();
  int cooperative = 0;
  PURLIN_CHECK_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, state.device));
  if (view_.rows == 0 || view_.parts > state.multiprocessors || view_.has_remainder() || cooperative == 0) return;
  if (state.page == nullptr || !plan(ctx)) return;
  try {
    mark_boundary(ctx);
  } catch (const OutOfMemory&) {
    return;  // the loop needs no more than it has
  }
  ctx.synchronize();
  fits_ = true;
}

template <class T>
bool ResidentSystem<T>::serves(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                               const LinearOperator<T, Space::device>* M) const {
  return A.serial() == matrix_ && &ctx.state() == context_ && (M != nullptr) == scaled_ &&
         (M == nullptr || M->diagonal().data != nullptr) == diagonal_;
}

/// What is kept on the chip; false where the vectors alone are too many.
template <class T>
bool ResidentSystem<T>::plan(const Context<Space::device>& ctx) {
  const std::vector<EhybPart> part = to_vector(ctx, Span<const EhybPart, Space::device>(view_.part, view_.parts));
  const std::vector<Index> first =
      to_vector(ctx, Span<const Index, Space::device>(view_.slice_first, part.back().slice_end + 1));
  std::size_t vectors = 0, all = 0;
  for (const EhybPart& p : part) {
    const int nodes = p.node_end - p.node_begin, halo_nodes = p.halo_end - p.halo_begin;
    const int slices = p.slice_end - p.slice_begin, places = first[p.slice_end] - first[p.slice_begin];
    const auto bytes = [&](bool on_chip) {
      ResidentRoom room;
      take_vectors<T>(room, method_.needs, nodes * view_.block, (nodes + halo_nodes) * view_.block, view_.parts);
      take_matrix<T>(room, view_.block, nodes, halo_nodes, slices, places, on_chip);
      return room.next;
    };
    vectors = std::max(vectors, bytes(false));
    all = std::max(all, bytes(true));
  }
  const std::size_t most = machine_of(ctx).cache_bytes;
  const auto admits = [&](std::size_t bytes, bool matrix) {
    const auto kernel = method_.kernel(view_.block, scaled_, matrix);
    cudaFuncAttributes attributes;
    PURLIN_CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    if (bytes + attributes.sharedSizeBytes > most) return false;
    PURLIN_CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(most - attributes.sharedSizeBytes)));
    int side_by_side = 0;
    PURLIN_CHECK_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel, ResidentTuning::threads, bytes));
    if (side_by_side == 0) return false;
    matrix_on_chip_ = matrix;
    shared_bytes_ = bytes;
    return true;
  };
  return admits(all, true) || admits(vectors, false);
}

template <class T>
void ResidentSystem<T>::mark_boundary(const Context<Space::device>& ctx) {
  const auto& state = ctx.state();
  const Index nodes = view_.rows / view_.block;
  EhybPart last;
  copy<EhybPart>(ctx, Span<const EhybPart, Space::device>(view_.part + view_.parts - 1, 1),
                 Span<EhybPart, Space::host>(&last, 1));
  marked_ = Array<unsigned char, Space::device>(ctx, nodes);
  posted_ = Array<std::uint64_t, Space::device>(ctx, Exchange::words<T>(view_.rows, view_.parts));
  PURLIN_CHECK_CUDA(cudaMemsetAsync(marked_.data(), 0, marked_.bytes(), state.stream()));
  PURLIN_CHECK_CUDA(cudaMemsetAsync(posted_.data(), 0, posted_.bytes(), state.stream()));
  constexpr unsigned threads = 256;
  if (last.halo_end == 0) return;
  const auto blocks = (static_cast<unsigned>(last.halo_end) + threads - 1) / threads;
  mark_nodes<<<blocks, threads, 0, state.stream()>>>(view_.halo_node, last.halo_end, marked_.data());
  PURLIN_CHECK_LAUNCH();
}

template <class T>
ResidentLog& ResidentSystem<T>::log_of(const Context<Space::device>& ctx) {
  return *static_cast<ResidentLog*>(ctx.state().page);
}

template <class T>
ResidentArgs<T> ResidentSystem<T>::args_of(const SolveArguments<T, Space::device>& system) const {
  ResidentArgs<T> args{};
  args.b = system.b.data;
  args.x = system.x.data;
  if (system.M != nullptr) args.d = system.M->diagonal().data;
  args.rel_tol = system.stop.rel_tol;
  args.abs_tol = system.stop.abs_tol;
  const int every = system.stop.check_every > 0 ? system.stop.check_every : ResidentLog::most_iterations;
  args.iterations = std::min(every, system.stop.max_iterations);
  return args;
}

template <class T>
bool ResidentSystem<T>::launch(const Context<Space::device>& ctx, const ResidentArgs<T>& told) {
  const auto& device = ctx.state();
  ResidentArgs<T> args = told;
  args.rows = view_.rows;
  args.a = {view_.part, view_.halo_node, view_.slice_first, view_.column, view_.value, marked_.data(), view_.share};
  args.posted = posted_.data();
  args.log = &log_of(ctx);
  args.before = args.log->state;
  args.epoch = epoch_;
  void* arguments[] = {&args};
  const auto kernel = method_.kernel(view_.block, scaled_, matrix_on_chip_);
  if (cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(view_.parts)), dim3(ResidentTuning::threads),
                                  arguments, shared_bytes_, device.stream()) != cudaSuccess) {
    cudaGetLastError();
    return fits_ = false;
  }
  epoch_ +=
      static_cast<unsigned>(args.iterations * method_.needs.meetings + ResidentTuning::exchanges_beside_iterations);
  ctx.synchronize();
  return true;
}

template class ResidentSystem<double>;
template class ResidentSystem<float>;

}  // namespace purlin::detail
