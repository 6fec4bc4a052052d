// SPDX-License-Identifier: Apache-2.0
/// All that the automatic choices want to know of a matrix on a device, read together. Internal.
#pragma once

#include <newel/core/matrix_traits.hpp>
#include <newel/spmv/cost_model.hpp>

namespace newel::detail {

/// What `matrix_traits` and `pattern_facts` find.
struct MatrixFacts {
  MatrixTraits traits;
  PatternFacts pattern;
};

/// Of a canonical matrix. Waits once for the stream, where the two by themselves would wait twice.
template <class T>
MatrixFacts matrix_facts(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

}  // namespace newel::detail
