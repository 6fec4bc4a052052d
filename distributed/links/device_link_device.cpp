// SPDX-License-Identifier: Apache-2.0
// Which link the devices of ranks get, and their contexts.
#include "distributed/links/device_link.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/context_device.hpp"
#include "core/ranks/host_share.hpp"
#include "distributed/links/host_identity.hpp"
#include "distributed/links/nccl_device.hpp"

namespace newel::detail {
namespace {

// Memory of another context, which counts it.
class MemoryOfContext final : public MemoryResource {
 public:
  explicit MemoryOfContext(std::shared_ptr<ContextMemory> memory) : memory_(std::move(memory)) {}

  void* allocate(std::size_t bytes, CUstream_st*) override { return memory_->allocate(bytes); }
  void release(void* pointer, std::size_t bytes, CUstream_st*) noexcept override { memory_->release(pointer, bytes); }
  std::optional<std::uint64_t> available_bytes() const override { return memory_->available_bytes(); }
  void release_unused() override { memory_->release_unused(); }

 private:
  std::shared_ptr<ContextMemory> memory_;
};

// Why kernels of these ranks must not wait for each other; empty: they may. The same on all ranks, like those below.
// Calls that wait for a whole device, as allocations may, would wait for ever if it runs a kernel that waits for
// another rank of that device.
std::string why_not_waiting(const Context<Space::device>& ctx, Communicator& communicator) {
  const std::vector<std::string> devices = communicator.texts(identity_of_device(ctx.device()));
  if (std::set<std::string>(devices.begin(), devices.end()).size() < devices.size()) return "ranks share a device";
  const bool knows_failures = communicator.failure().has_value();
  return first_reason(communicator, knows_failures
                                        ? ""
                                        : "a rank that fails could not end the others' kernels (under MPI on several "
                                          "hosts it can with MPI_THREAD_MULTIPLE)");
}

std::string why_not_nccl(Communicator& communicator) {
  std::string missing;
  try {
    static_cast<void>(nccl());
  } catch (const DeviceError& error) {
    missing = error.what();
  }
  return first_reason(communicator, missing);
}

}  // namespace

std::string identity_of_device(int device) {
  cudaDeviceProp properties;
  NEWEL_CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  return std::string(properties.uuid.bytes, sizeof(properties.uuid.bytes));
}

std::string first_reason(Communicator& communicator, const std::string& mine) {
  const std::vector<std::string> all = communicator.texts(mine);
  const auto found = std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
  return found == all.end() ? std::string() : *found;
}

std::shared_ptr<DeviceRanks> link_devices(const Context<Space::device>& ctx,
                                          const std::shared_ptr<Communicator>& communicator, RankLink link) {
  double least = -static_cast<double>(link), most = static_cast<double>(link);
  communicator->max(&least, 1);
  communicator->max(&most, 1);
  if (-least != most) throw InputError("the ranks ask for different links between their devices");
  if (link == RankLink::host) return staged_ranks(ctx, communicator, "as asked for");
  if (communicator->size() == 1) return staged_ranks(ctx, communicator, "there is one rank");
  std::string why_not = why_not_waiting(ctx, *communicator), why_not_peers;
  if (why_not.empty() && link != RankLink::nccl) {
    if (auto memory = peer_memory(ctx, communicator, why_not_peers)) {
      return peer_ranks(ctx, communicator, std::move(memory));
    }
    if (link == RankLink::peers) why_not = why_not_peers;
  }
  if (why_not.empty() && link != RankLink::peers) {
    why_not = why_not_nccl(*communicator);
    if (why_not.empty()) return nccl_ranks(ctx, communicator, why_not_peers);
    if (!why_not_peers.empty()) why_not = why_not_peers + "; " + why_not;
  }
  if (link == RankLink::automatic) return staged_ranks(ctx, communicator, why_not);
  throw DeviceError("the devices of these ranks cannot be linked as asked for: " + why_not);
}

namespace {

// The state is of this context alone, and nobody has used it yet.
Context<Space::device> made_from(const Context<Space::device>& ctx, CUstream_st* stream, Context<Space::host> host) {
  Context<Space::device> made(ctx.device(), stream, std::make_shared<MemoryOfContext>(ctx.memory()));
  auto& state = const_cast<Context<Space::device>::State&>(made.state());
  state.host = std::move(host);
  return made;
}

}  // namespace

Context<Space::device> with_ranks(const Context<Space::device>& ctx, Ranks ranks, int in_process) {
  return made_from(ctx, ctx.stream(), share_of_host(ctx.host(), in_process).with_ranks(std::move(ranks)));
}

Context<Space::device> with_stream(const Context<Space::device>& ctx, CUstream_st* stream) {
  return made_from(ctx, stream, ctx.host());
}

}  // namespace newel::detail
