// SPDX-License-Identifier: Apache-2.0
// When a solve is one kernel, and how such a kernel is launched.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/memory/shared_memory_device.hpp"
#include "core/ranks/device_ranks.hpp"
#include "core/ranks/on_all_ranks.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/resident/resident_part_device.cuh"
#include "spmv/ehyb/ehyb_across.hpp"

namespace newel::detail {
namespace {

// A thread marks a node of the list of halo nodes; several may mark the same one.
__global__ void mark_nodes(const Index* node, Index count, unsigned char* marked) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) marked[node[i]] = 1;
}

// A thread finds where a block's rows begin: a row weighs as much as its entries and `row_weight` more, for the
// vectors.
__global__ void find_first_rows(const std::int32_t* row_ptr, Index rows, Index blocks, Index* first_row,
                                Index* first_entry) {
  constexpr Offset row_weight = 6;
  const Index k = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k > blocks) return;
  const Offset before = (row_ptr[rows] + row_weight * rows) * k / blocks;
  Index low = 0, high = rows;  // the first row that has as much before it
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (row_ptr[middle] + row_weight * middle < before)
      low = middle + 1;
    else
      high = middle;
  }
  first_row[k] = low;
  first_entry[k] = row_ptr[low];
}

template <class T>
ResidentPrecond kind_of(const LinearOperator<T, Space::device>* M) {
  if (M == nullptr) return ResidentPrecond::none;
  if (M->traits().diagonal.data != nullptr) return ResidentPrecond::diagonal;
  const ResidentView<T, Space::device> view = M->resident_view();
  if (view.second != nullptr) return ResidentPrecond::factors;
  return view.first != nullptr ? ResidentPrecond::matrix : ResidentPrecond::other;
}

// Of M what a resident solve remembers: a diagonal is read again by every launch.
template <class T>
std::uint64_t serial_of(const LinearOperator<T, Space::device>* M) {
  return matrices_of(kind_of(M)) > 0 ? M->serial() : 0;
}

// A matrix's parts, and where the places of its slices begin.
struct Layout {
  std::vector<EhybPart> part;
  std::vector<Index> first;
  int block;

  int rows(std::size_t p) const { return (part[p].node_end - part[p].node_begin) * block; }
  int halo(std::size_t p) const { return (part[p].halo_end - part[p].halo_begin) * block; }
};

template <class T>
Layout layout_of(const Context<Space::device>& ctx, const EhybView<T>& view) {
  Layout layout{to_vector(ctx, Span<const EhybPart, Space::device>(view.part, view.parts)), {}, view.block};
  layout.first = to_vector(ctx, Span<const Index, Space::device>(view.slice_first, layout.part.back().slice_end + 1));
  return layout;
}

// What block p of `blocks` keeps on the chip.
template <class T>
std::size_t bytes_of(const std::vector<Layout>& layouts, const ResidentNeeds& needs, std::size_t p, int blocks,
                     bool on_chip) {
  int halo = 0;
  for (const Layout& layout : layouts) halo = std::max(halo, layout.halo(p));
  ResidentSharedMemory memory;
  const int own = layouts[0].rows(p);
  take_vectors<T>(memory, needs, own, own + halo, blocks);
  take_records(memory, static_cast<int>(layouts.size()));
  for (const Layout& layout : layouts) {
    const EhybPart& part = layout.part[p];
    const int places = layout.first[part.slice_end] - layout.first[part.slice_begin];
    take_matrix<T>(memory, layout.block, layout.rows(p) / layout.block, layout.halo(p) / layout.block,
                   part.slice_end - part.slice_begin, places, on_chip);
  }
  return memory.next;
}

}  // namespace

template <class T>
bool ResidentMatrices<T>::take(const LinearOperator<T, Space::device>& A, const LinearOperator<T, Space::device>* M,
                               ResidentPrecond kind, bool across) {
  std::vector<const LinearOperator<T, Space::device>*> matrices = {&A};
  if (matrices_of(kind) > 0) {
    const ResidentView<T, Space::device> of_m = M->resident_view();
    matrices.push_back(of_m.first);
    if (of_m.second != nullptr) matrices.push_back(of_m.second);
  }
  std::vector<EhybView<T>> found;
  for (const auto* matrix : matrices) {
    const ResidentView<T, Space::device> seen = matrix->resident_view();
    const EhybView<T>* const ehyb = across ? &seen.across->view : seen.ehyb;
    if (ehyb == nullptr || ehyb->rows == 0 || ehyb->has_remainder()) return false;
    found.push_back(*ehyb);
    // A triangle of node blocks has none itself.
    const int block = found.size() > 1 && kind == ResidentPrecond::factors ? 1 : found[0].block;
    if (found.back().block != block || found.back().parts != found[0].parts) return false;
  }
  view_ = std::move(found);
  if (across) readers_ = A.resident_view().across->readers;
  return true;
}

template <class T>
void ResidentMatrices<T>::mark_boundaries(const Context<Space::device>& ctx) {
  const auto& state = ctx.state();
  for (const EhybView<T>& view : view_) {
    EhybPart last;
    copy<EhybPart>(ctx, Span<const EhybPart, Space::device>(view.part + view.parts - 1, 1),
                   Span<EhybPart, Space::host>(&last, 1));
    marked_.emplace_back(ctx, view.rows / view.block);
    NEWEL_CHECK_CUDA(cudaMemsetAsync(marked_.back().data(), 0, marked_.back().bytes(), state.stream()));
    constexpr unsigned threads = 256;
    if (last.halo_end == 0) continue;
    const auto blocks = (static_cast<unsigned>(last.halo_end) + threads - 1) / threads;
    mark_nodes<<<blocks, threads, 0, state.stream()>>>(view.halo_node, last.halo_end, marked_.back().data());
    NEWEL_CHECK_LAUNCH();
  }
}

template <class T>
void ResidentMatrices<T>::place(ResidentSystemArgs<T>& args) const {
  args.rows = rows();
  ResidentMatrix<T>* const matrix[] = {&args.a, &args.first, &args.second};
  for (std::size_t k = 0; k < view_.size(); ++k) {
    const EhybView<T>& v = view_[k];
    const unsigned char* const marked = marked_.empty() ? readers_ : marked_[k].data();
    *matrix[k] = {v.part, v.halo_node, v.slice_first, v.column, v.value, marked, v.share};
  }
}

void ResidentPackets::make(const Context<Space::device>& ctx, std::int64_t count) {
  own_ = Array<std::uint64_t, Space::device>(ctx, count);
  posted_ = own_.data();
  bytes_ = own_.bytes();
  NEWEL_CHECK_CUDA(cudaMemsetAsync(posted_, 0, bytes_, ctx.state().stream()));
}

bool ResidentPackets::make_across(const Context<Space::device>& ctx, std::int64_t count, ResidentAcross& across) {
  const Ranks& ranks = *ranks_of(ctx);
  bytes_ = static_cast<std::size_t>(count) * sizeof(std::uint64_t);
  of_devices_ = ranks.device->shared_memory(bytes_);
  if (of_devices_.empty()) return false;
  for (std::size_t d = 0; d < of_devices_.size(); ++d) {
    across.posted[d] = static_cast<std::uint64_t*>(of_devices_[d].get());
  }
  posted_ = across.posted[ranks.communicator->rank()];
  return true;
}

void ResidentPackets::prepare(const Context<Space::device>& ctx, unsigned synchronisations) {
  if (epoch_ <= std::numeric_limits<unsigned>::max() - synchronisations) return;
  epoch_ = 0;
  const bool across = !of_devices_.empty();
  if (across) ranks_of(ctx)->communicator->texts("");  // no device is in a launch
  NEWEL_CHECK_CUDA(cudaMemsetAsync(posted_, 0, bytes_, ctx.state().stream()));
  if (!across) return;
  ctx.synchronize();
  ranks_of(ctx)->communicator->texts("");
}

template <class T>
ResidentSystem<T>::ResidentSystem(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                                  const LinearOperator<T, Space::device>* M, Method method)
    : matrix_(A.serial()), precond_(serial_of(M)), context_(&ctx.state()), kind_(kind_of(M)), method_(method(kind_)) {
  static_assert(sizeof(ResidentLog) <= Context<Space::device>::State::page_bytes);
  if (const EhybAcross<T>* const a = A.resident_view().across; a != nullptr && method_.across != nullptr) {
    across_.first_row = a->first_row;
    across_.rows = a->rows;
    across_.first_part = a->first_part;
    across_.parts = a->parts;
    across_.devices = ranks_of(ctx)->communicator->size();
  }
  fits_ = fit(ctx, A, M);
  if (across_.devices > 0) fits_ = fit_across(ctx);
  ctx.synchronize();
}

/// Everything but packets across devices.
template <class T>
bool ResidentSystem<T>::fit(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                            const LinearOperator<T, Space::device>* M) {
  const auto& state = ctx.state();
  int cooperative = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, state.device));
  if (cooperative == 0 || state.page == nullptr) return false;
  try {
    if (matrices_.take(A, M, kind_, across_.devices > 0) && kernel(ResidentStorage::on_chip) != nullptr) {
      const Index parts = matrices_.views()[0].parts;
      if (parts > state.multiprocessors) return false;
      blocks_ = static_cast<unsigned>(parts);
      if (across_.devices > 0) return plan_across(ctx);
      if (!plan(ctx)) return false;
      matrices_.mark_boundaries(ctx);
    } else if (across_.devices > 0 || !take_rows(ctx, A)) {
      return false;
    }
    const Offset entries = is_by_rows(storage_) ? 0 : matrices_.rows();
    packets_.make(ctx, packet_places(entries, static_cast<int>(blocks_), method_.needs).template count<T>());
  } catch (const OutOfMemory&) {
    return false;  // the loop needs no more than it has
  }
  return true;
}

/// Whether all devices can take part; then they have memory for packets.
template <class T>
bool ResidentSystem<T>::fit_across(const Context<Space::device>& ctx) {
  const Ranks& ranks = *ranks_of(ctx);
  const PeerSums* const peers = ranks.device->peer_sums();
  if (!on_all_ranks(*ranks.communicator, fits_) || peers == nullptr) return false;
  across_.failed = peers->failed;
  const PacketPlaces places = packet_places(across_.rows, across_.parts, method_.needs);
  return packets_.make_across(ctx, places.count<T>(), across_);
}

template <class T>
bool ResidentSystem<T>::serves(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                               const LinearOperator<T, Space::device>* M) const {
  return A.serial() == matrix_ && &ctx.state() == context_ && kind_of(M) == kind_ && serial_of(M) == precond_;
}

/// What is kept on the chip; false where the vectors alone are too many, or the matrices' parts differ.
template <class T>
bool ResidentSystem<T>::plan(const Context<Space::device>& ctx) {
  std::vector<Layout> layouts;
  for (const EhybView<T>& view : matrices_.views()) layouts.push_back(layout_of(ctx, view));
  std::size_t vectors = 0, all = 0;
  for (std::size_t p = 0; p < layouts[0].part.size(); ++p) {
    for (const Layout& layout : layouts) {
      if (layout.rows(p) != layouts[0].rows(p)) return false;
    }
    vectors = std::max(vectors, bytes_of<T>(layouts, method_.needs, p, matrices_.views()[0].parts, false));
    all = std::max(all, bytes_of<T>(layouts, method_.needs, p, matrices_.views()[0].parts, true));
  }
  return admits(ctx, ResidentStorage::on_chip, all) || admits(ctx, ResidentStorage::streaming, vectors);
}

/// The same across devices, with fewer vectors on the chip if not all of them fit.
template <class T>
bool ResidentSystem<T>::plan_across(const Context<Space::device>& ctx) {
  const std::vector<Layout> layouts = {layout_of(ctx, matrices_.views()[0])};
  for (const ResidentRoom room : {ResidentRoom::all, ResidentRoom::diagonal_in_memory, ResidentRoom::x_in_memory}) {
    room_ = room;
    method_.needs = method_.needs_across(kind_, room);
    for (const bool on_chip : {true, false}) {
      std::size_t most = 0, reach = 0;
      for (std::size_t p = 0; p < layouts[0].part.size(); ++p) {
        most = std::max(most, bytes_of<T>(layouts, method_.needs, p, across_.parts, on_chip));
        reach += static_cast<std::size_t>(layouts[0].rows(p) + layouts[0].halo(p));
      }
      if (!admits(ctx, on_chip ? ResidentStorage::on_chip : ResidentStorage::streaming, most)) continue;
      const bool in_memory = room != ResidentRoom::all && kind_ == ResidentPrecond::diagonal;
      if (in_memory) diagonal_ = Array<T, Space::device>(ctx, static_cast<Offset>(reach));
      return true;
    }
  }
  return false;
}

/// Whether every multiprocessor has room for a block; that is then how the kernel has its matrices.
template <class T>
bool ResidentSystem<T>::admits(const Context<Space::device>& ctx, ResidentStorage storage, std::size_t bytes) {
  if (bytes > allow_all_shared_memory(ctx, kernel(storage))) return false;
  int side_by_side = 0;
  NEWEL_CHECK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel(storage), ResidentTuning::threads, bytes));
  if (side_by_side == 0) return false;
  storage_ = storage;
  shared_bytes_ = bytes;
  return true;
}

/// A CSR matrix in the caller's order: shares its rows out.
template <class T>
bool ResidentSystem<T>::take_rows(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A) {
  const CsrView<T, Space::device>* const a = A.resident_view().rows;
  if (a == nullptr || kernel(ResidentStorage::rows_streaming) == nullptr) return false;
  const Index blocks = std::clamp<Index>(a->rows / ResidentTuning::least_rows, 1, ctx.multiprocessors());
  first_row_ = Array<Index, Space::device>(ctx, 2 * (blocks + 1));  // and after them the first entries
  constexpr unsigned threads = 128;
  find_first_rows<<<(static_cast<unsigned>(blocks) + threads) / threads, threads, 0, ctx.state().stream()>>>(
      a->row_ptr32.data, a->rows, blocks, first_row_.data(), first_row_.data() + blocks + 1);
  NEWEL_CHECK_LAUNCH();
  const std::vector<Index> row = to_vector(ctx, first_row_.cspan());
  const Index* const entry = row.data() + blocks + 1;
  std::size_t vectors = 0, all = 0;
  for (Index k = 0; k < blocks; ++k) {
    const auto bytes_of = [&](bool on_chip) {
      ResidentSharedMemory memory;
      const int own = row[static_cast<std::size_t>(k) + 1] - row[static_cast<std::size_t>(k)];
      take_vectors<T>(memory, method_.needs, own, own, blocks);
      detail::take_rows<T>(memory, own, entry[k + 1] - entry[k], on_chip);
      return memory.next;
    };
    vectors = std::max(vectors, bytes_of(false));
    all = std::max(all, bytes_of(true));
  }
  if (!admits(ctx, ResidentStorage::rows_on_chip, all) && !admits(ctx, ResidentStorage::rows_streaming, vectors)) {
    return false;
  }
  blocks_ = static_cast<unsigned>(blocks);
  operand_ = Array<T, Space::device>(ctx, a->rows);
  const double of_row = static_cast<double>(a->nnz()) / a->rows;
  rows_ = {first_row_.data(), a->row_ptr32.data, a->col.data, a->val.data, operand_.data(), 0};
  const int most = resident_lane_entries[stays_on_chip(storage_) ? 0 : 1];
  while (rows_.lane_bits < 5 && of_row > most * (1 << rows_.lane_bits)) ++rows_.lane_bits;
  return true;
}

template <class T>
ResidentLog& ResidentSystem<T>::log_of(const Context<Space::device>& ctx) {
  return *static_cast<ResidentLog*>(ctx.state().page);
}

template <class T>
ResidentTask<T> ResidentSystem<T>::task_of(const SolveRequest<T, Space::device>& system, int asks_from,
                                           int done) const {
  ResidentTask<T> task{};
  task.b = system.b.data;
  task.x = system.x.data;
  if (system.M != nullptr) task.d = system.M->traits().diagonal.data;
  task.rel_tol = system.stop.rel_tol;
  task.abs_tol = system.stop.abs_tol;
  task.iterations = launch_length(system, asks_from, done);
  return task;
}

// Who watches a solve hears of it often from its beginning on; nobody else is worth a launch, which takes as long as
// some iterations: the number of these doubles at first, then grows by half. Where other operators are all but due
// the launch ends there.
template <class T>
int ResidentSystem<T>::launch_length(const SolveRequest<T, Space::device>& system, int asks_from, int done) const {
  constexpr int first = 32, doubling = 128, first_asked = few_steps, least = 4;
  const StopCriterion& stop = system.stop;
  const bool watched = static_cast<bool>(system.progress);
  const bool asks = !watched && asks_from > done;
  const int next = asks ? asks_from - done : watched ? done / 2 : std::max(done / 2, std::min(done, doubling));
  const int shortest = !asks ? first : done > 0 ? least : first_asked;
  const int most = std::clamp(next, shortest, ResidentLog::most_iterations);
  return std::min(stop.check_every > 0 ? stop.check_every : most, stop.max_iterations);
}

template <class T>
bool ResidentSystem<T>::launch(const Context<Space::device>& ctx, const ResidentTask<T>& task,
                               ConvergenceMonitor<T, Space::device>& convergence) {
  const auto& device = ctx.state();
  ResidentArgs<T> args{task, {}};
  matrices_.place(args);
  args.rows_of_a = rows_;
  const auto synchronisations =
      static_cast<unsigned>(args.iterations * this->synchronisations() + ResidentTuning::additional_synchronisations);
  packets_.prepare(ctx, synchronisations);
  args.across = across_;
  args.room = room_;
  args.diagonal = diagonal_.data();
  args.posted = packets_.posted();
  args.log = &log_of(ctx);
  args.before = args.log->state;
  args.epoch = packets_.epoch();
  void* arguments[] = {&args};
  if (cudaLaunchCooperativeKernel(kernel(storage_), dim3(blocks_), dim3(ResidentTuning::threads), arguments,
                                  shared_bytes_, device.stream()) != cudaSuccess) {
    if (across_.devices > 0) NEWEL_CHECK_CUDA(cudaGetLastError());  // other devices wait for this one
    cudaGetLastError();
    return fits_ = false;
  }
  packets_.set_epoch(packets_.epoch() + synchronisations);
  convergence.exchange.prepare();
  ctx.synchronize();
  if (across_.devices > 0) {
    ranks_of(ctx)->device->check();
    packets_.set_epoch(args.log->state.epoch);
  }
  return true;
}

template class ResidentMatrices<double>;
template class ResidentMatrices<float>;
template class ResidentSystem<double>;
template class ResidentSystem<float>;

}  // namespace newel::detail
