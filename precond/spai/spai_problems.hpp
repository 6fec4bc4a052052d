// SPDX-License-Identifier: Apache-2.0
/// SpaiProblems: all local problems of a matrix with their solutions, and how they are refreshed. Internal.
#pragma once

#include <newel/precond/preconditioner.hpp>
#include "precond/spai/spai_numeric.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {

/// Which entries of M are searched for.
enum class SpaiPattern { diagonal, as_options_say };

/// N and B are those of spai_layout.hpp.
template <class T, Space S>
class SpaiProblems {
 public:
  /// Finds the pattern and solves, for the square canonical matrix `a` in `order`. Ends the phases "pattern" and
  /// "numeric".
  SpaiProblems(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
               SpaiPattern pattern, PhaseClock& clock);

  /// Solves for new values, in the order of the matrix that the value map of `a` pointed into. Allocates nothing;
  /// waits on the stream for the verdict.
  void refresh(const Context<S>& ctx, Span<const T, S> values);
  /// Of B, and the rest of `refresh` when they have been written.
  Slots<T, S> slots(const Context<S>& ctx);
  void solve(const Context<S>& ctx);

  Index rows() const { return rows_; }
  const Array<T, S>& values() const { return val_; }
  /// N's pattern, which the problems themselves need in S only. To be called once.
  Sparsity take_pattern() { return std::move(pattern_); }

  /// Adds fallbacks, residuals, density and bytes.
  void describe(OperatorInfo& info) const;

 private:
  Sparsity wanted(const Context<S>& ctx, const Sparsity& b, const RowOrder<S>& order, const PrecondOptions& options,
                  SpaiPattern pattern);
  Sparsity affordable(const Context<S>& ctx, const Sparsity& b, Sparsity pattern);
  void take_rows(const Context<S>& ctx, const CsrView<T, S>& a, const SourcedSparsity& b);

  Index rows_ = 0;
  Array<Offset, S> b_row_ptr_;
  Array<Index, S> b_col_;
  Array<T, S> b_val_;
  ValueMap<S> b_source_;  ///< where B's values stand among the caller's
  Sparsity pattern_;
  Array<Offset, S> row_ptr_;
  Array<Index, S> col_;
  Array<T, S> val_;
  Array<Index, S> touched_;
  Array<double, S> residual_, norm_;
  Array<SpaiVerdict, S> verdict_;
  SpaiScratchPtr<T, S> scratch_;
  SpaiVerdict last_verdict_;
  double last_norm_ = 0;  ///< |A M - I|_F or |M A - I|_F
  Index shortened_ = 0, limited_ = 0, most_rows_ = 0, most_columns_ = 0;
};

}  // namespace newel::detail
