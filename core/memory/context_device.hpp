// SPDX-License-Identifier: Apache-2.0
/// What a device context holds, and how CUDA calls are checked. Internal; needs the CUDA headers.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include <newel/core/array.hpp>
#include <newel/core/cuda_interop.hpp>
#include <newel/core/error.hpp>
#include "core/memory/context_lock.hpp"

struct cusparseContext;  // the type behind cusparseHandle_t

namespace newel {
namespace detail {

/// What is thrown where no device answers.
DeviceError no_device();

class StagedCopies;

}  // namespace detail

#define NEWEL_CHECK_CUDA(call) ::newel::check_cuda((call), #call)
#define NEWEL_CHECK_LAUNCH() ::newel::check_cuda(cudaGetLastError(), "a kernel launch")

struct Context<Space::device>::State {
  int device = 0;
  int multiprocessors = 0;
  std::string name;
  Context<Space::host> host;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<ContextMemory> memory;  ///< also keeps a stream of the context's own alive
  std::shared_ptr<detail::ContextLock> lock = std::make_shared<detail::ContextLock>();
  std::unique_ptr<detail::StagedCopies> copies;
  mutable cusparseContext* cusparse = nullptr;  ///< made by `cusparse_handle`
  /// Page-locked memory of the host that a kernel may write and the host reads when it has waited: one use at a time.
  /// Null where there was none to be had.
  void* page = nullptr;
  static constexpr std::size_t page_bytes = 4096;
  /// Whether launches by `launch_overlapped` may begin while the work in front of them ends.
  bool overlaps = false;
  Array<double, Space::device> partial_;    ///< partial sums of the reductions
  Array<unsigned, Space::device> tickets_;  ///< counts the blocks that have finished; always 0 between kernels

  /// `resource` null: a pool of its own.
  State(int device, bool own_stream, cudaStream_t stream, std::shared_ptr<MemoryResource> resource);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  cudaStream_t stream() const { return stream_; }
  double* partial() const { return const_cast<double*>(partial_.data()); }
  unsigned* tickets() const { return const_cast<unsigned*>(tickets_.data()); }
};

}  // namespace newel
