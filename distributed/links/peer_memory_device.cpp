// SPDX-License-Identifier: Apache-2.0
// Memory of devices that threads of a process, or processes of a host, reach.
#include "distributed/links/peer_memory.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "distributed/links/device_link.hpp"
#include "distributed/links/device_memory_device.hpp"
#include "distributed/links/host_identity.hpp"

namespace newel::detail {
namespace {

template <class Value>
std::string bytes_of(const Value& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

void set_to_zero(const std::shared_ptr<void>& memory, std::size_t bytes) {
  if (bytes > 0) NEWEL_CHECK_CUDA(cudaMemset(memory.get(), 0, bytes));
  NEWEL_CHECK_CUDA(cudaDeviceSynchronize());
}

class MemoryOfThreads final : public PeerMemory {
 public:
  explicit MemoryOfThreads(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  std::shared_ptr<void> allocate(std::size_t bytes) override { return pieces_.take(bytes); }

  std::vector<std::shared_ptr<void>> share(const std::shared_ptr<void>& mine, std::size_t bytes) override {
    set_to_zero(mine, bytes);
    auto shown = std::make_unique<std::shared_ptr<void>>(mine);
    std::vector<std::shared_ptr<void>> all;
    for (const std::string& text : communicator_->texts(bytes_of(shown.get()))) {
      const std::shared_ptr<void>* other = nullptr;
      std::memcpy(&other, text.data(), sizeof(other));
      all.push_back(*other);
    }
    auto* const until_read = shown.release();  // lost if a rank fails now: others may be reading it
    communicator_->texts("");
    delete until_read;
    return all;
  }
  std::string name() const override { return "packets between GPUs of one process"; }

 private:
  std::shared_ptr<Communicator> communicator_;
  DevicePieces pieces_;
};

// Memory that other processes have mapped. Nobody knows when the last of them has unmapped it, so it is never given
// back to CUDA, but used again by later systems of this process. One block is one allocation of CUDA: several in one
// page of 2 MiB would be shared together.
class ExportedMemory {
 public:
  struct Block {
    void* data;
    std::size_t bytes;
    cudaIpcMemHandle_t handle;
  };

  static ExportedMemory& of_process() {
    static auto& memory = *new ExportedMemory;  // never destroyed: CUDA may be gone at the end of the process
    return memory;
  }

  // At least `bytes`, of the current device.
  Block take(std::size_t bytes) {
    constexpr std::size_t page = std::size_t{2} << 20;
    const std::size_t size = (bytes + page - 1) / page * page;
    const Key least{current_device(), size};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = free_.lower_bound(least);
      if (found != free_.end() && found->first.first == least.first && found->first.second <= 2 * size) {
        const Block block = found->second;
        free_.erase(found);
        return block;
      }
    }
    Block block{};
    block.bytes = size;
    if (cudaMalloc(&block.data, size) != cudaSuccess) {
      cudaGetLastError();
      throw OutOfMemory("device", "values that ranks exchange", size, 0);
    }
    if (const cudaError_t status = cudaIpcGetMemHandle(&block.handle, block.data); status != cudaSuccess) {
      cudaGetLastError();
      cudaFree(block.data);  // nobody has mapped it
      throw DeviceError(std::string("memory cannot be exported (CUDA IPC): ") + cudaGetErrorString(status));
    }
    return block;
  }
  void give_back(int device, const Block& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.emplace(Key{device, block.bytes}, block);
  }
  static int current_device() {
    int device = 0;
    NEWEL_CHECK_CUDA(cudaGetDevice(&device));
    return device;
  }

 private:
  using Key = std::pair<int, std::size_t>;  // device and bytes
  std::mutex mutex_;
  std::multimap<Key, Block> free_;
};

// The memory of other processes, which stays mapped as long as this process: a block may come again.
class ImportedMemory {
 public:
  static ImportedMemory& of_process() {
    static auto& memory = *new ImportedMemory;
    return memory;
  }
  void* map(const cudaIpcMemHandle_t& handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::pair<int, std::string> key{ExportedMemory::current_device(), bytes_of(handle)};
    const auto known = mapped_.find(key);
    if (known != mapped_.end()) return known->second;
    void* data = nullptr;
    if (const cudaError_t status = cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess);
        status != cudaSuccess) {
      cudaGetLastError();
      throw DeviceError(std::string("the memory of another process cannot be mapped (CUDA IPC): ") +
                        cudaGetErrorString(status));
    }
    mapped_.emplace(key, data);
    return data;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, void*> mapped_;
};

class MemoryOfProcesses final : public PeerMemory {
 public:
  explicit MemoryOfProcesses(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  std::shared_ptr<void> allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    const auto block = std::make_shared<ExportedMemory::Block>(ExportedMemory::of_process().take(bytes));
    const int device = ExportedMemory::current_device();
    return std::shared_ptr<void>(block->data, GiveBack{device, block});
  }

  // The memory may have served another system, to which kernels of other ranks may still write. Their ranks wait for
  // these before they come here: so the zeros are written after that.
  std::vector<std::shared_ptr<void>> share(const std::shared_ptr<void>& mine, std::size_t bytes) override {
    NEWEL_CHECK_CUDA(cudaDeviceSynchronize());
    const auto* const own = mine == nullptr ? nullptr : std::get_deleter<GiveBack>(mine);
    const std::vector<std::string> handles = communicator_->texts(own == nullptr ? "" : bytes_of(own->block->handle));
    set_to_zero(mine, bytes);
    std::vector<std::shared_ptr<void>> all;
    for (std::size_t r = 0; r < handles.size(); ++r) {
      if (static_cast<int>(r) == communicator_->rank()) {
        all.push_back(mine);
      } else if (handles[r].empty()) {
        all.emplace_back();
      } else {
        cudaIpcMemHandle_t handle;
        std::memcpy(&handle, handles[r].data(), sizeof(handle));
        all.emplace_back(ImportedMemory::of_process().map(handle), [](void*) {});
      }
    }
    communicator_->texts("");
    return all;
  }
  std::string name() const override { return "packets between GPUs of several processes (CUDA IPC)"; }

 private:
  struct GiveBack {
    int device;
    std::shared_ptr<ExportedMemory::Block> block;
    void operator()(void*) const { ExportedMemory::of_process().give_back(device, *block); }
  };

  std::shared_ptr<Communicator> communicator_;
};

// Lets this device reach the memory of another.
bool reach(int device, int other) {
  int can = 0;
  NEWEL_CHECK_CUDA(cudaDeviceCanAccessPeer(&can, device, other));
  if (can == 0) return false;
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return true;
  }
  NEWEL_CHECK_CUDA(status);
  return true;
}

std::string why_not_threads(const Context<Space::device>& ctx, Communicator& communicator) {
  std::string missing;
  for (const std::string& text : communicator.texts(std::to_string(ctx.device()))) {
    const int other = std::stoi(text);
    if (other == ctx.device() || reach(ctx.device(), other)) continue;
    missing = "GPU " + std::to_string(ctx.device()) + " cannot reach the memory of GPU " + text;
  }
  return first_reason(communicator, missing);
}

// Each rank writes its number into the memory of all others, and they read it. Whether a system lets processes do
// that shows only when they do it.
std::string why_not_processes(const std::shared_ptr<Communicator>& communicator) {
  const auto ranks = static_cast<std::size_t>(communicator->size());
  const auto number_of = [](std::size_t r) { return static_cast<int>(r) + 1; };
  const auto own = static_cast<std::size_t>(communicator->rank());
  MemoryOfProcesses memory(communicator);
  const std::size_t bytes = ranks * sizeof(int);
  std::string missing;
  const auto attempt = [&](auto&& act) {
    try {
      act();
    } catch (const DeviceError& error) {
      missing = error.what();
    }
    return first_reason(*communicator, missing);
  };
  std::shared_ptr<void> mine;
  std::string why = attempt([&] { mine = memory.allocate(bytes); });
  if (!why.empty()) return why;
  std::vector<std::shared_ptr<void>> all;
  // `share` meets the others before and after it maps: who cannot map comes to the second meeting here.
  why = attempt([&] {
    try {
      all = memory.share(mine, bytes);
    } catch (const DeviceError&) {
      communicator->texts("");
      throw;
    }
  });
  if (!why.empty()) return why;
  why = attempt([&] {
    const int number = number_of(own);
    for (const std::shared_ptr<void>& other : all) {
      NEWEL_CHECK_CUDA(cudaMemcpy(static_cast<int*>(other.get()) + own, &number, sizeof(number), cudaMemcpyDefault));
    }
    NEWEL_CHECK_CUDA(cudaDeviceSynchronize());
  });
  if (!why.empty()) return why;
  std::vector<int> found(ranks);
  return attempt([&] {
    NEWEL_CHECK_CUDA(cudaMemcpy(found.data(), mine.get(), bytes, cudaMemcpyDeviceToHost));
    for (std::size_t r = 0; r < ranks; ++r) {
      if (found[r] != number_of(r)) throw DeviceError("values written by another process do not arrive (CUDA IPC)");
    }
  });
}

std::size_t different(Communicator& communicator, const std::string& mine) {
  const std::vector<std::string> all = communicator.texts(mine);
  return std::set<std::string>(all.begin(), all.end()).size();
}

}  // namespace

std::shared_ptr<PeerMemory> peer_memory(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator, std::string& why_not) {
  const auto ranks = static_cast<std::size_t>(communicator->size());
  const std::size_t processes = different(*communicator, identity_of_process());
  const std::size_t hosts = different(*communicator, identity_of_host());
  if (communicator->size() > PeerSums::most_ranks) {
    why_not = "there are too many ranks";
  } else if (processes == 1) {
    why_not = why_not_threads(ctx, *communicator);
    if (why_not.empty()) return std::make_shared<MemoryOfThreads>(communicator);
  } else if (hosts > 1) {
    why_not = "ranks are on several hosts";
  } else if (processes < ranks) {
    why_not = "some ranks are threads of one process, and others are not";
  } else {
    why_not = why_not_processes(communicator);
    if (why_not.empty()) return std::make_shared<MemoryOfProcesses>(communicator);
  }
  return nullptr;
}

}  // namespace newel::detail
