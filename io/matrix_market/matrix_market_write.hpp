// SPDX-License-Identifier: Apache-2.0
/// The writers behind `write_matrix` and `write_columns`, into a writer that is open: for what is no file by name.
#pragma once

#include <string_view>

#include <newel/core/csr.hpp>
#include "core/text/file_writer.hpp"

namespace newel::detail {

/// As `newel::write_matrix`; commits.
template <class T>
void write_matrix_to(FileWriter& file, const CsrView<T, Space::host>& a, std::string_view comment = {});

/// As `newel::write_columns`, where `cols` divides the length; commits.
template <class T>
void write_columns_to(FileWriter& file, Span<const T, Space::host> x, Index cols, std::string_view comment = {});

}  // namespace newel::detail
