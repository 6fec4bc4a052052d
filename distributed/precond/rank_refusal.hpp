// SPDX-License-Identifier: Apache-2.0
/// What all ranks refuse alike, so that all can take something else. Internal.
#pragma once

#include <cstdint>

#include <newel/core/error.hpp>
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

/// What all ranks throw alike.
class RefusedAlike : public InputError {
 public:
  using InputError::InputError;
};

/// A row of an approximate inverse is too long for its local problem.
class LongRow : public RefusedAlike {
 public:
  using RefusedAlike::RefusedAlike;
};

/// Calls f(). False if it threw what all ranks throw alike, with its message in `why`.
template <class F>
bool is_taken(F&& f, LocatedText& why) {
  try {
    f();
    return true;
  } catch (const ZeroDiagonal& refusal) {
    why = refusal.message();
  } catch (const NotSymmetric& refusal) {
    why = refusal.message();
  } catch (const NotPositiveDefinite& refusal) {
    why = refusal.message();
  } catch (const RefusedAlike& refusal) {
    why = refusal.message();
  }
  return false;
}

/// The smallest of all ranks' values.
inline double least_over_ranks(const Context<Space::host>& ctx, double value) {
  value = -value;
  max_over_ranks(ctx, &value, 1);
  return -value;
}

}  // namespace newel::detail
