// SPDX-License-Identifier: Apache-2.0
/// The table of methods for batches. Internal.
#pragma once

#include <string_view>
#include <vector>

#include <newel/core/factory_columns.hpp>
#include <newel/solver/method.hpp>
#include "solver/batched/batched_work.hpp"

namespace newel::detail {

/// Solves the systems of an attempt with one method.
template <class T, Space S>
using BatchedAttempt = void (*)(BatchedWork<T, S>& work, const BatchedProblem<T>& problem);

/// One line of the table.
struct BatchedMethod {
  std::string_view name;  ///< as in the table of solvers
  Demand demands = Demand::nothing;
  BatchedNeeds needs;
  FactoryColumns<BatchedAttempt> attempt = {};  ///< one for each precision and space
};

/// The lines, in the order in which "auto" tries them.
const std::vector<BatchedMethod>& batched_methods();

/// On the threads of the host; in blocks of a device.
template <class Method, class T>
void attempt_on_lanes(BatchedWork<T, Space::host>& work, const BatchedProblem<T>& problem);
template <class Method, class T>
void attempt_on_blocks(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem);

}  // namespace newel::detail
