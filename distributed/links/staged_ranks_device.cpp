// SPDX-License-Identifier: Apache-2.0
// Devices of ranks that exchange values by way of the host: copies to page-locked memory, the ranks' communicator,
// and copies back.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "distributed/links/device_link.hpp"
#include "distributed/links/device_memory_device.hpp"

namespace newel::detail {

std::shared_ptr<void> plain_device_memory(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, bytes) != cudaSuccess) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) free = 0;
    throw OutOfMemory("device", "values that ranks exchange", bytes, free);
  }
  return std::shared_ptr<void>(pointer, [](void* own) { cudaFree(own); });
}

std::shared_ptr<void> DevicePieces::take(std::size_t bytes) {
  constexpr std::size_t of_large = std::size_t{8} << 20, most = of_large / 8, aligned = 256;
  if (bytes == 0 || bytes > most) return plain_device_memory(bytes);
  if (large_ == nullptr || taken_ + bytes > of_large) {
    large_ = plain_device_memory(of_large);
    taken_ = 0;
  }
  void* const piece = static_cast<char*>(large_.get()) + taken_;
  taken_ += (bytes + aligned - 1) / aligned * aligned;
  return std::shared_ptr<void>(large_, piece);
}

std::shared_ptr<void> locked_host_memory(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* pointer = nullptr;
  if (cudaMallocHost(&pointer, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw OutOfMemory("host", "values that ranks exchange", bytes, 0);
  }
  return std::shared_ptr<void>(pointer, [](void* own) { cudaFreeHost(own); });
}

namespace {

// Messages and the page-locked memory that they pass through.
class StagedMessages {
 public:
  explicit StagedMessages(std::vector<RankMessage> on_device) : on_device_(std::move(on_device)) {
    for (const RankMessage& message : on_device_) bytes_ += message.bytes;
    memory_ = locked_host_memory(bytes_);
    auto* at = static_cast<char*>(memory_.get());
    for (const RankMessage& message : on_device_) {
      on_host_.push_back({message.rank, at, message.bytes});
      at += message.bytes;
    }
  }

  const std::vector<RankMessage>& on_host() const { return on_host_; }
  bool empty() const { return on_host_.empty(); }
  void queue_download(cudaStream_t stream) const {
    for (std::size_t k = 0; k < on_host_.size(); ++k) {
      queue(on_host_[k], on_device_[k], cudaMemcpyDeviceToHost, stream);
    }
  }
  void queue_upload(cudaStream_t stream) const {
    for (std::size_t k = 0; k < on_host_.size(); ++k) {
      queue(on_device_[k], on_host_[k], cudaMemcpyHostToDevice, stream);
    }
  }

 private:
  static void queue(const RankMessage& to, const RankMessage& from, cudaMemcpyKind kind, cudaStream_t stream) {
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(to.data, from.data, to.bytes, kind, stream));
  }

  std::vector<RankMessage> on_device_, on_host_;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> memory_;
};

// The page-locked memory is used again by the next round, whose start waits for the copies of this one.
class StagedExchange final : public RankExchange {
 public:
  StagedExchange(cudaStream_t stream, Communicator& communicator, std::vector<RankMessage> out,
                 std::vector<RankMessage> in)
      : stream_(stream),
        out_(std::move(out)),
        in_(std::move(in)),
        exchange_(communicator.exchange(out_.on_host(), in_.on_host())) {}

  void start() override { out_.queue_download(stream_); }
  void finish() override {
    NEWEL_CHECK_CUDA(cudaStreamSynchronize(stream_));
    exchange_->start();
    exchange_->finish();
    in_.queue_upload(stream_);
  }

 private:
  cudaStream_t stream_;
  StagedMessages out_, in_;
  std::unique_ptr<RankExchange> exchange_;
};

class StagedRanks final : public DeviceRanks {
 public:
  StagedRanks(const Context<Space::device>& ctx, std::shared_ptr<Communicator> communicator, std::string why)
      : ctx_(ctx),
        communicator_(std::move(communicator)),
        why_(std::move(why)),
        sums_(ctx, most),
        all_(ctx, std::int64_t{most} * communicator_->size()),
        mine_on_host_(locked_host_memory(most * sizeof(double))),
        all_on_host_(locked_host_memory(all_.bytes())) {}

  int size() const override { return communicator_->size(); }
  double* sums() override { return sums_.data(); }

  const double* all_gather(const double* mine, int count) override {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
    auto* const mine_here = static_cast<double*>(mine_on_host_.get());
    auto* const all_here = static_cast<double*>(all_on_host_.get());
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(mine_here, mine, bytes, cudaMemcpyDeviceToHost, ctx_.stream()));
    ctx_.synchronize();  // also for the copy of the gathering before, which reads all_here
    communicator_->all_gather(mine_here, count, all_here);
    NEWEL_CHECK_CUDA(cudaMemcpyAsync(all_.data(), all_here, bytes * static_cast<std::size_t>(size()),
                                     cudaMemcpyHostToDevice, ctx_.stream()));
    return all_.data();
  }

  std::shared_ptr<void> memory(std::size_t bytes) override { return plain_device_memory(bytes); }
  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in,
                                         cudaStream_t stream) override {
    return std::make_unique<StagedExchange>(stream, *communicator_, std::move(out), std::move(in));
  }

  bool capturable() const override { return false; }
  void check() const override {}  // the communicator's calls tell
  std::string name() const override { return "by way of the host: " + why_; }

 private:
  Context<Space::device> ctx_;
  std::shared_ptr<Communicator> communicator_;
  std::string why_;
  Array<double, Space::device> sums_, all_;
  std::shared_ptr<void> mine_on_host_, all_on_host_;
};

}  // namespace

std::shared_ptr<DeviceRanks> staged_ranks(const Context<Space::device>& ctx,
                                          const std::shared_ptr<Communicator>& communicator, const std::string& why) {
  return std::make_shared<StagedRanks>(ctx, communicator, why);
}

}  // namespace newel::detail
