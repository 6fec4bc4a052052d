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
#include "core/memory/work_limit.hpp"
#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace newel::detail {
namespace {

// Entries are numbered by Index.
constexpr double most_entries = std::numeric_limits<Index>::max();

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g s", seconds);
  return text;
}

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
    : table_(&table), rows_(std::make_shared<const ColumnPattern>(std::move(rows))), most_seconds_(most_seconds) {
  if (symmetric && take_best(ctx, true)) return;
  if (take_best(ctx, false)) return;
  throw InputError("this build of Newel has no direct solver here: it needs a library of the package " +
                   packages_of(table));
}

std::vector<double>& FactorChain::new_values() {
  values_.resize(rows_->row.size());
  state_ = State::values_are_new;
  return values_;
}

bool FactorChain::factorise() {
  if (state_ != State::values_are_new) return state_ == State::factorised;
  state_ = State::no_factors;
  within_memory([&] {
    if (factors_->factorise(values_)) state_ = State::factorised;
  });
  return state_ == State::factorised;
}

bool FactorChain::next(const HostContext& ctx) {
  if (!refused_.empty()) return false;
  bool anew = false;
  within_memory([&] { anew = state_ == State::factorised && factors_->choose_pivots_anew(); });
  if (anew) return true;
  const auto refuse = [&](const Error& e) { refused_.push_back({"L U with row pivoting", e.what()}); };
  try {
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

// False: there is none left. The present factors stay unless others are there.
bool FactorChain::take_best(const HostContext& ctx, bool symmetric) {
  std::unique_ptr<ScaledFactors> best;
  double ask_again = std::numeric_limits<double>::infinity();
  within_memory([&] { best = best_left(symmetric, ask_again); });
  if (best == nullptr) return false;
  require_limits(ctx, best->cost(), ask_again);
  within_memory([&] { best->analyse(); });
  taken_.push_back(&best->kind());
  factors_ = std::move(best);
  state_ = State::values_are_new;
  return true;
}

// Of those for symmetric matrices, or for all, which have not been taken. Of what is infinite, the count stopped:
// then more seconds may show that it takes less than the others.
std::unique_ptr<ScaledFactors> FactorChain::best_left(bool symmetric, double& ask_again) const {
  const double entries = rows_->entries(), to_look_on = factor_limits.seconds_to_look_on_an_entry * entries;
  const double squares = most_seconds_ * factor_constants.lu_squares_per_second;
  const double most = std::min(most_entries, std::sqrt(squares * (entries + 1)));
  std::unique_ptr<ScaledFactors> best;
  SymmetricOrders orders(*rows_);
  for (const HostFactorisation* const row : in_turn(*table_, symmetric, rows_->entries())) {
    if (best != nullptr && best->cost().seconds <= to_look_on) break;
    const bool taken = std::find(taken_.begin(), taken_.end(), row) != taken_.end();
    if (taken || !row->missing().empty()) continue;
    auto made = std::make_unique<ScaledFactors>(*row, rows_, most, most_seconds_, orders);
    const double seconds = made->cost().seconds;
    ask_again = std::min(ask_again, std::isfinite(seconds) ? seconds : factor_limits.ask_again * most_seconds_);
    if (best == nullptr || made->cost().seconds < best->cost().seconds) best = std::move(made);
  }
  return best;
}

void FactorChain::require_limits(const HostContext& ctx, const FactorCost& cost, double ask_again) {
  require_time(cost.seconds, most_seconds_, ask_again);
  if (!std::isfinite(cost.bytes)) throw InputError("its factors would have too many entries to be numbered");
  factor_bytes_ = static_cast<std::uint64_t>(cost.bytes);
  require_available(ctx, "the factors of the matrix (an estimate)", factor_bytes_);
}

// The libraries allocate by themselves.
template <class Work>
void FactorChain::within_memory(const Work& work) const {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_of(Space::host), "the factors of the matrix (an estimate)", factor_bytes_, {});
  }
}

// If the pattern of the values alone makes the matrix singular, and time is left to find that.
void FactorChain::name_unmatched(const HostContext& ctx, Failure& failure) const {
  ProductMatching m;
  try {
    m = matching_of(ctx, *rows_, values_);
  } catch (const WorkInterrupted&) {
    return;
  }
  if (m.perfect()) return;
  failure.structural_rank = m.matched;
  failure.unmatched_row = m.unmatched_row();
  failure.unmatched_column = m.unmatched_column();
}

bool FactorChain::find_singular(const HostContext& ctx, Failure& failure) {
  if (state_ == State::no_factors) {
    if (!std::all_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); })) return false;
    name_unmatched(ctx, failure);
    failure.condition = std::numeric_limits<double>::infinity();
    return true;
  }
  constexpr double no_digit = 1 / std::numeric_limits<double>::epsilon();
  failure.condition = factors_->condition();
  if (!(failure.condition >= no_digit)) return false;
  name_unmatched(ctx, failure);  // rounding may hide a pivot of 0
  return true;
}

}  // namespace newel::detail
