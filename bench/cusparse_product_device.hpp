// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE's products by its generic API, as operators, so that they are timed and checked like formats.
#pragma once

#include <string>

#include <newel/spmv/operator.hpp>

namespace newel::bench {

enum class CusparseFormat { csr_alg1, csr_alg2, sell, bsr, coo };

/// "cusparse:csr-alg1", ...
std::string name_of(CusparseFormat format);

/// Copies the canonical matrix `a`, its offsets in 32 bits where they suffice; sliced ELL has slices of 32 rows. What
/// cuSPARSE does not convert to by itself is converted on the host, as our formats are. Analysed once. Throws
/// InputError for a matrix without entries, and for one without node blocks as BSR; DeviceError where cuSPARSE
/// refuses.
template <class T>
OperatorPtr<T, Space::device> make_cusparse_product(const Context<Space::device>& ctx,
                                                    const CsrView<T, Space::device>& a, CusparseFormat format);

}  // namespace newel::bench
