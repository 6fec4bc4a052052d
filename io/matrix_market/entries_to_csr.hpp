// SPDX-License-Identifier: Apache-2.0
/// From entries in any order to a canonical CSR matrix, by a parallel counting sort that keeps their order.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include "io/matrix_market/matrix_market_entries.hpp"

namespace newel::detail {

/// The matrix of all entries: mirrored where the symmetry says so, columns ascending, entries of one place summed in
/// the order of the file, whatever the number of threads. Consumes the pieces, whose memory goes back as they
/// are used up. O(entries + rows) time for rows that come in order, 16 bytes per stored entry on top of the
/// pieces. Throws InputError naming the file, `name`, and the place whose sum overflows; OutOfMemory.
Csr<double, Space::host> entries_to_csr(const Context<Space::host>& ctx, Index rows, Index cols,
                                        MatrixMarketHeader::Symmetry symmetry, std::vector<Piece> pieces,
                                        const std::string& name);

}  // namespace newel::detail
