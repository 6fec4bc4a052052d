// SPDX-License-Identifier: Apache-2.0
// Sizes and bytes, added over parts and over ranks.
#include "distributed/rows/rank_info.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

OperatorInfo joined(OperatorInfo first, const OperatorInfo& second) {
  first.rows += second.rows;
  first.nonzeros += second.nonzeros;
  first.stored_slots += second.stored_slots;
  first.bytes_per_product += second.bytes_per_product;
  for (std::size_t k = 0; k < std::min(first.bytes.size(), second.bytes.size()); ++k) {
    first.bytes[k].second += second.bytes[k].second;
  }
  return first;
}

OperatorInfo over_all_ranks(const Context<Space::host>& ctx, OperatorInfo own) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  own.rows = own.cols = static_cast<Index>(std::min(all_rows(ctx, own.rows), most));
  std::vector<double> sums = {static_cast<double>(own.nonzeros), static_cast<double>(own.stored_slots),
                              static_cast<double>(own.bytes_per_product)};
  for (const auto& part : own.bytes) sums.push_back(static_cast<double>(part.second));
  sum_over_ranks(ctx, sums.data(), static_cast<int>(sums.size()));
  own.nonzeros = static_cast<Offset>(sums[0]);
  own.stored_slots = static_cast<Offset>(sums[1]);
  own.bytes_per_product = static_cast<std::uint64_t>(sums[2]);
  for (std::size_t k = 0; k < own.bytes.size(); ++k) own.bytes[k].second = static_cast<std::uint64_t>(sums[3 + k]);
  if (ctx.ranks() != nullptr && ctx.ranks()->communicator->size() > 1) {
    own.detail = "on " + std::to_string(ctx.ranks()->communicator->size()) + " ranks";
  }
  return own;
}

}  // namespace newel::detail
