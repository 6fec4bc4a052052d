// SPDX-License-Identifier: Apache-2.0
// When CG is one kernel, and how its launches make a solve.
#include <algorithm>
#include <limits>
#include <vector>

#include <purlin/core/machine.hpp>
#include <purlin/solver/resident_cg_device.cuh>

namespace purlin::detail {
namespace {

template <class T>
using ResidentKernel = void (*)(const EhybView<T>, const ResidentArgs<T>);

template <class T, int B>
ResidentKernel<T> kernel_of_block(bool scaled, bool on_chip) {
  if (scaled) return on_chip ? resident_cg<T, B, true, true> : resident_cg<T, B, true, false>;
  return on_chip ? resident_cg<T, B, false, true> : resident_cg<T, B, false, false>;
}

template <class T>
ResidentKernel<T> kernel_of(int block, bool scaled, bool on_chip) {
  switch (block) {
    case 6:
      return kernel_of_block<T, 6>(scaled, on_chip);
    case 3:
      return kernel_of_block<T, 3>(scaled, on_chip);
    case 2:
      return kernel_of_block<T, 2>(scaled, on_chip);
    default:
      return kernel_of_block<T, 1>(scaled, on_chip);
  }
}

// A thread marks a node of the list of halo nodes; several may mark the same one.
__global__ void mark_nodes(const Index* node, Index count, unsigned char* marked) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) marked[node[i]] = 1;
}

}  // namespace

template <class T>
ResidentCg<T>::ResidentCg(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                          const LinearOperator<T, Space::device>* M)
    : matrix_(A.serial()),
      context_(&ctx.state()),
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
bool ResidentCg<T>::serves(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                           const LinearOperator<T, Space::device>* M) const {
  return A.serial() == matrix_ && &ctx.state() == context_ && (M != nullptr) == scaled_ &&
         (M == nullptr || M->diagonal().data != nullptr) == diagonal_;
}

/// What is kept on the chip; false where the vectors alone are too many.
template <class T>
bool ResidentCg<T>::plan(const Context<Space::device>& ctx) {
  const std::vector<EhybPart> part = to_vector(ctx, Span<const EhybPart, Space::device>(view_.part, view_.parts));
  const std::vector<Index> first =
      to_vector(ctx, Span<const Index, Space::device>(view_.slice_first, part.back().slice_end + 1));
  std::size_t vectors = 0, all = 0;
  for (const EhybPart& p : part) {
    const int own = (p.node_end - p.node_begin) * view_.block, halo = (p.halo_end - p.halo_begin) * view_.block;
    const int slices = p.slice_end - p.slice_begin, places = first[p.slice_end] - first[p.slice_begin];
    const auto bytes = [&](bool matrix) {
      return resident_space<T>(own, halo, view_.block, slices, places, warp, view_.parts, scaled_, matrix).end;
    };
    vectors = std::max(vectors, bytes(false));
    all = std::max(all, bytes(true));
  }
  const std::size_t most = machine_of(ctx).cache_bytes;
  const auto admits = [&](std::size_t bytes, bool matrix) {
    const auto kernel = kernel_of<T>(view_.block, scaled_, matrix);
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
void ResidentCg<T>::mark_boundary(const Context<Space::device>& ctx) {
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

/// Waits for its end. False where the card did not take it.
template <class T>
bool ResidentCg<T>::launch(const Context<Space::device>& ctx, const ResidentTask<T>& task, bool first) {
  const auto& device = ctx.state();
  auto* const log = static_cast<ResidentLog*>(device.page);
  ResidentArgs<T> args{task.b.data,  task.d.data,    task.x.data,     task.r, task.p,
                       task.s,       marked_.data(), posted_.data(),  log,    log->state,
                       task.rel_tol, task.abs_tol,   task.iterations, epoch_, first};
  EhybView<T> view = view_;
  void* arguments[] = {&view, &args};
  const auto kernel = kernel_of<T>(view_.block, scaled_, matrix_on_chip_);
  if (cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(view_.parts)), dim3(ResidentTuning::threads),
                                  arguments, shared_bytes_, device.stream()) != cudaSuccess) {
    cudaGetLastError();
    return fits_ = false;
  }
  epoch_ += static_cast<unsigned>(task.iterations + ResidentTuning::exchanges_beside_iterations);
  ctx.synchronize();
  return true;
}

template <class T>
ResidentEnd ResidentCg<T>::solve(const SolveArguments<T, Space::device>& system, Journal<T, Space::device>& journal,
                                 Span<T, Space::device> r, Span<T, Space::device> p, Span<T, Space::device> s) {
  const auto told_unless = [](bool open) { return open ? ResidentEnd::rest_is_for_the_loop : ResidentEnd::told; };
  const auto hand_over = [&] {
    const bool met = journal.form_residual(r);
    if (met) journal.conclude(Status::converged, "");
    journal.report().resident = journal.report().resident && met;
    return told_unless(!met);
  };
  const Context<Space::device>& ctx = system.ctx;
  const StopCriterion& stop = system.stop;
  ResidentTask<T> task{system.b, {}, system.x, r.data, p.data, s.data, stop.rel_tol, stop.abs_tol, 0};
  if (system.M != nullptr) task.d = system.M->diagonal();
  const int every = stop.check_every > 0 ? stop.check_every : ResidentLog::most_iterations;
  task.iterations = std::min(every, stop.max_iterations);
  auto& [state, residuals] = *static_cast<ResidentLog*>(ctx.state().page);
  state = {};
  state.max_iterations = stop.max_iterations;
  state.rho = std::numeric_limits<double>::infinity();
  state.alpha = 1;
  if (!launch(ctx, task, true) || !state.started) return told_unless(journal.open(r));
  if (!journal.open(state.rhs_norm, state.initial_residual)) return ResidentEnd::told;
  while (journal.look(state.iteration, state.event, residuals) && !state.undecided) {
    if (!launch(ctx, task, false)) return hand_over();
  }
  journal.report().resident = state.iteration > 0;
  const Event event = journal.event();
  if (event == Event::tolerance_met && journal.confirm(state.true_residual)) return ResidentEnd::told;
  if (journal.interrupted()) {
    journal.conclude(Event::none);
    return ResidentEnd::told;
  }
  if (event == Event::tolerance_met) {
    if (journal.confirm(r, s)) return ResidentEnd::told;
    journal.report().resident = false;
    return ResidentEnd::rest_is_for_the_loop;
  }
  if (state.undecided) return hand_over();
  journal.conclude(event);
  return ResidentEnd::told;
}

template class ResidentCg<double>;
template class ResidentCg<float>;

}  // namespace purlin::detail
