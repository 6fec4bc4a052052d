// SPDX-License-Identifier: Apache-2.0
// Copies and writes by all threads.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <newel/core/parallel.hpp>

#include "memory_traffic.hpp"
#include "timer.hpp"

namespace newel::bench {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

// Calls f(begin, bytes) for the piece of each thread, the same one at every call: what a thread wrote first lies in
// memory near it.
template <class F>
void for_pieces(const Context<Space::host>& ctx, std::int64_t size, F&& f) {
  const std::int64_t pieces = ctx.threads();
  parallel_tasks(ctx, pieces, [&](std::int64_t piece) {
    const std::int64_t begin = size / pieces * piece;
    const std::int64_t end = piece + 1 == pieces ? size : size / pieces * (piece + 1);
    f(begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace

CopyBandwidth measure_copy(const Context<Space::host>& ctx, int repeats, std::uint64_t most_bytes) {
  CopyBandwidth result;
  result.bytes = std::min({512 * mebi, ctx.memory()->available_bytes().value_or(UINT64_MAX) / 4, most_bytes});
  const auto size = static_cast<std::int64_t>(result.bytes);
  Array<char, Space::host> from(ctx, size), to(ctx, size);
  displace_caches(ctx, from.span());
  const Timer<Space::host> timer(ctx);
  const auto copy_once = [&] {
    for_pieces(ctx, size,
               [&](std::int64_t begin, std::size_t bytes) { std::memcpy(&to[begin], &from[begin], bytes); });
  };
  const Samples seconds = alternate({[&] { return timer.back_to_back(1, copy_once); }}, repeats).front();
  for (const double s : seconds) result.gigabytes_per_second.push_back(2e-9 * static_cast<double>(result.bytes) / s);
  return result;
}

std::uint64_t displacing_bytes(const Context<Space::host>&, std::uint64_t most_bytes) {
  const long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::uint64_t twice = last_level > 0 ? 2 * static_cast<std::uint64_t>(last_level) : 64 * mebi;
  return std::min({twice, 256 * mebi, most_bytes});
}

void displace_caches(const Context<Space::host>& ctx, Span<char, Space::host> to) {
  for_pieces(ctx, to.size, [&](std::int64_t begin, std::size_t bytes) { std::memset(&to[begin], 1, bytes); });
}

}  // namespace newel::bench
