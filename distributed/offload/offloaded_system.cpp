// SPDX-License-Identifier: Apache-2.0
// One system that some ranks solve for all.
#include <newel/distributed/offloaded_system.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <newel/core/rank_groups.hpp>
#include <newel/core/rank_team.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "distributed/kept_device.hpp"
#include "distributed/offload/handover.hpp"
#include "distributed/offload/report_bytes.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/same_options.hpp"

namespace newel {
namespace {

constexpr Space host = Space::host;

// What the rank that solves needs in one piece.
template <class T>
void require_whole(const RankRows<T>& a) {
  if (a.row_ptr.size < 1) {
    throw InputError("a rank must pass one row pointer more than it has rows, so at least 1");
  }
  if (a.val.size != a.col.size || a.row_ptr[a.row_ptr.size - 1] != a.col.size) {
    throw InputError("the row pointers end with " + std::to_string(a.row_ptr[a.row_ptr.size - 1]) +
                     ", and there are " + std::to_string(a.col.size) + " columns and " + std::to_string(a.val.size) +
                     " values");
  }
}

// The rows of all members of a rank that solves.
template <class T>
struct HandedRows {
  std::vector<Offset> row_ptr = {0};
  std::vector<std::int64_t> col;
  std::vector<T> val;

  HandedRows(const detail::Handover& handover, const RankRows<T>& a, const std::vector<std::int64_t>& rows)
      : col(handover.to_solving(a.col)), val(handover.to_solving(a.val)) {
    const std::vector<Offset> ends = handover.to_solving(a.row_ptr.subspan(1, a.row_ptr.size - 1));
    std::size_t next = 0;
    Offset before = 0;  // entries of the members before
    for (const int member : handover.members()) {
      for (std::int64_t i = 0; i < rows[static_cast<std::size_t>(member)]; ++i) {
        row_ptr.push_back(before + ends[next++]);
      }
      before = row_ptr.back();
    }
  }
  RankRows<T> view() const {
    return {Span<const Offset, host>(row_ptr), Span<const std::int64_t, host>(col), Span<const T, host>(val)};
  }
};

// What AMG knows of the rows of all members.
void hand_over_nodes(const detail::Handover& handover, SystemOptions& options) {
  const auto largest = [&](int mine) {
    const std::vector<std::int64_t> all = handover.sizes_of(mine);
    return static_cast<int>(*std::max_element(all.begin(), all.end()));
  };
  const NodeCoordinates* const nodes = options.spmv.coordinates.get();
  if (const int dimension = largest(nodes == nullptr ? 0 : nodes->dimension); dimension > 0) {
    const auto own = nodes == nullptr ? Span<const double, host>() : Span<const double, host>(nodes->xyz);
    options.spmv.coordinates =
        std::make_shared<NodeCoordinates>(NodeCoordinates{handover.to_solving(own), dimension});
  }
  AmgOptions& amg = options.precond.of<AmgOptions>();
  const std::shared_ptr<const NearNullVectors> vectors = amg.vectors;
  if (const int count = largest(vectors == nullptr ? 0 : vectors->count); count > 0) {
    const auto own = vectors == nullptr ? Span<const double, host>() : Span<const double, host>(vectors->values);
    amg.vectors = std::make_shared<NearNullVectors>(NearNullVectors{count, handover.to_solving(own)});
  }
}

}  // namespace

template <class T, Space S>
struct OffloadedSystem<T, S>::Impl {
  Impl(std::optional<Context<S>> of_rank, const std::shared_ptr<Communicator>& ranks, const RankRows<T>& a,
       SystemOptions options, RankLink link)
      : communicator(ranks), ctx(std::move(of_rank)), handover(ranks, ctx.has_value()) {
    require_whole(a);
    detail::require_same_options(*ranks,
                                 detail::text_of(options) + ", bytes of a value " + std::to_string(sizeof(T)));
    if (ctx) ctx->make_current();
    const std::int64_t own_rows = a.row_ptr.size - 1;
    if (own_rows > std::numeric_limits<Index>::max()) {
      throw InputError("a rank has at most 2^31 - 1 rows, not " + std::to_string(own_rows));
    }
    first_rows = detail::first_rows(*ranks, own_rows);
    entries = a.val.size;
    if (!handover.needed()) {
      system.emplace(*ctx, ranks, a, std::move(options), link);
      how = system->link();
      return;
    }
    const std::shared_ptr<Communicator> solving = group_of(*ranks, handover.solves() ? 0 : 1);
    const std::vector<std::int64_t> rows_of_ranks = handover.sizes_of(own_rows);
    hand_over_nodes(handover, options);
    {
      const HandedRows<T> handed(handover, a, rows_of_ranks);
      if (handover.solves()) system.emplace(*ctx, solving, handed.view(), std::move(options), link);
    }
    mine.resize(static_cast<std::size_t>(own_rows));
    if (handover.solves()) whole.resize(static_cast<std::size_t>(system->rows()));
    moves.emplace(handover, mine.data(), whole.data(), rows_of_ranks, sizeof(T));
    how = handover.from_first(system ? system->link() : "") + "; " +
          std::to_string(ranks->size() - handover.solving()) + " of " + std::to_string(ranks->size()) +
          " ranks hand their rows to the others";
    learn_info();
  }

  Index rows() const {
    const auto r = static_cast<std::size_t>(communicator->rank());
    return static_cast<Index>(first_rows[r + 1] - first_rows[r]);
  }
  // Rows of this rank's system.
  std::int64_t solved_rows() const { return system ? system->rows() : 0; }
  void require_length(std::int64_t size, Index columns = 1) const {
    if (size == std::int64_t{columns} * rows()) return;
    throw InputError("a vector of length " + std::to_string(size) + " for the " + std::to_string(rows()) +
                     " rows of rank " + std::to_string(communicator->rank()) +
                     (columns == 1 ? "" : " and " + std::to_string(columns) + " columns"));
  }
  // What ranks that hand their rows over know of the system.
  void learn_info() {
    const std::string bytes = handover.from_first(system ? detail::bytes_of(system->info()) : "");
    if (handover.solves()) return;
    learnt = detail::system_info_of(bytes);
    learnt.bytes = 0;
  }

  // Column c of this rank's vector to the rank that solves, into its vector in S, and back.
  void put(Span<const T, host> from, std::int64_t c, Span<T, S> to) {
    const Span<const T, host> column = from.subspan(c * rows(), rows());
    const Span<T, S> there = system ? to.subspan(c * solved_rows(), solved_rows()) : Span<T, S>();
    if (!handover.needed()) {
      copy<T>(*ctx, column, there);
      return;
    }
    std::copy(column.begin(), column.end(), mine.begin());
    moves->to_solving();
    if (!system) return;
    copy<T>(*ctx, Span<const T, host>(whole), there);
    ctx->synchronize();  // `whole` is used again
  }
  void get(Span<const T, S> from, std::int64_t c, Span<T, host> to) {
    const Span<T, host> column = to.subspan(c * rows(), rows());
    const Span<const T, S> there = system ? from.subspan(c * solved_rows(), solved_rows()) : Span<const T, S>();
    if (!handover.needed()) {
      copy<T>(*ctx, there, column);
      ctx->synchronize();
      return;
    }
    if (system) {
      copy<T>(*ctx, there, Span<T, host>(whole));
      ctx->synchronize();
    }
    moves->from_solving();
    std::copy(mine.begin(), mine.end(), column.begin());
  }
  // Vectors of as many columns in S; empty on ranks that do not solve.
  Span<T, S> vectors(Array<T, S>& kept, Index columns) const {
    const std::int64_t size = std::int64_t{columns} * solved_rows();
    if (size == 0) return {};
    if (kept.size() < size) kept = Array<T, S>(*ctx, size);
    return kept.span().subspan(0, size);
  }
  // Whether some rank has a guess. Throws InputError on all ranks if they do not solve for as many columns.
  bool some_guess(InitialGuess guess, Index columns) const {
    double most[] = {guess == InitialGuess::in_x ? 1.0 : 0.0, static_cast<double>(columns),
                     -static_cast<double>(columns)};
    communicator->max(most, 3);
    if (most[1] != -most[2]) throw InputError("ranks solve for different numbers of columns");
    return most[0] != 0;
  }

  std::vector<SolveReport> solve(Span<const T, host> b, Span<T, host> x, Index columns, const ProgressFn& progress,
                                 InitialGuess guess) {
    if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
    require_length(b.size, columns);
    require_length(x.size, columns);
    const bool has_guess = some_guess(guess, columns);
    if (has_guess && guess == InitialGuess::zero) std::fill(x.begin(), x.end(), T(0));
    const Span<T, S> there_b = vectors(in, columns), there_x = vectors(out, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      put(b, c, there_b);
      if (has_guess) put(x, c, there_x);
    }
    std::vector<SolveReport> reports;
    if (system) {
      reports = system->solve_columns(there_b, there_x, columns, progress,
                                      has_guess ? InitialGuess::in_x : InitialGuess::zero);
    }
    for (std::int64_t c = 0; c < columns; ++c) get(there_x, c, x);
    if (!handover.needed()) return reports;
    const std::string bytes = handover.from_first(system ? detail::bytes_of(reports) : "");
    learn_info();
    return handover.solves() ? reports : detail::reports_of(bytes);
  }

  // y = f(x), in the vectors of the system.
  template <class F>
  void map(Span<const T, host> x, Span<T, host> y, const F& f) {
    with_other_ranks(*communicator, [&] {
      const detail::Kept<S> kept;
      if (ctx) ctx->make_current();
      require_length(x.size);
      require_length(y.size);
      const Span<T, S> there_x = vectors(in, 1), there_y = vectors(out, 1);
      put(x, 0, there_x);
      if (system) f(*system, Span<const T, S>(there_x), there_y);
      get(there_y, 0, y);
    });
  }

  std::shared_ptr<Communicator> communicator;
  std::optional<Context<S>> ctx;
  detail::Handover handover;
  std::vector<std::int64_t> first_rows;
  std::int64_t entries = 0;  // of this rank
  std::string how;           // values travel
  SystemInfo learnt;
  std::vector<T> mine, whole;  // a vector of this rank, and of all members
  std::optional<detail::Handover::Moves> moves;
  Array<T, S> in, out;
  std::optional<DistributedSystem<T, S>> system;  // none: this rank does not solve
};

template <class T, Space S>
OffloadedSystem<T, S>::OffloadedSystem(std::optional<Context<S>> ctx, std::shared_ptr<Communicator> communicator,
                                       const RankRows<T>& a, SystemOptions options, RankLink link) {
  if (communicator == nullptr) throw InputError("ranks need a communicator, not a null pointer");
  impl_ = with_other_ranks(*communicator, [&] {
    const detail::Kept<S> kept;
    return std::make_unique<Impl>(std::move(ctx), communicator, a, std::move(options), link);
  });
}

template <class T, Space S>
OffloadedSystem<T, S>::~OffloadedSystem() = default;
template <class T, Space S>
OffloadedSystem<T, S>::OffloadedSystem(OffloadedSystem&&) noexcept = default;
template <class T, Space S>
OffloadedSystem<T, S>& OffloadedSystem<T, S>::operator=(OffloadedSystem&&) noexcept = default;

template <class T, Space S>
Index OffloadedSystem<T, S>::rows() const {
  return impl_->rows();
}
template <class T, Space S>
std::int64_t OffloadedSystem<T, S>::first_row() const {
  return impl_->first_rows[static_cast<std::size_t>(impl_->communicator->rank())];
}
template <class T, Space S>
std::int64_t OffloadedSystem<T, S>::all_rows() const {
  return impl_->first_rows.back();
}

template <class T, Space S>
void OffloadedSystem<T, S>::refresh(Span<const T, Space::host> values) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    const detail::Kept<S> kept;
    if (values.size != s.entries) {
      throw InputError("refresh: expected " + std::to_string(s.entries) + " values, as the rows of rank " +
                       std::to_string(s.communicator->rank()) + " have, found " + std::to_string(values.size));
    }
    std::vector<T> handed;
    if (s.handover.needed()) handed = s.handover.to_solving(values);
    if (!s.system) return;
    s.ctx->make_current();
    const Array<T, S> there = make_array(*s.ctx, s.handover.needed() ? Span<const T, host>(handed) : values);
    s.ctx->synchronize();
    s.system->refresh(there.cspan());
  });
}

template <class T, Space S>
std::vector<SolveReport> OffloadedSystem<T, S>::solve_columns(Span<const T, Space::host> b, Span<T, Space::host> x,
                                                              Index columns, const ProgressFn& progress,
                                                              InitialGuess guess) {
  Impl& s = *impl_;
  return with_other_ranks(*s.communicator, [&] {
    const detail::Kept<S> kept;
    if (s.ctx) s.ctx->make_current();
    return s.solve(b, x, columns, progress, guess);
  });
}

template <class T, Space S>
SolveReport OffloadedSystem<T, S>::solve(Span<const T, Space::host> b, Span<T, Space::host> x,
                                         const ProgressFn& progress, InitialGuess guess) {
  return std::move(solve_columns(b, x, 1, progress, guess).front());
}

template <class T, Space S>
void OffloadedSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    detail::require_same_options(*s.communicator, detail::text_of(stop));
    if (s.system) s.system->set_stop_criterion(stop);
  });
}

template <class T, Space S>
void OffloadedSystem<T, S>::multiply(Span<const T, Space::host> x, Span<T, Space::host> y) {
  impl_->map(x, y, [](auto& system, auto there_x, auto there_y) { system.multiply(there_x, there_y); });
}

template <class T, Space S>
void OffloadedSystem<T, S>::precondition(Span<const T, Space::host> r, Span<T, Space::host> z) {
  impl_->map(r, z, [](auto& system, auto there_r, auto there_z) { system.precondition(there_r, there_z); });
}

template <class T, Space S>
SystemInfo OffloadedSystem<T, S>::info() const {
  return impl_->system ? impl_->system->info() : impl_->learnt;
}

template <class T, Space S>
std::string OffloadedSystem<T, S>::link() const {
  return impl_->how;
}

#define X(T, S) template class OffloadedSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
