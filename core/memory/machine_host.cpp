// SPDX-License-Identifier: Apache-2.0
// What the host offers to a layout.
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstring>

#include <newel/core/machine.hpp>
#include "core/memory/host_profile.hpp"
#include "core/memory/machine_constants.hpp"

namespace newel {
namespace {

#if defined(__x86_64__)
std::string brand_string() {
  constexpr unsigned first = 0x80000002u, leaves = 3;  // of 16 letters each
  if (__get_cpuid_max(0x80000000u, nullptr) < first + leaves - 1) return {};
  unsigned words[4 * leaves] = {};
  for (unsigned k = 0; k < leaves; ++k) {
    unsigned* const at = words + 4 * k;
    __get_cpuid(first + k, at, at + 1, at + 2, at + 3);
  }
  char letters[sizeof words + 1] = {};
  std::memcpy(letters, words, sizeof words);
  return letters;
}
#else
std::string brand_string() { return {}; }
#endif

std::string without_outer_spaces(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

Machine machine_of(const Context<Space::host>& ctx) {
  // Where the system does not say: what processors of the last ten years have at least.
  constexpr long usual_bytes = 512 * 1024;
  const long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE), last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  Machine machine;
  machine.processors = ctx.threads();
  detail::set_profile(machine, detail::fitted_host_profile(detail::processor_name()));
  machine.cache_bytes = static_cast<std::size_t>(second_level > 0 ? second_level : usual_bytes);
  machine.shared_cache_bytes = static_cast<std::size_t>(std::max(last_level, 0L));
  return machine;
}

const std::string& detail::processor_name() {
  static const std::string name = without_outer_spaces(brand_string());
  return name;
}

void detail::set_profile(Machine& host, const HostProfile* profile) {
  host.host_profile = profile;
  const auto& fitted = constants_of<HostMachineConstants>(host);
  host.bytes_per_second =
      fitted.thread_bytes_per_second * std::min<double>(host.processors, fitted.threads_of_socket);
}

}  // namespace newel
