// SPDX-License-Identifier: Apache-2.0
/// The kinds of systems that can be generated: their names, and their assembly on a mesh. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace newel::fem::detail {

enum class Kind { diffusion, elasticity, convection, grid7 };

inline constexpr std::string_view generate_prefix = "generate:";
inline constexpr double usual_peclet = 50;  ///< of the convection: wind times the longest extent over diffusivity

inline bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
std::optional<Kind> kind_of(std::string_view name);
std::optional<Index> number_of(std::string_view text);
/// Cuts the first field off `text`; the whole when there is no colon.
std::string_view cut_first_field(std::string_view& text);

/// generate:KIND:N[:PE]
struct CubeSpec {
  Kind kind = Kind::diffusion;
  Index n = 0;  ///< nodes or points along a side
  double peclet = usual_peclet;

  int unknowns() const { return kind == Kind::elasticity ? 3 : 1; }  ///< of a node
};

/// Throws InputError that shows the form expected. The range of N is left to the caller.
CubeSpec cube_spec(const std::string& spec);
/// Throws InputError unless n is from 2 to `largest`.
void require_side(const std::string& spec, Index n, Index largest);

struct Bounds {
  Point low, extent;
};

struct Domain {
  TetMesh mesh;
  std::vector<unsigned char> clamped;  ///< whether a node is
  std::optional<Bounds> bounds;        ///< if the mesh is a part: those of the whole
};

/// How the cubes of generated systems are numbered and jittered.
BoxOptions cube_options();
/// Such a cube, or a part of it, clamped on the face z = 0.
Domain clamped_cube(TetMesh mesh);

/// For all kinds except grid7.
HostCsr assemble_on(const Context<Space::host>& ctx, Kind kind, const Domain& domain, double peclet);

}  // namespace newel::fem::detail
