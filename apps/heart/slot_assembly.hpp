// SPDX-License-Identifier: Apache-2.0
/// SlotAssembly: the tangent in the slots of its format, and the loads of the nodes, from one number per element.
#pragma once

#include <vector>

#include <newel/solver/linear_system.hpp>

#include "apps/fem/assembly.hpp"
#include "apps/heart/element_lists.hpp"
#include "apps/heart/slot_sums.hpp"

namespace newel::heart {

/// Each slot gathers one number per element that meets there, usually together with the slot that mirrors it, and adds
/// its constant part, which is the conduction. What a preconditioner reads follows from the matrix.
template <Space S>
class SlotAssembly {
 public:
  SlotAssembly() = default;
  SlotAssembly(SlotAssembly&&) = default;
  SlotAssembly& operator=(SlotAssembly&&) = default;
  /// `lists`: of `conduction`, whose pattern the system has.
  SlotAssembly(const Context<S>& ctx, const fem::HostCsr& conduction, EntryElements lists,
               const std::vector<Index>& old_of_new, LinearSystem<double, S>& system);

  /// The slots of the matrix, those of the preconditioner if they are wanted, and the right-hand side.
  void fill(const Context<S>& ctx, bool with_preconditioner, const double* tangent, const double* load,
            Span<double, S> rhs);
  /// What the elements give each node.
  void add_loads(const Context<S>& ctx, const double* per_element, double* per_node) const {
    loads_.add_up(ctx, per_element, per_node);
  }
  std::uint64_t bytes() const;

 private:
  EntryElements lists_;  // only the elements, where the host's sums read them
  SlotSums<S> matrix_, loads_;
  Span<double, S> matrix_slot_{}, preconditioner_slot_{};
  bool preconditioner_is_diagonal_ = false;  // its slots are those of the nodes' diagonal entries
  ValueMap<S> preconditioner_source_;        // in the matrix's slots
};

}  // namespace newel::heart
