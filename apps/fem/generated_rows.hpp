// SPDX-License-Identifier: Apache-2.0
/// Rows of a generated system that a rank makes by itself, so that no machine needs memory for the whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include <newel/reorder/partition.hpp>

#include "apps/fem/assembly.hpp"

namespace newel::fem {

/// Consecutive rows of a matrix as CSR with columns of the whole matrix, ascending.
struct GeneratedRows {
  std::vector<Offset> row_ptr = {0};
  Array<std::int64_t, Space::host> col;
  HostVector values;  ///< entries `first_value` and on are those of the rows
  Offset first_value = 0;
  std::shared_ptr<const NodeCoordinates> coordinates;  ///< of the rows' nodes; null for grid7

  std::int64_t rows() const { return static_cast<std::int64_t>(row_ptr.size()) - 1; }
  Span<const double, Space::host> val() const { return values.cspan().subspan(first_value, col.size()); }
  RankRows<double> view() const { return {Span<const Offset, Space::host>(row_ptr), col.cspan(), val()}; }
};

/// Whether a spec of `generate_matrix` names a system whose rows can be made apart: generate:KIND:N[:PE].
bool can_generate_rows(std::string_view spec);

/// The number of rows of such a system, up to 2^63: N may be up to 2^20 for grid7 and 4096 for the others. Throws
/// InputError that shows the form expected.
std::int64_t generated_row_count(const std::string& spec);

/// The first row of each rank, and the number of all rows at the end: equal shares of whole nodes.
std::vector<std::int64_t> generated_row_bounds(const std::string& spec, int ranks);

/// Rows first .. end - 1, which consist of whole nodes, with the bits of `generate_matrix`. Memory is that of these
/// rows. Throws InputError for other rows and for 2^31 rows or tetrahedra and more; OutOfMemory.
GeneratedRows generate_rows(const Context<Space::host>& ctx, const std::string& spec, std::int64_t first,
                            std::int64_t end);

}  // namespace newel::fem
