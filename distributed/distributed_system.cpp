// SPDX-License-Identifier: Apache-2.0
// One system whose rows are shared out among ranks.
#include <newel/distributed/distributed_system.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/rank_team.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/links/device_link.hpp"
#include "distributed/links/host_identity.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/rank_info.hpp"
#include "distributed/rank_precond.hpp"
#include "distributed/same_options.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/cost/profiles/rank_constants.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

// Throws for what needs the whole matrix.
void require_rows_suffice(const SystemOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InputError(what + " needs the whole matrix, but each rank has only some of its rows");
  };
  const std::string format = canonical_name(options.spmv.format);
  if (format != "auto" && format != "csr") refuse("the format \"" + format + "\"");
  if (!options.old_of_new.empty() || !options.part_begin.empty()) refuse("an order");
  if (options.mixed) refuse("mixed precision");
  if (!options.spmv.plan_cache.empty()) refuse("a plan cache");
  if (options.spmv.parts > 0 || options.spmv.partitioner != Partitioner::automatic) refuse("a partition");
  if (options.decision) refuse("a decision");
  detail::require_precond_on_ranks(options.precond);
}

// With a preconditioner that leaves few products EHYB does not save what it takes.
detail::RankFormat format_of(const SystemOptions& options, std::int64_t rows) {
  using Limits = detail::RankFormats;
  const std::string precond = canonical_name(options.precond.name);
  if (canonical_name(options.spmv.format) == "csr") return detail::RankFormat::csr;
  if (precond == "auto" || precond == "none") return detail::RankFormat::automatic;
  const PrecondMethod& method = find_preconditioner(precond);
  if (method.cost == nullptr) return detail::RankFormat::automatic;
  PrecondQuestion question{options.precond};
  question.rows = static_cast<Index>(std::min<std::int64_t>(rows, std::numeric_limits<Index>::max()));
  question.origin = MatrixOrigin::mesh;
  const ExpectedIterations iterations = method.cost(question).iterations;
  const bool few = iterations != nullptr && iterations(Limits::with_simple) <= Limits::few_products;
  return few && options.expected_products <= Limits::few_products ? detail::RankFormat::at_once
                                                                  : detail::RankFormat::automatic;
}

template <Space S>
Context<S> of_ranks(const Context<S>& ctx, const std::shared_ptr<Communicator>& communicator,
                    const std::vector<std::int64_t>& first_rows, [[maybe_unused]] RankLink link) {
  Ranks ranks{communicator, first_rows[static_cast<std::size_t>(communicator->rank())], first_rows.back()};
  if constexpr (S == Space::device) {
    ranks.device = detail::link_devices(ctx, communicator, link);
    const std::string here = detail::identity_of_process();
    const std::vector<std::string> all = communicator->texts(here);
    return detail::with_ranks(ctx, std::move(ranks), static_cast<int>(std::count(all.begin(), all.end(), here)));
  } else {
    return ctx.with_ranks(std::move(ranks));
  }
}

// The clocks of ranks differ: see SharedEnd.
StopCriterion without_clock(StopCriterion stop) {
  stop.time_limit_seconds = 0;
  return stop;
}

// The end of a solve that ranks have to agree on: a callback of one of them, or a clock.
template <Space S>
class SharedEnd {
 public:
  SharedEnd(const Context<S>& ctx, const ProgressFn& progress, const StopCriterion& stop)
      : ctx_(ctx), progress_(progress), limit_(stop.time_limit_seconds) {
    double watches = progress_ || limit_ > 0 ? 1 : 0;
    detail::max_over_ranks(ctx_, &watches, 1);
    if (watches > 0) shared_ = [this](const Progress& now) { return all_go_on(now); };
  }
  // Empty: nobody watches.
  const ProgressFn& progress() const { return shared_; }
  // How it ended; nothing: not by these.
  std::optional<Status> status() const { return status_; }

 private:
  bool all_go_on(const Progress& now) {
    double ends[2] = {progress_ && !progress_(now) ? 1.0 : 0.0, limit_ > 0 && seconds() > limit_ ? 1.0 : 0.0};
    detail::max_over_ranks(ctx_, ends, 2);
    if (ends[0] > 0)
      status_ = Status::stopped_by_caller;
    else if (ends[1] > 0)
      status_ = Status::time_limit;
    return !status_;
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  const Context<S>& ctx_;
  const ProgressFn& progress_;
  double limit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ProgressFn shared_;
  std::optional<Status> status_;
};

}  // namespace

template <class T, Space S>
struct DistributedSystem<T, S>::Impl {
  Impl(const Context<S>& of_rank, const std::shared_ptr<Communicator>& ranks, const RankRows<T>& a,
       SystemOptions options, RankLink link)
      : user(of_rank), communicator(ranks), stop(options.stop) {
    user.make_current();
    if (a.row_ptr.size < 1) throw InputError("a rank must pass one row pointer more than it has rows, so at least 1");
    if (a.val.size != a.col.size) {
      throw InputError(std::to_string(a.val.size) + " values for " + std::to_string(a.col.size) + " columns");
    }
    if (a.row_ptr.size - 1 > std::numeric_limits<Index>::max()) {
      throw InputError("a rank has at most 2^31 - 1 rows, not " + std::to_string(a.row_ptr.size - 1));
    }
    detail::require_same_options(*communicator,
                                 detail::text_of(options) + ", bytes of a value " + std::to_string(sizeof(T)));
    require_rows_suffice(options);
    const std::vector<std::int64_t> first_rows = detail::first_rows(*communicator, a.row_ptr.size - 1);
    detail::PhaseClock clock;
    ctx.emplace(of_ranks<S>(of_rank, communicator, first_rows, link));
    clock.end("links of ranks");
    matrix = std::make_shared<detail::DistributedOperator<T, S>>(*ctx, a, first_rows,
                                                                 format_of(options, first_rows.back()));
    clock.end("matrix of ranks");
    SystemParts<T, S> parts;
    const std::vector<Index> old_of_new = to_vector(*ctx, matrix->order().old_of_new.cspan());
    const Span<const Index, Space::host> order(old_of_new);
    ChosenPrecond<T, S> chosen = detail::precond_on_ranks<T, S>(
        *ctx, *matrix, {a, first_rows, order, options.spmv.coordinates.get(), matrix->stored().on_device.get()},
        options);
    matrix->drop_rows_on_device();
    precond = std::move(chosen.M);
    precond_reason = std::move(chosen.choice.reason);
    parts.preconditioner = precond;
    communicator->texts("");  // all are here: what a rank refuses is refused by all
    clock.end("preconditioner on ranks");
    seconds = clock.seconds();
    options.precond.name = "none";
    options.spmv.format = "auto";
    options.stop = without_clock(options.stop);
    system.emplace(*ctx, matrix, std::move(options), std::move(parts));
    matrix_info = detail::over_all_ranks(host_context(*ctx), matrix->stored().info());
  }

  // Returns when all ranks are here. Before that no kernel of a device may wait for another rank, which may still be
  // freeing a system that this one replaces: that can wait for all devices.
  void meet() const {
    if constexpr (S == Space::device) communicator->texts("");
  }
  // Waits for a device. Throws if what it computed is without meaning.
  void finish() const {
    if constexpr (S == Space::device) {
      ctx->synchronize();
      detail::ranks_of(*ctx)->device->check();
    }
  }
  void require_length(Span<const T, S> vector, Index columns = 1) const {
    if (vector.size == std::int64_t{columns} * matrix->rows()) return;
    throw InputError("a vector of length " + std::to_string(vector.size) + " for the " +
                     std::to_string(matrix->rows()) + " rows of rank " + std::to_string(communicator->rank()) +
                     (columns == 1 ? "" : " and " + std::to_string(columns) + " columns"));
  }
  // Zero if that is the guess of all ranks. If it is that of some, their parts of x are zero. Throws InputError on
  // all ranks if they do not solve for as many columns.
  InitialGuess agreed(InitialGuess guess, Span<T, S> user_x, Index columns) const {
    double most[] = {guess == InitialGuess::in_x ? 1.0 : 0.0, static_cast<double>(columns),
                     -static_cast<double>(columns)};
    detail::max_over_ranks(*ctx, most, 3);
    if (most[1] != -most[2]) {
      throw InputError("ranks solve for different numbers of columns: from " + std::to_string(-std::lround(most[2])) +
                       " to " + std::to_string(std::lround(most[1])));
    }
    if (most[0] == 0) return guess;
    if (guess == InitialGuess::zero) fill<T, S>(*ctx, T(0), user_x);
    return InitialGuess::in_x;
  }
  // Calls f(b, x) with the columns of both in rank order.
  template <class F>
  auto in_rank_order(Span<const T, S> user_b, Span<T, S> user_x, F&& f) {
    if (matrix->order().natural()) return f(user_b, user_x);
    if (b.size() < user_b.size) {
      b = Array<T, S>(*ctx, user_b.size);
      x = Array<T, S>(*ctx, user_b.size);
    }
    const Span<T, S> in_b = b.span().subspan(0, user_b.size), in_x = x.span().subspan(0, user_b.size);
    for_columns(user_b, in_b, matrix->order().old_of_new);
    for_columns(user_x, in_x, matrix->order().old_of_new);
    auto result = f(Span<const T, S>(in_b), in_x);
    for_columns(in_x, user_x, matrix->order().new_of_old);
    return result;
  }
  // to[i] = from[source[i]] for each column.
  void for_columns(Span<const T, S> from, Span<T, S> to, Span<const Index, S> source) const {
    const std::int64_t n = matrix->rows();
    for (std::int64_t at = 0; at < from.size; at += n) {
      gather<T, S>(*ctx, from.subspan(at, n), source, to.subspan(at, n));
    }
  }
  // Solves with f(b, x, progress), which returns a report for each column.
  template <class F>
  std::vector<SolveReport> solve(Span<const T, S> user_b, Span<T, S> user_x, const ProgressFn& progress, F&& f) {
    const SharedEnd<S> end(*ctx, progress, stop);
    std::vector<SolveReport> reports =
        in_rank_order(user_b, user_x, [&](auto in_b, auto in_x) { return f(in_b, in_x, end.progress()); });
    finish();
    for (SolveReport& report : reports) {
      if (end.status() == Status::time_limit && report.status == Status::stopped_by_caller) {
        detail::overrule(report, Status::time_limit, {Cause::time_limit});
      }
      detail::max_over_ranks(*ctx, &report.seconds, 1);
    }
    return reports;
  }

  Context<S> user;  // of the caller: threads, or stream
  std::shared_ptr<Communicator> communicator;
  StopCriterion stop;
  std::optional<Context<S>> ctx;
  std::shared_ptr<detail::DistributedOperator<T, S>> matrix;
  std::shared_ptr<MatrixOperator<T, S>> precond;        // null: none
  OperatorInfo matrix_info;                             // of all ranks
  LocatedText precond_reason;                           // empty: it was not chosen
  std::vector<std::pair<std::string, double>> seconds;  // of the setup by phase, before that of `system`
  std::optional<LinearSystem<T, S>> system;
  Array<T, S> b, x;  // in rank order; empty: that is the caller's
};

template <class T, Space S>
DistributedSystem<T, S>::DistributedSystem(const Context<S>& ctx, std::shared_ptr<Communicator> communicator,
                                           const RankRows<T>& a, SystemOptions options, RankLink link) {
  if (communicator == nullptr) throw InputError("ranks need a communicator, not a null pointer");
  impl_ = with_other_ranks(*communicator, [&] {
    if (S == Space::host && link != RankLink::automatic)
      throw InputError("ranks on the host have no devices to link");
    return std::make_unique<Impl>(ctx, communicator, a, std::move(options), link);
  });
}

template <class T, Space S>
DistributedSystem<T, S>::~DistributedSystem() = default;
template <class T, Space S>
DistributedSystem<T, S>::DistributedSystem(DistributedSystem&&) noexcept = default;
template <class T, Space S>
DistributedSystem<T, S>& DistributedSystem<T, S>::operator=(DistributedSystem&&) noexcept = default;

template <class T, Space S>
Index DistributedSystem<T, S>::rows() const {
  return impl_->matrix->rows();
}
template <class T, Space S>
std::int64_t DistributedSystem<T, S>::first_row() const {
  return detail::ranks_of(*impl_->ctx)->first_row;
}
template <class T, Space S>
std::int64_t DistributedSystem<T, S>::all_rows() const {
  return detail::ranks_of(*impl_->ctx)->all_rows;
}

template <class T, Space S>
void DistributedSystem<T, S>::refresh(Span<const T, S> values) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    s.ctx->make_current();
    s.matrix->refresh(*s.ctx, values);
    if (s.precond != nullptr) s.precond->refresh(*s.ctx, values);
    s.communicator->texts("");
    s.system->in_place().operator_changed();
  });
}

template <class T, Space S>
SolveReport DistributedSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                           InitialGuess guess) {
  Impl& s = *impl_;
  return with_other_ranks(*s.communicator, [&] {
    s.ctx->make_current();
    s.require_length(b);
    s.require_length(x);
    guess = s.agreed(guess, x, 1);
    return std::move(s.solve(b, x, progress, [&](auto in_b, auto in_x, const ProgressFn& shared) {
                        return std::vector<SolveReport>{s.system->solve(in_b, in_x, shared, guess)};
                      }).front());
  });
}

template <class T, Space S>
std::vector<SolveReport> DistributedSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                                const ProgressFn& progress, InitialGuess guess) {
  Impl& s = *impl_;
  return with_other_ranks(*s.communicator, [&] {
    s.ctx->make_current();
    if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
    s.require_length(b, columns);
    s.require_length(x, columns);
    guess = s.agreed(guess, x, columns);
    return s.solve(b, x, progress, [&](auto in_b, auto in_x, const ProgressFn& shared) {
      return s.system->solve_columns(in_b, in_x, columns, shared, guess);
    });
  });
}

template <class T, Space S>
void DistributedSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    detail::require_same_options(*s.communicator, detail::text_of(stop));
    s.stop = stop;
    s.system->set_stop_criterion(without_clock(stop));
  });
}

template <class T, Space S>
void DistributedSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    s.ctx->make_current();
    s.require_length(x);
    s.require_length(y);
    s.meet();
    s.in_rank_order(x, y, [&](auto in_x, auto in_y) {
      s.matrix->apply(*s.ctx, T(1), in_x, T(0), in_y);
      return true;
    });
    s.finish();
  });
}

template <class T, Space S>
void DistributedSystem<T, S>::precondition(Span<const T, S> r, Span<T, S> z) {
  Impl& s = *impl_;
  with_other_ranks(*s.communicator, [&] {
    s.ctx->make_current();
    s.require_length(r);
    s.require_length(z);
    if (r.size > 0 && r.data == z.data) throw InputError("r and z are the same memory");
    s.meet();
    const LinearOperator<T, S>* M = s.system->ordered().preconditioner();
    s.in_rank_order(r, z, [&](auto in_r, auto in_z) {
      if (M == nullptr) {
        copy(*s.ctx, in_r, in_z);
      } else {
        M->apply(*s.ctx, T(1), in_r, T(0), in_z);
      }
      return true;
    });
    s.finish();
  });
}

template <class T, Space S>
SystemInfo DistributedSystem<T, S>::info() const {
  const Impl& s = *impl_;
  SystemInfo info = s.system->info();
  info.matrix = s.matrix_info;
  info.format.format = s.matrix_info.name;
  if (s.precond != nullptr) info.preconditioner = s.precond->info();
  info.preconditioner_reason = s.precond_reason;
  info.setup_seconds.insert(info.setup_seconds.begin(), s.seconds.begin(), s.seconds.end());
  return info;
}

template <class T, Space S>
std::string DistributedSystem<T, S>::link() const {
  if constexpr (S == Space::device) return detail::ranks_of(*impl_->ctx)->device->name();
  return "host";
}

#define X(T, S) template class DistributedSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
