// SPDX-License-Identifier: Apache-2.0
// Copies between the device and the host: large ones by pieces, small ones by a kernel.
#include "core/memory/staged_copy_device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include <newel/core/cuda_interop.hpp>
#include <newel/core/parallel.hpp>
#include "core/memory/context_device.hpp"

namespace newel::detail {
namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;
// A long copy has all pieces under way in turn. On an H200 with 16 cores 1.6 GB went up at 31 GB/s by two pieces and
// 53 by four, where one transfer from page-locked memory reaches 55. A short one does without: locking a piece takes
// as long as its gain.
constexpr std::size_t worth_all_pieces = std::size_t{256} << 20;
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

namespace {

// Page-locked pages of one size for whoever copies: one is made when all others are in use, and none is freed.
// Locking pages takes as long as copying tens of megabytes, and all devices wait for it.
class LockedPages {
 public:
  explicit LockedPages(std::size_t bytes) : bytes_(bytes) {}

  char* take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return static_cast<char*>(locked_page(bytes_));
    char* const page = free_.back();
    free_.pop_back();
    return page;
  }
  void give_back(char* page) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(page);
  }

 private:
  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<char*> free_;
};

// As long as the process: contexts may be used while it ends.
LockedPages& large_pages() {
  static auto* const pages = new LockedPages(piece_bytes);
  return *pages;
}
LockedPages& small_pages() {
  static auto* const pages = new LockedPages(StagedCopies::most_few);
  return *pages;
}

// A page for one copy, which has been waited for when it ends.
class LentPage {
 public:
  explicit LentPage(LockedPages& pages) : pages_(pages), page_(pages.take()) {}
  ~LentPage() {
    if (page_ != nullptr) pages_.give_back(page_);
  }
  LentPage(const LentPage&) = delete;
  LentPage& operator=(const LentPage&) = delete;
  char* get() const { return page_; }

 private:
  LockedPages& pages_;
  char* page_;
};

// Pieces for a copy of so many bytes: two, or all; none where there are not two.
std::vector<std::unique_ptr<LentPage>> lent_pieces(std::size_t bytes, int most) {
  std::vector<std::unique_ptr<LentPage>> pieces;
  const int wanted = bytes >= worth_all_pieces ? most : 2;
  while (static_cast<int>(pieces.size()) < wanted) {
    pieces.push_back(std::make_unique<LentPage>(large_pages()));
    if (pieces.back()->get() != nullptr) continue;
    pieces.pop_back();
    break;
  }
  if (pieces.size() < 2) pieces.clear();
  return pieces;
}

}  // namespace

void StagedCopies::make_events(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (copied_[i] != nullptr) continue;
    cudaEvent_t event = nullptr;
    NEWEL_CHECK_CUDA(cudaEventCreate(&event));
    copied_[i].reset(event);
  }
}

bool StagedCopies::download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
  const auto pieces = lent_pieces(bytes, most_pieces);
  if (pieces.empty()) return false;
  make_events(pieces.size());
  const std::size_t count = (bytes + piece_bytes - 1) / piece_bytes, ahead = pieces.size() - 1;
  for (std::size_t k = 0; k < count + ahead; ++k) {
    if (k < count) {
      const std::size_t i = k % pieces.size(), at = k * piece_bytes;
      NEWEL_CHECK_CUDA(cudaMemcpyAsync(pieces[i]->get(), from + at, std::min(piece_bytes, bytes - at),
                                       cudaMemcpyDeviceToHost, stream_));
      NEWEL_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
    }
    if (k < ahead) continue;
    const std::size_t i = (k - ahead) % pieces.size(), at = (k - ahead) * piece_bytes;
    NEWEL_CHECK_CUDA(cudaEventSynchronize(copied_[i].get()));
    copy_in_shares(to + at, pieces[i]->get(), std::min(piece_bytes, bytes - at), host);
  }
  return true;
}

bool StagedCopies::upload(char* to, std::size_t bytes, const WritePiece& write) {
  const auto pieces = lent_pieces(bytes, most_pieces);
  if (pieces.empty()) return false;
  make_events(pieces.size());
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t i = at / piece_bytes % pieces.size(), length = std::min(piece_bytes, bytes - at);
    if (at >= pieces.size() * piece_bytes) NEWEL_CHECK_CUDA(cudaEventSynchronize(copied_[i].get()));
    write(pieces[i]->get(), at, length);
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(to + at, pieces[i]->get(), length, cudaMemcpyHostToDevice, stream_));
    NEWEL_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
  }
  NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream_));
  return true;
}

bool StagedCopies::download_few(char* to, const char* from, std::size_t bytes) {
  const LentPage few(small_pages());
  if (few.get() == nullptr) return false;
  copy_words<<<1, few_threads, 0, stream_>>>(reinterpret_cast<unsigned*>(few.get()),
                                             reinterpret_cast<const unsigned*>(from),
                                             static_cast<int>(bytes / sizeof(unsigned)));
  NEWEL_CHECK_LAUNCH();
  NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream_));
  std::memcpy(to, few.get(), bytes);
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
    return ctx.state().copies->upload(
        static_cast<char*>(to), bytes, [&](char* piece, std::size_t begin, std::size_t length) {
          copy_in_shares(piece, static_cast<const char*>(from) + begin, length, ctx.host());
        });
  };
  if (bytes >= worth_pieces && up()) return;
  NEWEL_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ctx.stream()));
  ctx.synchronize();
}

void upload_written(const Context<Space::device>& ctx, void* to, std::size_t bytes, const WritePiece& write) {
  const CurrentDevice current(ctx);
  if (bytes >= worth_pieces && ctx.state().copies->upload(static_cast<char*>(to), bytes, write)) return;
  std::vector<double> piece(std::min(piece_bytes, bytes) / sizeof(double) + 1);
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t length = std::min(piece_bytes, bytes - at);
    write(reinterpret_cast<char*>(piece.data()), at, length);
    NEWEL_CHECK_CUDA(
        cudaMemcpyAsync(static_cast<char*>(to) + at, piece.data(), length, cudaMemcpyHostToDevice, ctx.stream()));
    ctx.synchronize();
  }
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
