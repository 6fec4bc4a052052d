// SPDX-License-Identifier: Apache-2.0
// Products with W: dot products and combinations of all vectors in one pass each.
#include "solver/recycle/energy_correction.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/basis.hpp"
#include "solver/sequence/small_projection.hpp"

namespace newel::detail {
namespace {

// Of a vector's squared length in the energy norm, what must be independent of the others. Then the inverse of E is
// positive definite in spite of rounding.
constexpr double least_of_energy = 1e-4;

// Where the doubles in S are, for at most m vectors.
struct SmallPlaces {
  std::int64_t m;
  std::int64_t h() const { return 0; }                // W^T r, then r.r
  std::int64_t y() const { return m + 1; }            // -tau E^-1 h
  std::int64_t product() const { return 2 * m + 1; }  // h.y
  std::int64_t unused() const { return 2 * m + 2; }
  std::int64_t matrix() const { return 2 * m + 3; }  // -tau E^-1
  std::int64_t size() const { return matrix() + m * m; }
};

}  // namespace

template <class T, Space S>
void EnergyCorrection<T, S>::make_room(const Context<S>& ctx, std::int64_t n, int most) {
  if (n_ == n && most_ == most) return;
  Array<T, S> w(ctx, n), image(ctx, n);
  Array<double, S> small(ctx, SmallPlaces{most}.size()), partial(ctx, basis_scratch(ctx, n, most));
  const MonitorState running{};
  running_ = make_array(ctx, Span<const MonitorState, Space::host>(&running, 1));
  fill<double, S>(ctx, 0.0, small.span());
  w_ = std::move(w), image_ = std::move(image);
  small_ = std::move(small), partial_ = std::move(partial);
  n_ = n;
  most_ = most;
  version_ = 0;
}

// All of E, column after column, so that its bits depend on W and A alone.
template <class T, Space S>
void EnergyCorrection<T, S>::update(const Context<S>& ctx, RecycledVectors<S>& W, const LinearOperator<T, S>& A) {
  if (version_ == W.version()) return;
  held_ = W.held();
  W_ = W.vector(0).data;
  const SmallPlaces places{most_};
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  SmallProjection E(held_);
  for (int j = 0; j < held_; ++j) {
    convert<float, T, S>(ctx, W.vector(j), w_.span());
    A.apply(ctx, T(1), w_.cspan(), T(0), image_.span());
    basis_dot(ctx, open, W_, n_, held_, image_.data(), small_.data() + places.h(), partial_.data());
    const std::vector<double> column = to_vector(ctx, small_.cspan().subspan(places.h(), held_));
    for (int i = 0; i <= j; ++i) E.set(i, j, column[static_cast<std::size_t>(i)]);
  }
  W.prepared();
  const double tau = W.state().largest / 2;
  std::vector<double> inverse;
  for (int j = 0; j < held_; ++j) {
    // A vector that is not finite would spoil every product with W.
    if (!std::isfinite(E.entry(j, j))) fill<float, S>(ctx, 0.0F, W.vector(j));
    std::vector<double> unit(static_cast<std::size_t>(held_), 0.0);
    unit[static_cast<std::size_t>(j)] = -tau;
    for (const double value : E.solve(unit, least_of_energy)) inverse.push_back(value);
  }
  copy<double>(ctx, Span<const double, Space::host>(inverse.data(), held_ * held_),
               small_.span().subspan(places.matrix(), held_ * held_));
  version_ = W.version();
}

template <class T, Space S>
void EnergyCorrection<T, S>::correct(const Context<S>& ctx, Span<const T, S> r, T factor, Span<T, S> z,
                                     double* rz) const {
  const SmallPlaces places{most_};
  double* const small = small_.data();
  double *const h = small + places.h(), *const y = small + places.y(), *const product = small + places.product();
  const PassGate open{running_.data(), nullptr, nullptr, nullptr};
  basis_dot(ctx, open, W_, n_, held_, r.data, h, partial_.data());
  basis_combine(ctx, small + places.matrix(), held_, held_, h, y);
  if (factor != T(1)) scale<double, S>(ctx, factor, {y, held_});
  basis_subtract(ctx, open, W_, n_, held_, y, z.data, small + places.unused(), partial_.data());
  if (rz == nullptr) return;
  basis_combine(ctx, h, 1, held_, y, product);
  axpy<double, S>(ctx, -1, {product, 1}, {rz, 1});
}

#define X(T, S) template class EnergyCorrection<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
