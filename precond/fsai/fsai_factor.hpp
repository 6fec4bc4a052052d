// SPDX-License-Identifier: Apache-2.0
/// FsaiFactor: the values of G on its pattern, by local problems in A's lower triangle. Internal.
#pragma once

#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "precond/fsai/fsai_symbolic.hpp"

namespace newel::detail {

/// What the numeric phase found: the first row, in the caller's numbering, whose local problem is not positive
/// definite or overflows, and how many there are.
struct FsaiVerdict {
  unsigned long long first;
  unsigned long long count;
};

/// What the loops and kernels see of the operator.
template <class T>
struct FsaiView {
  Index rows = 0;
  const Offset* a_row_ptr = nullptr;  ///< A's lower triangle, the diagonal last in every row
  const Index* a_col = nullptr;
  const T* a_val = nullptr;
  const Offset* g_row_ptr = nullptr;
  const Index* g_col = nullptr;
  T* g_val = nullptr;
  const Index* user_row = nullptr;    ///< null: rows are in the caller's order
  const FsaiPiece* pieces = nullptr;  ///< of the rows, by class
  Index piece_count = 0;
  double* scratch = nullptr;  ///< scratch_groups times scratch_length
  std::int64_t scratch_length = 0;
  std::int64_t scratch_groups = 0;
  FsaiVerdict* verdict = nullptr;
};

/// For every row i, with J the columns of G in it, i last: the last row of the inverse of the Cholesky factor of
/// A(J, J). In double whatever T is: the local problems of a matrix rounded to float are as badly conditioned as A.
template <class T>
void fsai_numeric(const Context<Space::host>& ctx, const FsaiView<T>& view, const std::vector<FsaiClass>& classes);
template <class T>
void fsai_numeric(const Context<Space::device>& ctx, const FsaiView<T>& view, const std::vector<FsaiClass>& classes);

/// Bytes of its parts.
struct FsaiFactorBytes {
  std::uint64_t values = 0, pattern = 0, triangle = 0, problems = 0;
};

/// In the order of the matrix that its patterns are of.
template <class T, Space S>
class FsaiFactor {
 public:
  FsaiFactor() = default;
  /// Takes the patterns of A's lower triangle and of G, and its pieces, out of `symbolic`. `user_row`: the caller's
  /// number of each row; empty: the same.
  FsaiFactor(const Context<S>& ctx, FsaiSymbolic<S>& symbolic, Array<Index, S> user_row)
      : a_row_ptr_(std::move(symbolic.a_row_ptr)),
        g_row_ptr_(std::move(symbolic.g_row_ptr)),
        a_col_(std::move(symbolic.a_col)),
        g_col_(std::move(symbolic.g_col)),
        a_val_(ctx, a_col_.size()),
        g_val_(ctx, g_row_ptr_.empty() ? a_col_.size() : g_col_.size()),
        user_row_(std::move(user_row)),
        pieces_(std::move(symbolic.by_size.pieces)),
        classes_(std::move(symbolic.by_size.classes)),
        verdict_(ctx, 1) {
    const FsaiScratch scratch = fsai_scratch(machine_of(ctx), classes_, symbolic.longest);
    scratch_ = Array<double, S>(ctx, scratch.groups * scratch.length);
    const bool g_is_lower = g_row_ptr_.empty();
    view_.rows = static_cast<Index>(a_row_ptr_.size() - 1);
    view_.a_row_ptr = a_row_ptr_.data();
    view_.a_col = a_col_.data();
    view_.a_val = a_val_.data();
    view_.g_row_ptr = g_is_lower ? a_row_ptr_.data() : g_row_ptr_.data();
    view_.g_col = g_is_lower ? a_col_.data() : g_col_.data();
    view_.g_val = g_val_.data();
    view_.user_row = user_row_.data();
    view_.pieces = pieces_.data();
    view_.piece_count = static_cast<Index>(pieces_.size());
    view_.scratch = scratch_.data();
    view_.scratch_length = scratch.length;
    view_.scratch_groups = scratch.groups;
    view_.verdict = verdict_.data();
  }

  /// The values of A's lower triangle, to be written before `compute`.
  Span<T, S> triangle() { return a_val_.span(); }
  /// The values of G from those. Waits on the stream.
  FsaiVerdict compute(const Context<S>& ctx) {
    fsai_numeric(ctx, view_, classes_);
    return fetch(ctx, verdict_.cspan().data);
  }

  /// G, its rows ending with their diagonal entries; valid as long as the factor.
  CsrView<T, S> view() const {
    return CsrView<T, S>(view_.rows, view_.rows, Span<const Offset, S>(view_.g_row_ptr, Offset{view_.rows} + 1),
                         Span<const Index, S>(view_.g_col, g_val_.size()), g_val_.cspan());
  }
  Span<const Index, S> user_row() const { return user_row_.cspan(); }
  FsaiFactorBytes bytes() const {
    return {g_val_.bytes(), g_row_ptr_.bytes() + g_col_.bytes(), a_row_ptr_.bytes() + a_col_.bytes() + a_val_.bytes(),
            pieces_.bytes() + scratch_.bytes() + verdict_.bytes()};
  }

 private:
  Array<Offset, S> a_row_ptr_, g_row_ptr_;  ///< of G where its pattern is not A's lower triangle
  Array<Index, S> a_col_, g_col_;
  Array<T, S> a_val_, g_val_;
  Array<Index, S> user_row_;
  Array<FsaiPiece, S> pieces_;
  std::vector<FsaiClass> classes_;
  Array<double, S> scratch_;
  Array<FsaiVerdict, S> verdict_;
  FsaiView<T> view_;
};

}  // namespace newel::detail
