// SPDX-License-Identifier: Apache-2.0
// Parses the name of a system, makes its mesh and assembles it.
#include "apps/fem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <newel/core/error.hpp>

#include "apps/fem/mesh_facts.hpp"
#include "apps/fem/mesh_file.hpp"
#include "apps/fem/problem_kinds.hpp"

namespace newel::fem {
namespace {

using namespace detail;

using Mask = std::vector<unsigned char>;

constexpr std::string_view mesh_prefix = "mesh:";

// Cuts the last field off `text`; the whole when there is no colon.
std::string_view cut_last_field(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view field = colon == std::string_view::npos ? text : text.substr(colon + 1);
  text = colon == std::string_view::npos ? std::string_view() : text.substr(0, colon);
  return field;
}

// Bytes of mesh, tetrahedra around nodes and matrix. A tetrahedral mesh has about nodes + tets edges, and its
// matrix a block for each node and two for each edge.
double estimated_bytes(Kind kind, double nodes, double tets) {
  const double block = kind == Kind::elasticity ? 9 : 1;
  const double rows = kind == Kind::elasticity ? 3 * nodes : nodes;
  const double blocks = 3 * nodes + 2 * tets;
  constexpr double entry_bytes = sizeof(Index) + sizeof(double);
  const double mesh_bytes = nodes * (sizeof(Point) + sizeof(Index)) + tets * sizeof(Tet);
  const double around_bytes = nodes * sizeof(Offset) + tets * sizeof(Tet);
  const double wind_bytes = kind == Kind::convection ? tets * 4 * sizeof(double) : 0;
  return mesh_bytes + around_bytes + wind_bytes + rows * sizeof(Offset) + block * blocks * entry_bytes;
}

void check_memory(const Context<Space::host>& ctx, const std::string& spec, double wanted) {
  const auto available = ctx.memory()->available_bytes();
  if (available && wanted > static_cast<double>(*available)) {
    throw OutOfMemory("host", "'" + spec + "'", static_cast<std::uint64_t>(wanted), available);
  }
}

// What a caller wants besides the matrix; null for what it does not.
struct Wanted {
  NodeCoordinates* coordinates = nullptr;
  TetMesh* mesh = nullptr;
};

void hand_over(const TetMesh& mesh, const Wanted& wanted) {
  if (wanted.mesh != nullptr) *wanted.mesh = mesh;
  NodeCoordinates* const coordinates = wanted.coordinates;
  if (coordinates == nullptr) return;
  coordinates->dimension = 3;
  coordinates->xyz.clear();
  coordinates->xyz.reserve(3 * mesh.nodes.size());
  for (const Point& p : mesh.nodes) coordinates->xyz.insert(coordinates->xyz.end(), p.begin(), p.end());
}

HostCsr on_cube(const Context<Space::host>& ctx, const std::string& spec, Kind kind, Index n, double peclet,
                const Wanted& wanted) {
  const double nodes = std::pow(n, 3);
  if (kind == Kind::grid7) {
    check_memory(ctx, spec, nodes * (sizeof(Offset) + 7 * (sizeof(Index) + sizeof(double))));
    return grid7(ctx, n);
  }
  check_memory(ctx, spec, estimated_bytes(kind, nodes, 6 * std::pow(n - 1, 3)));
  const Domain cube = clamped_cube(make_cube(ctx, n, cube_options()));
  hand_over(cube.mesh, wanted);
  return assemble_on(ctx, kind, cube, peclet);
}

// Whole tetrahedra, so that no component keeps a rigid motion.
Mask clamp_lowest(const Context<Space::host>& ctx, const TetMesh& mesh) {
  const std::vector<Index> component = component_of_node(ctx, mesh);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> low(mesh.nodes.size(), infinity);
  std::vector<double> high(mesh.nodes.size(), -infinity);
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    const double z = mesh.nodes[i][2];
    low[component[i]] = std::min(low[component[i]], z);
    high[component[i]] = std::max(high[component[i]], z);
  }
  Mask clamped(mesh.nodes.size(), 0);
  for (const Tet& tet : mesh.tets) {
    const Index c = component[tet[0]];
    const double limit = low[c] + (high[c] - low[c]) / 20;
    const bool reaches = std::any_of(tet.begin(), tet.end(), [&](Index i) { return mesh.nodes[i][2] <= limit; });
    for (const Index i : tet) clamped[i] |= reaches ? 1 : 0;
  }
  return clamped;
}

HostCsr on_mesh(const Context<Space::host>& ctx, const std::string& spec, Kind kind, const std::string& path,
                Index refinements, const Wanted& wanted) {
  Domain domain{read_mesh(path).mesh, {}, std::nullopt};
  const double tets = domain.mesh.tet_count() * std::pow(8, refinements);
  // One refinement gives a node to each edge, and multiplies nodes by 8 in the limit.
  const double nodes =
      refinements == 0 ? domain.mesh.node_count()
                       : (2.0 * domain.mesh.node_count() + domain.mesh.tet_count()) * std::pow(8, refinements - 1);
  constexpr double most = std::numeric_limits<Index>::max();
  if (tets > most || nodes * (kind == Kind::elasticity ? 3 : 1) > most) {
    throw InputError("'" + spec + "' would have " + std::to_string(static_cast<std::int64_t>(tets)) +
                     " tetrahedra, which exceeds 32-bit numbers");
  }
  check_memory(ctx, spec, estimated_bytes(kind, nodes, tets));
  domain.clamped = clamp_lowest(ctx, domain.mesh);
  for (Index r = 0; r < refinements; ++r) {
    std::vector<std::array<Index, 2>> parents;
    domain.mesh = refine(ctx, domain.mesh, &parents);
    Mask clamped(parents.size());
    for (std::size_t i = 0; i < parents.size(); ++i) {
      clamped[i] = domain.clamped[parents[i][0]] & domain.clamped[parents[i][1]];
    }
    domain.clamped = std::move(clamped);
  }
  hand_over(domain.mesh, wanted);
  return assemble_on(ctx, kind, domain, usual_peclet);
}

HostCsr generate_cube(const Context<Space::host>& ctx, const std::string& spec, const Wanted& wanted) {
  const CubeSpec cube = cube_spec(spec);
  // Rows below 2^31 for grid7, tetrahedra for the others (fewer rows than that even with three per node).
  const Index largest = cube.kind == Kind::grid7 ? 1290 : 711;
  require_side(spec, cube.n, largest);
  return on_cube(ctx, spec, cube.kind, cube.n, cube.peclet, wanted);
}

HostCsr generate_on_mesh(const Context<Space::host>& ctx, const std::string& spec, const Wanted& wanted) {
  std::string_view path = std::string_view(spec).substr(mesh_prefix.size());
  std::string_view last = cut_last_field(path);
  Index refinements = 0;
  if (const std::optional<Index> number = number_of(last)) {
    refinements = *number;
    last = cut_last_field(path);
  }
  const std::optional<Kind> kind = kind_of(last);
  constexpr Index most_refinements = 9;
  if (!kind || kind == Kind::grid7 || path.empty() || refinements < 0 || refinements > most_refinements) {
    throw InputError(
        "expected mesh:FILE:KIND[:R] with KIND diffusion, elasticity or convection and R refinements "
        "from 0 to " +
        std::to_string(most_refinements) + ", found '" + spec + "'");
  }
  return on_mesh(ctx, spec, *kind, std::string(path), refinements, wanted);
}

}  // namespace

bool is_generated(std::string_view spec) {
  return begins_with(spec, generate_prefix) || begins_with(spec, mesh_prefix);
}

HostCsr generate_matrix(const Context<Space::host>& ctx, const std::string& spec, NodeCoordinates* coordinates,
                        TetMesh* mesh) {
  const Wanted wanted{coordinates, mesh};
  if (begins_with(spec, generate_prefix)) return generate_cube(ctx, spec, wanted);
  if (begins_with(spec, mesh_prefix)) return generate_on_mesh(ctx, spec, wanted);
  throw InputError("expected generate:KIND:N or mesh:FILE:KIND[:R], found '" + spec + "'");
}

}  // namespace newel::fem
