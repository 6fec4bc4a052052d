// SPDX-License-Identifier: Apache-2.0
// What a batch keeps on a device: the plan of incomplete factors or of FSAI, and the outcomes.
#include "core/memory/context_device.hpp"
#include "core/memory/staged_copy_device.hpp"
#include "solver/batched/batched_work.hpp"

namespace newel::detail {
namespace {

template <class To, class From>
std::vector<To> narrowed(const std::vector<From>& from) {
  std::vector<To> to;
  to.reserve(from.size());
  for (const From value : from) to.push_back(static_cast<To>(value));
  return to;
}

int levels_of(const std::vector<int>& begins) { return static_cast<int>(begins.size()) - 1; }

}  // namespace

BlockPlan::BlockPlan(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern, BatchedInverse inverse,
                     int threads) {
  if (inverse == BatchedInverse::ilu) keep(ctx, IluSchedule(pattern), threads);
  if (inverse == BatchedInverse::fsai) keep(ctx, BatchedFsaiPattern(pattern));
}

void BlockPlan::keep(const Context<Space::device>& ctx, const IluSchedule& ilu, int threads) {
  numbers_.entries = static_cast<int>(ilu.column.size());
  numbers_.step_levels = levels_of(ilu.step_level);
  numbers_.lower_levels = levels_of(ilu.lower_level);
  numbers_.upper_levels = levels_of(ilu.upper_level);
  numbers_.lanes_of_row = ilu.lanes_of_row(threads);
  column_ = make_array(ctx, ilu.column);
  step_level_ = make_array(ctx, ilu.step_level);
  lower_level_ = make_array(ctx, ilu.lower_level);
  upper_level_ = make_array(ctx, ilu.upper_level);
  step_ = make_array(ctx, ilu.step);
  pair_ = make_array(ctx, ilu.pair);
  lower_ = make_array(ctx, ilu.lower);
  upper_ = make_array(ctx, ilu.upper);
}

void BlockPlan::keep(const Context<Space::device>& ctx, const BatchedFsaiPattern& fsai) {
  numbers_.entries = static_cast<int>(fsai.column.size());
  numbers_.longest = fsai.longest;
  column_ = make_array(ctx, narrowed<std::uint16_t>(fsai.column));
  row_first_ = make_array(ctx, fsai.first);
  local_first_ = make_array(ctx, fsai.local_first);
  local_ = make_array(ctx, fsai.local);
  transposed_first_ = make_array(ctx, fsai.transposed_first);
  std::vector<FactorPair> transposed;
  for (const FsaiPlace& place : fsai.transposed)
    transposed.push_back({static_cast<std::uint16_t>(place.entry), static_cast<std::uint16_t>(place.row)});
  pair_ = make_array(ctx, transposed);
}

void BatchedOutcomes<Space::device>::Free::operator()(BatchedOutcome* memory) const { cudaFreeHost(memory); }

void BatchedOutcomes<Space::device>::reserve(const Context<Space::device>& ctx, Index systems) {
  if (kept_.size() >= systems) return;
  kept_ = Array<BatchedOutcome, Space::device>(ctx, systems);
  locked_.reset(
      static_cast<BatchedOutcome*>(locked_page(static_cast<std::size_t>(systems) * sizeof(BatchedOutcome))));
}

Span<const BatchedOutcome, Space::host> BatchedOutcomes<Space::device>::read(const Context<Space::device>& ctx,
                                                                             Index systems) {
  if (locked_ != nullptr) {
    ctx.synchronize();
    return {locked_.get(), systems};
  }
  copied_.resize(static_cast<std::size_t>(systems));
  copy<BatchedOutcome>(ctx, kept_.cspan().subspan(0, systems), Span<BatchedOutcome, Space::host>(copied_));
  return copied_;
}

BlockSchedule BlockPlan::view() const {
  BlockSchedule result = numbers_;
  result.column = column_.data();
  result.step_level = step_level_.data();
  result.lower_level = lower_level_.data();
  result.upper_level = upper_level_.data();
  result.step = step_.data();
  result.pair = pair_.data();
  result.lower = lower_.data();
  result.upper = upper_.data();
  result.row_first = row_first_.data();
  result.local_first = local_first_.data();
  result.local = local_.data();
  result.transposed_first = transposed_first_.data();
  result.transposed = pair_.data();
  return result;
}

}  // namespace newel::detail
