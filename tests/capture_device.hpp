// SPDX-License-Identifier: Apache-2.0
/// Work captured in a CUDA graph. For test files that exist with CUDA on.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

#include <newel/core/context.hpp>

namespace newel::testing {

/// What `work` queues on the context's stream, recorded and not run; `launch` runs it and waits.
class CapturedGraph {
 public:
  template <class F>
  CapturedGraph(const Context<Space::device>& ctx, F&& work) : ctx_(ctx) {
    check(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal));
    work();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(ctx.stream(), &graph));
    const cudaError_t status = cudaGraphInstantiate(&instance_, graph, 0);
    cudaGraphDestroy(graph);
    check(status);
  }
  ~CapturedGraph() { cudaGraphExecDestroy(instance_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch() const {
    check(cudaGraphLaunch(instance_, ctx_.stream()));
    ctx_.synchronize();
  }

 private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  }

  Context<Space::device> ctx_;
  cudaGraphExec_t instance_ = nullptr;
};

}  // namespace newel::testing
