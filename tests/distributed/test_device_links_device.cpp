// SPDX-License-Identifier: Apache-2.0
// What every link between the devices of ranks promises: gathered sums, exchanges, captures, and the end after a
// failure.
#include "tests/catch.hpp"

#include <cuda_runtime.h>

#include <chrono>

#include "distributed/links/device_link.hpp"
#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

using MakeLink =
    std::function<std::shared_ptr<detail::DeviceRanks>(const Context<device>&, const std::shared_ptr<Communicator>&)>;

std::shared_ptr<detail::DeviceRanks> packets(const Context<device>& ctx, const std::shared_ptr<Communicator>& ranks) {
  std::string why_not;
  return detail::peer_ranks(ctx, ranks, detail::peer_memory(ctx, ranks, why_not));
}
std::shared_ptr<detail::DeviceRanks> through_nccl(const Context<device>& ctx,
                                                  const std::shared_ptr<Communicator>& ranks) {
  return detail::nccl_ranks(ctx, ranks, "");
}
std::shared_ptr<detail::DeviceRanks> staged(const Context<device>& ctx, const std::shared_ptr<Communicator>& ranks) {
  return detail::staged_ranks(ctx, ranks, "for a test");
}

// Memory of a link, as a span of doubles.
struct LinkedValues {
  std::shared_ptr<void> memory;
  std::int64_t size;
  LinkedValues(detail::DeviceRanks& link, std::int64_t size_)
      : memory(link.memory(static_cast<std::size_t>(size_) * sizeof(double))), size(size_) {}
  Span<double, device> span() const { return {static_cast<double*>(memory.get()), size}; }
  void set(const Context<device>& ctx, const std::vector<double>& values) const {
    copy<double>(ctx, Span<const double, host>(values), span());
  }
  std::vector<double> get(const Context<device>& ctx) const {
    return to_vector(ctx, Span<const double, device>(span()));
  }
};

// Rank r sends `count` values to rank r + 1, or to itself if it is alone.
struct RingExchange {
  LinkedValues out, in;
  std::unique_ptr<RankExchange> exchange;
  RingExchange(detail::DeviceRanks& link, const Context<device>& ctx, const Communicator& ranks, std::int64_t count)
      : out(link, count), in(link, count) {
    const int size = ranks.size(), next = (ranks.rank() + 1) % size, previous = (ranks.rank() + size - 1) % size;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
    exchange = link.exchange({{next, out.memory.get(), bytes}}, {{previous, in.memory.get(), bytes}}, ctx.stream());
  }
};

// Every rank gathers and exchanges in turns, with other values each time, once it queued and once it replays the
// work.
void check_link(int size, const Linked& linked, const MakeLink& make) {
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const Context<device> ctx = linked.context_of(ranks->rank());
    const auto link = make(ctx, ranks);
    constexpr int most = detail::DeviceRanks::most;
    constexpr std::int64_t halo = 5000;
    auto mine = upload<double, device>(ctx, std::vector<double>(most, 0.0));
    auto all = upload<double, device>(ctx, std::vector<double>(static_cast<std::size_t>(most) * size, 0.0));
    RingExchange ring(*link, ctx, *ranks, halo);
    const auto value = [](int rank, int round, std::int64_t k) { return rank + 1e-3 * round + 1e-9 * k + 1e-17; };
    const auto values = [&](int rank, int round, std::int64_t count) {
      std::vector<double> made;
      for (std::int64_t k = 0; k < count; ++k) made.push_back(value(rank, round, k));
      return made;
    };
    int count = most;
    const auto queue = [&] {
      ring.exchange->start();
      const double* const gathered = link->all_gather(mine.data(), count);
      copy<double>(ctx, Span<const double, device>(gathered, count * size), all.span().subspan(0, count * size));
      ring.exchange->finish();
    };
    cudaGraphExec_t graph = nullptr;
    for (int round = 0; round < 12; ++round) {
      const bool replays = link->capturable() && round >= 6;
      count = replays ? 3 : round % 2 == 0 ? most : 1;
      copy<double>(ctx, Span<const double, host>(values(ranks->rank(), round, most)), mine.span());
      ring.out.set(ctx, values(ranks->rank(), round, halo));
      if (replays && graph == nullptr) {
        cudaGraph_t captured = nullptr;
        RANK_CHECK(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        queue();
        RANK_CHECK(cudaStreamEndCapture(ctx.stream(), &captured) == cudaSuccess);
        RANK_CHECK(cudaGraphInstantiate(&graph, captured, 0) == cudaSuccess);
        cudaGraphDestroy(captured);
      }
      if (replays) {
        RANK_CHECK(cudaGraphLaunch(graph, ctx.stream()) == cudaSuccess);
      } else {
        queue();
      }
      const std::vector<double> gathered = download<double, device>(ctx, all);
      for (int r = 0; r < size; ++r) {
        for (int k = 0; k < count; ++k) {
          RANK_CHECK(gathered[static_cast<std::size_t>(r * count + k)] == value(r, round, k));
        }
      }
      RANK_CHECK(ring.in.get(ctx) == values((ranks->rank() + size - 1) % size, round, halo));
    }
    if (graph != nullptr) cudaGraphExecDestroy(graph);
    link->check();
    ranks->texts("");  // nobody ends while others still wait for packets
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
}

// The last rank fails, and never gathers what the others wait for.
void check_failure(int size, const Linked& linked, const MakeLink& make) {
  const auto start = std::chrono::steady_clock::now();
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const Context<device> ctx = linked.context_of(ranks->rank());
    const auto link = make(ctx, ranks);
    const auto mine = upload<double, device>(ctx, {1.0});
    link->all_gather(mine.data(), 1);
    ctx.synchronize();
    if (ranks->rank() == size - 1) {
      ranks->fail("out of order");  // first: what is freed below may wait for the kernels of a shared device
      throw std::runtime_error("out of order");
    }
    link->all_gather(mine.data(), 1);
    ctx.synchronize();
    link->check();
    throw std::runtime_error("a rank that failed was not noticed");
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const std::string& what : thrown) CHECK(what.find("out of order") != std::string::npos);
  if (!untimed()) CHECK(taken.count() < 10);
}

}  // namespace

TEST_CASE("Ranks that share a device exchange by way of the host", "[distributed][device]") {
  for (const int size : {1, 2, 3}) check_link(size, shared_gpu, staged);
  check_failure(3, shared_gpu, staged);
}

TEST_CASE("A rank exchanges packets with itself", "[distributed][device]") { check_link(1, shared_gpu, packets); }

TEST_CASE("A rank exchanges with itself through NCCL", "[distributed][device]") {
  if (skipped_without_nccl()) return;
  check_link(1, shared_gpu, through_nccl);
}

TEST_CASE("Ranks on several devices exchange by every link", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) {
    check_link(devices, by_packets(devices), staged);
    check_link(devices, by_packets(devices),
               [](const auto& ctx, const auto& ranks) { return detail::link_devices(ctx, ranks, RankLink::peers); });
    check_failure(devices, by_packets(devices), packets);
  }
  if (skipped_without_nccl()) return;
  for (const int devices : numbers_of_devices()) {
    check_link(devices, by_nccl(devices), through_nccl);
    check_failure(devices, by_nccl(devices), through_nccl);
  }
}

TEST_CASE("Ranks of one process share the threads of the host", "[distributed][device]") {
  const Context<device> ctx;
  const int threads = ctx.host().threads();
  for (const int in_process : {1, 2, 3, 1000}) {
    const Context<device> of_rank = detail::with_ranks(ctx, {thread_ranks(1).front(), 0, 10}, in_process);
    CHECK(of_rank.host().threads() == std::max(1, threads / in_process));
    CHECK(of_rank.host().ranks() != nullptr);
  }
}
