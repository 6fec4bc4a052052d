// SPDX-License-Identifier: Apache-2.0
// C and R by Gram-Schmidt, what they add to x, and what they say of a cycle.
#include "solver/recycle/cycle_images.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// Of the squared length of B u, what must be independent of the others.
constexpr double least_of_image = 1e-12;
template <class T, class B, Space S>
void round_to(const Context<S>& ctx, Span<const T, S> from, Span<B, S> to) {
  if constexpr (std::is_same_v<T, B>) {
    copy<T>(ctx, from, to);
  } else {
    convert<T, B, S>(ctx, from, to);
  }
}

}  // namespace

template <class T, Space S, class B>
void CycleImages<T, S, B>::make_room(const Context<S>& ctx) {
  if (!numbers_.empty()) return;
  Array<T, S> source(ctx, n_);
  Array<double, S> partial(ctx, basis_scratch(ctx, n_, room_ + length_ + 1));
  const MonitorState running{};
  running_ = make_array(ctx, Span<const MonitorState, Space::host>(&running, 1));
  numbers_ = Array<double, S>(ctx, std::int64_t{room_ + 2} * (room_ + length_ + 3));
  source_ = std::move(source), partial_ = std::move(partial);
}

template <class T, Space S, class B>
void CycleImages<T, S, B>::prepare(const Context<S>& ctx, RecycledVectors<S>& U, const Product& product, B* V,
                                   Span<T, S> image) {
  held_ = std::min(U.held(), room_);
  if (version_ == U.version()) return;
  R_ = SmallMatrix(held_, held_);
  active_.clear();
  for (int j = 0; j < held_; ++j) {
    convert<float, T, S>(ctx, U.vector(j), source_.span());
    product(source_.cspan(), image);
    if (!add_image(ctx, V - std::int64_t{held_} * n_, j, image)) fill<float, S>(ctx, 0.0F, U.vector(j));
  }
  U.prepared();
  version_ = U.version();
}

// Column j of C and of R, by Gram-Schmidt twice. False: B u is not finite.
template <class T, Space S, class B>
bool CycleImages<T, S, B>::add_image(const Context<S>& ctx, B* C, int column, Span<T, S> image) {
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  double *const first = numbers_.data(), *const second = first + column + 1, *const after = second + column + 1;
  if (column == 0) {
    dot<T, S>(ctx, image, image, first);
    dot<T, S>(ctx, image, image, after);
  } else {
    basis_dot(ctx, open, C, n_, column, image.data, first, partial_.data());
    basis_subtract(ctx, open, C, n_, column, first, image.data, after, partial_.data());
    basis_dot(ctx, open, C, n_, column, image.data, second, partial_.data());
    basis_subtract(ctx, open, C, n_, column, second, image.data, after, partial_.data());
  }
  const std::vector<double> found = to_vector(ctx, numbers_.cspan().subspan(0, 2 * column + 3));
  const auto at = [&](int k) { return found[static_cast<std::size_t>(k)]; };
  const double before = at(column), left = at(2 * column + 2);
  const Span<B, S> to{C + std::int64_t{column} * n_, n_};
  if (!std::isfinite(before) || !(left > least_of_image * before)) {
    fill<B, S>(ctx, B(0), to);
    R_(column, column) = 1;
    return std::isfinite(before);
  }
  for (int i = 0; i < column; ++i) R_(i, column) = at(i) + at(column + 1 + i);
  R_(column, column) = std::sqrt(left);
  scale<T, S>(ctx, static_cast<T>(1 / std::sqrt(left)), image);
  round_to<T, B, S>(ctx, image, to);
  active_.push_back(column);
  return true;
}

template <class T, Space S, class B>
double CycleImages<T, S, B>::project(const Context<S>& ctx, const B* V, Span<T, S> r) {
  const B* const C = V - std::int64_t{held_} * n_;
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  double *const first = numbers_.data(), *const second = first + held_ + 1, *const after = second + held_ + 1;
  for (double* const h : {first, second}) {
    basis_dot(ctx, open, C, n_, held_, r.data, h, partial_.data());
    basis_subtract(ctx, open, C, n_, held_, h, r.data, after, partial_.data());
  }
  const std::vector<double> found = to_vector(ctx, numbers_.cspan().subspan(0, 2 * held_ + 3));
  projected_.assign(found.begin(), found.begin() + held_);
  for (int i = 0; i < held_; ++i)
    projected_[static_cast<std::size_t>(i)] += found[static_cast<std::size_t>(held_ + 1 + i)];
  return std::sqrt(found.back());
}

template <class T, Space S, class B>
void CycleImages<T, S, B>::add_vectors(const Context<S>& ctx, RecycledVectors<S>& U, Span<const double, S> small,
                                       int columns, Span<T, S> w) {
  std::vector<double> s = projected_;
  if (columns > 0) {
    std::vector<double> numbers = to_vector(ctx, small);
    for (int j = 0; j < columns; ++j) {
      const GmresArrays a(numbers.data(), length_, room_, j);
      for (int i = 0; i < held_; ++i)
        s[static_cast<std::size_t>(i)] -= (a.h[i - held_] + a.h2[i - held_]) * a.y[j];  // C^T r - P y
    }
  }
  for (int i = held_; i-- > 0;) {
    double& value = s[static_cast<std::size_t>(i)];
    for (int j = i + 1; j < held_; ++j) value -= R_(i, j) * s[static_cast<std::size_t>(j)];
    value /= R_(i, i);
  }
  for (double& value : s) value = -value;
  copy<double>(ctx, Span<const double, Space::host>(s.data(), held_), numbers_.span().subspan(0, held_));
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  basis_subtract(ctx, open, U.vector(0).data, n_, held_, numbers_.data(), w.data, numbers_.data() + held_,
                 partial_.data());
}

// [C V]^T U of the vectors that are independent, row after row.
template <class T, Space S, class B>
std::vector<double> CycleImages<T, S, B>::vectors_part(const Context<S>& ctx, RecycledVectors<S>& U, const B* V,
                                                       int columns) {
  const int all = held_ + columns + 1, kept = static_cast<int>(active_.size());
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  for (int a = 0; a < kept; ++a) {
    convert<float, T, S>(ctx, U.vector(active_[static_cast<std::size_t>(a)]), source_.span());
    basis_dot(ctx, open, V - std::int64_t{held_} * n_, n_, all, source_.data(),
              numbers_.data() + std::int64_t{a} * (all + 1), partial_.data());
  }
  const std::vector<double> found = to_vector(ctx, numbers_.cspan().subspan(0, std::int64_t{kept} * (all + 1)));
  std::vector<double> rows;
  const auto add_row = [&](int row) {
    for (int a = 0; a < kept; ++a) rows.push_back(found[static_cast<std::size_t>(a * (all + 1) + row)]);
  };
  for (const int i : active_) add_row(i);
  for (int i = held_; i < all; ++i) add_row(i);
  return rows;
}

template <class T, Space S, class B>
CycleRelation CycleImages<T, S, B>::relation(const Context<S>& ctx, RecycledVectors<S>& U,
                                             Span<const double, S> small, const B* V, int columns) {
  std::vector<double> numbers = to_vector(ctx, small);
  const int kept = held_ > 0 ? static_cast<int>(active_.size()) : 0;
  CycleRelation cycle{SmallMatrix(kept, kept),
                      SmallMatrix(kept, columns),
                      SmallMatrix(columns, columns),
                      {},
                      {},
                      SmallMatrix(kept + columns + 1, kept)};
  const auto active = [&](int a) { return active_[static_cast<std::size_t>(a)]; };
  for (int a = 0; a < kept; ++a) {
    for (int c = a; c < kept; ++c) cycle.R(a, c) = R_(active(a), active(c));
  }
  for (int j = 0; j < columns; ++j) {
    const GmresArrays a(numbers.data(), length_, room_, j);
    for (int i = 0; i < kept; ++i) cycle.P(i, j) = a.h[active(i) - held_] + a.h2[active(i) - held_];
    for (int i = 0; i <= j; ++i) cycle.triangle(i, j) = a.R[j * length_ + i];
    cycle.cosine.push_back(a.cosine[j]);
    cycle.sine.push_back(a.sine[j]);
  }
  if (kept > 0) cycle.products.values = vectors_part(ctx, U, V, columns);
  return cycle;
}

// Combinations of [U V], one for each row.
template <class T, Space S, class B>
void CycleImages<T, S, B>::combine(const Context<S>& ctx, RecycledVectors<S>& U, const B* V, int columns,
                                   const SmallMatrix& rows, Span<float, S> made) {
  const int kept = rows.cols - columns;
  std::vector<double> factors;
  for (int i = 0; i < rows.rows; ++i) {
    for (int j = 0; j < columns; ++j) factors.push_back(rows(i, kept + j));
    std::vector<double> of_U(static_cast<std::size_t>(held_), 0.0);
    for (int a = 0; a < kept; ++a) of_U[static_cast<std::size_t>(active_[static_cast<std::size_t>(a)])] = -rows(i, a);
    factors.insert(factors.end(), of_U.begin(), of_U.end());
  }
  const auto size = static_cast<std::int64_t>(factors.size());
  copy<double>(ctx, Span<const double, Space::host>(factors.data(), size), numbers_.span().subspan(0, size));
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  for (int i = 0; i < rows.rows; ++i) {
    const double* const y = numbers_.data() + std::int64_t{i} * (columns + held_);
    basis_combine(ctx, V, n_, columns, y, source_.data());
    if (held_ > 0)
      basis_subtract(ctx, open, U.vector(0).data, n_, held_, y + columns, source_.data(), numbers_.data() + size,
                     partial_.data());
    convert<T, float, S>(ctx, source_.cspan(), made.subspan(std::int64_t{i} * n_, n_));
  }
}

#define X(T, S) template class CycleImages<T, S, T>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class CycleImages<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
