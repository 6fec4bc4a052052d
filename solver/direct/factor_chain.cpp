// SPDX-License-Identifier: Apache-2.0
// Which factorisation is taken, within which limits, and what its failure says of A.
#include "solver/direct/factor_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include <newel/core/error.hpp>
#include "core/memory/available_memory.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace newel::detail {
namespace {

// Entries are numbered by Index.
constexpr double most_entries = std::numeric_limits<Index>::max();
// A condition number of which leaves no digit.
constexpr double no_digit = 1 / std::numeric_limits<double>::epsilon();

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g s", seconds);
  return text;
}

std::string entries_text(Index entries) { return std::to_string(entries) + (entries == 1 ? " entry" : " entries"); }

std::string packages_of(const std::vector<HostFactorisation>& table) {
  std::string list;
  for (const HostFactorisation& row : table) {
    if (list.find(row.about.package) != std::string::npos) continue;
    list += (list.empty() ? "" : " or ") + row.about.package;
  }
  return list.empty() ? "libeigen3-dev" : list;
}

// Of the table, in the order in which they are looked at.
std::vector<const HostFactorisation*> in_turn(const std::vector<HostFactorisation>& table, bool symmetric,
                                              Index entries) {
  std::vector<const HostFactorisation*> rows;
  for (const bool fewer : {false, true}) {
    for (const HostFactorisation& row : table) {
      if (row.symmetric == symmetric && (entries < row.fewest_entries) == fewer) rows.push_back(&row);
    }
  }
  return rows;
}

constexpr const char* what_is_allocated = "the factors of the matrix (an estimate)";

// The libraries allocate by themselves.
template <class Work>
void within_memory(std::uint64_t bytes, const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_of(Space::host), what_is_allocated, bytes, {});
  }
}

// The bytes that the factors take.
std::uint64_t require_limits(const Context<Space::host>& ctx, const FactorCost& cost, double most_seconds,
                             double ask_again) {
  require_time(cost.seconds, most_seconds, ask_again);
  if (!std::isfinite(cost.bytes)) throw InputError("its factors would have too many entries to be numbered");
  const auto bytes = static_cast<std::uint64_t>(cost.bytes);
  require_available(ctx, what_is_allocated, bytes);
  return bytes;
}

}  // namespace

void require_time(double seconds, double most_seconds, double ask_again) {
  if (seconds <= most_seconds) return;
  const std::string about = std::isfinite(seconds) ? "about " + seconds_text(seconds) + ", " : "";
  throw TooLong("its factors would take " + about + "more than the " + seconds_text(most_seconds) +
                    " that are allowed (an estimate)",
                ask_again);
}

FactorChain::FactorChain(const HostContext& ctx, const std::vector<HostFactorisation>& table, ColumnPattern rows,
                         bool symmetric, double most_seconds)
    : table_(&table), matrix_(std::move(rows)), symmetric_(symmetric), most_seconds_(most_seconds) {
  if (take_any(ctx)) return;
  throw InputError("this build of Newel has no direct solver here: it needs a library of the package " +
                   packages_of(table));
}

std::vector<double>& FactorChain::new_values() {
  state_ = State::values_are_new;
  return matrix_.new_values();
}

bool FactorChain::factorise(const HostContext& ctx) {
  if (state_ != State::values_are_new) return state_ == State::factorised;
  state_ = State::no_factors;
  const double to_match = factor_limits.seconds_to_look_on_an_entry * matrix_.rows()->entries();  // and more
  if (matrix_.renew(ctx)) {
    taken_.clear();
    if (!take_any(ctx)) return false;
  } else if (factors_->cost().seconds > to_match && !matrix_.has_full_diagonal()) {
    complete(ctx);
  }
  state_ = State::no_factors;
  within_memory(factor_bytes_, [&] {
    if (factors_->factorise(matrix_.values())) state_ = State::factorised;
  });
  return state_ == State::factorised;
}

// Where A has no factors since it is structurally singular. False: it is not, or they would take too much.
bool FactorChain::complete(const HostContext& ctx) {
  if (matrix_.added() > 0 || (state_ == State::factorised && !(factors_->condition() >= no_digit))) return false;
  if (!matrix_.complete(ctx)) return false;
  taken_.clear();
  try {
    if (take_any(ctx)) return true;
  } catch (...) {
    matrix_.take_A();
    throw;
  }
  matrix_.take_A();
  return false;
}

bool FactorChain::next(const HostContext& ctx) {
  if (!refused_.empty()) return false;
  bool anew = false;
  within_memory(factor_bytes_, [&] { anew = state_ == State::factorised && factors_->choose_pivots_anew(); });
  if (anew) return true;
  const auto refuse = [&](const Error& e) { refused_.push_back({"L U with row pivoting", e.what()}); };
  try {
    if (complete(ctx)) return true;
    if (factors_->kind().symmetric && take_best(ctx, true)) return true;
    return take_best(ctx, false);
  } catch (const TooLong& e) {
    refuse(e);
    seconds_of_refused_ = e.seconds();
  } catch (const InputError& e) {
    refuse(e);
  } catch (const OutOfMemory& e) {
    refuse(e);
  }
  return false;
}

// Of those for symmetric matrices first, if it is one. False: there is none.
bool FactorChain::take_any(const HostContext& ctx) {
  return (symmetric_ && matrix_.adds_symmetric() && take_best(ctx, true)) || take_best(ctx, false);
}

// False: there is none left. The present factors stay unless others are there.
bool FactorChain::take_best(const HostContext& ctx, bool symmetric) {
  std::unique_ptr<ScaledFactors> best;
  double ask_again = std::numeric_limits<double>::infinity();
  within_memory(factor_bytes_, [&] { best = best_left(symmetric, ask_again); });
  if (best == nullptr) return false;
  factor_bytes_ = require_limits(ctx, best->cost(), most_seconds_, ask_again);
  within_memory(factor_bytes_, [&] { best->analyse(); });
  taken_.push_back(&best->kind());
  factors_ = std::move(best);
  title_ = factors_->kind().about.title;
  if (matrix_.added() > 0) title_ += " of A with " + entries_text(matrix_.added()) + " more";
  state_ = State::values_are_new;
  return true;
}

// Of those for symmetric matrices, or for all, which have not been taken. Of what is infinite, the count stopped:
// then more seconds may show that it takes less than the others.
std::unique_ptr<ScaledFactors> FactorChain::best_left(bool symmetric, double& ask_again) const {
  const std::shared_ptr<const ColumnPattern>& rows = matrix_.rows();
  const double entries = rows->entries(), to_look_on = factor_limits.seconds_to_look_on_an_entry * entries;
  const double squares = most_seconds_ * factor_constants.lu_squares_per_second;
  const double most = std::min(most_entries, std::sqrt(squares * (entries + 1)));
  std::unique_ptr<ScaledFactors> best;
  SymmetricOrders orders(*rows, most, most_seconds_);
  for (const HostFactorisation* const row : in_turn(*table_, symmetric, rows->entries())) {
    if (best != nullptr && best->cost().seconds <= to_look_on) break;
    const bool taken = std::find(taken_.begin(), taken_.end(), row) != taken_.end();
    if (taken || !row->missing().empty()) continue;
    auto made = std::make_unique<ScaledFactors>(*row, rows, most, orders);
    const double seconds = made->cost().seconds;
    ask_again = std::min(ask_again, std::isfinite(seconds) ? seconds : factor_limits.ask_again * most_seconds_);
    if (best == nullptr || made->cost().seconds < best->cost().seconds) best = std::move(made);
  }
  return best;
}

double FactorChain::solve_least_squares(std::vector<double>& v, int exponent) {
  const auto by_factors = [&](std::vector<double>& w) { factors_->solve(w, 0); };
  const auto by_transpose = [&](std::vector<double>& w) { factors_->solve_transposed(w); };
  LeastResidual found = matrix_.least_squares(std::move(v), by_factors, by_transpose);
  v = std::move(found.in_range);
  solve(v, exponent);
  return found.least;
}

bool FactorChain::find_singular(const HostContext& ctx, Failure& failure) {
  if (matrix_.added() > 0 || state_ == State::no_factors) {
    if (!matrix_.is_finite()) return false;
    failure.condition = std::numeric_limits<double>::infinity();
  } else {
    failure.condition = factors_->condition();
    if (!(failure.condition >= no_digit)) return false;
  }
  matrix_.name_unmatched(ctx, failure);  // rounding may hide a pivot of 0
  return true;
}

}  // namespace newel::detail
