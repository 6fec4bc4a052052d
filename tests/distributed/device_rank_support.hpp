// SPDX-License-Identifier: Apache-2.0
/// Ranks in threads, each with a device, which they may share.
#pragma once

#include "tests/distributed/device_counts.hpp"
#include "tests/distributed/rank_support.hpp"

namespace newel::testing {

constexpr Space device = Space::device;

/// How the devices of ranks are linked, and how many there are.
struct Linked {
  RankLink link;
  int devices;
  Context<device> context_of(int rank) const { return Context<device>(rank % devices); }
};

/// On one GPU, which all ranks share.
inline constexpr Linked shared_gpu{RankLink::host, 1};
/// On several GPUs, one for each rank.
constexpr Linked by_packets(int devices) { return {RankLink::peers, devices}; }
constexpr Linked by_nccl(int devices) { return {RankLink::nccl, devices}; }

/// This rank's part of a system on its device.
struct DevicePart {
  OwnRows own;
  Context<device> ctx;
  DistributedSystem<double, device> system;

  DevicePart(const Linked& linked, const std::shared_ptr<Communicator>& ranks, const HostCsr& a,
             const SystemOptions& options)
      : own(share_of(a, ranks->rank(), ranks->size())),
        ctx(linked.context_of(ranks->rank())),
        system(ctx, ranks, own.view(), options, linked.link) {}

  /// Solves from zero, with this rank's rows of b, and leaves those of x.
  SolveReport solve(const std::vector<double>& b, std::vector<double>& x, const ProgressFn& progress = {}) {
    const std::vector<double> own_b = own.part_of(b);
    const auto there = upload<double, device>(ctx, own_b);
    auto solution = upload<double, device>(ctx, std::vector<double>(own_b.size(), 0.0));
    const SolveReport report = system.solve(there.cspan(), solution.span(), progress);
    const std::vector<double> found = download<double, device>(ctx, solution);
    std::copy(found.begin(), found.end(), x.begin() + own.first);
    return report;
  }
};

inline RankSolve solve_on_devices(const Linked& linked, int size, const HostCsr& a, const std::vector<double>& b,
                                  const SystemOptions& options) {
  RankSolve found;
  found.x.resize(b.size());
  found.reports.resize(static_cast<std::size_t>(size));
  const std::vector<std::string> thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    DevicePart part(linked, ranks, a, options);
    found.reports[static_cast<std::size_t>(ranks->rank())] = part.solve(b, found.x);
  });
  for (const std::string& what : thrown) {
    if (!what.empty()) throw std::runtime_error(what);
  }
  return found;
}

}  // namespace newel::testing
