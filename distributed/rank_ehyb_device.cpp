// SPDX-License-Identifier: Apache-2.0
// A rank's rows in EHYB: how they are cut and numbered, and their products.
#include "distributed/rank_ehyb.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/numbers_text.hpp"
#include "distributed/rank_dot.hpp"
#include "distributed/value_exchange.hpp"
#include "solver/krylov/resident/resident_across.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host, device = Space::device;

// The same on all ranks.
bool on_all_ranks(Communicator& communicator, bool holds) {
  double fails = holds ? 0 : 1;
  communicator.max(&fails, 1);
  return fails == 0;
}

// The rows of a rank as the functions below read them.
struct OwnRows {
  Span<const Offset, host> row_ptr;
  Span<const std::int64_t, host> col;
  const std::vector<std::int64_t>& first_rows;
  int rank;

  Index rows() const { return static_cast<Index>(row_ptr.size) - 1; }
  std::int64_t first() const { return first_rows[static_cast<std::size_t>(rank)]; }
  bool owns(std::int64_t column) const { return column >= first() && column < first() + rows(); }
};

// Rows of a node, of all ranks: their greatest common divisor.
int node_rows(const Context<host>& ctx, const OwnRows& a) {
  std::vector<Index> col(static_cast<std::size_t>(a.col.size));
  std::transform(a.col.data, a.col.data + a.col.size, col.begin(), [](auto j) { return static_cast<Index>(j); });
  Pattern<host> pattern;
  pattern.rows = a.rows();
  pattern.cols = static_cast<Index>(a.first_rows.back());
  pattern.row_ptr64 = a.row_ptr;
  pattern.col = Span<const Index, host>(col);
  Communicator& communicator = *ctx.ranks()->communicator;
  std::vector<double> all(static_cast<std::size_t>(communicator.size()));
  const double mine = ehyb_block(ctx, pattern);
  communicator.all_gather(&mine, 1, all.data());
  std::int64_t block = 0;
  for (const double one : all) block = std::gcd(block, static_cast<std::int64_t>(one));
  for (const std::int64_t first : a.first_rows) block = std::gcd(block, first);
  return static_cast<int>(block);
}

// The order of the rows and the first row of each part, parts that read other ranks last.
struct RankOrder {
  std::vector<Index> old_of_new;
  std::vector<Index> part_begin = {0};
  Index inner_parts = 0;  // that read no other rank
};

// Found from the columns that are this rank's.
RankOrder order_of(const Context<device>& ctx, const OwnRows& a, const FormatRequest& request) {
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col;
  std::vector<bool> reads_others(static_cast<std::size_t>(a.rows()), false);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.owns(a.col[k])) {
        col.push_back(static_cast<Index>(a.col[k] - a.first()));
      } else {
        reads_others[static_cast<std::size_t>(i)] = true;
      }
    }
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  const auto row_ptr_there = make_array(ctx, row_ptr);
  const auto col_there = make_array(ctx, col);
  Pattern<device> own;
  own.rows = own.cols = a.rows();
  own.row_ptr64 = row_ptr_there.cspan();
  own.col = col_there.cspan();
  PartOrder found;
  if (const std::optional<RowOrder<device>> planned = plan_ehyb_order(ctx, own, request)) {
    found = {to_vector(ctx, planned->old_of_new.cspan()), planned->part_begin};
  } else {
    Pattern<host> here;
    here.rows = here.cols = a.rows();
    here.row_ptr64 = Span<const Offset, host>(row_ptr);
    here.col = Span<const Index, host>(col);
    const RowOrder<host> order = plan_ehyb_order(host_context(ctx), here, request);
    found = {std::vector<Index>(order.old_of_new.begin(), order.old_of_new.end()), order.part_begin};
  }
  RankOrder sorted;
  for (const bool wanted : {false, true}) {
    for (std::size_t p = 0; p + 1 < found.part_begin.size(); ++p) {
      const auto begin = found.old_of_new.begin() + found.part_begin[p];
      const auto end = found.old_of_new.begin() + found.part_begin[p + 1];
      const bool reads = std::any_of(begin, end, [&](Index i) { return reads_others[static_cast<std::size_t>(i)]; });
      if (begin == end || reads != wanted) continue;
      sorted.old_of_new.insert(sorted.old_of_new.end(), begin, end);
      sorted.part_begin.push_back(static_cast<Index>(sorted.old_of_new.size()));
      if (!reads) ++sorted.inner_parts;
    }
  }
  return sorted;
}

// Nodes of other ranks that this rank reads, and its own that others read.
struct OtherNodes {
  std::vector<std::int64_t> node;      // by the caller's numbers, ascending
  std::vector<Index> place;            // of each: its number in the order of all ranks
  std::vector<unsigned char> readers;  // of each own node in that order: a bit for each other rank
};

OtherNodes find_others(const OwnRows& a, const std::vector<Index>& new_of_old, int block,
                       Communicator& communicator) {
  OtherNodes others;
  for (Offset k = 0; k < a.col.size; ++k) {
    if (!a.owns(a.col[k])) others.node.push_back(a.col[k] / block);
  }
  std::sort(others.node.begin(), others.node.end());
  others.node.erase(std::unique(others.node.begin(), others.node.end()), others.node.end());

  std::vector<std::vector<Index>> asked(static_cast<std::size_t>(communicator.size()));
  for (const std::int64_t node : others.node) {
    const auto owner = static_cast<std::size_t>(owner_of(a.first_rows, node * block));
    asked[owner].push_back(static_cast<Index>(node * block - a.first_rows[owner]));
  }
  std::vector<std::string> texts;
  for (const std::vector<Index>& rows : asked) texts.push_back(text_of_numbers(rows));
  const std::vector<std::string> questions = communicator.all_to_all(texts);

  others.readers.assign(static_cast<std::size_t>(a.rows() / block), 0);
  for (std::size_t r = 0; r < questions.size(); ++r) {
    std::vector<Index> places;
    for (const Index row : numbers_of<Index>(questions[r])) {
      const Index node = new_of_old[static_cast<std::size_t>(row)] / block;
      others.readers[static_cast<std::size_t>(node)] |= static_cast<unsigned char>(1u << r);
      places.push_back(static_cast<Index>(a.first() / block) + node);
    }
    texts[r] = text_of_numbers(places);
  }
  for (const std::string& answer : communicator.all_to_all(texts)) {
    const std::vector<Index> places = numbers_of<Index>(answer);
    others.place.insert(others.place.end(), places.begin(), places.end());
  }
  return others;
}

// The rows in the new order; nodes of other ranks are columns behind this rank's.
struct NewRows {
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col;
  std::vector<Offset> source;  // of each entry: its position among the caller's
};

NewRows renumber(const OwnRows& a, const std::vector<Index>& old_of_new, const std::vector<Index>& new_of_old,
                 const std::vector<std::int64_t>& other_nodes, int block) {
  NewRows rows;
  std::vector<std::pair<Index, Offset>> row;
  for (const Index old : old_of_new) {
    row.clear();
    for (Offset k = a.row_ptr[old]; k < a.row_ptr[old + 1]; ++k) {
      const std::int64_t j = a.col[k];
      if (a.owns(j)) {
        row.emplace_back(new_of_old[static_cast<std::size_t>(j - a.first())], k);
      } else {
        const auto at = std::lower_bound(other_nodes.begin(), other_nodes.end(), j / block) - other_nodes.begin();
        row.emplace_back(a.rows() + static_cast<Index>(at) * block + static_cast<Index>(j % block), k);
      }
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, source] : row) {
      rows.col.push_back(column);
      rows.source.push_back(source);
    }
    rows.row_ptr.push_back(static_cast<Offset>(rows.col.size()));
  }
  return rows;
}

template <class T>
std::unique_ptr<EhybOperator<T, device>> ehyb_of(const Context<device>& ctx, const NewRows& rows, Index columns,
                                                 Span<const T, host> values, std::vector<Index> part_begin,
                                                 const FormatRequest& request) {
  std::vector<T> val;
  val.reserve(rows.source.size());
  for (const Offset source : rows.source) val.push_back(values[source]);
  const auto row_ptr = make_array(ctx, rows.row_ptr);
  const auto col = make_array(ctx, rows.col);
  const auto val_there = make_array(ctx, val);
  const auto source = make_array(ctx, rows.source);
  const ValueMap<device> map = make_value_map(ctx, source.cspan(), values.size);
  CsrView<T, device> view(static_cast<Index>(rows.row_ptr.size()) - 1, columns, row_ptr.cspan(), col.cspan(),
                          val_there.cspan());
  view.value_map = &map;
  RowOrder<device> order;
  order.part_begin = std::move(part_begin);
  return std::make_unique<EhybOperator<T, device>>(ctx, view, order, request);
}

}  // namespace

template <class T>
std::unique_ptr<RankEhyb<T>> RankEhyb<T>::make(const Context<device>& ctx, const RankRows<T>& rows,
                                               const std::vector<std::int64_t>& first_rows) {
  const Ranks& ranks = *ranks_of(ctx);
  Communicator& communicator = *ranks.communicator;
  const OwnRows a{rows.row_ptr, rows.col, first_rows, communicator.rank()};
  const bool has_rows = a.rows() > 0 && first_rows.back() <= std::numeric_limits<Index>::max();
  if (!on_all_ranks(communicator, has_rows)) return nullptr;

  const int block = node_rows(host_context(ctx), a);
  const SpmvOptions options;
  const FormatRequest request{block > 1 ? "block" : "halo", options, machine_of(ctx), sizeof(T), nullptr};
  RankOrder order = order_of(ctx, a, request);
  std::vector<Index> new_of_old(order.old_of_new.size());
  for (std::size_t i = 0; i < new_of_old.size(); ++i) {
    new_of_old[static_cast<std::size_t>(order.old_of_new[i])] = static_cast<Index>(i);
  }
  OtherNodes others = find_others(a, new_of_old, block, communicator);
  const NewRows renumbered = renumber(a, order.old_of_new, new_of_old, others.node, block);
  const Index columns = a.rows() + static_cast<Index>(others.node.size()) * block;

  std::unique_ptr<RankEhyb> made(new RankEhyb);
  made->matrix_ = ehyb_of<T>(ctx, renumbered, columns, rows.val, order.part_begin, request);
  const EhybView<T>& view = made->matrix_->view();
  const bool suits =
      !view.has_remainder() && view.block == block && view.parts == static_cast<Index>(order.part_begin.size()) - 1;
  if (!on_all_ranks(communicator, suits)) return nullptr;

  std::vector<std::int64_t> ghosts;
  for (const std::int64_t node : others.node) {
    for (int d = 0; d < block; ++d) ghosts.push_back(node * block + d);
  }
  made->side_ = std::make_unique<SideWork<device>>(ctx);
  made->halo_ =
      std::make_unique<Halo<T, device>>(made->side_->context(), first_rows, std::vector<Index>(), ghosts, new_of_old);
  made->inner_ = parts_of(view, 0, order.inner_parts);
  made->border_ = parts_of(view, order.inner_parts, view.parts);
  made->border_.beyond_node = view.rows / block;
  made->border_.beyond = made->halo_->values().data;
  PeerSums peers{};
  peers.size = 1;
  if (ranks.device->peer_sums() != nullptr) peers = *ranks.device->peer_sums();
  made->tickets_ = make_array(ctx, std::vector<unsigned>{0});
  made->peer_dot_ = make_array(ctx, std::vector<PeerDot>{{peers, view.part_dot, view.parts, made->tickets_.data()}});
  made->inner_.peer_dot = made->border_.peer_dot = made->peer_dot_.data();
  made->capturable_ = ranks.device->capturable();
  made->x_and_halo_ = Array<T, device>(ctx, columns);
  made->old_of_new_ = std::move(order.old_of_new);
  const bool reachable = ranks.device->peer_sums() != nullptr &&
                         communicator.size() <= ResidentAcross::most_devices && view.parts <= ctx.multiprocessors();
  if (on_all_ranks(communicator, reachable)) {
    made->number_across(ctx, first_rows, others.place, std::move(others.readers));
  }
  return made;
}

// Own nodes that own parts read, and the halo in numbers of all ranks.
template <class T>
void RankEhyb<T>::number_across(const Context<device>& ctx, const std::vector<std::int64_t>& first_rows,
                                const std::vector<Index>& place_of_other, std::vector<unsigned char> readers) {
  Communicator& communicator = *ranks_of(ctx)->communicator;
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const EhybView<T>& view = matrix_->view();
  const std::vector<EhybPart> part = to_vector(ctx, Span<const EhybPart, device>(view.part, view.parts));
  std::vector<Index> halo = to_vector(ctx, Span<const Index, device>(view.halo_node, part.back().halo_end));
  const auto first_node = static_cast<Index>(first_rows[rank] / view.block), nodes = view.rows / view.block;
  for (Index& node : halo) {
    if (node < nodes) {
      readers[static_cast<std::size_t>(node)] |= static_cast<unsigned char>(1u << rank);
      node += first_node;
    } else {
      node = place_of_other[static_cast<std::size_t>(node - nodes)];
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
void RankEhyb<T>::multiply(const Context<device>& ctx, const ProductArgs<T>& args) const {
  side_->start();
  halo_->start(side_->context(), Span<const T, device>(args.x, matrix_->rows()));
  if (inner_.parts > 0) ehyb_product(ctx, inner_, args);
  halo_->finish();
  if (border_.parts > 0) ehyb_product(side_->context(), border_, args);
  side_->finish();
}

template <class T>
void RankEhyb<T>::apply(const Context<device>& ctx, T alpha, Span<const T, device> x, T beta,
                        Span<T, device> y) const {
  multiply(ctx, {alpha, x.data, beta, y.data, nullptr});
}

template <class T>
void RankEhyb<T>::apply_dot(const Context<device>& ctx, Span<const T, device> x, Span<T, device> y,
                            double* xy) const {
  DeviceRanks& ranks = *ranks_of(ctx)->device;
  const bool gathers = ranks.peer_sums() != nullptr;
  multiply(ctx, {T(1), x.data, T(0), y.data, gathers ? xy : ranks.sums()});
  if (gathers) return;
  add_dot_over_ranks(ctx, ranks, xy);
}

template <class T>
ResidualSums RankEhyb<T>::residual(const Context<device>& ctx, Span<const T, device> b, Span<const T, device> x,
                                   const ResidualScale& scale, Span<T, device> r) const {
  const Span<T, device> all = x_and_halo_.span();
  side_->start();
  halo_->start(side_->context(), x);
  copy<T>(ctx, x, all.subspan(0, x.size));
  halo_->finish();
  side_->finish();
  copy<T>(ctx, halo_->values(), all.subspan(x.size, all.size - x.size));
  return *matrix_->residual(ctx, b, Span<const T, device>(all), scale, r);
}

template class RankEhyb<double>;
template class RankEhyb<float>;

}  // namespace newel::detail
