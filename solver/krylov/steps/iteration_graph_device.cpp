// SPDX-License-Identifier: Apache-2.0
// Capturing and replaying iterations.
#include "core/memory/context_device.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

#include <algorithm>
#include <iterator>

namespace newel::detail {
namespace {

// The numbers of iterations between polls: 16 seldom, 4 often, and anything in between once a solve.
constexpr int piece_lengths[] = {16, 4, 1};
// A long cycle of GMRES has hundreds of pieces; a graph takes some kilobytes of the device for each of its kernels.
constexpr std::size_t most_pieces = 64;

// A stream that keeps no implicit order with the legacy default stream.
bool is_independent(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return false;
  unsigned flags = 0;
  NEWEL_CHECK_CUDA(cudaStreamGetFlags(stream, &flags));
  return (flags & cudaStreamNonBlocking) != 0;
}

int longest_piece(int first, int count) {
  const auto fits = [&](int length) { return length <= count && first % length == 0; };
  return *std::find_if(std::begin(piece_lengths), std::end(piece_lengths), fits);
}

void queue(int first, int count, const std::function<void(int)>& iteration) {
  for (int j = first; j < first + count; ++j) iteration(j);
}

}  // namespace

void IterationGraph<Space::device>::Release::operator()(CUgraphExec_st* graph) const noexcept {
  cudaGraphExecDestroy(graph);  // one that is under way is released when it has ended
}

void IterationGraph<Space::device>::bind(const Context<Space::device>& ctx, bool capturable, const Key& key) {
  const bool same = ctx_ && &ctx_->state() == &ctx.state() && key == key_;
  if (same) return;
  pieces_.clear();
  ctx_ = ctx;
  key_ = key;
  capturable_ = capturable;
  stream_known_ = false;
}

// A stream that is being captured is not asked anything else.
bool IterationGraph<Space::device>::may_replay() {
  if (!capturable_) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  NEWEL_CHECK_CUDA(cudaStreamIsCapturing(ctx_->stream(), &status));
  if (status != cudaStreamCaptureStatusNone) return false;
  if (!stream_known_) capturable_ = is_independent(ctx_->stream());
  stream_known_ = true;
  return capturable_;
}

void IterationGraph<Space::device>::repeat(int count, const std::function<void()>& iteration) {
  const auto any = [&](int) { iteration(); };
  if (!may_replay()) return queue(0, count, any);
  for (int length; count > 0; count -= length)
    run(0, length = longest_piece(0, std::min(count, longest_piece_)), any);
}

void IterationGraph<Space::device>::range(int first, int count, const std::function<void(int)>& iteration) {
  if (!may_replay()) return queue(first, count, iteration);
  for (int length; count > 0; first += length, count -= length) {
    run(first, length = longest_piece(first, count), iteration);
  }
}

void IterationGraph<Space::device>::run(int first, int count, const std::function<void(int)>& iteration) {
  CUgraphExec_st* const graph = ready_graph(first, count, iteration);
  if (graph == nullptr) return queue(first, count, iteration);
  NEWEL_CHECK_CUDA(cudaGraphLaunch(graph, ctx_->stream()));
}

// The piece's graph; null where it is the first time, where the table is full or where nothing can be captured.
CUgraphExec_st* IterationGraph<Space::device>::ready_graph(int first, int count,
                                                           const std::function<void(int)>& iteration) {
  if (!capturable_) return nullptr;
  const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& piece) { return piece.first == first && piece.count == count; });
  if (found == pieces_.end()) {
    if (pieces_.size() < most_pieces) pieces_.push_back({first, count, nullptr});
    return nullptr;
  }
  if (found->graph == nullptr) {
    found->graph.reset(capture(first, count, iteration));
    capturable_ = found->graph != nullptr;
  }
  return found->graph.get();
}

// Null where that fails, whatever the reason: queued directly, the iteration says itself what is wrong.
CUgraphExec_st* IterationGraph<Space::device>::capture(int first, int count,
                                                       const std::function<void(int)>& iteration) const {
  bool sound = cudaStreamBeginCapture(ctx_->stream(), cudaStreamCaptureModeThreadLocal) == cudaSuccess;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  if (sound) {
    try {
      queue(first, count, iteration);
    } catch (...) {
      sound = false;
    }
    sound = cudaStreamEndCapture(ctx_->stream(), &graph) == cudaSuccess && sound;
  }
  // Kernels keep the priorities of the streams that they were captured on: see SideWork.
  sound = sound && cudaGraphInstantiate(&instance, graph, cudaGraphInstantiateFlagUseNodePriority) == cudaSuccess;
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (sound) return instance;
  cudaGetLastError();  // or the next launch check would report it
  return nullptr;
}

}  // namespace newel::detail
