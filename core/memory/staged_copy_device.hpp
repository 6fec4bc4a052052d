// SPDX-License-Identifier: Apache-2.0
/// Copies between the device and ordinary memory of the host that are faster than the driver's: of many megabytes,
/// and of a few kilobytes. Internal; needs the CUDA headers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

#include <newel/core/context.hpp>

namespace newel::detail {

/// Page-locked memory of the host, or null where there is none to be had. Making it may hold up the streams of
/// others.
void* locked_page(std::size_t bytes);

/// Writes bytes begin .. begin + length - 1 of what is uploaded.
using WritePiece = std::function<void(char* piece, std::size_t begin, std::size_t length)>;
/// `bytes` bytes for `to` on the device, piece by piece; a piece begins at a multiple of 8. Waits for the stream.
void upload_written(const Context<Space::device>& ctx, void* to, std::size_t bytes, const WritePiece& write);

/// Copies through page-locked memory, with the stream's device current. All wait for the stream. False where there is
/// no such memory; nothing has been copied then.
class StagedCopies {
 public:
  explicit StagedCopies(cudaStream_t stream) : stream_(stream) {}

  /// Piece by piece: the host's threads empty or fill one while the next is under way. The driver does that with one
  /// thread.
  bool download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host);
  bool upload(char* to, std::size_t bytes, const WritePiece& write);

  /// Up to `most_few` bytes, words of four at addresses of words, which a kernel writes: the driver's copy takes
  /// twice as long from the end of the kernel before it to the host.
  bool download_few(char* to, const char* from, std::size_t bytes);
  static constexpr std::size_t most_few = std::size_t{1} << 15;

 private:
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };

  static constexpr int most_pieces = 4;

  void make_events(std::size_t count);

  cudaStream_t stream_;
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent> copied_[most_pieces];
};

}  // namespace newel::detail
