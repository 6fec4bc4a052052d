// SPDX-License-Identifier: Apache-2.0
/// SystemSetup: makes a system from a matrix or an operator. Internal.
#pragma once

#include <memory>

#include <newel/core/matrix_input.hpp>
#include "solver/operators/operator_builder.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {

/// Fills a SystemState. Throws as the constructor of LinearSystem does.
template <class T, Space S>
class SystemSetup {
 public:
  explicit SystemSetup(SystemState<T, S>& of) : s_(of) {}

  void from_matrix(const MatrixInput<T, S>& a, SystemOptions options, SystemParts<T, S> parts);
  void from_operator(std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options, SystemParts<T, S> parts);

 private:
  CsrView<T, S> checked(const MatrixInput<T, S>& a, bool canonicalise);
  void make_operators(const CsrView<T, S>& a, SystemOptions options, const SystemParts<T, S>& parts,
                      const BeginsWithout<T, S>& begins_without = {});
  void make_as_given(const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts);
  bool make_condensed_or_negated(const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts);
  void make_scaled(const CsrView<T, S>& a, const ScalingWish& wish, SystemOptions& options);
  void plan_scaling();
  bool is_for_factors(Operators<T, S>& made, const CsrView<T, S>& a);
  bool make_mixed(const CsrView<T, S>& a, const SystemOptions& options, const SystemParts<T, S>& parts);
  void make_in_single_if_faster(const CsrView<T, S>& a, const SystemParts<T, S>& parts);
  void do_without(WorkEnd why, const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts);
  void begin_as_others_ended(const CsrView<T, S>& a, SystemOptions& options, const SystemParts<T, S>& parts);
  void learn_from(const KeptDecision& kept, const CsrView<T, S>& a, SystemOptions& options,
                  const SystemParts<T, S>& parts);

  SystemState<T, S>& s_;
};

}  // namespace newel::detail
