// SPDX-License-Identifier: Apache-2.0
// Devices of one host that store values in each other's memory, packet by packet.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/on_all_ranks.hpp"
#include "core/ranks/peer_sums_device.cuh"
#include "core/vectors/vector_step_device.cuh"
#include "distributed/links/device_link.hpp"
#include "distributed/links/device_memory_device.hpp"
#include "distributed/links/failure_watch.hpp"

namespace newel::detail {
namespace {

struct PeerExchangeTuning {
  static constexpr int threads = 256;
  static constexpr unsigned most_blocks = 32;  ///< the rows that need no other rank are multiplied meanwhile
  static constexpr int at_once = 8;            ///< packets of a thread that are under way together
};

// One block.
__global__ void __launch_bounds__(PeerExchangeTuning::threads)
    gather_peers_kernel(const PeerSums peers, const double* mine, int count, double* all) {
  gather_from_peers(peers, mine, count, all);
}

/// A message of one exchange; a packet carries 32 bits of it.
struct PeerMessage {
  unsigned* data;       ///< of this rank
  std::int64_t words;   ///< of 32 bits
  PeerPacket* packets;  ///< `words` of buffer 0, then those of buffer 1, in the receiver's memory
  unsigned* read;       ///< in the sender's memory: the number of the last round that the receiver has read
};

struct PeerRound {
  const PeerMessage* messages;
  int count;
  const unsigned* failed;
  unsigned* round;  ///< of this rank: how many there have been
  unsigned* tickets;
};

/// Half of a double, or a float, that is NaN.
constexpr unsigned no_number = 0xffffffffu;

__device__ __forceinline__ void store_number(unsigned* at, unsigned number) {
  *static_cast<volatile unsigned*>(at) = number;
}

// Calls act(first, step, count) for words first, first + step, ... of this thread, at most `at_once` in a call.
template <class Act>
__device__ __forceinline__ void of_own_words(std::int64_t words, Act&& act) {
  constexpr int at_once = PeerExchangeTuning::at_once;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; k + (at_once - 1) * step < words; k += at_once * step) act(k, step, at_once);
  if (k < words) act(k, step, static_cast<int>((words - 1 - k) / step) + 1);
}

// Blocks deal out the words of each message. A buffer is used again after the round before last has been read.
__global__ void __launch_bounds__(PeerExchangeTuning::threads) send_to_peers_kernel(const PeerRound round) {
  __shared__ bool may_send;
  const unsigned number = *round.round + 1;
  if (threadIdx.x == 0) may_send = true;
  __syncthreads();
  for (int m = static_cast<int>(threadIdx.x); m < round.count; m += PeerExchangeTuning::threads) {
    const volatile unsigned* const read = round.messages[m].read;
    while (static_cast<int>(number - 2 - *read) > 0) {
      if (*static_cast<const volatile unsigned*>(round.failed) == 0) continue;
      may_send = false;
      break;
    }
  }
  __syncthreads();
  for (int m = 0; may_send && m < round.count; ++m) {
    const PeerMessage message = round.messages[m];
    PeerPacket* const to = message.packets + number % 2 * message.words;
    of_own_words(message.words, [&](std::int64_t first, std::int64_t step, int count) {
      unsigned words[PeerExchangeTuning::at_once];
#pragma unroll
      for (int u = 0; u < PeerExchangeTuning::at_once; ++u) {
        if (u < count) words[u] = message.data[first + u * step];
      }
#pragma unroll
      for (int u = 0; u < PeerExchangeTuning::at_once; ++u) {
        if (u < count) send_packet(to + first + u * step, words[u], number);
      }
    });
  }
  if (last_block(round.tickets) && threadIdx.x == 0) *round.round = number;
}

// The same blocks wait for the packets. What a rank that has failed did not send becomes NaN.
__global__ void __launch_bounds__(PeerExchangeTuning::threads) receive_from_peers_kernel(const PeerRound round) {
  const unsigned number = *round.round + 1;
  for (int m = 0; m < round.count; ++m) {
    const PeerMessage message = round.messages[m];
    const PeerPacket* const from = message.packets + number % 2 * message.words;
    of_own_words(message.words, [&](std::int64_t first, std::int64_t step, int count) {
      PeerPacket packets[PeerExchangeTuning::at_once];
#pragma unroll
      for (int u = 0; u < PeerExchangeTuning::at_once; ++u) {
        if (u < count) packets[u] = look_at_packet(from + first + u * step);
      }
#pragma unroll
      for (int u = 0; u < PeerExchangeTuning::at_once; ++u) {
        if (u >= count) break;
        unsigned word = half_of(packets[u]);
        if (number_of(packets[u]) != number && !await_packet(from + first + u * step, number, round.failed, word)) {
          word = no_number;
        }
        message.data[first + u * step] = word;
      }
    });
  }
  if (!last_block(round.tickets)) return;
  for (int m = static_cast<int>(threadIdx.x); m < round.count; m += PeerExchangeTuning::threads) {
    store_number(round.messages[m].read, number);
  }
  if (threadIdx.x == 0) *round.round = number;
}

template <class Value>
std::string bytes_of(const Value* values, std::size_t count) {
  return std::string(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

// Memory of the current device with zeros.
std::shared_ptr<void> zeros(DevicePieces& pieces, std::size_t bytes) {
  std::shared_ptr<void> memory = pieces.take(bytes);
  if (bytes > 0) NEWEL_CHECK_CUDA(cudaMemset(memory.get(), 0, bytes));
  return memory;
}

// A direction of an exchange: its messages on the device, and a counter.
class PeerDirection {
 public:
  PeerDirection(DevicePieces& pieces, const std::vector<PeerMessage>& messages, const unsigned* failed)
      : messages_(zeros(pieces, messages.size() * sizeof(PeerMessage))),
        counters_(zeros(pieces, 2 * sizeof(unsigned))) {
    for (const PeerMessage& message : messages) longest_ = std::max(longest_, message.words);
    auto* const counters = static_cast<unsigned*>(counters_.get());
    round_ = {static_cast<const PeerMessage*>(messages_.get()), static_cast<int>(messages.size()), failed, counters,
              counters + 1};
    if (messages.empty()) return;
    NEWEL_CHECK_CUDA(
        cudaMemcpy(messages_.get(), messages.data(), messages.size() * sizeof(PeerMessage), cudaMemcpyHostToDevice));
  }

  void launch(void (*kernel)(PeerRound), cudaStream_t stream) const {
    if (round_.count == 0) return;
    constexpr std::int64_t threads = PeerExchangeTuning::threads;
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>((longest_ + threads - 1) / threads, PeerExchangeTuning::most_blocks));
    kernel<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(round_);
    NEWEL_CHECK_LAUNCH();
  }

 private:
  std::shared_ptr<void> messages_, counters_;
  std::int64_t longest_ = 0;
  PeerRound round_{};
};

// What a receiver tells a sender, and a sender a receiver, of their messages in order.
struct PeerPlace {
  std::uint64_t offset;  ///< in the memory that the rank shares for the exchange
  std::uint64_t bytes;
};

// The messages of both directions, with the addresses of the other ranks.
class PeerMessages {
 public:
  PeerMessages(Communicator& communicator, PeerMemory& memory, const std::vector<RankMessage>& out,
               const std::vector<RankMessage>& in) {
    std::int64_t words = 0;
    for (const RankMessage& message : in) words += words_of(message);
    const std::size_t packets = static_cast<std::size_t>(2 * words) * sizeof(PeerPacket);
    const std::size_t bytes = packets + out.size() * sizeof(unsigned);
    const std::shared_ptr<void> mine = memory.allocate(bytes);
    shared_ = memory.share(mine, bytes);
    const auto at = [&](std::size_t offset) { return static_cast<char*>(mine.get()) + offset; };
    std::vector<PeerPlace> of_packets, of_read;
    std::size_t offset = 0;
    for (const RankMessage& message : in) {
      of_packets.push_back({offset, message.bytes});
      received_.push_back({static_cast<unsigned*>(message.data), words_of(message),
                           reinterpret_cast<PeerPacket*>(at(offset)), nullptr});
      offset += static_cast<std::size_t>(2 * words_of(message)) * sizeof(PeerPacket);
    }
    for (const RankMessage& message : out) {
      of_read.push_back({offset, message.bytes});
      sent_.push_back({static_cast<unsigned*>(message.data), words_of(message), nullptr,
                       reinterpret_cast<unsigned*>(at(offset))});
      offset += sizeof(unsigned);
    }
    exchange_places(communicator, in, of_packets, out,
                    [&](std::size_t k, void* there) { sent_[k].packets = static_cast<PeerPacket*>(there); });
    exchange_places(communicator, out, of_read, in,
                    [&](std::size_t k, void* there) { received_[k].read = static_cast<unsigned*>(there); });
  }

  const std::vector<PeerMessage>& sent() const { return sent_; }
  const std::vector<PeerMessage>& received() const { return received_; }

 private:
  static std::int64_t words_of(const RankMessage& message) {
    return static_cast<std::int64_t>(message.bytes / sizeof(unsigned));
  }

  // The ranks of `told` learn places[k] of the k-th message; take(k, address) gets what those of `heard` tell.
  template <class Take>
  void exchange_places(Communicator& communicator, const std::vector<RankMessage>& told,
                       const std::vector<PeerPlace>& places, const std::vector<RankMessage>& heard,
                       Take&& take) const {
    std::vector<std::string> texts(static_cast<std::size_t>(communicator.size()));
    for (std::size_t k = 0; k < told.size(); ++k)
      texts[static_cast<std::size_t>(told[k].rank)] += bytes_of(&places[k], 1);
    const std::vector<std::string> answers = communicator.all_to_all(texts);
    std::vector<std::size_t> taken(answers.size(), 0);
    for (std::size_t k = 0; k < heard.size(); ++k) {
      const auto r = static_cast<std::size_t>(heard[k].rank);
      PeerPlace place{};
      if (answers[r].size() < taken[r] + sizeof(place)) throw Error("ranks expect different messages");
      std::memcpy(&place, answers[r].data() + taken[r], sizeof(place));
      taken[r] += sizeof(place);
      if (place.bytes != heard[k].bytes) throw Error("ranks expect messages of different lengths");
      take(k, static_cast<char*>(shared_[r].get()) + place.offset);
    }
  }

  std::vector<std::shared_ptr<void>> shared_;
  std::vector<PeerMessage> sent_, received_;
};

class PeerExchange final : public RankExchange {
 public:
  PeerExchange(Communicator& communicator, PeerMemory& memory, DevicePieces& pieces,
               const std::vector<RankMessage>& out, const std::vector<RankMessage>& in, const unsigned* failed,
               cudaStream_t stream)
      : messages_(communicator, memory, out, in),
        send_(pieces, messages_.sent(), failed),
        receive_(pieces, messages_.received(), failed),
        stream_(stream) {}

  void start() override { send_.launch(send_to_peers_kernel, stream_); }
  void finish() override { receive_.launch(receive_from_peers_kernel, stream_); }

 private:
  PeerMessages messages_;
  PeerDirection send_, receive_;
  cudaStream_t stream_;
};

class PeerRanks final : public DeviceRanks {
 public:
  PeerRanks(const Context<Space::device>& ctx, const std::shared_ptr<Communicator>& communicator,
            std::shared_ptr<PeerMemory> memory)
      : ctx_(ctx),
        communicator_(communicator),
        memory_(std::move(memory)),
        watch_stream_(make_stream()),
        sums_(zeros(pieces_, most * sizeof(double))),
        all_(zeros(pieces_, values() * sizeof(double))),
        counters_(zeros(pieces_, 2 * sizeof(unsigned))) {
    auto* const counters = static_cast<unsigned*>(counters_.get());
    peers_.packets_of_rank = 2 * most;
    peers_.packets = peers_.packets_of_rank * size();
    peers_.gatherings = counters;
    peers_.failed = counters + 1;
    peers_.rank = communicator->rank();
    peers_.size = size();
    const std::size_t inbox = 4 * values() * sizeof(PeerPacket);
    all_inboxes_ = memory_->share(memory_->allocate(inbox), inbox);
    for (std::size_t r = 0; r < all_inboxes_.size(); ++r) {
      peers_.inbox[r] = static_cast<PeerPacket*>(all_inboxes_[r].get());
    }
    watch_.emplace(communicator, [this] { end_kernels(); });
  }
  int size() const override { return communicator_->size(); }
  double* sums() override { return static_cast<double*>(sums_.get()); }
  const double* all_gather(const double* mine, int count) override {
    check();
    auto* const all = static_cast<double*>(all_.get());
    gather_peers_kernel<<<1, PeerExchangeTuning::threads, 0, ctx_.stream()>>>(peers_, mine, count, all);
    NEWEL_CHECK_LAUNCH();
    return all;
  }
  const PeerSums* peer_sums() const override {
    check();
    return &peers_;
  }

  std::shared_ptr<void> memory(std::size_t bytes) override { return pieces_.take(bytes); }
  std::vector<std::shared_ptr<void>> shared_memory(std::size_t bytes) override {
    std::shared_ptr<void> mine;
    try {
      mine = memory_->allocate(bytes);
    } catch (const OutOfMemory&) {
    }
    if (!on_all_ranks(*communicator_, mine != nullptr)) return {};
    return memory_->share(mine, bytes);
  }
  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in,
                                         cudaStream_t stream) override {
    return std::make_unique<PeerExchange>(*communicator_, *memory_, pieces_, out, in, peers_.failed, stream);
  }
  bool capturable() const override { return true; }
  bool starts_by_sending() const override { return true; }
  void check() const override { watch_->check(); }
  std::string name() const override { return memory_->name(); }

 private:
  std::size_t values() const { return static_cast<std::size_t>(most) * static_cast<std::size_t>(size()); }

  void end_kernels() {
    if (cudaSetDevice(ctx_.device()) != cudaSuccess) return;
    cudaMemsetAsync(static_cast<unsigned*>(counters_.get()) + 1, 0xff, sizeof(unsigned), watch_stream_.get());
    cudaStreamSynchronize(watch_stream_.get());
  }

  Context<Space::device> ctx_;
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<PeerMemory> memory_;
  OwnStream watch_stream_;
  DevicePieces pieces_;
  std::shared_ptr<void> sums_, all_, counters_;
  std::vector<std::shared_ptr<void>> all_inboxes_;
  PeerSums peers_{};
  std::optional<FailureWatch> watch_;
};

}  // namespace

std::shared_ptr<DeviceRanks> peer_ranks(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator,
                                        std::shared_ptr<PeerMemory> memory) {
  return std::make_shared<PeerRanks>(ctx, communicator, std::move(memory));
}

}  // namespace newel::detail
