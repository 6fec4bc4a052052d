// SPDX-License-Identifier: Apache-2.0
// Streams, captures, graphs, events.
#include "internal.hpp"

#include <chrono>
#include <deque>
#include <set>
#include <thread>

struct CUgraph_st {
  std::vector<std::function<void()>> ops;
};
struct CUgraphExec_st : CUgraph_st {};

struct CUstream_st {
  unsigned flags = 0;
  int device = 0;
  CUgraph_st* capture = nullptr;
  CUstream_st* origin = nullptr;  // whose capture it has joined by an event
  std::thread::id capturer;
  bool spoilt = false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::deque<std::function<void()>> queue;
  bool draining = false;
};
// A record of an event, which may be destroyed or recorded again before its stream comes to it.
struct Mark {
  CUstream_st* stream;
  CUstream_st* captured;  // the stream whose capture it is part of
  bool reached = false;
  std::chrono::steady_clock::time_point at = {};
};
struct CUevent_st {
  std::shared_ptr<Mark> last;
};

namespace emu {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

CUstream_st& default_stream() {
  static CUstream_st s;
  return s;
}
std::set<CUstream_st*>& streams() {
  static std::set<CUstream_st*> all;
  return all;
}
CUstream_st* real(cudaStream_t s) {
  if (s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread) return &default_stream();
  if (streams().count(s) == 0) {
    complain("a stream that does not live: %p", static_cast<void*>(s));
    return &default_stream();
  }
  return s;
}

// Whose capture the work of a stream belongs to; null: it runs.
CUstream_st* captured_by(CUstream_st* s) {
  if (s->origin != nullptr) return s->origin;
  return s->capture != nullptr ? s : nullptr;
}

// Of a call that may not be made on a stream that is captured.
bool spoils_capture(CUstream_st* s) {
  CUstream_st* const into = captured_by(s);
  if (into != nullptr) into->spoilt = true;
  return into != nullptr;
}

void empty(CUstream_st* s) {
  if (s->draining) return;
  s->draining = true;
  while (!s->queue.empty()) {
    auto op = std::move(s->queue.front());
    s->queue.pop_front();
    op();
  }
  s->draining = false;
}

// The default stream and those that are not non-blocking wait for each other.
void empty_before(CUstream_st* s) {
  if (s == &default_stream()) {
    for (auto* other : streams())
      if ((other->flags & cudaStreamNonBlocking) == 0) empty(other);
  } else if ((s->flags & cudaStreamNonBlocking) == 0) {
    empty(&default_stream());
  }
}

}  // namespace

void drain(cudaStream_t stream) { empty(real(stream)); }
// Of the current device. Others may make and destroy streams meanwhile.
void drain_all() {
  empty(&default_stream());
  const std::set<CUstream_st*> all = streams();
  for (auto* s : all) {
    if (streams().count(s) > 0 && s->device == current_device()) empty(s);
  }
}

void require_current_device(cudaStream_t stream, const char* what) {
  const CUstream_st* const s = real(stream);
  if (s == &default_stream() || s->device == current_device()) return;
  complain("%s is launched on a stream of device %d while device %d is current", what, s->device, current_device());
}

bool capturing(cudaStream_t stream) { return captured_by(real(stream)) != nullptr; }

bool unsafe_in_capture(const char* what) {
  bool any = false;
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  for (auto* s : streams()) {
    const bool of_another = s->mode == cudaStreamCaptureModeThreadLocal && s->capturer != std::this_thread::get_id();
    if (s->capture == nullptr || s->mode == cudaStreamCaptureModeRelaxed || of_another) continue;
    s->spoilt = any = true;
  }
  if (any) complain("%s while a stream is captured", what);
  return any;
}

void enqueue(cudaStream_t stream, std::function<void()> op) {
  const Lock lock;
  CUstream_st* s = real(stream);
  if (CUstream_st* const into = captured_by(s)) {
    into->capture->ops.push_back(std::move(op));
    return;
  }
  if (!settings().lazy) return op();
  empty_before(s);
  s->queue.push_back(std::move(op));
}

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  const Lock lock;
  *s = new CUstream_st;
  (*s)->flags = flags;
  (*s)->device = current_device();
  streams().insert(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithFlags(s, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int) {
  return cudaStreamCreateWithFlags(s, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  const Lock lock;
  s = real(s);
  empty(s);
  streams().erase(s);
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock;
  CUstream_st* s = real(stream);
  if (spoils_capture(s)) return result(cudaErrorStreamCaptureUnsupported);
  empty_before(s);
  empty(s);
  return faulted ? result(cudaErrorLaunchFailure) : cudaSuccess;
}
// Runs nothing: work that waits here for someone to wait for it is work that has not ended.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Lock lock;
  CUstream_st* s = real(stream);
  if (spoils_capture(s)) return result(cudaErrorStreamCaptureUnsupported);
  if (faulted) return result(cudaErrorLaunchFailure);
  return s->queue.empty() ? cudaSuccess : result(cudaErrorNotReady);
}
cudaError_t cudaDeviceSynchronize() {
  const Lock lock;
  drain_all();
  return faulted ? result(cudaErrorLaunchFailure) : cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned* flags) {
  const Lock lock;
  *flags = real(s)->flags;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
  const Lock lock;
  CUstream_st* r = captured_by(real(s));
  *status = r == nullptr ? cudaStreamCaptureStatusNone
            : r->spoilt  ? cudaStreamCaptureStatusInvalidated
                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Lock lock;
  CUstream_st* s = real(stream);
  if (s == &default_stream()) return result(cudaErrorStreamCaptureUnsupported);
  if (captured_by(s) != nullptr) return result(cudaErrorIllegalState);
  s->capture = new CUgraph_st;
  s->capturer = std::this_thread::get_id();
  s->spoilt = false;
  s->mode = mode;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock;
  CUstream_st* s = real(stream);
  *graph = nullptr;
  if (s->capture == nullptr) return result(cudaErrorIllegalState);
  CUgraph_st* g = s->capture;
  s->capture = nullptr;
  for (auto* joined : streams()) {
    if (joined->origin == s) joined->origin = nullptr;
  }
  if (s->spoilt) {
    delete g;
    return result(cudaErrorStreamCaptureInvalidated);
  }
  *graph = g;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* e, cudaGraph_t g, unsigned long long) {
  *e = new CUgraphExec_st;
  static_cast<CUgraph_st&>(**e) = *g;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t stream) {
  const Lock lock;
  if (faulted) return result(cudaErrorLaunchFailure);
  auto ops = std::make_shared<std::vector<std::function<void()>>>(e->ops);
  enqueue(stream, [ops] {
    for (auto& op : *ops) op();
  });
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  delete g;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) {
  delete e;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* e) {
  *e = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  const Lock lock;
  e->last = std::make_shared<Mark>(Mark{real(s), captured_by(real(s))});
  enqueue(s, [mark = e->last] {
    mark->reached = true;
    mark->at = std::chrono::steady_clock::now();
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  const Lock lock;
  if (e->last == nullptr) return cudaSuccess;
  CUstream_st* const waits = real(s);
  if (e->last->captured != nullptr && captured_by(waits) == nullptr) waits->origin = e->last->captured;
  enqueue(s, [mark = e->last] {
    while (!mark->reached && !mark->stream->queue.empty()) {
      auto op = std::move(mark->stream->queue.front());
      mark->stream->queue.pop_front();
      op();
    }
  });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  const Lock lock;
  drain_all();
  return faulted ? result(cudaErrorLaunchFailure) : cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = std::chrono::duration<float, std::milli>(b->last->at - a->last->at).count();
  return cudaSuccess;
}

}  // extern "C"
