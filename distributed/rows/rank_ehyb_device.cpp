// SPDX-License-Identifier: Apache-2.0
// A rank's rows in EHYB, and their products.
#include "distributed/rows/rank_ehyb.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/ranks/on_all_ranks.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/links/rank_dot.hpp"
#include "distributed/rows/rank_parts.hpp"
#include "reorder/permute_pattern.hpp"
#include "spmv/plan/phase_clock.hpp"
#include "solver/krylov/resident/resident_across.hpp"

namespace newel::detail {
namespace {

// `options` have to outlive it.
FormatRequest request_of(const Context<Space::device>& ctx, int block, std::size_t value_bytes,
                         const SpmvOptions& options) {
  return {block > 1 ? "block" : "halo", options, machine_of(ctx), value_bytes, nullptr};
}

// The rows in the new order, with columns behind this rank's, which keep their numbers.
template <class T>
std::unique_ptr<EhybOperator<T, Space::device>> ehyb_of(const Context<Space::device>& ctx,
                                                        const RowsOnDevice<T>& rows, const RankPlan& plan,
                                                        const FormatRequest& request) {
  const Pattern<Space::device> pattern = rows.columns->pattern();
  std::vector<Index> new_of_old = plan.new_of_old;
  for (auto j = static_cast<Index>(new_of_old.size()); j < pattern.cols; ++j) new_of_old.push_back(j);
  const auto old_there = make_array(ctx, plan.order.old_of_new);
  const auto new_there = make_array(ctx, new_of_old);
  const PermutedPattern<Space::device> permuted = permute_pattern(ctx, pattern, old_there.cspan(), new_there.cspan());
  const ValueMap<Space::device> map = make_value_map(ctx, permuted.source.cspan(), rows.val.size());
  Array<T, Space::device> val(ctx, rows.val.size());
  gather<T, Space::device>(ctx, rows.val.cspan(), map, val.span());
  CsrView<T, Space::device> view(pattern.rows, pattern.cols, permuted.row_ptr.cspan(), permuted.col.cspan(),
                                 val.cspan());
  view.value_map = &map;
  RowOrder<Space::device> parts;
  parts.part_begin = plan.order.part_begin;
  return std::make_unique<EhybOperator<T, Space::device>>(ctx, view, parts, request);
}

// Plans of a rank's rows, each with more parts than the one before. All ranks make theirs together.
class RankPlans {
 public:
  RankPlans(const Context<Space::device>& ctx, const ColumnsOfRank& a, const NumberedColumns& columns)
      : ctx_(ctx),
        a_(a),
        columns_(columns),
        reads_others_(to_vector(ctx, columns.reads_others.cspan())),
        own_(ctx, columns),
        block_(node_rows(ctx, a, own_, reads_others_)) {}

  std::shared_ptr<const RankPlan> next(std::size_t value_bytes, PhaseClock& clock) {
    auto plan = std::make_shared<RankPlan>();
    SpmvOptions options;
    options.parts = parts_;
    plan->block = block_;
    plan->order = order_of_parts(ctx_, own_, reads_others_, request_of(ctx_, block_, value_bytes, options));
    clock.end("order");
    plan->new_of_old.resize(plan->order.old_of_new.size());
    parallel_for(host_context(ctx_), a_.rows(), [&](Index i) {
      plan->new_of_old[static_cast<std::size_t>(plan->order.old_of_new[static_cast<std::size_t>(i)])] = i;
    });
    plan->others =
        find_others(host_context(ctx_), a_, nodes_of_rows(columns_.others, block_), plan->new_of_old, block_);
    clock.end("nodes of other ranks");
    const auto parts = static_cast<Index>(plan->order.part_begin.size()) - 1, processors = ctx_.multiprocessors();
    parts_ = (parts + parts / 4 + processors) / processors * processors;
    return plan;
  }

 private:
  const Context<Space::device>& ctx_;
  const ColumnsOfRank& a_;
  const NumberedColumns& columns_;
  std::vector<unsigned char> reads_others_;
  OwnPattern own_;
  int block_;
  Index parts_ = 0;  // of the next plan; 0: as many as the machine and the rows ask for
};

}  // namespace

// A plan does not see what a part reads of other ranks. Where that is much, smaller parts have room for it.
template <class T>
std::unique_ptr<RankEhyb<T>> RankEhyb<T>::make(const Context<Space::device>& ctx, const ColumnsOfRank& a,
                                               const RowsOnDevice<T>& rows) {
  constexpr int most_plans = 3;
  const Ranks& ranks = *ranks_of(ctx);
  const bool has_rows = a.rows() > 0 && a.first_rows.back() <= std::numeric_limits<Index>::max();
  if (!on_all_ranks(*ranks.communicator, has_rows)) return nullptr;
  PhaseClock clock;
  RankPlans plans(ctx, a, *rows.columns);
  clock.end("pattern");
  std::unique_ptr<RankEhyb> made;
  for (int k = 1; made == nullptr && k <= most_plans; ++k) {
    made = make(ctx, a.first_rows, rows, plans.next(sizeof(T), clock));
    clock.end("format and halo");
    if (made != nullptr) made->plans_ = k;
  }
  if (made == nullptr) return nullptr;
  const bool reachable = ranks.device->peer_sums() != nullptr &&
                         ranks.communicator->size() <= ResidentAcross::most_devices &&
                         made->matrix_->view().parts <= ctx.multiprocessors();
  if (on_all_ranks(*ranks.communicator, reachable)) made->number_across(ctx, a.first_rows);
  EhybView<T> all = made->matrix_->view();
  all.beyond_node = made->border_.beyond_node;
  all.dots.peer = made->peer_dot_.data();
  made->published_ = PublishedEhyb<T>::make(ctx, all, made->plan_->order.inner_parts, a.first_rows,
                                            ghost_rows(*made->plan_), made->plan_->new_of_old);
  clock.end("format and halo");
  made->seconds_ = clock.seconds();
  return made;
}

template <class T>
std::unique_ptr<RankEhyb<T>> RankEhyb<T>::make(const Context<Space::device>& ctx,
                                               const std::vector<std::int64_t>& first_rows,
                                               const RowsOnDevice<T>& rows, std::shared_ptr<const RankPlan> plan) {
  const Ranks& ranks = *ranks_of(ctx);
  const RankOrder& order = plan->order;
  const OtherNodes& others = plan->others;
  const int block = plan->block;
  const Index columns = rows.columns->rows() + static_cast<Index>(others.node.size()) * block;
  std::unique_ptr<RankEhyb> made(new RankEhyb);
  const SpmvOptions options;
  made->matrix_ = ehyb_of<T>(ctx, rows, *plan, request_of(ctx, block, sizeof(T), options));
  ctx.synchronize();
  const EhybView<T>& view = made->matrix_->view();
  const bool suits =
      !view.has_remainder() && view.block == block && view.parts == static_cast<Index>(order.part_begin.size()) - 1;
  if (!on_all_ranks(*ranks.communicator, suits)) return nullptr;

  made->plan_ = std::move(plan);
  made->side_ = std::make_unique<SideWork<Space::device>>(ctx);
  made->halo_ = std::make_unique<Halo<T, Space::device>>(made->side_->context(), first_rows, std::vector<Index>(),
                                                         ghost_rows(*made->plan_), made->plan_->new_of_old);
  made->inner_ = parts_of(view, 0, order.inner_parts);
  made->border_ = parts_of(view, order.inner_parts, view.parts);
  made->border_.beyond_node = view.rows / block;
  made->border_.beyond = made->halo_->values().data;
  PeerSums peers{};
  peers.size = 1;
  if (ranks.device->peer_sums() != nullptr) peers = *ranks.device->peer_sums();
  made->tickets_ = make_array(ctx, std::vector<unsigned>{0});
  made->peer_dot_ =
      make_array(ctx, std::vector<PeerDot>{{peers, view.dots.of_part, view.parts, made->tickets_.data()}});
  made->inner_.dots.peer = made->border_.dots.peer = made->peer_dot_.data();
  made->capturable_ = ranks.device->capturable();
  made->sends_first_ = ranks.device->starts_by_sending();
  made->x_and_halo_ = Array<T, Space::device>(ctx, columns);
  return made;
}

// Own nodes that own parts read, and the halo in numbers of all ranks.
template <class T>
void RankEhyb<T>::number_across(const Context<Space::device>& ctx, const std::vector<std::int64_t>& first_rows) {
  std::vector<unsigned char> readers = plan_->others.readers;
  Communicator& communicator = *ranks_of(ctx)->communicator;
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const EhybView<T>& view = matrix_->view();
  const std::vector<EhybPart> part = to_vector(ctx, Span<const EhybPart, Space::device>(view.part, view.parts));
  std::vector<Index> halo = to_vector(ctx, Span<const Index, Space::device>(view.halo_node, part.back().halo_end));
  const auto first_node = static_cast<Index>(first_rows[rank] / view.block), nodes = view.rows / view.block;
  for (Index& node : halo) {
    if (node < nodes) {
      readers[static_cast<std::size_t>(node)] |= static_cast<unsigned char>(1u << rank);
      node += first_node;
    } else {
      node = plan_->others.place[static_cast<std::size_t>(node - nodes)];
    }
  }
  halo_node_ = make_array(ctx, halo);
  readers_ = make_array(ctx, readers);
  std::vector<double> parts(static_cast<std::size_t>(communicator.size()));
  const double mine = view.parts;
  communicator.all_gather(&mine, 1, parts.data());
  across_ = EhybAcross<T>{view, readers_.data(), first_rows[rank], first_rows.back(), 0, 0};
  across_->view.halo_node = halo_node_.data();
  across_->first_part = static_cast<int>(std::accumulate(parts.begin(), parts.begin() + communicator.rank(), 0.0));
  across_->parts = static_cast<int>(std::accumulate(parts.begin(), parts.end(), 0.0));
}

template <class T>
void RankEhyb<T>::multiply(const Context<Space::device>& ctx, const ProductArgs<T>& args) const {
  side_->start();
  halo_->start(side_->context(), Span<const T, Space::device>(args.x, matrix_->rows()));
  if (sends_first_) side_->finish();  // the inner parts fill the device, and would keep what others wait for back
  if (inner_.parts > 0) ehyb_product(ctx, inner_, args);
  halo_->finish();
  if (border_.parts > 0) ehyb_product(side_->context(), border_, args);
  side_->finish();
}

template <class T>
void RankEhyb<T>::apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
                        Span<T, Space::device> y) const {
  multiply(ctx, {alpha, x.data, beta, y.data, nullptr});
}

template <class T>
void RankEhyb<T>::apply_dot(const Context<Space::device>& ctx, Span<const T, Space::device> x,
                            Span<T, Space::device> y, double* xy) const {
  DeviceRanks& ranks = *ranks_of(ctx)->device;
  const bool gathers = ranks.peer_sums() != nullptr;
  multiply(ctx, {T(1), x.data, T(0), y.data, gathers ? xy : ranks.sums()});
  if (gathers) return;
  add_dot_over_ranks(ctx, ranks, xy);
}

template <class T>
ResidualSums RankEhyb<T>::residual(const Context<Space::device>& ctx, Span<const T, Space::device> b,
                                   Span<const T, Space::device> x, const ResidualScale& scale,
                                   Span<T, Space::device> r) const {
  const Span<T, Space::device> all = x_and_halo_.span();
  side_->start();
  halo_->start(side_->context(), x);
  copy<T>(ctx, x, all.subspan(0, x.size));
  halo_->finish();
  side_->finish();
  copy<T>(ctx, halo_->values(), all.subspan(x.size, all.size - x.size));
  return *matrix_->residual(ctx, b, Span<const T, Space::device>(all), scale, r);
}

template class RankEhyb<double>;
template class RankEhyb<float>;

}  // namespace newel::detail
