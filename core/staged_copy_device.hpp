// SPDX-License-Identifier: Apache-2.0
/// Copies of many megabytes between the device and ordinary memory of the host. Internal; needs the CUDA headers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include <purlin/core/context.hpp>

namespace purlin::detail {

/// Page-locked memory of the host, or null where there is none to be had. Making it may hold up the streams of
/// others.
void* locked_page(std::size_t bytes);

/// Copies piece by piece through page-locked memory, which the host's threads empty or fill while the next piece is
/// under way. The driver does that with one thread. They wait for the stream. False where there is no page-locked
/// memory; nothing has been copied then.
class StagedCopies {
 public:
  StagedCopies(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  bool download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host);
  bool upload(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host);

 private:
  struct FreeLocked {
    void operator()(char* piece) const { cudaFreeHost(piece); }
  };
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };

  bool make_pieces();

  int device_;
  cudaStream_t stream_;
  std::unique_ptr<char, FreeLocked> pieces_[2];
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent> copied_[2];
};

}  // namespace purlin::detail
