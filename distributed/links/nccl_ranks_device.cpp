// SPDX-License-Identifier: Apache-2.0
// Devices of ranks that exchange values through NCCL.
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/links/device_link.hpp"
#include "distributed/links/device_memory_device.hpp"
#include "distributed/links/failure_watch.hpp"
#include "distributed/links/nccl_device.hpp"

namespace newel::detail {
namespace {

NcclId common_id(Communicator& communicator) {
  NcclId id{};
  if (communicator.rank() == 0) NEWEL_CHECK_NCCL(nccl().ncclGetUniqueId(&id));
  const std::string of_rank_0 = communicator.texts(std::string(id.bytes, sizeof(id.bytes))).front();
  std::memcpy(id.bytes, of_rank_0.data(), sizeof(id.bytes));
  return id;
}

// NCCL's communicator of one rank. NCCL's kernels wait for the other ranks: if one of them has failed, they have to
// be ended, or the stream would never be idle again.
class WatchedNccl {
 public:
  // `gathered`: memory that kernels read what they gathered from. It becomes NaN when a rank fails, so that solves
  // end.
  WatchedNccl(int device, const std::shared_ptr<Communicator>& communicator, Span<double, Space::device> gathered)
      : device_(device), gathered_(gathered), side_(make_stream()) {
    const NcclId id = common_id(*communicator);
    NEWEL_CHECK_NCCL(nccl().ncclCommInitRank(&nccl_, communicator->size(), id, communicator->rank()));
    watch_.emplace(communicator, [this] { end_kernels(); });
  }
  WatchedNccl(const WatchedNccl&) = delete;
  WatchedNccl& operator=(const WatchedNccl&) = delete;
  ~WatchedNccl() {
    if (!watch_) return;
    watch_->stop();
    if (!watch_->failed()) nccl().ncclCommDestroy(nccl_);
  }

  // Calls f(NCCL's functions, communicator). Throws RankFailed.
  template <class F>
  void call(F&& f) {
    const std::lock_guard<std::timed_mutex> lock(calls_);
    check();
    f(nccl(), nccl_);
  }
  void check() const { watch_->check(); }

 private:
  // A call that is under way may itself wait for the rank that failed: it is not waited for longer than this. NCCL
  // keeps what the kernels of graphs use until the graphs are gone.
  void end_kernels() {
    constexpr auto longest_call = std::chrono::seconds(2);
    if (cudaSetDevice(device_) == cudaSuccess) {
      cudaMemsetAsync(gathered_.data, 0xff, static_cast<std::size_t>(gathered_.size) * sizeof(double), side_.get());
      cudaStreamSynchronize(side_.get());
    }
    const bool locked = calls_.try_lock_for(longest_call);
    nccl().ncclCommAbort(nccl_);
    if (locked) calls_.unlock();
  }

  int device_;
  Span<double, Space::device> gathered_;
  OwnStream side_;
  NcclCommunicator nccl_ = nullptr;
  std::timed_mutex calls_;
  std::optional<FailureWatch> watch_;
};

class NcclExchange final : public RankExchange {
 public:
  NcclExchange(std::shared_ptr<WatchedNccl> nccl, cudaStream_t stream, std::vector<RankMessage> out,
               std::vector<RankMessage> in)
      : nccl_(std::move(nccl)), stream_(stream), out_(std::move(out)), in_(std::move(in)) {}

  void start() override {
    if (out_.empty() && in_.empty()) return;
    nccl_->call([&](const Nccl& api, NcclCommunicator ranks) {
      NEWEL_CHECK_NCCL(api.ncclGroupStart());
      for (const RankMessage& m : out_) {
        NEWEL_CHECK_NCCL(api.ncclSend(m.data, m.bytes, Nccl::bytes, m.rank, ranks, stream_));
      }
      for (const RankMessage& m : in_) {
        NEWEL_CHECK_NCCL(api.ncclRecv(m.data, m.bytes, Nccl::bytes, m.rank, ranks, stream_));
      }
      NEWEL_CHECK_NCCL(api.ncclGroupEnd());
    });
  }
  void finish() override {}

 private:
  std::shared_ptr<WatchedNccl> nccl_;
  cudaStream_t stream_;
  std::vector<RankMessage> out_, in_;
};

class NcclRanks final : public DeviceRanks {
 public:
  NcclRanks(const Context<Space::device>& ctx, const std::shared_ptr<Communicator>& communicator, std::string why)
      : ctx_(ctx),
        why_(std::move(why)),
        size_(communicator->size()),
        sums_(plain_device_memory(most * sizeof(double))),
        all_(plain_device_memory(all_count() * sizeof(double))),
        nccl_(std::make_shared<WatchedNccl>(
            ctx.device(), communicator, Span<double, Space::device>(all(), static_cast<std::int64_t>(all_count())))) {
  }

  int size() const override { return size_; }
  double* sums() override { return static_cast<double*>(sums_.get()); }

  const double* all_gather(const double* mine, int count) override {
    if (mine != sums()) {
      NEWEL_CHECK_CUDA(cudaMemcpyAsync(sums(), mine, static_cast<std::size_t>(count) * sizeof(double),
                                       cudaMemcpyDeviceToDevice, ctx_.stream()));
    }
    nccl_->call([&](const Nccl& api, NcclCommunicator ranks) {
      NEWEL_CHECK_NCCL(
          api.ncclAllGather(sums(), all(), static_cast<std::size_t>(count), Nccl::doubles, ranks, ctx_.stream()));
    });
    return all();
  }

  std::shared_ptr<void> memory(std::size_t bytes) override { return plain_device_memory(bytes); }
  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in,
                                         cudaStream_t stream) override {
    return std::make_unique<NcclExchange>(nccl_, stream, std::move(out), std::move(in));
  }

  bool capturable() const override { return true; }
  void check() const override { nccl_->check(); }
  std::string name() const override { return nccl_version() + (why_.empty() ? "" : ": " + why_); }

 private:
  std::size_t all_count() const { return static_cast<std::size_t>(most) * static_cast<std::size_t>(size_); }
  double* all() { return static_cast<double*>(all_.get()); }

  Context<Space::device> ctx_;
  std::string why_;
  int size_;
  std::shared_ptr<void> sums_, all_;
  std::shared_ptr<WatchedNccl> nccl_;
};

}  // namespace

std::shared_ptr<DeviceRanks> nccl_ranks(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator, const std::string& why) {
  return std::make_shared<NcclRanks>(ctx, communicator, why);
}

}  // namespace newel::detail
