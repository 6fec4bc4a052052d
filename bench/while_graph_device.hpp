// SPDX-License-Identifier: Apache-2.0
/// WhileGraph: iterations as the body of a conditional while node, which the device repeats without the host.
/// Internal to the measures.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include <newel/core/context.hpp>
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::bench {

/// Launched once, it runs the body while the monitor, which lies on the device, is running; at least once.
class WhileGraph {
 public:
  /// `body` queues work on the context's stream, whose kernels must have run before; nothing is run. Throws
  /// DeviceError where the toolkit (before CUDA 12.4) or the driver knows no such node.
  WhileGraph(const Context<Space::device>& ctx, const detail::MonitorState* monitor,
             const std::function<void()>& body);
  ~WhileGraph();
  WhileGraph(const WhileGraph&) = delete;
  WhileGraph& operator=(const WhileGraph&) = delete;

  void launch() const;

 private:
  cudaStream_t stream_;
  cudaGraphExec_t instance_ = nullptr;
};

}  // namespace newel::bench
