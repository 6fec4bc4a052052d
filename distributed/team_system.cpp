// SPDX-License-Identifier: Apache-2.0
// Whole matrices and vectors cut into the parts of ranks, each on a thread.
#include <newel/distributed/team_system.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/rank_team.hpp>
#include <newel/distributed/row_bounds.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include "core/ranks/host_share.hpp"
#include "core/vectors/instantiate.hpp"
#include "distributed/kept_device.hpp"

namespace newel {
namespace {

constexpr Space host = Space::host;

// A rank's rows as DistributedSystem takes them.
template <class T>
struct PartOfRows {
  Array<Offset, host> row_ptr;
  Array<std::int64_t, host> col;
  Span<const T, host> val;

  PartOfRows(const Context<host>& ctx, const CsrView<T, host>& a, Index begin, Index end)
      : row_ptr(ctx, std::int64_t{end} - begin + 1), col(ctx, a.row_begin(end) - a.row_begin(begin)) {
    const Offset first = a.row_begin(begin);
    parallel_for(ctx, row_ptr.size(),
                 [&](std::int64_t i) { row_ptr[i] = a.row_begin(begin + static_cast<Index>(i)) - first; });
    parallel_for(ctx, col.size(), [&](Offset k) { col[k] = a.col[first + k]; });
    val = a.val.subspan(first, col.size());
  }
};

// What AMG knows of nodes and rows, of rows begin .. end - 1. Coordinates that do not belong to nodes of whole ranks,
// with a coordinate for each row, are left out: AMG cannot use them.
SystemOptions options_of_rows(const SystemOptions& options, const std::vector<std::int64_t>& first_rows,
                              std::size_t rank) {
  const std::int64_t begin = first_rows[rank], end = first_rows[rank + 1];
  SystemOptions own = options;
  if (const NodeCoordinates* const all = options.spmv.coordinates.get(); all != nullptr) {
    const auto cuts_node = [&](std::int64_t row) { return row % all->dimension != 0; };
    own.spmv.coordinates = nullptr;
    if (static_cast<std::int64_t>(all->xyz.size()) == first_rows.back() &&
        std::none_of(first_rows.begin(), first_rows.end(), cuts_node)) {
      own.spmv.coordinates = std::make_shared<NodeCoordinates>(
          NodeCoordinates{{all->xyz.begin() + begin, all->xyz.begin() + end}, all->dimension});
    }
  }
  AmgOptions& amg = own.precond.of<AmgOptions>();
  if (const auto all = amg.vectors; all != nullptr) {
    const std::int64_t count = all->count;
    if (static_cast<std::int64_t>(all->values.size()) != first_rows.back() * count) {
      throw InputError("near-null vectors: expected " + std::to_string(first_rows.back()) + " rows, found " +
                       std::to_string(all->values.size()) + " values for " + std::to_string(count) + " vectors");
    }
    amg.vectors = std::make_shared<NearNullVectors>(
        NearNullVectors{all->count, {all->values.begin() + begin * count, all->values.begin() + end * count}});
  }
  return own;
}

}  // namespace

template <class T, Space S>
struct TeamSystem<T, S>::Impl {
  struct Rank {
    explicit Rank(const Context<S>& of_rank) : ctx(of_rank) {}
    Context<S> ctx;
    Array<T, S> in, out;  // its parts of vectors
    std::optional<DistributedSystem<T, S>> system;
  };

  Impl(std::vector<Context<S>> contexts, const MatrixInput<T, host>& a, SystemOptions options, RankLink link)
      : team(static_cast<int>(contexts.size())),
        setup(host_context(contexts.front())),
        matrix(setup, a),
        rows(matrix.view().rows) {
    const CsrView<T, host> whole = matrix.view();
    if (whole.rows != whole.cols) {
      throw InputError("a system needs a square matrix, not one of " + std::to_string(whole.rows) + " rows and " +
                       std::to_string(whole.cols) + " columns");
    }
    std::vector<Offset> row_ptr;
    for (Index i = 0; i <= rows; ++i) row_ptr.push_back(whole.row_begin(i));
    first_rows = row_bounds(row_ptr, team.size());
    for (const std::int64_t row : first_rows) first_entries.push_back(row_ptr[static_cast<std::size_t>(row)]);
    row_ptr = {};
    for (const Context<S>& ctx : contexts) ranks.emplace_back(ctx);
    if (options.spmv.coordinates != nullptr) detail::require_finite(*options.spmv.coordinates);
    std::vector<SystemOptions> of_ranks;
    for (std::size_t r = 0; r < ranks.size(); ++r) of_ranks.push_back(options_of_rows(options, first_rows, r));
    on_ranks([&](std::size_t r, const std::shared_ptr<Communicator>& communicator) {
      const Context<host>& all = host_context(ranks[r].ctx);
      const Context<host> share = S == host ? all : detail::share_of_host(all, team.size());
      const PartOfRows<T> own(share, whole, begin(r), begin(r + 1));
      const RankRows<T> rows_of_rank{own.row_ptr.cspan(), own.col.cspan(), own.val};
      ranks[r].system.emplace(ranks[r].ctx, communicator, rows_of_rank, of_ranks[r], link);
    });
    matrix.drop_pattern();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Each rank frees what it has itself, when no kernel of a rank waits for another.
  ~Impl() {
    try {
      on_ranks([&](std::size_t r, const auto&) {
        ranks[r].system.reset();
        ranks[r].in = {};
        ranks[r].out = {};
      });
    } catch (const std::exception&) {  // no threads: the members' destructors do it
    }
  }

  // work(r, communicator) for each rank r, whose device is current.
  template <class Work>
  void on_ranks(const Work& work) {
    [[maybe_unused]] const detail::Kept<S> kept;
    team.run([&](const std::shared_ptr<Communicator>& communicator) {
      const auto r = static_cast<std::size_t>(communicator->rank());
      ranks[r].ctx.make_current();
      work(r, communicator);
    });
  }
  Index begin(std::size_t r) const { return static_cast<Index>(first_rows[r]); }
  void require_length(std::int64_t size, Index columns, const char* what) const {
    if (size == std::int64_t{columns} * rows) return;
    throw InputError(std::string(what) + ": expected " + std::to_string(std::int64_t{columns} * rows) +
                     " values, found " + std::to_string(size));
  }

  // The rows of rank r of all columns, in its own memory.
  Span<T, S> part(std::size_t r, Index columns, Array<T, S>& kept) {
    const std::int64_t size = std::int64_t{columns} * (begin(r + 1) - begin(r));
    if (kept.size() < size) kept = Array<T, S>(ranks[r].ctx, size);
    return kept.span().subspan(0, size);
  }
  template <class Copy>
  void for_columns(std::size_t r, Index columns, const Copy& copy_rows) const {
    const std::int64_t own = begin(r + 1) - begin(r);
    for (std::int64_t c = 0; c < columns; ++c) copy_rows(c * rows + begin(r), c * own, own);
  }
  void take(std::size_t r, Span<const T, host> whole, Index columns, Span<T, S> own) {
    for_columns(r, columns, [&](std::int64_t at, std::int64_t to, std::int64_t size) {
      copy<T>(ranks[r].ctx, whole.subspan(at, size), own.subspan(to, size));
    });
  }
  void give(std::size_t r, Span<const T, S> own, Index columns, Span<T, host> whole) {
    for_columns(r, columns, [&](std::int64_t at, std::int64_t from, std::int64_t size) {
      copy<T>(ranks[r].ctx, own.subspan(from, size), whole.subspan(at, size));
    });
  }
  // f(system of rank r, its part of x, its part of y) on all ranks, and y back.
  template <class F>
  void map(Span<const T, host> x, Span<T, host> y, const F& f) {
    require_length(x.size, 1, "the vector that is read");
    require_length(y.size, 1, "the vector that is written");
    on_ranks([&](std::size_t r, const auto&) {
      const Span<T, S> in = part(r, 1, ranks[r].in), out = part(r, 1, ranks[r].out);
      take(r, x, 1, in);
      f(*ranks[r].system, Span<const T, S>(in), out);
      give(r, out, 1, y);
    });
  }

  RankTeam team;
  Context<host> setup;
  AssembledMatrix<T, host> matrix;
  Index rows;
  std::vector<std::int64_t> first_rows;
  std::vector<Offset> first_entries;
  std::vector<Rank> ranks;
};

template <class T, Space S>
TeamSystem<T, S>::TeamSystem(std::vector<Context<S>> contexts, const MatrixInput<T, host>& a, SystemOptions options,
                             RankLink link) {
  if (contexts.empty()) throw InputError("a system needs a context for each rank, and at least one");
  impl_ = std::make_unique<Impl>(std::move(contexts), a, std::move(options), link);
}
template <class T, Space S>
TeamSystem<T, S>::~TeamSystem() = default;
template <class T, Space S>
TeamSystem<T, S>::TeamSystem(TeamSystem&&) noexcept = default;
template <class T, Space S>
TeamSystem<T, S>& TeamSystem<T, S>::operator=(TeamSystem&&) noexcept = default;

template <class T, Space S>
Index TeamSystem<T, S>::rows() const {
  return impl_->rows;
}
template <class T, Space S>
const std::vector<std::int64_t>& TeamSystem<T, S>::first_rows() const {
  return impl_->first_rows;
}

template <class T, Space S>
void TeamSystem<T, S>::refresh(Span<const T, host> values) {
  Impl& s = *impl_;
  const Span<const T, host> canonical = s.matrix.values(s.setup, values);
  s.on_ranks([&](std::size_t r, const auto&) {
    const Offset begin = s.first_entries[r];
    const Array<T, S> own = make_array(s.ranks[r].ctx, canonical.subspan(begin, s.first_entries[r + 1] - begin));
    s.ranks[r].system->refresh(own.cspan());
  });
}

template <class T, Space S>
std::vector<SolveReport> TeamSystem<T, S>::solve_columns(Span<const T, host> b, Span<T, host> x, Index columns,
                                                         const ProgressFn& progress, InitialGuess guess) {
  Impl& s = *impl_;
  if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
  s.require_length(b.size, columns, "b");
  s.require_length(x.size, columns, "x");
  std::vector<SolveReport> reports;
  s.on_ranks([&](std::size_t r, const auto&) {
    const Span<T, S> own_b = s.part(r, columns, s.ranks[r].in), own_x = s.part(r, columns, s.ranks[r].out);
    s.take(r, b, columns, own_b);
    if (guess == InitialGuess::in_x) s.take(r, x, columns, own_x);
    std::vector<SolveReport> of_rank =
        s.ranks[r].system->solve_columns(own_b, own_x, columns, r == 0 ? progress : ProgressFn(), guess);
    s.give(r, own_x, columns, x);
    if (r == 0) reports = std::move(of_rank);
  });
  return reports;
}

template <class T, Space S>
SolveReport TeamSystem<T, S>::solve(Span<const T, host> b, Span<T, host> x, const ProgressFn& progress,
                                    InitialGuess guess) {
  return std::move(solve_columns(b, x, 1, progress, guess).front());
}

template <class T, Space S>
void TeamSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  Impl& s = *impl_;
  s.on_ranks([&](std::size_t r, const auto&) { s.ranks[r].system->set_stop_criterion(stop); });
}

template <class T, Space S>
void TeamSystem<T, S>::precondition(Span<const T, host> r, Span<T, host> z) {
  impl_->map(r, z, [](auto& system, auto in, auto out) { system.precondition(in, out); });
}

template <class T, Space S>
void TeamSystem<T, S>::multiply(Span<const T, host> x, Span<T, host> y) {
  impl_->map(x, y, [](auto& system, auto in, auto out) { system.multiply(in, out); });
}

template <class T, Space S>
SystemInfo TeamSystem<T, S>::info() const {
  SystemInfo info = impl_->ranks.front().system->info();
  for (std::size_t r = 1; r < impl_->ranks.size(); ++r) info.bytes += impl_->ranks[r].system->info().bytes;
  return info;
}

template <class T, Space S>
std::string TeamSystem<T, S>::link() const {
  return impl_->ranks.front().system->link();
}

#define X(T, S) template class TeamSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
