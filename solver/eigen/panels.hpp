// SPDX-License-Identifier: Apache-2.0
/// Panels: many vectors in groups of eight, and the two operations that combine them. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/spmv/operator.hpp>
#include "solver/recycle/symmetric_eigen.hpp"

namespace newel::detail {

/// Up to `most` vectors of n rows. The first eight are interleaved (value i k + c is entry i of vector c, k = 8), and
/// so are the next eight; the last panel has 1, 2, 4 or 8. Vectors that fill it up are zero or repeat what a product
/// made of zeros.
template <Space S>
class Panels {
 public:
  static constexpr int width = 8;

  Panels() = default;
  Panels(const Context<S>& ctx, std::int64_t rows, int most)
      : values_(ctx, rows * ((most + width - 1) / width * width)), rows_(rows) {}

  /// Another number of vectors, whose values are undefined.
  void resize(int columns) { columns_ = columns; }

  std::int64_t rows() const { return rows_; }
  int columns() const { return columns_; }
  int panels() const { return (columns_ + width - 1) / width; }
  /// Vectors of a panel that are used, and that it has.
  int used(int panel) const { return columns_ - panel * width < width ? columns_ - panel * width : width; }
  int stored(int panel) const {
    const int in_use = used(panel);
    return in_use > 4 ? 8 : in_use > 2 ? 4 : in_use;
  }
  Span<double, S> panel(int p) { return values_.span().subspan(p * width * rows_, stored(p) * rows_); }
  Span<const double, S> panel(int p) const { return values_.cspan().subspan(p * width * rows_, stored(p) * rows_); }

 private:
  Array<double, S> values_;
  std::int64_t rows_ = 0;
  int columns_ = 0;
};

/// One panel, for the operations below.
struct PanelView {
  const double* values;
  int width;  ///< 1, 2, 4 or 8
};

/// sums[i b.width + j] = a_i.b_j, or with weights w the sum of w_r a_ri b_rj. `sums` has a.width b.width values in S,
/// `partial` is scratch of `panel_scratch` doubles.
void panel_dots(const Context<Space::host>& ctx, std::int64_t n, PanelView a, PanelView b, const double* weights,
                double* sums, double* partial);
void panel_dots(const Context<Space::device>& ctx, std::int64_t n, PanelView a, PanelView b, const double* weights,
                double* sums, double* partial);

/// Columns `first` to first + count - 1 of what the kernels combine: to = sum over the panels p of p C_p, where C_p
/// are the next p.width rows of `coefficients`, which lies in S and has `to_width` columns. With `adds` the sum is
/// added to `to`. At most `most_combined` panels.
constexpr int most_combined = 12;
struct PanelList {
  PanelView panel[most_combined];
  int count = 0;
};
void combine_panels(const Context<Space::host>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to, int to_width);
void combine_panels(const Context<Space::device>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to, int to_width);

/// Doubles of scratch for `panel_dots`.
std::int64_t panel_scratch(const Context<Space::host>& ctx, std::int64_t n);
std::int64_t panel_scratch(const Context<Space::device>& ctx, std::int64_t n);

/// Operations with Panels, and the memory that they need.
template <Space S>
class PanelAlgebra {
 public:
  PanelAlgebra(const Context<S>& ctx, std::int64_t rows, int most_columns);

  /// A^T B, or A^T W B with the weights on the diagonal of W. Waits for the stream.
  SmallMatrix dots(const Panels<S>& a, const Panels<S>& b, Span<const double, S> weights = {});
  /// to = the columns of all terms side by side, times `coefficients`, which has as many rows. `to` must be none of
  /// them, and gets as many columns as `coefficients` has.
  void combine(const std::vector<const Panels<S>*>& terms, const SmallMatrix& coefficients, Panels<S>& to);
  /// to = op from; a copy for null.
  void apply(const LinearOperator<double, S>* op, const Panels<S>& from, Panels<S>& to);
  /// Columns that lie one after another, and back: `to` keeps its number of columns.
  void from_columns(Span<const double, S> columns, Panels<S>& to);
  void to_columns(const Panels<S>& from, int columns, Span<double, S> to);

 private:
  void reserve(int columns);

  const Context<S>& ctx_;
  std::int64_t rows_;
  Array<double, S> partial_, sums_, coefficients_;
  Array<char, S> work_;
  std::vector<double> host_;
};

}  // namespace newel::detail
