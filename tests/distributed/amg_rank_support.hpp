// SPDX-License-Identifier: Apache-2.0
/// Systems for AMG on ranks, and a rank's share of them in whole nodes.
#pragma once

#include <newel/core/vector_ops.hpp>

#include "apps/fem/problem.hpp"
#include "distributed/precond/rank_matrix.hpp"
#include "distributed/rows/halo.hpp"

#include "tests/distributed/rank_support.hpp"

namespace newel::testing {

struct AmgCase {
  std::string name;
  HostCsr matrix;
  int node_rows = 1;
  std::shared_ptr<const NodeCoordinates> coordinates = nullptr;
};

/// A generated system with the coordinates of its nodes.
inline AmgCase fem_case(const std::string& spec) {
  AmgCase made{spec, fem_matrix(spec)};
  auto nodes = std::make_shared<NodeCoordinates>();
  static_cast<void>(fem::generate_matrix(Context<host>(1), spec, nodes.get()));
  if (!nodes->xyz.empty()) made.coordinates = nodes;
  if (spec.find("elasticity") != std::string::npos) made.node_rows = 3;
  return made;
}

/// Five points on nx x ny, of which those above and below are coupled by `weak`.
inline AmgCase grid_case(Index nx, Index ny, double weak) {
  Rows rows(static_cast<std::size_t>(nx * ny));
  for (Index i = 0; i < nx * ny; ++i) {
    rows[i][i] = 2 + 2 * weak;
    if (i % nx > 0) rows[i][i - 1] = -1;
    if (i % nx + 1 < nx) rows[i][i + 1] = -1;
    if (i >= nx) rows[i][i - nx] = -weak;
    if (i + nx < nx * ny) rows[i][i + nx] = -weak;
  }
  return {"grid of " + std::to_string(nx) + " x " + std::to_string(ny) + ", coupling " + std::to_string(weak),
          from_rows(nx * ny, rows)};
}

/// Small ones, for dense matrices.
inline std::vector<AmgCase> amg_cases() {
  return {grid_case(30, 20, 1), fem_case("generate:grid7:8"), fem_case("generate:elasticity:5"),
          fem_case("generate:convection:7")};
}

/// This rank's rows in whole nodes; of more than two ranks the second one has none.
struct AmgShare {
  AmgShare(const AmgCase& of, const std::shared_ptr<Communicator>& ranks)
      : own(of.matrix, bound(of, ranks->rank(), ranks->size()),
            bound(of, ranks->rank() + 1, ranks->size()) - bound(of, ranks->rank(), ranks->size())),
        first_rows(detail::first_rows(*ranks, own.rows())),
        ctx(Context<host>(1).with_ranks({ranks, own.first, of.matrix.rows})),
        rows(own.view()) {
    if (of.coordinates == nullptr || of.node_rows == 1) return;
    coordinates = std::make_shared<NodeCoordinates>(NodeCoordinates{own.part_of(of.coordinates->xyz), 3});
  }
  AmgShare(const AmgShare&) = delete;

  detail::RankMatrix<double> matrix() const { return {rows, first_rows, order, coordinates.get()}; }
  std::vector<double> values_of(const HostCsr& a) const {
    return {a.val.begin() + a.row_ptr[own.first], a.val.begin() + a.row_ptr[own.first + own.rows()]};
  }

  static Index bound(const AmgCase& of, int rank, int size) {
    const Index nodes = of.matrix.rows / of.node_rows;
    if (size > 2 && rank == 2) rank = 1;
    return rank == size ? of.matrix.rows : static_cast<Index>(std::int64_t{nodes} * rank / size) * of.node_rows;
  }

  OwnRows own;
  std::vector<std::int64_t> first_rows;
  Context<host> ctx;
  RankRows<double> rows;
  Span<const Index, host> order = {};
  std::shared_ptr<const NodeCoordinates> coordinates;
};

}  // namespace newel::testing
