// SPDX-License-Identifier: Apache-2.0
// The device context: stream, handles and stream-ordered pool.
#include <purlin/core/context_device.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <purlin/core/memory_ledger.hpp>
#include <purlin/core/parallel.hpp>

namespace purlin {
namespace detail {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next launch check would report it again
  throw DeviceError(std::string(call) + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                    ")");
}

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string(call) + " failed: " + cublasGetStatusString(status));
}

void check_cusparse(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(std::string(call) + " failed: " + cusparseGetErrorString(status));
}

// A page-locked page, or null. Made once a context: making one may hold up the streams of others.
void* locked_page(std::size_t bytes) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // a capture that is under way elsewhere does not mind
  PURLIN_CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  void* page = nullptr;
  if (cudaMallocHost(&page, bytes) != cudaSuccess) {
    cudaGetLastError();
    page = nullptr;
  }
  PURLIN_CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  return page;
}

class DeviceMemory final : public MemoryResource {
 public:
  DeviceMemory(int device, bool own_stream, cudaStream_t stream)
      : device_(device), stream_(stream), own_stream_(own_stream) {
    if (own_stream_) PURLIN_CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    PURLIN_CHECK_CUDA(cudaMemPoolCreate(&pool_, &properties));
    // Freed memory stays in the pool: the next allocation of a time loop is then free of charge.
    std::uint64_t keep = UINT64_MAX;
    PURLIN_CHECK_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  ~DeviceMemory() override {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
    if (own_stream_ && stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  void* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    // Large requests are measured against the memory there is, which also keeps a failing call out of the driver's
    // log.
    constexpr std::size_t worth_asking = std::size_t{256} << 20;
    if (bytes >= worth_asking && bytes > available_bytes()) fail(bytes);
    void* pointer = nullptr;
    const cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, pool_, stream_);
    // A request beyond what the driver can count is refused with another code than one beyond the memory there is.
    if (status == cudaErrorMemoryAllocation || (status == cudaErrorInvalidValue && bytes > available_bytes())) {
      cudaGetLastError();  // not sticky: clear it, or the next launch check would report it
      fail(bytes);
    }
    check_cuda(status, "cudaMallocFromPoolAsync");
    ledger_.add(bytes);
    return pointer;
  }
  void release(void* pointer, std::size_t bytes) noexcept override {
    cudaFreeAsync(pointer, stream_);
    ledger_.remove(bytes);
  }
  std::uint64_t available_bytes() const override {
    std::size_t free = 0, total = 0;
    if (cudaSetDevice(device_) != cudaSuccess) return 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    std::uint64_t reserved = 0, used = 0;
    cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
    cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used);
    return free + (reserved - used);
  }
  MemoryUse use() const override { return ledger_.use(); }

  cudaStream_t stream() const { return stream_; }

  /// Copies of many megabytes between the device and ordinary memory of the host: piece by piece through page-locked
  /// memory, which the host's threads empty or fill while the next piece is under way. The driver does that with one
  /// thread. They wait for the stream. False where there is no page-locked memory; nothing has been copied then.
  bool download(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
    if (!make_pieces()) return false;
    const auto empty = [&](std::size_t at) {
      PURLIN_CHECK_CUDA(cudaEventSynchronize(copied_[at / piece_bytes % 2].get()));
      copy_in_shares(to + at, pieces_[at / piece_bytes % 2].get(), std::min(piece_bytes, bytes - at), host);
    };
    std::size_t at = 0;
    for (; at < bytes; at += piece_bytes) {
      const std::size_t i = at / piece_bytes % 2, length = std::min(piece_bytes, bytes - at);
      PURLIN_CHECK_CUDA(cudaMemcpyAsync(pieces_[i].get(), from + at, length, cudaMemcpyDeviceToHost, stream_));
      PURLIN_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
      if (at > 0) empty(at - piece_bytes);
    }
    empty(at - piece_bytes);
    return true;
  }
  bool upload(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
    if (!make_pieces()) return false;
    for (std::size_t at = 0; at < bytes; at += piece_bytes) {
      const std::size_t i = at / piece_bytes % 2, length = std::min(piece_bytes, bytes - at);
      if (at >= 2 * piece_bytes) PURLIN_CHECK_CUDA(cudaEventSynchronize(copied_[i].get()));
      copy_in_shares(pieces_[i].get(), from + at, length, host);
      PURLIN_CHECK_CUDA(cudaMemcpyAsync(to + at, pieces_[i].get(), length, cudaMemcpyHostToDevice, stream_));
      PURLIN_CHECK_CUDA(cudaEventRecord(copied_[i].get(), stream_));
    }
    PURLIN_CHECK_CUDA(cudaStreamSynchronize(stream_));
    return true;
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{8} << 20;
  static constexpr std::int64_t least_copied_bytes = std::int64_t{1} << 18;  // of a thread

  struct FreeLocked {
    void operator()(char* piece) const { cudaFreeHost(piece); }
  };
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };

  // Made when first needed, and kept: locking pages takes as long as copying tens of megabytes.
  bool make_pieces() {
    PURLIN_CHECK_CUDA(cudaSetDevice(device_));
    for (int i = 0; i < 2; ++i) {
      if (pieces_[i] == nullptr) pieces_[i].reset(static_cast<char*>(locked_page(piece_bytes)));
      if (pieces_[i] == nullptr) return false;
      if (copied_[i] != nullptr) continue;
      cudaEvent_t event = nullptr;
      PURLIN_CHECK_CUDA(cudaEventCreate(&event));
      copied_[i].reset(event);
    }
    return true;
  }

  static void copy_in_shares(char* to, const char* from, std::size_t bytes, const Context<Space::host>& host) {
    detail::parallel_ranges(
        host, bytes, [&](std::size_t begin, std::size_t end) { std::memcpy(to + begin, from + begin, end - begin); },
        least_copied_bytes);
  }

  [[noreturn]] void fail(std::size_t bytes) const {
    throw OutOfMemory("device", "an array", bytes, available_bytes());
  }

  int device_;
  cudaStream_t stream_;
  bool own_stream_;
  cudaMemPool_t pool_ = nullptr;
  std::unique_ptr<char, FreeLocked> pieces_[2];
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent> copied_[2];
  MemoryLedger ledger_;
};

// From how many bytes on a copy is made by pieces.
constexpr std::size_t worth_pieces = std::size_t{16} << 20;

void upload_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  auto& memory = static_cast<DeviceMemory&>(*ctx.memory());
  const auto up = [&] {
    return memory.upload(static_cast<char*>(to), static_cast<const char*>(from), bytes, ctx.host());
  };
  if (bytes >= worth_pieces && up()) return;
  PURLIN_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ctx.stream()));
  ctx.synchronize();
}

void download_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  auto& memory = static_cast<DeviceMemory&>(*ctx.memory());
  const auto down = [&] {
    return memory.download(static_cast<char*>(to), static_cast<const char*>(from), bytes, ctx.host());
  };
  if (bytes >= worth_pieces && down()) return;
  PURLIN_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, ctx.stream()));
  ctx.synchronize();
}

void copy_device_bytes(const Context<Space::device>& ctx, const void* from, void* to, std::size_t bytes) {
  PURLIN_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ctx.stream()));
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
  if (count == 0) throw DeviceError("no CUDA device answers (no card, or no driver for this toolkit)");
  if (device < 0 || device >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(device) + ": this machine has " +
                      std::to_string(count));
  }
  return device;
}

// The largest grid of a reduction times its sums (vector_step_device.cuh, basis_device.cu).
constexpr int partials_per_multiprocessor = 8 * 4;

}  // namespace

Context<Space::device>::State::State(int device_number, bool own_stream, cudaStream_t stream)
    : device(checked_device(device_number)) {
  PURLIN_CHECK_CUDA(cudaSetDevice(device));
  cudaDeviceProp properties;
  PURLIN_CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  name = properties.name;
  multiprocessors = properties.multiProcessorCount;
  auto device_memory = std::make_shared<detail::DeviceMemory>(device, own_stream, stream);
  stream_ = device_memory->stream();
  memory = std::move(device_memory);
  page = detail::locked_page(page_bytes);
}

Context<Space::device>::State::~State() {
  if (page != nullptr) cudaFreeHost(page);
  if (cublas != nullptr) cublasDestroy(cublas);
  if (cusparse != nullptr) cusparseDestroy(cusparse);
}

Context<Space::device>::Context(int device) : state_(std::make_shared<State>(device, true, nullptr)) {
  prepare_reductions();
}

Context<Space::device>::Context(int device, CUstream_st* stream)
    : state_(std::make_shared<State>(device, false, stream)) {
  prepare_reductions();
}

void Context<Space::device>::prepare_reductions() {
  state_->partial_ = Array<double, Space::device>(*this, state_->multiprocessors * partials_per_multiprocessor);
  state_->tickets_ = Array<unsigned, Space::device>(*this, 1);
  PURLIN_CHECK_CUDA(cudaMemsetAsync(state_->tickets_.data(), 0, state_->tickets_.bytes(), stream()));
}

int Context<Space::device>::device() const { return state_->device; }
CUstream_st* Context<Space::device>::stream() const { return state_->stream_; }
int Context<Space::device>::multiprocessors() const { return state_->multiprocessors; }
std::string Context<Space::device>::device_name() const { return state_->name; }
const Context<Space::host>& Context<Space::device>::host() const { return state_->host; }
const std::shared_ptr<MemoryResource>& Context<Space::device>::memory() const { return state_->memory; }

cublasContext* Context<Space::device>::cublas() const {
  if (state_->cublas == nullptr) {
    PURLIN_CHECK_CUBLAS(cublasCreate(&state_->cublas));
    PURLIN_CHECK_CUBLAS(cublasSetStream(state_->cublas, stream()));
  }
  return state_->cublas;
}

cusparseContext* Context<Space::device>::cusparse() const {
  if (state_->cusparse == nullptr) {
    PURLIN_CHECK_CUSPARSE(cusparseCreate(&state_->cusparse));
    PURLIN_CHECK_CUSPARSE(cusparseSetStream(state_->cusparse, stream()));
  }
  return state_->cusparse;
}

void Context<Space::device>::synchronize() const { PURLIN_CHECK_CUDA(cudaStreamSynchronize(stream())); }

void Context<Space::device>::make_current() const { PURLIN_CHECK_CUDA(cudaSetDevice(state_->device)); }

}  // namespace purlin
