// SPDX-License-Identifier: Apache-2.0
/// SolutionRing: the differences of the last solutions of a sequence, and their products with A. Internal.
#pragma once

#include <newel/core/array.hpp>

namespace newel::detail {

/// D has m columns, the differences of the last solutions and those before them, C has A D. Columns are replaced in
/// turn; the unused ones are zero.
template <class T, Space S>
class SolutionRing {
 public:
  explicit SolutionRing(int columns) : m_(columns) {}

  /// For solutions of length n. Throws OutOfMemory.
  void allocate(const Context<S>& ctx, std::int64_t n);
  bool allocated() const { return allocated_; }

  int columns() const { return m_; }
  /// Those in use, and the one that is replaced next.
  int held() const { return held_; }
  int next() const { return next_; }
  Span<T, S> difference(int column) { return D_.span().subspan(column * n_, n_); }
  Span<T, S> image(int column) { return C_.span().subspan(column * n_, n_); }
  Span<T, S> last() { return last_.span(); }

  /// The column of that age: 0 is the newest.
  int of_age(int age) const { return (next_ - 1 - age + 2 * m_) % m_; }
  /// Whether a column is in use and at least as old as another.
  bool is_older(int column, int than) const;

  /// Keeps the difference of x and the last solution. Returns its column.
  int add(const Context<S>& ctx, Span<const T, S> x);
  /// As another run left it; the caller writes the vectors.
  void begin_state(const Context<S>& ctx, int held, int next);

 private:
  int m_;
  std::int64_t n_ = 0;
  int held_ = 0, next_ = 0;
  bool allocated_ = false;
  Array<T, S> D_, C_, last_;
};

}  // namespace newel::detail
