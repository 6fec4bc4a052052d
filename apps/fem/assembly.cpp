// SPDX-License-Identifier: Apache-2.0
// The element matrices of the P1 forms, each given by one block row at a time.
#include "apps/fem/assembly.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/row_assembly.hpp"
#include "apps/fem/mesh.hpp"

namespace newel::fem {
namespace {

using detail::assemble_rows;
using detail::cross;
using detail::dot;
using detail::Mask;

// The integral of N_a N_b over a tetrahedron of volume 1.
double unit_mass(int a, int b) { return a == b ? 0.1 : 0.05; }

void check_orientation(const Context<Space::host>& ctx, const TetMesh& mesh) {
  const Index inverted = first_inverted(ctx, mesh);
  if (inverted >= 0) {
    throw InputError("tetrahedron " + std::to_string(inverted) + " (counted from 0) has volume " +
                     std::to_string(element_volume(mesh, inverted)) + ", expected a positive one");
  }
}

Mask mask_of(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeFilter& clamped) {
  Mask mask(mesh.nodes.size(), 0);
  if (!clamped) return mask;
  parallel_for(ctx, mesh.node_count(), [&](Index i) { mask[i] = clamped(i, mesh.nodes[i]) ? 1 : 0; });
  return mask;
}

// The value of a field on every tetrahedron.
template <class T, class Field>
Array<T, Space::host> tabulate(const Context<Space::host>& ctx, const TetMesh& mesh, const Field& field) {
  Array<T, Space::host> table(ctx, mesh.tet_count());
  parallel_for(ctx, mesh.tet_count(), [&](Index t) { table[t] = field(t, tet_centroid(mesh, t)); });
  return table;
}

struct Wind {
  Point velocity;
  double upwind_time;  // what streamline upwinding multiplies (w . grad v) (w . grad u) with
};

double upwind_time(const TetGeometry& g, const Point& velocity, double diffusivity) {
  const double speed = std::sqrt(dot(velocity, velocity));
  double sum = 0;
  for (const Point& gradient : g.gradient) sum += std::fabs(dot(velocity, gradient));
  if (!(speed > 0) || !(sum > 0)) return 0;
  const double length = 2 * speed / sum;
  const double peclet = speed * length / (2 * diffusivity);
  // coth x - 1/x loses all digits near 0, where it is x/3.
  const double upwind = peclet < 1e-3 ? peclet / 3 : 1 / std::tanh(peclet) - 1 / peclet;
  return length / (2 * speed) * upwind;
}

// Adds what the wind carries in through the surface around each node, the integral of -w . n N_i where positive,
// to the diagonal. Without faces: by the divergence theorem it is the sum of volume w . grad N_i.
void add_inflow(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around,
                const Array<Wind, Space::host>& winds, HostCsr& a) {
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    double outflow = 0;
    for (Offset k = around.begin[i]; k < around.begin[i + 1]; ++k) {
      const Index t = around.tets[k];
      const TetGeometry g = tet_geometry(mesh, t);
      const auto corner = std::find(mesh.tets[t].begin(), mesh.tets[t].end(), i) - mesh.tets[t].begin();
      outflow += g.volume * dot(winds[t].velocity, g.gradient[corner]);
    }
    const Index* columns = a.col.data();
    const Offset diagonal = std::lower_bound(columns + a.row_ptr[i], columns + a.row_ptr[i + 1], i) - columns;
    a.val[diagonal] += std::max(0.0, -outflow);
  });
}

// b_i = sum over tetrahedra of the integral of N_i N_b f_b, for `C` values per node.
template <int C>
HostVector assemble_source(const Context<Space::host>& ctx, const TetMesh& mesh, const Mask& clamped,
                           const std::vector<std::array<double, C>>& nodal) {
  const NodeTets around = node_tets(ctx, mesh);
  HostVector load(ctx, Offset{C} * mesh.node_count());
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    std::array<double, C> sum{};
    for (Offset k = around.begin[i]; k < around.begin[i + 1] && !clamped[i]; ++k) {
      const double volume = element_volume(mesh, around.tets[k]);
      for (const Index b : mesh.tets[around.tets[k]]) {
        for (int c = 0; c < C; ++c) sum[c] += volume * unit_mass(0, b == i ? 0 : 1) * nodal[b][c];
      }
    }
    for (int c = 0; c < C; ++c) load[Offset{C} * i + c] = sum[c];
  });
  return load;
}

template <int C, class Source>
HostVector load_of(const Context<Space::host>& ctx, const TetMesh& mesh, const Source& source,
                   const NodeFilter& clamped) {
  check_orientation(ctx, mesh);
  std::vector<std::array<double, C>> nodal(mesh.nodes.size());
  parallel_for(ctx, mesh.node_count(), [&](Index i) { nodal[i] = source(mesh.nodes[i]); });
  return assemble_source<C>(ctx, mesh, mask_of(ctx, mesh, clamped), nodal);
}

}  // namespace

HostCsr assemble_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh, const DiffusionOptions& options) {
  return assemble_diffusion(ctx, mesh, node_tets(ctx, mesh), options);
}

HostCsr assemble_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around,
                           const DiffusionOptions& options) {
  check_orientation(ctx, mesh);
  const Mask clamped = mask_of(ctx, mesh, options.clamped);
  const double reaction = options.reaction;
  if (!options.conductivity) {
    return assemble_rows<1>(ctx, mesh, around, clamped, [&](Index t, int a, auto& row) {
      const TetGeometry g = tet_geometry(mesh, t);
      for (int b = 0; b < 4; ++b) {
        row[b][0] = g.volume * (dot(g.gradient[a], g.gradient[b]) + reaction * unit_mass(a, b));
      }
    });
  }
  // Asked again for each corner: a tensor is sooner computed than read from a table of nine numbers a tetrahedron.
  return assemble_rows<1>(ctx, mesh, around, clamped, [&](Index t, int a, auto& row) {
    const TetGeometry g = tet_geometry(mesh, t);
    const Tensor k = options.conductivity(t, tet_centroid(mesh, t));
    for (int b = 0; b < 4; ++b) {
      // The flux of the later corner in both of a pair's entries: the same rounding, so the same bits.
      const Point& u = g.gradient[std::max(a, b)];
      const Point flux{dot(k[0], u), dot(k[1], u), dot(k[2], u)};
      row[b][0] = g.volume * (dot(g.gradient[std::min(a, b)], flux) + reaction * unit_mass(a, b));
    }
  });
}

HostCsr assemble_mass(const Context<Space::host>& ctx, const TetMesh& mesh) {
  return assemble_mass(ctx, mesh, node_tets(ctx, mesh));
}

HostCsr assemble_mass(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around) {
  check_orientation(ctx, mesh);
  return assemble_rows<1>(ctx, mesh, around, Mask(mesh.nodes.size(), 0), [&](Index t, int a, auto& row) {
    const double volume = element_volume(mesh, t);
    for (int b = 0; b < 4; ++b) row[b][0] = volume * unit_mass(a, b);
  });
}

HostCsr assemble_convection_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh,
                                      const VectorField& velocity, double diffusivity, const NodeFilter& clamped) {
  if (!(diffusivity > 0)) throw InputError("the diffusivity must be positive, not " + std::to_string(diffusivity));
  check_orientation(ctx, mesh);
  const auto winds = tabulate<Wind>(ctx, mesh, [&](Index t, const Point& at) {
    const Point w = velocity(t, at);
    return Wind{w, upwind_time(tet_geometry(mesh, t), w, diffusivity)};
  });
  const NodeTets around = node_tets(ctx, mesh);
  HostCsr matrix = assemble_rows<1>(ctx, mesh, around, mask_of(ctx, mesh, clamped), [&](Index t, int a, auto& row) {
    const TetGeometry g = tet_geometry(mesh, t);
    const Point& w = winds[t].velocity;
    // The integral of N_a over a tetrahedron of volume 1 is 1/4.
    const double test = 0.25 + winds[t].upwind_time * dot(w, g.gradient[a]);
    for (int b = 0; b < 4; ++b) {
      row[b][0] = g.volume * (diffusivity * dot(g.gradient[a], g.gradient[b]) + test * dot(w, g.gradient[b]));
    }
  });
  add_inflow(ctx, mesh, around, winds, matrix);
  return matrix;
}

HostCsr assemble_elasticity(const Context<Space::host>& ctx, const TetMesh& mesh, double youngs_modulus,
                            double poisson_ratio, const NodeFilter& clamped) {
  if (!(youngs_modulus > 0)) {
    throw InputError("Young's modulus must be positive, not " + std::to_string(youngs_modulus));
  }
  if (!(poisson_ratio > -1 && poisson_ratio < 0.5)) {
    throw InputError("Poisson's ratio must be between -1 and 1/2, not " + std::to_string(poisson_ratio));
  }
  constexpr Index most_nodes = std::numeric_limits<Index>::max() / 3;
  if (mesh.node_count() > most_nodes) {
    throw InputError("three rows for each of " + std::to_string(mesh.node_count()) + " nodes exceed 32-bit numbers");
  }
  check_orientation(ctx, mesh);
  const double mu = youngs_modulus / (2 * (1 + poisson_ratio));
  const double lambda = youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
  const NodeTets around = node_tets(ctx, mesh);
  const Mask mask = mask_of(ctx, mesh, clamped);
  return assemble_rows<3>(ctx, mesh, around, mask, [&, mu, lambda](Index t, int a, auto& row) {
    const TetGeometry g = tet_geometry(mesh, t);
    const double volume_lambda = g.volume * lambda;
    const double volume_mu = g.volume * mu;
    const Point& ga = g.gradient[a];
    for (int b = 0; b < 4; ++b) {
      const Point& gb = g.gradient[b];
      const double shear = volume_mu * dot(ga, gb);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          // Products of gradients first: both entries of a transposed pair round alike.
          const double entry = volume_lambda * (ga[i] * gb[j]) + volume_mu * (ga[j] * gb[i]);
          row[b][3 * i + j] = i == j ? entry + shear : entry;
        }
      }
    }
  });
}

HostVector assemble_load(const Context<Space::host>& ctx, const TetMesh& mesh, const ScalarSource& source,
                         const NodeFilter& clamped) {
  return load_of<1>(
      ctx, mesh, [&](const Point& at) { return std::array<double, 1>{source(at)}; }, clamped);
}

HostVector assemble_body_force(const Context<Space::host>& ctx, const TetMesh& mesh, const VectorSource& force,
                               const NodeFilter& clamped) {
  return load_of<3>(ctx, mesh, force, clamped);
}

HostCsr grid7(const Context<Space::host>& ctx, Index n) {
  constexpr Index largest = 1290;  // 1290^3 < 2^31 < 1291^3
  if (n < 1 || n > largest) {
    throw InputError("a 7-point grid must have 1 to " + std::to_string(largest) + " points per side, not " +
                     std::to_string(n));
  }
  HostCsr a;
  a.rows = a.cols = n * n * n;
  a.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  const Index step[7] = {-n * n, -n, -1, 0, 1, n, n * n};
  const auto for_row = [n](Index i, auto&& f) {
    const Index x = i % n, y = i / n % n, z = i / (n * n);
    const bool inside[7] = {z > 0, y > 0, x > 0, true, x + 1 < n, y + 1 < n, z + 1 < n};
    for (int k = 0; k < 7; ++k) {
      if (inside[k]) f(k);
    }
  };
  a.row_ptr[0] = 0;
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset count = 0;
    for_row(i, [&](int) { ++count; });
    a.row_ptr[i + 1] = count;
  });
  for (Index i = 0; i < a.rows; ++i) a.row_ptr[i + 1] += a.row_ptr[i];
  a.col = Array<Index, Space::host>(ctx, a.row_ptr[a.rows]);
  a.val = Array<double, Space::host>(ctx, a.row_ptr[a.rows]);
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset k = a.row_ptr[i];
    for_row(i, [&](int neighbour) {
      a.col[k] = i + step[neighbour];
      a.val[k++] = neighbour == 3 ? 6 : -1;
    });
  });
  return a;
}

}  // namespace newel::fem
