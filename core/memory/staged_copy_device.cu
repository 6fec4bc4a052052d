// SPDX-License-Identifier: Apache-2.0
// Copies between the device and the host: large ones by pieces, small ones by a kernel.
#include "core/memory/staged_copy_device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <newel/core/cuda_interop.hpp>
#include <newel/core/parallel.hpp>
#include "core/memory/context_device.hpp"

namespace newel::detail {
namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;
constexpr std::int64_t least_copied_bytes = std::int64_t{1} << 18;  // of a thread

void copy_in_shares(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
  parallel_ranges(
      host, bytes, [&](std::size_t begin, std::size_t end) { std::memcpy(to + begin, from + begin, end - begin); },
      least_copied_bytes);
}

constexpr int few_threads = 256;

__global__ void __launch_bounds__(few_threads) copy_words(unsigned* to, const unsigned* from, int words) {
  for (int k = static_cast<int>(threadIdx.x); k < words; k += few_threads) to[k] = from[k];
}

bool of_words(const void* at, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(at) | bytes) % sizeof(unsigned) == 0;
}

}  // namespace

void* locked_page(std::size_t bytes) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // a capture that is under way elsewhere does not mind
  NEWEL_CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  void* page = nullptr;
  if (cudaMallocHost(&page, bytes) != cudaSuccess) {
    cudaGetLastError();
    page = nullptr;
  }
  NEWEL_CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  return page;
}

// Made when first needed, and kept: locking pages takes as long as copying tens of megabytes.
bool StagedCopies::make_pieces() {
  for (int i = 0; i < 2; ++i) {
    if (pieces_[i] == nullptr) pieces_[i].reset(static_cast<char*>(locked_page(piece_bytes)));
    if (pieces_[i] == nullptr) return false;
    if (copied_[i] != nullptr) continue;
    cudaEvent_t event = nullptr;
    NEWEL_CHECK_CUDA(cudaEventCreate(&event));
    copied_[i].reset(event);
  }
  return true;
}

bool StagedCopies::download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
  if (!make_pieces()) return false;
  const auto empty = [&](std::size_t at) {
    NEWEL_CHECK_CUDA(cudaEventSynchronize(copied_[at / piece_bytes % 2].get()));
    copy_in_shares(to + at, pieces_[at / piece_bytes % 2].get(), std::min(piece_bytes, bytes - at), host);
  };
  std::size_t at = 0;
  for (; at < bytes; at += piece_bytes) {
    const std::size_t i = at / piece_bytes % 2, length = std::min(piece_bytes, bytes - at);
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(pieces_[i].get(), from + at, length, cudaMemcpyDeviceToHost, stream_));
    NEWEL_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
    if (at > 0) empty(at - piece_bytes);
  }
  empty(at - piece_bytes);
  return true;
}

bool StagedCopies::upload(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
  if (!make_pieces()) return false;
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t i = at / piece_bytes % 2, length = std::min(piece_bytes, bytes - at);
    if (at >= 2 * piece_bytes) NEWEL_CHECK_CUDA(cudaEventSynchronize(copied_[i].get()));
    copy_in_shares(pieces_[i].get(), from + at, length, host);
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(to + at, pieces_[i].get(), length, cudaMemcpyHostToDevice, stream_));
    NEWEL_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
  }
  NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream_));
  return true;
}

bool StagedCopies::download_few(char* to, const char* from, std::size_t bytes) {
  const std::unique_lock<std::mutex> mine(few_mutex_, std::try_to_lock);
  if (!mine.owns_lock() || no_few_) return false;
  if (few_ == nullptr) few_.reset(static_cast<char*>(locked_page(most_few)));
  no_few_ = few_ == nullptr;
  if (no_few_) return false;
  copy_words<<<1, few_threads, 0, stream_>>>(reinterpret_cast<unsigned*>(few_.get()),
                                             reinterpret_cast<const unsigned*>(from),
                                             static_cast<int>(bytes / sizeof(unsigned)));
  NEWEL_CHECK_LAUNCH();
  NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream_));
  std::memcpy(to, few_.get(), bytes);
  return true;
}

// The context's device is the current one, and then the one that was before: memory of its pool is not to be copied
// from another.
class CurrentDevice {
 public:
  explicit CurrentDevice(const Context<Space::device>& ctx) { ctx.make_current(); }

 private:
  KeptDevice before_;
};

// From how many bytes on a copy is made by pieces.
constexpr std::size_t worth_pieces = std::size_t{16} << 20;

void upload_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  const CurrentDevice current(ctx);
  const auto up = [&] {
    return ctx.state().copies->upload(static_cast<char*>(to), static_cast<const char*>(from), bytes, ctx.host());
  };
  if (bytes >= worth_pieces && up()) return;
  NEWEL_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ctx.stream()));
  ctx.synchronize();
}

void download_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  const CurrentDevice current(ctx);
  const auto down = [&] {
    return ctx.state().copies->download(static_cast<char*>(to), static_cast<const char*>(from), bytes, ctx.host());
  };
  if (bytes >= worth_pieces && down()) return;
  if (bytes <= StagedCopies::most_few && of_words(from, bytes) &&
      ctx.state().copies->download_few(static_cast<char*>(to), static_cast<const char*>(from), bytes)) {
    return;
  }
  NEWEL_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, ctx.stream()));
  ctx.synchronize();
}

}  // namespace newel::detail
