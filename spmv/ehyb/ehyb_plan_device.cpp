// SPDX-License-Identifier: Apache-2.0
// EHYB's plan of a pattern that stays on the device: the host sees parts and lengths of rows, not the columns.
#include "reorder/partition_device.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

namespace newel::detail {
namespace {

class DeviceSource final : public EhybPlanSource {
 public:
  DeviceSource(const Context<Space::device>& ctx, const Pattern<Space::device>& a) : ctx_(ctx), a_(a) {}
  Index rows() const override { return a_.rows; }
  int block() const override { return ehyb_block(ctx_, a_); }
  std::optional<Partition> partition(const PartitionOptions& options) const override {
    return make_partition_on_device(ctx_, a_, options);
  }
  std::vector<Index> row_lengths(const Partition&, int block, bool) const override {
    return node_row_lengths(ctx_, a_, block);
  }

 private:
  const Context<Space::device>& ctx_;
  const Pattern<Space::device>& a_;
};

}  // namespace

int ehyb_block(const Context<Space::device>& ctx, const Pattern<Space::device>& a) {
  return node_block_on_device(ctx, a);
}

std::optional<RowOrder<Space::device>> plan_ehyb_order(const Context<Space::device>& ctx,
                                                       const Pattern<Space::device>& a,
                                                       const FormatRequest& request) {
  if (a.rows == 0 || ehyb_variant(request.variant) == EhybVariant::paper) return std::nullopt;
  std::optional<EhybPlan> plan = plan_ehyb(host_context(ctx), DeviceSource(ctx, a), request);
  if (!plan) return std::nullopt;
  RowOrder<Space::device> order;
  order.old_of_new = make_array(ctx, plan->order.old_of_new);
  order.new_of_old = inverse_order(ctx, order.old_of_new.cspan());
  order.part_begin = std::move(plan->order.part_begin);
  order.report = std::move(plan->report);
  return order;
}

}  // namespace newel::detail
