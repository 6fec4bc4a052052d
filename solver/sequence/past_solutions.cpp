// SPDX-License-Identifier: Apache-2.0
// A guess from past solutions: dot products and combinations of all vectors in one pass each.
#include "solver/sequence/past_solutions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/basis.hpp"

namespace newel::detail {
namespace {

// Where the doubles in S are, for m vectors.
struct Places {
  std::int64_t m;
  std::int64_t h() const { return 0; }              // m, then r.r
  std::int64_t rhs() const { return m + 1; }        // b.b
  std::int64_t row() const { return m + 2; }        // m + 1: a row of W^T C
  std::int64_t after() const { return 2 * m + 3; }  // r.r of the guess
  std::int64_t y() const { return 2 * m + 4; }      // m, and with the other sign
  std::int64_t size() const { return 4 * m + 4; }
};

// Of a vector's squared length, what must be independent of the others: their products are rounded.
template <class T>
constexpr double least_independent = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

template <class T, Space S>
void PastSolutions<T, S>::allocate(const Context<S>& ctx, std::int64_t n) {
  const std::int64_t m = rule_.vectors;
  ring_.allocate(ctx, n);
  Array<T, S> r(ctx, n);
  Array<double, S> small(ctx, Places{m}.size()), partial(ctx, basis_scratch(ctx, n, rule_.vectors));
  const MonitorState running{};
  running_ = make_array(ctx, Span<const MonitorState, Space::host>(&running, 1));
  fill<double, S>(ctx, 0.0, small.span());
  r_ = std::move(r);
  small_ = std::move(small), partial_ = std::move(partial);
  numbers_.assign(static_cast<std::size_t>(Places{m}.row()), 0.0);
}

template <class T, Space S>
void PastSolutions<T, S>::begin_state(const Context<S>& ctx, std::int64_t rows, const PastState& state) {
  if (small_.empty()) allocate(ctx, rows);
  ring_.begin_state(ctx, state.held, state.next);
  images_counted_ = state.images_current;
  row_under_way_ = -1;
  images_current_ = false;
}

template <class T, Space S>
void PastSolutions<T, S>::start_gram_row(const Context<S>& ctx, int column) {
  const T* const W = (definite_ ? ring_.difference(0) : ring_.image(0)).data;
  basis_dot(ctx, {running_.data(), nullptr, nullptr, nullptr}, W, r_.size(), rule_.vectors, ring_.image(column).data,
            small_.data() + Places{rule_.vectors}.row(), partial_.data());
  row_under_way_ = column;
}

// From S, if it is there alone. The entries with newer columns are those of their rows.
template <class T, Space S>
void PastSolutions<T, S>::finish_gram_row(const Context<S>& ctx) {
  if (row_under_way_ < 0) return;
  const std::int64_t m = rule_.vectors;
  const std::vector<double> row = to_vector(ctx, small_.cspan().subspan(Places{m}.row(), m));
  for (int j = 0; j < rule_.vectors; ++j) {
    if (ring_.is_older(j, row_under_way_)) gram_.set(row_under_way_, j, row[static_cast<std::size_t>(j)]);
  }
  row_under_way_ = -1;
}

// The oldest column first, as they came.
template <class T, Space S>
void PastSolutions<T, S>::update_images(const Context<S>& ctx, const LinearOperator<T, S>& A) {
  const int held = ring_.held();
  for (int j = 0; j < held; ++j) A.apply(ctx, T(1), ring_.difference(j), T(0), ring_.image(j));
  if (!std::exchange(images_counted_, false)) products_ += held;
  for (int age = held; age-- > 0;) {
    start_gram_row(ctx, ring_.of_age(age));
    finish_gram_row(ctx);
  }
  images_current_ = true;
}

template <class T, Space S>
void PastSolutions<T, S>::start_from(const Context<S>& ctx, const GuessRequest<T, S>& of, Span<const T, S> g) {
  const T* const W = (definite_ ? ring_.difference(0) : ring_.image(0)).data;
  copy<T>(ctx, of.b, r_.span());
  of.A.apply(ctx, T(-1), g, T(1), r_.span());
  ++products_;
  basis_dot(ctx, {running_.data(), nullptr, nullptr, nullptr}, W, r_.size(), rule_.vectors, r_.data(), small_.data(),
            partial_.data());
}

// For steps of equal length, from the last solution: 0, the last difference, or twice that minus the one before it.
// The residuals of the three follow from C^T C and C^T r.
template <class T, Space S>
std::vector<double> PastSolutions<T, S>::coefficients(double rr) const {
  const int m = rule_.vectors;
  const std::vector<double> h(numbers_.begin(), numbers_.begin() + m);
  if (rule_.kind != GuessRule::Kind::extrapolate) return gram_.solve(h, least_independent<T>);
  const int newest = ring_.of_age(0), before = ring_.of_age(1);
  std::vector<double> best(h.size(), 0.0);
  double least = rr;
  for (int order = 1; order <= std::min(ring_.held(), 2); ++order) {
    std::vector<double> y(h.size(), 0.0);
    y[static_cast<std::size_t>(newest)] = order;
    if (order == 2) y[static_cast<std::size_t>(before)] = -1;
    double after = rr;
    for (int i = 0; i < m; ++i) {
      double row = -2 * h[static_cast<std::size_t>(i)];
      for (int j = 0; j < m; ++j) row += gram_.entry(i, j) * y[static_cast<std::size_t>(j)];
      after += y[static_cast<std::size_t>(i)] * row;
    }
    if (after < least) least = after, best = y;
  }
  return best;
}

template <class T, Space S>
double PastSolutions<T, S>::combine(const Context<S>& ctx, const std::vector<double>& y) {
  const Places places{rule_.vectors};
  std::vector<double> both = y;
  for (const double value : y) both.push_back(-value);
  const auto count = static_cast<std::int64_t>(both.size());
  copy<double>(ctx, Span<const double, Space::host>(both.data(), count), small_.span().subspan(places.y(), count));
  double* const after = small_.data() + places.after();
  basis_subtract(ctx, {running_.data(), nullptr, nullptr, nullptr}, ring_.image(0).data, r_.size(), rule_.vectors,
                 small_.data() + places.y(), r_.data(), after, partial_.data());
  return std::sqrt(fetch<double, S>(ctx, after));
}

template <class T, Space S>
InitialGuess PastSolutions<T, S>::prepare(const Context<S>& ctx, const GuessRequest<T, S>& request,
                                          GuessReport& report) {
  const Places places{rule_.vectors};
  const bool extrapolates = rule_.kind == GuessRule::Kind::extrapolate;
  const bool given = request.from == InitialGuess::in_x;
  report.vectors = ring_.held();
  report.from = given ? "given" : "zero";
  if (ring_.held() == 0) return request.from;
  finish_gram_row(ctx);
  if (const bool energy = request.definite && !extrapolates; energy != definite_) {
    definite_ = energy;
    images_current_ = false;
  }
  if (!images_current_) update_images(ctx, request.A);
  const auto fetch_numbers = [&] {
    copy<double>(ctx, small_.cspan().subspan(0, places.row()),
                 Span<double, Space::host>(numbers_.data(), places.row()));
  };
  const auto number = [&](std::int64_t at) { return numbers_[static_cast<std::size_t>(at)]; };
  newel::dot<T, S>(ctx, request.b, request.b, small_.data() + places.rhs());
  if (given) start_from(ctx, request, request.x);
  if (given) fetch_numbers();
  double given_squared = number(places.m);
  bool from_last = !given || extrapolates || !(given_squared < number(places.rhs()));
  if (from_last) {
    start_from(ctx, request, ring_.last());
    fetch_numbers();
  }
  const double rhs_norm = std::sqrt(number(places.rhs()));
  report.given_residual = given ? std::sqrt(given_squared) : rhs_norm;
  const double residual = combine(ctx, coefficients(number(places.m)));
  if (residual < rhs_norm && !(residual >= report.given_residual)) {
    if (from_last) copy<T>(ctx, Span<const T, S>(ring_.last()), request.x);
    basis_subtract(ctx, {running_.data(), nullptr, nullptr, nullptr}, ring_.difference(0).data, r_.size(),
                   rule_.vectors, small_.data() + places.y() + places.m, request.x.data,
                   small_.data() + places.after(), partial_.data());
    report.from = extrapolates ? "extrapolated" : "projected";
    report.residual = residual;
    return InitialGuess::in_x;
  }
  if (given && report.given_residual <= rhs_norm) {
    report.residual = report.given_residual;
    return InitialGuess::in_x;
  }
  fill<T, S>(ctx, T(0), request.x);
  report.from = "zero";
  report.residual = rhs_norm;
  return InitialGuess::zero;
}

template <class T, Space S>
void PastSolutions<T, S>::keep(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite,
                               Span<const T, S> x) {
  if (small_.empty()) allocate(ctx, x.size);
  finish_gram_row(ctx);
  if (ring_.held() == 0) {
    definite_ = definite && rule_.kind != GuessRule::Kind::extrapolate;
    images_current_ = true;
  }
  const int column = ring_.add(ctx, x);
  if (!images_current_) return;
  A.apply(ctx, T(1), ring_.difference(column), T(0), ring_.image(column));
  ++products_;
  start_gram_row(ctx, column);
}

#define X(T, S) template class PastSolutions<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
