// SPDX-License-Identifier: Apache-2.0
/// Copies between the device and ordinary memory of the host that are faster than the driver's: of many megabytes,
/// and of a few kilobytes. Internal; needs the CUDA headers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>

#include <newel/core/context.hpp>

namespace newel::detail {

/// Page-locked memory of the host, or null where there is none to be had. Making it may hold up the streams of
/// others.
void* locked_page(std::size_t bytes);

/// Copies through page-locked memory, with the stream's device current. All wait for the stream. False where there is
/// no such memory; nothing has been copied then.
class StagedCopies {
 public:
  explicit StagedCopies(cudaStream_t stream) : stream_(stream) {}

  /// Piece by piece: the host's threads empty or fill one while the next is under way. The driver does that with one
  /// thread.
  bool download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host);
  bool upload(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host);

  /// Up to `most_few` bytes, words of four at addresses of words, which a kernel writes: the driver's copy takes
  /// twice as long from the end of the kernel before it to the host. False also while another thread copies so.
  bool download_few(char* to, const char* from, std::size_t bytes);
  static constexpr std::size_t most_few = std::size_t{1} << 15;

 private:
  struct FreeLocked {
    void operator()(char* piece) const { cudaFreeHost(piece); }
  };
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };

  bool make_pieces();

  cudaStream_t stream_;
  std::mutex few_mutex_;
  std::unique_ptr<char, FreeLocked> few_;
  bool no_few_ = false;  // there was no page-locked memory
  std::unique_ptr<char, FreeLocked> pieces_[2];
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent> copied_[2];
};

}  // namespace newel::detail
