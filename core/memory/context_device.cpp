// SPDX-License-Identifier: Apache-2.0
// The device context: stream, handles and memory.
#include "core/memory/context_device.hpp"
#include "core/memory/kernels_overlap_device.hpp"

#include <utility>

#include "core/memory/cusparse_device.hpp"
#include "core/memory/memory_device.hpp"
#include "core/memory/staged_copy_device.hpp"

namespace newel {
namespace detail {

const std::shared_ptr<ContextLock>& lock_of(const Context<Space::device>& ctx) { return ctx.state().lock; }

DeviceError no_device() { return DeviceError("no CUDA device is available (no GPU, or no driver for this toolkit)"); }

void copy_device_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  NEWEL_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ctx.stream()));
}

}  // namespace detail

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

namespace {

int checked_device(int device) {
  const int count = device_count();
  if (count == 0) throw detail::no_device();
  if (device < 0 || device >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(device) + ": this machine has " +
                      std::to_string(count));
  }
  return device;
}

// Inside, null stands for the built-in pool.
std::shared_ptr<MemoryResource> given(std::shared_ptr<MemoryResource> memory) {
  if (memory == nullptr) throw InputError("a context needs a memory resource, found a null pointer");
  return memory;
}

// The largest grid of a reduction times its sums (vector_step_device.cuh, basis_device.cu).
constexpr int partials_per_multiprocessor = 8 * 4;

void prepare_reductions(const Context<Space::device>& ctx, Context<Space::device>::State& state) {
  state.overlaps = ctx.stream() != nullptr && detail::kernels_may_overlap();
  state.partial_ = Array<double, Space::device>(ctx, state.multiprocessors * partials_per_multiprocessor);
  state.tickets_ = Array<unsigned, Space::device>(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(state.tickets_.data(), 0, state.tickets_.bytes(), ctx.stream()));
}

}  // namespace

Context<Space::device>::State::State(int device_number, bool own_stream, cudaStream_t stream,
                                     std::shared_ptr<MemoryResource> resource)
    : device(checked_device(device_number)), stream_(stream) {
  NEWEL_CHECK_CUDA(cudaSetDevice(device));
  cudaDeviceProp properties;
  NEWEL_CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  name = properties.name;
  multiprocessors = properties.multiProcessorCount;
  std::shared_ptr<const void> stream_owner;
  if (own_stream) {
    NEWEL_CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    stream_owner = std::shared_ptr<const void>(stream_, [](cudaStream_t own) { cudaStreamDestroy(own); });
  }
  if (resource == nullptr) resource = detail::device_memory(device);
  memory = std::make_shared<ContextMemory>(Space::device, std::move(resource), stream_, std::move(stream_owner));
  copies = std::make_unique<detail::StagedCopies>(stream_);
  page = detail::locked_page(page_bytes);
}

Context<Space::device>::State::~State() {
  if (page != nullptr) cudaFreeHost(page);
  if (cusparse != nullptr) detail::cusparse().cusparseDestroy(cusparse);
}

Context<Space::device>::Context(int device) : state_(std::make_shared<State>(device, true, nullptr, nullptr)) {
  prepare_reductions(*this, *state_);
}

Context<Space::device>::Context(int device, CUstream_st* stream)
    : state_(std::make_shared<State>(device, false, stream, nullptr)) {
  prepare_reductions(*this, *state_);
}

Context<Space::device>::Context(int device, std::shared_ptr<MemoryResource> memory)
    : state_(std::make_shared<State>(device, true, nullptr, given(std::move(memory)))) {
  prepare_reductions(*this, *state_);
}

Context<Space::device>::Context(int device, CUstream_st* stream, std::shared_ptr<MemoryResource> memory)
    : state_(std::make_shared<State>(device, false, stream, given(std::move(memory)))) {
  prepare_reductions(*this, *state_);
}

int Context<Space::device>::device() const { return state_->device; }
CUstream_st* Context<Space::device>::stream() const { return state_->stream_; }
int Context<Space::device>::multiprocessors() const { return state_->multiprocessors; }
std::string Context<Space::device>::device_name() const { return state_->name; }
const Context<Space::host>& Context<Space::device>::host() const { return state_->host; }
const std::shared_ptr<ContextMemory>& Context<Space::device>::memory() const { return state_->memory; }

void Context<Space::device>::release_unused_memory() const {
  make_current();
  synchronize();  // or what is freed in the order of the stream is still in use
  state_->memory->release_unused();
}

void Context<Space::device>::synchronize() const { NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream())); }

void Context<Space::device>::make_current() const { NEWEL_CHECK_CUDA(cudaSetDevice(state_->device)); }

}  // namespace newel
