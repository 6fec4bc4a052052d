// SPDX-License-Identifier: Apache-2.0
// The lines of the table.
#include "solver/batched/batched_methods.hpp"

#include "solver/batched/batched_bicgstab.hpp"
#include "solver/batched/batched_cg.hpp"
#include "solver/batched/batched_gmres.hpp"

namespace newel::detail {
namespace {

template <class Method>
struct Columns {
  template <class T, Space S>
  static void make(BatchedWork<T, S>& work, const BatchedProblem<T>& problem) {
    if constexpr (S == Space::host) {
      attempt_on_lanes<Method, T>(work, problem);
    } else {
      attempt_on_blocks<Method, T>(work, problem);
    }
  }
};

template <class Method>
BatchedMethod line(std::string_view name, Demand demands) {
  BatchedMethod method{name, demands, {Method::own_vectors, Method::has_basis, Method::holds_entries}};
  fill_columns<Columns<Method>>(method.attempt);
  return method;
}

}  // namespace

const std::vector<BatchedMethod>& batched_methods() {
  static const std::vector<BatchedMethod> lines = {
      line<BatchedCg>("cg", Demand::definite),
      line<BatchedBicgstab>("bicgstab", Demand::nothing),
      line<BatchedGmres>("gmres", Demand::nothing),
  };
  return lines;
}

}  // namespace newel::detail
