// SPDX-License-Identifier: Apache-2.0
/// The reader behind `parse_matrix` and `parse_vector` with its limits as a parameter, for tests that want many
/// pieces of a small text.
#pragma once

#include <newel/io/matrix_file.hpp>
#include "io/matrix_market/matrix_market_entries.hpp"

namespace newel::detail {

/// As `newel::parse_matrix`, for text that is not packed.
Csr<double, Space::host> parse_plain_matrix(const Context<Space::host>& ctx, const NamedText& text,
                                            MatrixMarketHeader* header = nullptr, const ReadLimits& limits = {});

/// As `newel::parse_complex_matrix_file`, for text of Matrix Market that is not packed; `kinds` says whether complex
/// values are read.
MatrixFile parse_plain_file(const Context<Space::host>& ctx, const NamedText& text, ValueKinds kinds,
                            const ReadLimits& limits = {});

/// As `newel::parse_vector`, for text that is not packed.
Array<double, Space::host> parse_plain_vector(const Context<Space::host>& ctx, const NamedText& text,
                                              const ReadLimits& limits = {});

/// As `newel::parse_columns`, for text that is not packed.
DenseColumns parse_plain_columns(const Context<Space::host>& ctx, const NamedText& text,
                                 ValueKinds kinds = ValueKinds::real, const ReadLimits& limits = {});

}  // namespace newel::detail
