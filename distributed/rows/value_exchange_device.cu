// SPDX-License-Identifier: Apache-2.0
// Values of devices that ranks send to each other in a setup.
#include "distributed/rows/value_exchange.hpp"
#include "precond/amg/blocks/elements_device.cuh"

namespace newel::detail {
namespace {

template <class T>
struct TakeBlocks {
  const T* values;
  const Offset* position;
  int width;
  T* to;

  __device__ void operator()(std::int64_t t) const { to[t] = values[position[t / width] * width + t % width]; }
};

}  // namespace

template <class T>
ValueExchange<T, Space::device>::ValueExchange(const DeviceContext& ctx, const std::vector<std::vector<Offset>>& sent,
                                               const std::vector<Offset>& received, int width)
    : ctx_(ctx),
      width_(width),
      positions_(make_array(ctx, in_order_of_ranks(sent))),
      messages_(host_context(ctx), values_of_blocks(sent, width), values_of_blocks(received, width)),
      sent_(ctx, positions_.size() * width) {
  Offset blocks = 0;
  for (const Offset count : received) blocks += count;
  received_ = Array<T, Space::device>(ctx, blocks * width);
}

template <class T>
Span<const T, Space::device> ValueExchange<T, Space::device>::run(Span<const T, Space::device> values) {
  if (!sent_.empty()) {
    for_elements(ctx_, sent_.size(), TakeBlocks<T>{values.data, positions_.data(), width_, sent_.data()});
    copy<T>(ctx_, sent_.cspan(), messages_.to_send());
  }
  copy<T>(ctx_, messages_.run(), received_.span());
  return received_.cspan();
}

template class ValueExchange<double, Space::device>;
template class ValueExchange<float, Space::device>;

}  // namespace newel::detail
