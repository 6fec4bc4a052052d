// SPDX-License-Identifier: Apache-2.0
// Names of generated systems taken apart, and their assembly.
#include "apps/fem/problem_kinds.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <newel/core/error.hpp>

namespace newel::fem::detail {

std::optional<Kind> kind_of(std::string_view name) {
  if (name == "diffusion") return Kind::diffusion;
  if (name == "elasticity") return Kind::elasticity;
  if (name == "convection") return Kind::convection;
  if (name == "grid7") return Kind::grid7;
  return std::nullopt;
}

std::optional<Index> number_of(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {

std::optional<double> positive_number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) && value > 0 ? std::optional<double>(value) : std::nullopt;
}

}  // namespace

std::string_view cut_first_field(std::string_view& text) {
  const std::size_t colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  return field;
}

CubeSpec cube_spec(const std::string& spec) {
  std::string_view rest = std::string_view(spec).substr(generate_prefix.size());
  const std::optional<Kind> kind = kind_of(cut_first_field(rest));
  const bool with_peclet = kind == Kind::convection && rest.find(':') != std::string_view::npos;
  const std::optional<Index> n = number_of(with_peclet ? cut_first_field(rest) : rest);
  const std::optional<double> peclet = with_peclet ? positive_number_of(rest) : usual_peclet;
  if (!kind || !n || !peclet) {
    throw InputError(
        "expected generate:KIND:N with KIND diffusion, elasticity, convection or grid7, or generate:convection:N:PE "
        "with a Peclet number above 0, found '" +
        spec + "'");
  }
  return {*kind, *n, *peclet};
}

void require_side(const std::string& spec, Index n, Index largest) {
  if (n >= 2 && n <= largest) return;
  throw InputError("expected N from 2 to " + std::to_string(largest) + " in generate:KIND:N, found '" + spec + "'");
}

BoxOptions cube_options() {
  BoxOptions options;
  options.jitter = 0.15;
  options.renumber = true;
  return options;
}

Domain clamped_cube(TetMesh mesh) {
  Domain cube{std::move(mesh), {}, Bounds{{0, 0, 0}, {1, 1, 1}}};
  cube.clamped.resize(cube.mesh.nodes.size());
  for (std::size_t i = 0; i < cube.clamped.size(); ++i) cube.clamped[i] = cube.mesh.nodes[i][2] == 0 ? 1 : 0;
  return cube;
}

namespace {

Point lowest_of(const TetMesh& mesh) {
  Point low = mesh.nodes.front();
  for (const Point& p : mesh.nodes) {
    for (int axis = 0; axis < 3; ++axis) low[axis] = std::min(low[axis], p[axis]);
  }
  return low;
}

Bounds bounds_of(const TetMesh& mesh) {
  const Point low = lowest_of(mesh);
  Point extent{};
  for (const Point& p : mesh.nodes) {
    for (int axis = 0; axis < 3; ++axis) extent[axis] = std::max(extent[axis], p[axis] - low[axis]);
  }
  return {low, extent};
}

// Incompressible, of speed about 1; on a box it flows in below, out above and along the other faces.
VectorField rising_wind(const Bounds& bounds) {
  return [low = bounds.low, extent = bounds.extent](Index, const Point& at) {
    constexpr double pi = 3.14159265358979323846;
    const double x = pi * (at[0] - low[0]) / extent[0];
    const double y = pi * (at[1] - low[1]) / extent[1];
    const double narrow = std::min(extent[0], extent[1]);
    return Point{-narrow / extent[1] * std::sin(x) * std::cos(y), narrow / extent[0] * std::cos(x) * std::sin(y), 1};
  };
}

}  // namespace

HostCsr assemble_on(const Context<Space::host>& ctx, Kind kind, const Domain& domain, double peclet) {
  const NodeFilter clamped = [&](Index node, const Point&) { return domain.clamped[node] != 0; };
  switch (kind) {
    case Kind::elasticity:
      return assemble_elasticity(ctx, domain.mesh, 1, 0.3, clamped);
    case Kind::convection: {
      const Bounds bounds = domain.bounds ? *domain.bounds : bounds_of(domain.mesh);
      const double longest = *std::max_element(bounds.extent.begin(), bounds.extent.end());
      return assemble_convection_diffusion(ctx, domain.mesh, rising_wind(bounds), longest / peclet, clamped);
    }
    default: {
      DiffusionOptions options;
      options.clamped = clamped;
      return assemble_diffusion(ctx, domain.mesh, options);
    }
  }
}

}  // namespace newel::fem::detail
