// SPDX-License-Identifier: Apache-2.0
// A graph of one conditional node, its body captured, and behind that a kernel that asks the monitor.
#include "while_graph_device.hpp"

#include "core/memory/context_device.hpp"

namespace newel::bench {

#if CUDART_VERSION >= 12040
namespace {

__global__ void go_on_while_running(cudaGraphConditionalHandle handle, const detail::MonitorState* monitor) {
  cudaGraphSetConditional(handle, monitor->running() ? 1 : 0);
}

// A while node in an empty graph; the graph of its body.
cudaGraph_t add_while_node(cudaGraph_t graph, cudaGraphConditionalHandle handle) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  NEWEL_CHECK_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
  NEWEL_CHECK_CUDA(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
  return params.conditional.phGraph_out[0];
}

void capture_body(cudaStream_t stream, cudaGraph_t body, cudaGraphConditionalHandle handle,
                  const detail::MonitorState* monitor, const std::function<void()>& work) {
  NEWEL_CHECK_CUDA(
      cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  try {
    work();
    go_on_while_running<<<1, 1, 0, stream>>>(handle, monitor);
    NEWEL_CHECK_LAUNCH();
  } catch (...) {
    cudaStreamEndCapture(stream, &body);
    throw;
  }
  NEWEL_CHECK_CUDA(cudaStreamEndCapture(stream, &body));
}

}  // namespace

WhileGraph::WhileGraph(const Context<Space::device>& ctx, const detail::MonitorState* monitor,
                       const std::function<void()>& body)
    : stream_(ctx.stream()) {
  cudaGraph_t graph = nullptr;
  NEWEL_CHECK_CUDA(cudaGraphCreate(&graph, 0));
  try {
    cudaGraphConditionalHandle handle;
    NEWEL_CHECK_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    capture_body(stream_, add_while_node(graph, handle), handle, monitor, body);
    NEWEL_CHECK_CUDA(cudaGraphInstantiate(&instance_, graph, 0));
    NEWEL_CHECK_CUDA(cudaGraphUpload(instance_, stream_));
  } catch (...) {
    if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
    cudaGraphDestroy(graph);
    throw;
  }
  cudaGraphDestroy(graph);
}
#else
WhileGraph::WhileGraph(const Context<Space::device>&, const detail::MonitorState*, const std::function<void()>&)
    : stream_(nullptr) {
  throw DeviceError("conditional nodes of graphs need CUDA 12.4 or newer");
}
#endif

WhileGraph::~WhileGraph() {
  if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
}

void WhileGraph::launch() const { NEWEL_CHECK_CUDA(cudaGraphLaunch(instance_, stream_)); }

}  // namespace newel::bench
