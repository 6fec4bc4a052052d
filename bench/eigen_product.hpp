// SPDX-License-Identifier: Apache-2.0
/// Eigen's row-major product with 32-bit indices as an operator, so that it is timed and checked like a format.
#pragma once

#include <newel/spmv/operator.hpp>

namespace newel::bench {

/// Copies the canonical matrix `a`. Its products use Eigen's global number of threads, set to the context's here.
/// Throws InputError where 32 bits cannot number the entries.
template <class T>
OperatorPtr<T, Space::host> make_eigen_product(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

}  // namespace newel::bench
