// SPDX-License-Identifier: Apache-2.0
// The system shipped for the quickstart is what its README says.
#include "tests/catch.hpp"

#include <Eigen/SparseCholesky>

#include <newel/io/matrix_market.hpp>

#include "tests/apps/fem_test_tools.hpp"

TEST_CASE("the shipped beam is symmetric positive definite and sinks as its README says", "[fem]") {
  const Context<Space::host> ctx(2);
  const std::string folder = NEWEL_SHIPPED_DATA;
  MatrixMarketHeader header;
  const auto a = read_matrix(ctx, folder + "/cantilever_beam.mtx.gz", &header);
  const auto b = read_vector(ctx, folder + "/cantilever_beam_b.mtx.gz");
  REQUIRE(header.symmetry == MatrixMarketHeader::Symmetry::symmetric);
  REQUIRE(a.rows == 4557);
  REQUIRE(a.nnz() == 166689);
  REQUIRE(b.size() == a.rows);
  REQUIRE(newel::testing::symmetric_bit_for_bit(a));
  const Eigen::SimplicialLLT<newel::testing::EigenMatrix> factors(to_eigen(a));
  REQUIRE(factors.info() == Eigen::Success);
  const Eigen::VectorXd displacement = factors.solve(to_eigen(b));
  REQUIRE(displacement.minCoeff() == Approx(-5.007e-5).epsilon(1e-3));
}

TEST_CASE("the nodes of the shipped beam are those of its rows", "[fem]") {
  const Context<Space::host> ctx(2);
  const std::string folder = NEWEL_SHIPPED_DATA;
  const auto a = read_matrix(ctx, folder + "/cantilever_beam.mtx.gz");
  const DenseColumns nodes = read_columns(ctx, folder + "/cantilever_beam_nodes.mtx.gz");
  REQUIRE(nodes.rows == a.rows / 3);
  REQUIRE(nodes.cols == 3);
  // A rotation about the axis x moves y, z to -z, y: a free body offers it no force. Rows of nodes away from the
  // clamped end, whose columns are left out of A, are those of a free body.
  Eigen::VectorXd turned(a.rows);
  const auto at = [&](Index node, Index axis) { return nodes.values[axis * nodes.rows + node]; };
  for (Index node = 0; node < nodes.rows; ++node) {
    turned[3 * node] = 0;
    turned[3 * node + 1] = -at(node, 2);
    turned[3 * node + 2] = at(node, 1);
  }
  const auto matrix = to_eigen(a);
  const Eigen::VectorXd force = matrix * turned, size = matrix.cwiseAbs() * turned.cwiseAbs();
  int checked = 0;
  for (Index node = 0; node < nodes.rows; ++node) {
    if (at(node, 0) < 0.2) continue;  // three spacings
    ++checked;
    for (Index row = 3 * node; row < 3 * node + 3; ++row) {
      REQUIRE(std::fabs(force[row]) <= 100 * 2.3e-16 * size[row]);  // values and coordinates are each rounded sums
    }
  }
  REQUIRE(checked > 1200);
}
