// SPDX-License-Identifier: Apache-2.0
/// All that the automatic choices want to know of a matrix on a device, read together. Internal.
#pragma once

#include <purlin/core/matrix_traits.hpp>
#include <purlin/spmv/cost_model.hpp>

namespace purlin::detail {

/// What `matrix_traits` and `pattern_facts` find.
struct MatrixFacts {
  MatrixTraits traits;
  PatternFacts pattern;
};

/// Of a canonical matrix. Waits once for the stream, where the two by themselves would wait twice.
template <class T>
MatrixFacts matrix_facts(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

}  // namespace purlin::detail
