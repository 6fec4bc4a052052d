// SPDX-License-Identifier: Apache-2.0
// One system whose rows are shared out among ranks.
#include <newel/distributed/distributed_system.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/over_ranks.hpp"
#include "distributed/distributed_operator.hpp"
#include "distributed/rank_precond.hpp"
#include "solver/chain/attempts.hpp"

namespace newel {
namespace {

constexpr Space host = Space::host;

// Runs what this rank does together with the others, which it tells if it cannot go on.
template <class F>
auto with_others(Communicator& communicator, F&& f) {
  try {
    return f();
  } catch (const RankFailed&) {
    throw;
  } catch (const std::exception& failure) {
    communicator.fail(failure.what());
    throw;
  }
}

// What all ranks must have alike, with all digits.
std::string text_of(const SystemOptions& options) {
  const StopCriterion& stop = options.stop;
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << "solver " << options.solver.name << ", preconditioner " << options.precond.name << ", format "
       << options.spmv.format << ", max_iterations " << stop.max_iterations << ", rel_tol " << stop.rel_tol
       << ", abs_tol " << stop.abs_tol << ", time_limit_seconds " << stop.time_limit_seconds << ", null_space "
       << static_cast<int>(options.null_space) << ", mixed " << options.mixed;
  text << ", preconditioner's format " << options.precond.format << ", symmetric " << options.precond.symmetric
       << ", expected_products " << options.expected_products;
  const auto add = [&](const MethodOption& option, const OptionBag& methods) {
    text << ", " << option.key << " ";
    std::visit([&](const auto& value) { text << value; }, option.get(methods));
  };
  for (const MethodOption& option : solver_option_list()) add(option, options.solver.methods);
  for (const MethodOption& option : precond_option_list()) add(option, options.precond.methods);
  return text.str();
}

void require_same_options(Communicator& communicator, const SystemOptions& options) {
  const std::vector<std::string> all = communicator.texts(text_of(options));
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw InputError("the options of rank " + std::to_string(r) + " (" + all[r] + ") are not those of rank 0 (" +
                     all[0] + ")");
  }
}

// Throws for what needs the whole matrix.
void require_rows_suffice(const SystemOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InputError(what + " needs the whole matrix, and ranks have rows of it");
  };
  const std::string format = canonical_name(options.spmv.format);
  if (format != "auto" && format != "csr") refuse("the format \"" + format + "\"");
  if (!options.old_of_new.empty() || !options.part_begin.empty()) refuse("an order");
  if (options.mixed) refuse("mixed precision");
  detail::require_precond_on_ranks(options.precond);
}

Context<host> of_ranks(const Context<host>& ctx, std::shared_ptr<Communicator> communicator,
                       const std::vector<std::int64_t>& first_rows) {
  const auto rank = static_cast<std::size_t>(communicator->rank());
  return ctx.with_ranks({std::move(communicator), first_rows[rank], first_rows.back()});
}

// The end of a solve that ranks have to agree on: a callback of one of them, or a clock.
class SharedEnd {
 public:
  SharedEnd(const Context<host>& ctx, const ProgressFn& progress, const StopCriterion& stop)
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

  const Context<host>& ctx_;
  const ProgressFn& progress_;
  double limit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ProgressFn shared_;
  std::optional<Status> status_;
};

}  // namespace

template <class T>
struct DistributedSystem<T>::Impl {
  Impl(const Context<host>& of_rank, const std::shared_ptr<Communicator>& ranks, const RankRows<T>& a,
       SystemOptions options)
      : communicator(ranks), stop(options.stop) {
    if (a.row_ptr.size < 1)
      throw InputError("the row pointers of a rank have an entry more than it has rows: 1 at least");
    if (a.val.size != a.col.size) {
      throw InputError(std::to_string(a.val.size) + " values for " + std::to_string(a.col.size) + " columns");
    }
    require_same_options(*communicator, options);
    require_rows_suffice(options);
    const std::vector<std::int64_t> first_rows = detail::first_rows(*communicator, a.row_ptr.size - 1);
    ctx = of_ranks(of_rank, communicator, first_rows);
    matrix = std::make_shared<detail::DistributedOperator<T>>(*ctx, a, first_rows);
    SystemParts<T, host> parts;
    ChosenPrecond<T, host> chosen =
        detail::precond_on_ranks<T>(*ctx, *matrix, {a, first_rows, matrix->old_of_new()}, options);
    parts.preconditioner = precond = std::move(chosen.M);
    precond_reason = std::move(chosen.choice.reason);
    communicator->texts("");  // all are here: what a rank refuses is refused by all
    options.precond.name = "none";
    options.spmv.format = "auto";
    options.stop.time_limit_seconds = 0;  // the ranks' clocks differ: see SharedEnd
    system.emplace(*ctx, matrix, std::move(options), std::move(parts));
    if (matrix->old_of_new().size > 0) {
      b = Array<T, host>(*ctx, matrix->rows());
      x = Array<T, host>(*ctx, matrix->rows());
    }
  }

  void require_length(Span<const T, host> vector) const {
    if (vector.size == matrix->rows()) return;
    throw InputError("a vector of length " + std::to_string(vector.size) + " for the " +
                     std::to_string(matrix->rows()) + " rows of rank " + std::to_string(communicator->rank()));
  }
  // Zero if that is the guess of all ranks. If it is that of some, their parts of x are zero.
  InitialGuess agreed(InitialGuess guess, Span<T, host> user_x) const {
    double any_in_x = guess == InitialGuess::in_x ? 1 : 0;
    detail::max_over_ranks(*ctx, &any_in_x, 1);
    if (any_in_x == 0) return guess;
    if (guess == InitialGuess::zero) std::fill(user_x.begin(), user_x.end(), T(0));
    return InitialGuess::in_x;
  }
  // Calls f(b, x) with both in rank order.
  template <class F>
  auto in_rank_order(Span<const T, host> user_b, Span<T, host> user_x, F&& f) {
    if (b.size() == 0) return f(user_b, user_x);
    gather<T, host>(*ctx, user_b, matrix->old_of_new(), b.span());
    gather<T, host>(*ctx, Span<const T, host>(user_x), matrix->old_of_new(), x.span());
    auto result = f(b.cspan(), x.span());
    gather<T, host>(*ctx, x.cspan(), matrix->new_of_old(), user_x);
    return result;
  }

  std::shared_ptr<Communicator> communicator;
  StopCriterion stop;
  std::optional<Context<host>> ctx;
  std::shared_ptr<detail::DistributedOperator<T>> matrix;
  std::shared_ptr<MatrixOperator<T, host>> precond;  // null: none
  LocatedText precond_reason;                        // empty: it was not chosen
  std::optional<LinearSystem<T, host>> system;
  Array<T, host> b, x;  // in rank order; empty: that is the caller's
};

template <class T>
DistributedSystem<T>::DistributedSystem(const Context<host>& ctx, std::shared_ptr<Communicator> communicator,
                                        const RankRows<T>& a, SystemOptions options) {
  if (communicator == nullptr) throw InputError("ranks need a communicator, not a null pointer");
  impl_ =
      with_others(*communicator, [&] { return std::make_unique<Impl>(ctx, communicator, a, std::move(options)); });
}

template <class T>
DistributedSystem<T>::~DistributedSystem() = default;
template <class T>
DistributedSystem<T>::DistributedSystem(DistributedSystem&&) noexcept = default;
template <class T>
DistributedSystem<T>& DistributedSystem<T>::operator=(DistributedSystem&&) noexcept = default;

template <class T>
Index DistributedSystem<T>::rows() const {
  return impl_->matrix->rows();
}
template <class T>
std::int64_t DistributedSystem<T>::first_row() const {
  return impl_->ctx->ranks()->first_row;
}
template <class T>
std::int64_t DistributedSystem<T>::all_rows() const {
  return impl_->ctx->ranks()->all_rows;
}

template <class T>
void DistributedSystem<T>::refresh(Span<const T, host> values) {
  Impl& s = *impl_;
  with_others(*s.communicator, [&] {
    s.matrix->refresh(*s.ctx, values);
    if (s.precond != nullptr) s.precond->refresh(*s.ctx, values);
    s.communicator->texts("");
    s.system->operator_changed();
  });
}

template <class T>
SolveReport DistributedSystem<T>::solve(Span<const T, host> b, Span<T, host> x, const ProgressFn& progress,
                                        InitialGuess guess) {
  Impl& s = *impl_;
  return with_others(*s.communicator, [&] {
    s.require_length(b);
    s.require_length(x);
    guess = s.agreed(guess, x);
    const SharedEnd end(*s.ctx, progress, s.stop);
    SolveReport report = s.in_rank_order(
        b, x, [&](auto in_b, auto in_x) { return s.system->solve(in_b, in_x, end.progress(), guess); });
    if (end.status() == Status::time_limit && report.status == Status::stopped_by_caller) {
      detail::overrule(report, Status::time_limit, {Cause::time_limit});
    }
    detail::max_over_ranks(*s.ctx, &report.seconds, 1);
    return report;
  });
}

template <class T>
void DistributedSystem<T>::multiply(Span<const T, host> x, Span<T, host> y) {
  Impl& s = *impl_;
  with_others(*s.communicator, [&] {
    s.require_length(x);
    s.require_length(y);
    s.in_rank_order(x, y, [&](auto in_x, auto in_y) {
      s.matrix->apply(*s.ctx, T(1), in_x, T(0), in_y);
      return true;
    });
  });
}

template <class T>
SystemInfo DistributedSystem<T>::info() const {
  SystemInfo info = impl_->system->info();
  if (impl_->precond != nullptr) info.preconditioner = impl_->precond->info();
  info.preconditioner_reason = impl_->precond_reason;
  return info;
}

template class DistributedSystem<double>;
template class DistributedSystem<float>;

}  // namespace newel
