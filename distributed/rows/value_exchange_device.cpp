// SPDX-License-Identifier: Apache-2.0
// Values of devices that ranks send to each other in a setup.
#include "distributed/rows/value_exchange.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>

namespace newel::detail {
namespace {

std::vector<Offset> in_one(const std::vector<std::vector<Offset>>& sent) {
  std::vector<Offset> all;
  for (const std::vector<Offset>& of_rank : sent) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

// The same where what is sent stands one after the other.
std::vector<std::vector<Offset>> counted(std::vector<std::vector<Offset>> sent) {
  Offset next = 0;
  for (std::vector<Offset>& of_rank : sent) {
    for (Offset& position : of_rank) position = next++;
  }
  return sent;
}

}  // namespace

template <class T>
ValueExchange<T, Space::device>::ValueExchange(const Context<Space::device>& ctx,
                                               const std::vector<std::vector<Offset>>& sent,
                                               const std::vector<Offset>& received)
    : ctx_(ctx), by_host_(host_context(ctx), counted(sent), received) {
  const std::vector<Offset> all = in_one(sent);
  Offset source_size = 0, total = 0;
  for (const Offset position : all) source_size = std::max(source_size, position + 1);
  for (const Offset count : received) total += count;
  positions_ = make_value_map(ctx, make_array(ctx, all).cspan(), source_size);
  sent_ = Array<T, Space::device>(ctx, static_cast<std::int64_t>(all.size()));
  received_ = Array<T, Space::device>(ctx, total);
  on_host_.resize(all.size());
}

template <class T>
Span<const T, Space::device> ValueExchange<T, Space::device>::run(Span<const T, Space::device> values) {
  if (!sent_.empty()) {
    gather<T, Space::device>(ctx_, values.subspan(0, positions_.source_size), positions_, sent_.span());
    copy<T>(ctx_, sent_.cspan(), Span<T, Space::host>(on_host_));
  }
  copy<T>(ctx_, by_host_.run(Span<const T, Space::host>(on_host_)), received_.span());
  return received_.cspan();
}

template class ValueExchange<double, Space::device>;
template class ValueExchange<float, Space::device>;

}  // namespace newel::detail
