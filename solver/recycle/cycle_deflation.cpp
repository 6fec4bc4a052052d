// SPDX-License-Identifier: Apache-2.0
// Which vectors a cycle leaves out, and harmonic Ritz vectors in their place.
#include "solver/recycle/cycle_deflation.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// Columns of a cycle that vectors are taken from: the eigenvalues of more would take as long as the cycle.
constexpr int fewest_columns = 3, most_columns = 100;
// Of a solve without vectors, before it turns to them.
constexpr int plain_cycles = 10;
// Of a few steps only the outermost Ritz vectors are close to eigenvectors.
constexpr int columns_a_vector = 3;

}  // namespace

template <class T, Space S, class B>
void CycleDeflation<T, S, B>::begin(const SolveRequest<T, S>& request, RecycledVectors<S>& vectors,
                                    RecyclePolicy::Use use) {
  M_ = request.M;
  if (room() == 0) return;
  const Context<S>& ctx = request.ctx;
  vectors.make_room(ctx, n_);
  images_.make_room(ctx);
  if (others_.empty()) others_ = Array<float, S>(ctx, std::int64_t{n_} * vectors.most());
  use_ = use;
  vectors_ = &vectors;
  cycles_ = longest_ = harvested_ = 0;
  before_ = use_.deflates ? vectors.held() : 0;
}

template <class T, Space S, class B>
Harvest CycleDeflation<T, S, B>::finish(const Context<S>&) {
  return {harvested_, false, use_.deflates && harvested_ <= before_};
}

template <class T, Space S, class B>
void CycleDeflation<T, S, B>::end() noexcept {
  use_ = {};
  images_.clear();
  M_ = nullptr;
  vectors_ = nullptr;
}

template <class T, Space S, class B>
bool CycleDeflation<T, S, B>::assist() {
  if (!works() || use_.deflates || vectors_->held() == 0) return false;
  return use_.deflates = true;
}

template <class T, Space S, class B>
void CycleDeflation<T, S, B>::prepare(const Context<S>& ctx, const Product& product, B* V, Span<T, S> image) {
  if (cycles_++ == plain_cycles) assist();
  if (use_.deflates) images_.prepare(ctx, *vectors_, product, V, image);
}

template <class T, Space S, class B>
double CycleDeflation<T, S, B>::project(const Context<S>& ctx, const B* V, Span<T, S> r) {
  return images_.project(ctx, V, r);
}

template <class T, Space S, class B>
void CycleDeflation<T, S, B>::add_vectors(const Context<S>& ctx, Span<const double, S> small, int columns,
                                          Span<T, S> w) {
  images_.add_vectors(ctx, *vectors_, small, columns, w);
}

template <class T, Space S, class B>
void CycleDeflation<T, S, B>::harvest(const Context<S>& ctx, Span<const double, S> small, const B* V, int columns) {
  columns = std::min(columns, most_columns);
  if (!use_.harvests || columns < fewest_columns || (deflated() == 0 && columns < longest_)) return;
  longest_ = columns;
  const CycleRelation cycle = images_.relation(ctx, *vectors_, small, V, columns);
  const int found = std::max(cycle.kept(), (cycle.kept() + columns) / columns_a_vector);
  const int most = std::min({room(), vectors_->most(), found});
  const HarmonicRitz ritz = harmonic_ritz(cycle, most, small_part);
  if (ritz.vectors.rows == 0) return;
  images_.combine(ctx, *vectors_, V, columns, ritz.vectors, others_.span());
  vectors_->replace(kind(), others_, ritz.vectors.rows);
  harvested_ = ritz.vectors.rows;
}

#define X(T, S) template class CycleDeflation<T, S, T>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class CycleDeflation<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
