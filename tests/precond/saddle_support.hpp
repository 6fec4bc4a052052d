// SPDX-License-Identifier: Apache-2.0
/// Saddle points on grids of square and cubic cells: Stokes flow with velocities on faces and pressures in cells, and
/// diffusion in mixed form with fluxes on faces.
#pragma once

#include <array>

#include "tests/matrices.hpp"

namespace newel::testing {

/// A grid of n cells in each of 2 or 3 directions, with an unknown for each of its faces, inner ones or all, and one
/// for each of its cells.
class FaceGrid {
 public:
  FaceGrid(int dimensions, Index n, bool all_faces) : n_(n), dimensions_(dimensions), all_(all_faces) {
    for (int d = 0; d < dimensions; ++d) first_[d + 1] = first_[d] + count(faces_along(), d);
  }

  using Place = std::array<Index, 3>;

  Index faces() const { return first_[dimensions_]; }
  Index cells() const { return count(n_, 0); }
  Index cell(const Place& at) const { return faces() + number(at, n_, 0); }
  /// The face below cell `at` in direction d; -1: there is no unknown.
  Index face(const Place& at, int d) const {
    Place shifted = at;
    if (!all_) --shifted[d];
    for (int k = 0; k < dimensions_; ++k) {
      const Index most = k == d ? faces_along() : n_;
      if (shifted[k] < 0 || shifted[k] >= most) return -1;
    }
    return first_[d] + number(shifted, faces_along(), d);
  }
  /// f(place) for all cells, with `beyond` more of them in direction d.
  template <class F>
  void for_cells(F&& f, int d = 0, Index beyond = 0) const {
    Place at{};
    const auto length = [&](int k) { return k < dimensions_ ? n_ + (k == d ? beyond : 0) : 1; };
    for (at[2] = 0; at[2] < length(2); ++at[2]) {
      for (at[1] = 0; at[1] < length(1); ++at[1]) {
        for (at[0] = 0; at[0] < length(0); ++at[0]) f(at);
      }
    }
  }
  int dimensions() const { return dimensions_; }

 private:
  Index faces_along() const { return all_ ? n_ + 1 : n_ - 1; }
  Index count(Index along, int d) const {
    Index product = 1;
    for (int k = 0; k < dimensions_; ++k) product *= k == d ? along : n_;
    return product;
  }
  Index number(const Place& at, Index along, int d) const {
    Index found = 0;
    for (int k = dimensions_ - 1; k >= 0; --k) found = found * (k == d ? along : n_) + at[k];
    return found;
  }

  Index n_;
  int dimensions_;
  bool all_;
  std::array<Index, 4> first_ = {};
};

/// The divergence of each cell, as rows and, times `transposed`, as columns.
inline void add_divergence(const FaceGrid& grid, MapRows& rows, double transposed) {
  grid.for_cells([&](FaceGrid::Place at) {
    const Index cell = grid.cell(at);
    for (int d = 0; d < grid.dimensions(); ++d) {
      for (const Index step : {0, 1}) {
        FaceGrid::Place place = at;
        place[d] += step;
        const Index face = grid.face(place, d);
        if (face < 0) continue;
        const double sign = step == 0 ? -1 : 1;
        rows[static_cast<std::size_t>(cell)][face] = sign;
        rows[static_cast<std::size_t>(face)][cell] = transposed * sign;
      }
    }
  });
}

/// Stokes flow in a closed box: [nu L B^T; B -c I] with the 5- or 7-point Laplacian of each component. With c = 0 the
/// pressure is determined up to a constant. `transposed` is the factor of B^T.
inline HostCsr mac_stokes(int dimensions, Index n, double nu = 1, double c = 0, double transposed = 1) {
  const FaceGrid grid(dimensions, n, false);
  MapRows rows(static_cast<std::size_t>(grid.faces() + grid.cells()));
  for (int d = 0; d < dimensions; ++d) {
    grid.for_cells([&](FaceGrid::Place at) {
      const Index face = grid.face(at, d);
      if (face < 0) return;
      auto& row = rows[static_cast<std::size_t>(face)];
      row[face] = 2 * dimensions * nu;
      for (int k = 0; k < dimensions; ++k) {
        for (const Index step : {-1, 1}) {
          FaceGrid::Place place = at;
          place[k] += step;
          const Index other = grid.face(place, d);
          if (other >= 0) row[other] = -nu;
        }
      }
    });
  }
  add_divergence(grid, rows, transposed);
  for (Index i = grid.faces(); i < grid.faces() + grid.cells() && c != 0; ++i) {
    rows[static_cast<std::size_t>(i)][i] = -c;
  }
  return from_rows(static_cast<Index>(rows.size()), rows);
}

/// Diffusion in mixed form, with pressure 0 on the boundary: Raviart-Thomas elements of lowest order on squares or
/// cubes, whose mass matrix has 1/3 for each face of a cell and 1/6 for both; here times 9/8, so that floats hold it.
inline HostCsr mixed_diffusion(int dimensions, Index n) {
  const FaceGrid grid(dimensions, n, true);
  MapRows rows(static_cast<std::size_t>(grid.faces() + grid.cells()));
  for (int d = 0; d < dimensions; ++d) {
    grid.for_cells([&](FaceGrid::Place at) {
      FaceGrid::Place next = at;
      ++next[d];
      const Index low = grid.face(at, d), high = grid.face(next, d);
      for (const Index face : {low, high}) rows[static_cast<std::size_t>(face)][face] += 0.375;
      rows[static_cast<std::size_t>(low)][high] += 0.1875;
      rows[static_cast<std::size_t>(high)][low] += 0.1875;
    });
  }
  add_divergence(grid, rows, 1);
  return from_rows(static_cast<Index>(rows.size()), rows);
}

}  // namespace newel::testing
