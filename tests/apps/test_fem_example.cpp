// SPDX-License-Identifier: Apache-2.0
// The system shipped for the quickstart is what its README says.
#include "tests/catch.hpp"

#include <Eigen/SparseCholesky>

#include <purlin/core/matrix_market.hpp>

#include "tests/apps/fem_test_tools.hpp"

using namespace purlin;
using purlin::testing::to_eigen;

TEST_CASE("the shipped beam is symmetric positive definite and sinks as its README says", "[fem]") {
  const Context<Space::host> ctx(2);
  const std::string folder = PURLIN_SHIPPED_DATA;
  MatrixMarketHeader header;
  const auto a = read_matrix(ctx, folder + "/cantilever_beam.mtx.gz", &header);
  const auto b = read_vector(ctx, folder + "/cantilever_beam_b.mtx.gz");
  REQUIRE(header.symmetry == MatrixMarketHeader::Symmetry::symmetric);
  REQUIRE(a.rows == 4557);
  REQUIRE(a.nnz() == 166689);
  REQUIRE(b.size() == a.rows);
  REQUIRE(purlin::testing::symmetric_bit_for_bit(a));
  const Eigen::SimplicialLLT<purlin::testing::EigenMatrix> factors(to_eigen(a));
  REQUIRE(factors.info() == Eigen::Success);
  const Eigen::VectorXd displacement = factors.solve(to_eigen(b));
  REQUIRE(displacement.minCoeff() == Approx(-5.007e-5).epsilon(1e-3));
}
