// SPDX-License-Identifier: Apache-2.0
// Ranks of a host, and the GPUs that they take.
#include <newel/distributed/rank_device.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/context.hpp>
#include "distributed/links/host_identity.hpp"

namespace newel {
namespace {

#if NEWEL_HAS_CUDA
int devices_here() { return device_count(); }
std::string name_of(int device) { return detail::identity_of_device(device); }
#else
int devices_here() { return 0; }
std::string name_of(int) { return ""; }
#endif

}  // namespace

RankDevice device_of_rank(Communicator& communicator) {
  RankDevice own;
  own.ranks = communicator.size();
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const std::vector<std::string> hosts = communicator.texts(detail::identity_of_host());
  own.ranks_on_host = static_cast<int>(std::count(hosts.begin(), hosts.end(), hosts[rank]));
  own.rank_on_host =
      static_cast<int>(std::count(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(rank), hosts[rank]));
  const int here = devices_here();
  std::string name;
  if (here > 0) {
    own.device = here >= own.ranks_on_host
                     ? own.rank_on_host
                     : static_cast<int>(std::int64_t{own.rank_on_host} * here / own.ranks_on_host);
    name = hosts[rank] + " " + name_of(own.device);
  }
  const std::vector<std::string> names = communicator.texts(name);
  own.all_have = std::find(names.begin(), names.end(), "") == names.end();
  std::set<std::string> different(names.begin(), names.end());
  different.erase("");
  own.devices = static_cast<int>(different.size());
  own.shares = rank > 0 && !name.empty() && names[rank] == names[rank - 1];
  return own;
}

}  // namespace newel
