// SPDX-License-Identifier: Apache-2.0
// Operations with all panels of vectors, by those of single panels.
#include "solver/eigen/panels.hpp"

#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

constexpr std::int64_t panel_sums = 64;  // of two full panels

template <Space S>
PanelView view_of(const Panels<S>& a, int panel) {
  return {a.panel(panel).data, a.stored(panel)};
}

// Rows of the coefficients as the panels of all terms are stored, and columns `first` to first + width - 1; zeros for
// vectors that only fill a panel up.
template <Space S>
std::vector<double> stored_coefficients(const std::vector<const Panels<S>*>& terms, const SmallMatrix& given,
                                        int first, int width) {
  std::vector<double> stored;
  int row = 0;
  for (const Panels<S>* const term : terms) {
    for (int p = 0; p < term->panels(); ++p) {
      for (int c = 0; c < term->stored(p); ++c) {
        const bool used = c < term->used(p);
        for (int j = 0; j < width; ++j)
          stored.push_back(used && first + j < given.cols ? given(row, first + j) : 0.0);
        row += used ? 1 : 0;
      }
    }
  }
  return stored;
}

}  // namespace

template <Space S>
PanelAlgebra<S>::PanelAlgebra(const Context<S>& ctx, std::int64_t rows, int most_columns)
    : ctx_(ctx), rows_(rows), partial_(ctx, panel_scratch(ctx, rows)) {
  const std::int64_t panels = (most_columns + Panels<S>::width - 1) / Panels<S>::width;
  sums_ = Array<double, S>(ctx, panels * panels * panel_sums);
}

template <Space S>
SmallMatrix PanelAlgebra<S>::dots(const Panels<S>& a, const Panels<S>& b, Span<const double, S> weights) {
  SmallMatrix result(a.columns(), b.columns());
  if (a.columns() == 0 || b.columns() == 0) return result;
  std::int64_t at = 0;
  for (int p = 0; p < a.panels(); ++p) {
    for (int q = 0; q < b.panels(); ++q, at += panel_sums)
      panel_dots(ctx_, rows_, view_of(a, p), view_of(b, q), weights.data, sums_.data() + at, partial_.data());
  }
  host_.resize(static_cast<std::size_t>(at));
  copy<double>(ctx_, Span<const double, S>(sums_.data(), at), Span<double, Space::host>(host_));
  const double* sums = host_.data();
  for (int p = 0; p < a.panels(); ++p) {
    for (int q = 0; q < b.panels(); ++q, sums += panel_sums) {
      for (int i = 0; i < a.used(p); ++i) {
        for (int j = 0; j < b.used(q); ++j)
          result(p * Panels<S>::width + i, q * Panels<S>::width + j) = sums[i * b.stored(q) + j];
      }
    }
  }
  return result;
}

template <Space S>
void PanelAlgebra<S>::combine(const std::vector<const Panels<S>*>& terms, const SmallMatrix& coefficients,
                              Panels<S>& to) {
  to.resize(coefficients.cols);
  std::vector<PanelView> views;
  for (const Panels<S>* const term : terms) {
    for (int p = 0; p < term->panels(); ++p) views.push_back(view_of(*term, p));
  }
  for (int p = 0; p < to.panels(); ++p) {
    const int width = to.stored(p);
    if (views.empty()) fill(ctx_, 0.0, to.panel(p));
    const std::vector<double> stored = stored_coefficients(terms, coefficients, p * Panels<S>::width, width);
    const auto size = static_cast<std::int64_t>(stored.size());
    if (coefficients_.size() < size) coefficients_ = Array<double, S>(ctx_, 2 * size);
    copy<double>(ctx_, Span<const double, Space::host>(stored), coefficients_.span().subspan(0, size));
    const double* next = coefficients_.data();
    for (std::size_t first = 0; first < views.size(); first += most_combined) {
      PanelList list;
      std::int64_t rows = 0;
      for (std::size_t v = first; v < views.size() && list.count < most_combined; ++v, ++list.count) {
        list.panel[list.count] = views[v];
        rows += views[v].width;
      }
      combine_panels(ctx_, rows_, list, next, first > 0, to.panel(p).data, width);
      next += rows * width;
    }
  }
}

template <Space S>
void PanelAlgebra<S>::apply(const LinearOperator<double, S>* op, const Panels<S>& from, Panels<S>& to) {
  to.resize(from.columns());
  for (int p = 0; p < from.panels(); ++p) {
    if (op == nullptr) {
      copy<double>(ctx_, from.panel(p), to.panel(p));
      continue;
    }
    const int columns = from.stored(p);
    const auto bytes = static_cast<std::int64_t>(op->column_work_bytes(columns));
    if (work_.size() < bytes) work_ = Array<char, S>(ctx_, bytes);
    op->apply_columns(ctx_, columns, 1.0, from.panel(p), 0.0, to.panel(p), work_.span());
  }
}

template <Space S>
void PanelAlgebra<S>::from_columns(Span<const double, S> columns, Panels<S>& to) {
  for (int p = 0; p < to.panels(); ++p) {
    if (to.used(p) < to.stored(p)) fill(ctx_, 0.0, to.panel(p));
    for (int c = 0; c < to.used(p); ++c)
      put_column<double, S>(ctx_, columns.subspan((p * Panels<S>::width + c) * rows_, rows_), to.stored(p), c,
                            to.panel(p));
  }
}

template <Space S>
void PanelAlgebra<S>::to_columns(const Panels<S>& from, int columns, Span<double, S> to) {
  for (int c = 0; c < columns; ++c) {
    const int p = c / Panels<S>::width;
    take_column<double, S>(ctx_, from.panel(p), from.stored(p), c % Panels<S>::width, to.subspan(c * rows_, rows_));
  }
}

#define X(S) template class PanelAlgebra<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
