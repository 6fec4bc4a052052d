// SPDX-License-Identifier: Apache-2.0
/// FactorChain: the factors of a matrix by the factorisation that is estimated to be fastest, and by others if these
/// do not serve. Internal.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <newel/solver/failure.hpp>
#include "solver/cost/too_long.hpp"
#include "solver/direct/completed_matrix.hpp"
#include "solver/direct/scaled_factors.hpp"

namespace newel::detail {

/// Throws TooLong, which says so, if `seconds` is more than is allowed. `ask_again` is what the error carries.
void require_time(double seconds, double most_seconds, double ask_again);

/// On the host, in double precision. Nothing is believed of the factors: the caller forms b - A x, and asks for
/// others if these do not serve. A structurally singular matrix has none: those of a CompletedMatrix follow, which
/// solve every system that has a solution, and show of others that they have none.
class FactorChain {
 public:
  using HostContext = Context<Space::host>;

  /// Orders the matrix and analyses it; its values come later. `rows` is the pattern by rows. The table outlives
  /// this. Throws TooLong if the factorisation is estimated to take longer than `most_seconds`, InputError if the
  /// table has none whose library is there, and OutOfMemory.
  FactorChain(const HostContext& ctx, const std::vector<HostFactorisation>& table, ColumnPattern rows, bool symmetric,
              double most_seconds);

  /// Of the present factors, as in Factorisation, and what else they are factors of.
  const std::string& title() const { return title_; }
  /// Where the values of the entries by rows are to be written. They are factorised when `factorise` is called.
  std::vector<double>& new_values();
  /// False: there are no factors of these values. Throws OutOfMemory, and TooLong if other values need an order anew.
  [[nodiscard]] bool factorise(const HostContext& ctx);
  /// Replaces v by 2^exponent inverse(A) v, as far as the factors allow; v may be several columns, one after another.
  void solve(std::vector<double>& v, int exponent) {
    factors_->solve(v, exponent);
    matrix_.clear_idle(v);
  }
  /// Takes other pivots, or another factorisation, in place of this one. False: there is none, or it was refused.
  [[nodiscard]] bool next(const HostContext& ctx);
  /// What would have been next, but for time or memory.
  const std::vector<Untried>& refused() const { return refused_; }
  /// The seconds that would have to be allowed for it; 0: it was not time that it lacked.
  double seconds_of_refused() const { return seconds_of_refused_; }
  /// Entries that what is factorised has more than A; 0: it is A.
  Index added() const { return matrix_.added(); }
  /// With more entries than A, as `solve` of the v for which |v - A x| is least. The result is what remains of v for
  /// every x, or 0 if that is not known.
  double solve_least_squares(std::vector<double>& v, int exponent);
  /// What the present factors, or that there are none, say of A. False: not that it is singular. Rows and columns are
  /// numbered as in the pattern.
  bool find_singular(const HostContext& ctx, Failure& failure);

 private:
  enum class State { values_are_new, factorised, no_factors };

  bool take_any(const HostContext& ctx);
  bool take_best(const HostContext& ctx, bool symmetric);
  std::unique_ptr<ScaledFactors> best_left(bool symmetric, double& ask_again) const;
  bool complete(const HostContext& ctx);

  const std::vector<HostFactorisation>* table_;
  CompletedMatrix matrix_;
  bool symmetric_;
  double most_seconds_;
  std::uint64_t factor_bytes_ = 0;  // an estimate
  std::vector<const HostFactorisation*> taken_;
  std::string title_;
  std::unique_ptr<ScaledFactors> factors_;
  State state_ = State::values_are_new;
  std::vector<Untried> refused_;
  double seconds_of_refused_ = 0;
};

}  // namespace newel::detail
