// SPDX-License-Identifier: Apache-2.0
/// CapturedGraph: work on a stream, recorded once and launched as often as one likes; and where the host reads what
/// it leaves. Internal to the measures.
#pragma once

#include "core/memory/context_device.hpp"

namespace newel::bench {

class CapturedGraph {
 public:
  CapturedGraph() = default;
  ~CapturedGraph() { clear(); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  /// Records what `work` queues on the stream, and runs nothing. Kernels of it must have run before: loading them is
  /// not allowed meanwhile.
  template <class Work>
  void capture(cudaStream_t stream, Work&& work) {
    clear();
    cudaGraph_t graph = nullptr;
    NEWEL_CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      work();
    } catch (...) {
      if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
      throw;
    }
    NEWEL_CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t status = cudaGraphInstantiate(&instance_, graph, 0);
    cudaGraphDestroy(graph);
    NEWEL_CHECK_CUDA(status);
    NEWEL_CHECK_CUDA(cudaGraphUpload(instance_, stream));
  }
  void launch(cudaStream_t stream) const { NEWEL_CHECK_CUDA(cudaGraphLaunch(instance_, stream)); }

 private:
  void clear() {
    if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
    instance_ = nullptr;
  }

  cudaGraphExec_t instance_ = nullptr;
};

/// An object in page-locked memory: a copy from the device to pageable memory would be staged.
template <class T>
class Pinned {
 public:
  Pinned() { NEWEL_CHECK_CUDA(cudaMallocHost(&object_, sizeof *object_)); }
  ~Pinned() { cudaFreeHost(object_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  T* get() const { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace newel::bench
