// SPDX-License-Identifier: Apache-2.0
// Which columns are in use, and for which values.
#include "solver/recycle/recycled_vectors.hpp"

#include <algorithm>
#include <utility>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <Space S>
void RecycledVectors<S>::make_room(const Context<S>& ctx, std::int64_t n) {
  if (n_ == n && has_room_) return;
  forget();
  W_ = Array<float, S>(ctx, n * most_);  // empty on a rank without rows
  has_room_ = true;
  n_ = n;
}

template <Space S>
typename RecycledVectors<S>::Places RecycledVectors<S>::places(int wanted) const {
  const int first = state_.next == most_ ? 0 : state_.next;
  return {first, std::min(wanted, most_ - first)};
}

template <Space S>
void RecycledVectors<S>::added(RecycledKind kind, const Places& at, double largest) {
  if (at.count == 0) return;
  const int next = at.first + at.count;
  state_ = {kind, std::max(state_.held, next), next, largest};
  ++version_;
}

template <Space S>
void RecycledVectors<S>::replace(RecycledKind kind, Array<float, S>& others, int count) {
  std::swap(W_, others);
  state_ = {kind, count, count};
  ++version_;
}

template <Space S>
void RecycledVectors<S>::forget() {
  state_ = {};
  ++version_;
}

template <Space S>
void RecycledVectors<S>::values_changed() {
  state_.prepared = false;
  ++version_;
}

template <Space S>
void RecycledVectors<S>::prepared() {
  if (!std::exchange(counted_, false)) products_ += state_.held;
  state_.prepared = true;
}

template <Space S>
void RecycledVectors<S>::begin_state(const Context<S>& ctx, std::int64_t n, const RecycledState& state) {
  make_room(ctx, n);
  state_ = state;
  counted_ = state.prepared;
  ++version_;
}

#define X(S) template class RecycledVectors<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
