// SPDX-License-Identifier: Apache-2.0
// A part of the mesh is assembled as if it were whole; the rows of its own nodes are those of the whole matrix.
#include "apps/fem/generated_rows.hpp"

#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/mesh_part.hpp"
#include "apps/fem/problem_kinds.hpp"

namespace newel::fem {
namespace {

using namespace detail;

// Blocks of 512 nodes are numbered by each rank, so that very fine meshes would fill its memory with them.
CubeSpec checked_spec(const std::string& spec) {
  if (!can_generate_rows(spec)) throw InputError("expected generate:KIND:N, found '" + spec + "'");
  const CubeSpec cube = cube_spec(spec);
  require_side(spec, cube.n, cube.kind == Kind::grid7 ? Index{1} << 20 : 4096);
  return cube;
}

std::int64_t rows_of(const CubeSpec& cube) { return std::int64_t{cube.n} * cube.n * cube.n * cube.unknowns(); }

// f(column, value) for each entry of a row of the 7-point Laplacian, columns ascending.
template <class F>
void for_grid_row(std::int64_t n, std::int64_t i, F&& f) {
  const std::int64_t x = i % n, y = i / n % n, z = i / (n * n);
  if (z > 0) f(i - n * n, -1.0);
  if (y > 0) f(i - n, -1.0);
  if (x > 0) f(i - 1, -1.0);
  f(i, 6.0);
  if (x + 1 < n) f(i + 1, -1.0);
  if (y + 1 < n) f(i + n, -1.0);
  if (z + 1 < n) f(i + n * n, -1.0);
}

void sum_up(std::vector<Offset>& row_ptr) {
  for (std::size_t i = 1; i < row_ptr.size(); ++i) row_ptr[i] += row_ptr[i - 1];
}

GeneratedRows grid_rows(const Context<Space::host>& ctx, std::int64_t n, std::int64_t first, std::int64_t end) {
  GeneratedRows rows;
  rows.row_ptr.assign(static_cast<std::size_t>(end - first) + 1, 0);
  parallel_for(ctx, end - first, [&](std::int64_t i) {
    Offset count = 0;
    for_grid_row(n, first + i, [&](std::int64_t, double) { ++count; });
    rows.row_ptr[static_cast<std::size_t>(i) + 1] = count;
  });
  sum_up(rows.row_ptr);
  rows.col = Array<std::int64_t, Space::host>(ctx, rows.row_ptr.back());
  rows.values = HostVector(ctx, rows.row_ptr.back());
  parallel_for(ctx, end - first, [&](std::int64_t i) {
    Offset k = rows.row_ptr[static_cast<std::size_t>(i)];
    for_grid_row(n, first + i, [&](std::int64_t column, double value) {
      rows.col[k] = column;
      rows.values[k++] = value;
    });
  });
  return rows;
}

GeneratedRows mesh_rows(const Context<Space::host>& ctx, const CubeSpec& cube, std::int64_t first_node,
                        std::int64_t end_node) {
  MeshPart part = make_cube_part(ctx, cube.n, first_node, end_node, cube_options());
  GeneratedRows rows;
  auto coordinates = std::make_shared<NodeCoordinates>();
  for (Index i = 0; i < part.own; ++i) {
    const Point& at = part.mesh.nodes[static_cast<std::size_t>(part.first_own + i)];
    coordinates->xyz.insert(coordinates->xyz.end(), at.begin(), at.end());
  }
  rows.coordinates = std::move(coordinates);
  if (part.own == 0) return rows;
  HostCsr a = assemble_on(ctx, cube.kind, clamped_cube(std::move(part.mesh)), cube.peclet);
  const std::int64_t b = cube.unknowns();
  const std::int64_t first_row = b * part.first_own, count = b * part.own;
  rows.first_value = a.row_ptr[first_row];
  rows.row_ptr.assign(static_cast<std::size_t>(count) + 1, 0);
  for (std::int64_t i = 0; i <= count; ++i) {
    rows.row_ptr[static_cast<std::size_t>(i)] = a.row_ptr[first_row + i] - rows.first_value;
  }
  rows.col = Array<std::int64_t, Space::host>(ctx, rows.row_ptr.back());
  parallel_for(ctx, rows.row_ptr.back(), [&](Offset k) {
    const Index column = a.col[rows.first_value + k];
    rows.col[k] = b * part.number[static_cast<std::size_t>(column / b)] + column % b;
  });
  rows.values = std::move(a.val);
  return rows;
}

}  // namespace

bool can_generate_rows(std::string_view spec) { return begins_with(spec, generate_prefix); }

std::int64_t generated_row_count(const std::string& spec) { return rows_of(checked_spec(spec)); }

std::vector<std::int64_t> generated_row_bounds(const std::string& spec, int ranks) {
  const CubeSpec cube = checked_spec(spec);
  const std::int64_t unknowns = cube.unknowns(), nodes = rows_of(cube) / unknowns;
  std::vector<std::int64_t> bounds;
  const std::int64_t share = nodes / ranks, more = nodes % ranks;
  for (std::int64_t r = 0; r <= ranks; ++r) bounds.push_back(unknowns * (share * r + std::min(r, more)));
  return bounds;
}

GeneratedRows generate_rows(const Context<Space::host>& ctx, const std::string& spec, std::int64_t first,
                            std::int64_t end) {
  const CubeSpec cube = checked_spec(spec);
  const std::int64_t unknowns = cube.unknowns();
  if (first < 0 || end < first || end > rows_of(cube) || first % unknowns != 0 || end % unknowns != 0) {
    throw InputError("'" + spec + "': expected rows of whole nodes, found " + std::to_string(first) + " to " +
                     std::to_string(end));
  }
  if (end - first > std::numeric_limits<Index>::max()) {
    throw InputError("'" + spec + "': a rank has at most 2^31 - 1 rows, not " + std::to_string(end - first) +
                     ": use more ranks");
  }
  if (cube.kind == Kind::grid7) return grid_rows(ctx, cube.n, first, end);
  return mesh_rows(ctx, cube, first / unknowns, end / unknowns);
}

}  // namespace newel::fem
