// SPDX-License-Identifier: Apache-2.0
/// Directions of muscle fibres: from files, or by a rule from the shape of a body. One direction per tetrahedron, a
/// vector of length 1 whose sign means nothing.
#pragma once

#include <string>
#include <vector>

#include "apps/fem/mesh_file.hpp"

namespace newel::fem {

/// Vectors at the nodes, averaged over the four corners of each tetrahedron and normalised; corners are turned to one
/// side first, since v and -v are one direction. The average is that of the directions; zero where all four are.
std::vector<Point> fibers_from_nodes(const Context<Space::host>& ctx, const TetMesh& mesh,
                                     const std::vector<Point>& node_vectors);

/// The vectors of a mesh file as directions: those of its tetrahedra where it has them, else those of its nodes, else
/// an empty result. Zero vectors stay zero: tissue without a direction, which conducts equally along all.
std::vector<Point> fibers_from_mesh_file(const Context<Space::host>& ctx, const MeshFile& file);
/// The same for vectors of a file's whose mesh was refined with them; either may be empty.
std::vector<Point> fibers_from_vectors(const Context<Space::host>& ctx, const TetMesh& mesh,
                                       const std::vector<Point>& node_vectors, const std::vector<Point>& tet_vectors);

/// Directions for `file` from a second file, plain or gzipped: a Gmsh or VTK file with vectors (see `read_mesh`), or
/// text of three numbers a line (blank lines and `#` comments skipped). Their count decides: as many as `file` lists
/// nodes, or tetrahedra; zero vectors as above. Text is in the order of the mesh file, unused nodes included.
/// Throws InputError "FILE:LINE: ..." for text that is not three finite numbers, and "FILE: ..." for a count that
/// fits neither, or a file without vectors.
std::vector<Point> read_fibers(const Context<Space::host>& ctx, const std::string& path, const MeshFile& file);

/// Inherited by the eight children of every tetrahedron: see `refine`.
std::vector<Point> refine_fibers(const std::vector<Point>& fibers);

/// How many directions are zero.
Index count_zero(const std::vector<Point>& fibers);

struct FiberRule {
  double inner_degrees = 60;   ///< helix angle at the inner surface
  double outer_degrees = -60;  ///< at the outer surface; linear between them in the transmural coordinate
  double tolerance = 1e-6;     ///< relative, of the solve for the transmural coordinate
};

struct RuleFibers {
  std::vector<Point> fibers;       ///< one per tetrahedron, of length 1
  std::vector<double> transmural;  ///< per node, 0 on inner surfaces and 1 on outer ones
  Point axis{};                    ///< the long axis, of length 1; its sign means nothing
  int cavities = 0;                ///< 0: a body without any, such as a slab
  int iterations = 0;              ///< of the solve
};

/// Fibres from the shape alone, in the manner of J. Bayer, R. Blake, G. Plank, N. Trayanova, "A novel rule-based
/// algorithm for assigning myocardial fiber orientation to computational heart models", Ann. Biomed. Eng. 40, 2012,
/// reduced to what a demonstration needs: the transmural coordinate t is harmonic, 0 on inner and 1 on outer surface,
/// insulated on the base; e_t is the direction of its gradient, e_l that of the long axis within the wall, e_c = e_l
/// x e_t points around; the fibre is cos(a) e_c + sin(a) e_l with the helix angle a linear in t (D. Streeter et al.,
/// Circ. Res. 24, 1969: from about +60 degrees within to -60 without; right-handed helices are positive).
///
/// Which surface is which is seen by 24 rays from every boundary triangle: it is inner where more than 35 % of them
/// meet the body again. Connected inner triangles are a cavity. The long axis is the mean direction in which rays
/// leave the cavities, that of the longest extent where hardly any do; outer triangles that face it (within 45
/// degrees) and are connected to a cavity's rim are base. With several cavities the one with the thickest wall is the
/// left; where another cavity's surface has the left one behind its wall (the septum), it counts as outer, so that
/// fibres turn once from the left cavity to the right. A body without cavity (a slab) has its depth along its
/// shortest extent and its axis along the middle one, so that fibres half-way through run along the longest. Where
/// e_t and the axis are parallel, at the apex, any direction across e_t is taken.
///
/// Against the closed form on `make_ventricle` half of the fibres are within 5 degrees, 99 % within 15; against
/// vectors that came with biventricular meshes the medians are 0.6 degrees (biVentMedium) and 9 degrees (human250).
///
/// The result depends on the number of threads in its last bits only. Cost: one diffusion solve and the rays; 1.4 s
/// for 30 000 nodes on two cores. Throws InputError for an inverted tetrahedron.
RuleFibers make_fibers(const Context<Space::host>& ctx, const TetMesh& mesh, const FiberRule& rule = {});

/// The same with node_tets of the mesh at hand. The diffusion solve runs in the memory of `place`, with the format
/// and the preconditioner that `auto` takes there. `unrefined` is the mesh that `refine` made this one of, once or
/// more often; null: it was not refined. Rays are cast from its triangles and against those, so that which surface is
/// which depends on no refinement.
template <Space S>
RuleFibers make_fibers(const Context<Space::host>& ctx, const Context<S>& place, const TetMesh& mesh,
                       const NodeTets& around, const TetMesh* unrefined = nullptr, const FiberRule& rule = {});

}  // namespace newel::fem
