// SPDX-License-Identifier: Apache-2.0
// Before and after a solve by CG.
#include "solver/recycle/energy_deflation.hpp"

#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
void EnergyDeflation<T, S>::begin(const SolveRequest<T, S>& request, RecycledVectors<S>& vectors,
                                  RecyclePolicy::Use use) {
  const Context<S>& ctx = request.ctx;
  const Index n = request.A.rows();
  vectors_ = &vectors;
  deflates_ = use.deflates;
  vectors.make_room(ctx, n);
  correction_.make_room(ctx, n, vectors.most());
  if (use.harvests) window_.begin(ctx, n, coefficients_);
  if (use.deflates) correction_.update(ctx, vectors, request.A);
  deflated_.bind(n, request.M, use.deflates, use.harvests);
}

template <class T, Space S>
Harvest EnergyDeflation<T, S>::finish(const Context<S>& ctx) {
  auto places = vectors_->places(LanczosWindow<T, S>::wanted);
  places.count = window_.finish(ctx, places.count, vectors_->vector(places.first).data);
  vectors_->added(kind(), places, window_.largest());
  return {places.count, vectors_->held() == vectors_->most()};
}

#define X(T, S) template class EnergyDeflation<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
