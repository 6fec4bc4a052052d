// SPDX-License-Identifier: Apache-2.0
// Systems by name: what the names give and how wrong names are answered.
#include "tests/catch.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCholesky>

#include <unistd.h>

#include "apps/fem/problem.hpp"
#include "tests/apps/fem_test_tools.hpp"

using namespace newel::fem;

namespace {

const Context<Space::host> ctx(2);

std::string complaint(const std::string& spec) {
  try {
    generate_matrix(ctx, spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

bool positive_definite(const fem::HostCsr& a) {
  const Eigen::SimplicialLLT<EigenMatrix> factors(to_eigen(a));
  return factors.info() == Eigen::Success;
}

// Two cubes that do not touch, one above the other.
class TwoCubes {
 public:
  TwoCubes()
      : path_((std::filesystem::temp_directory_path() / ("newel_two_cubes_" + std::to_string(getpid()) + ".mesh"))
                  .string()) {
    const TetMesh cube = make_cube(ctx, 4);
    std::ofstream out(path_);
    out << "MeshVersionFormatted 2\nDimension 3\nVertices\n" << 2 * cube.nodes.size() << "\n";
    for (const double shift : {0.0, 2.0}) {
      for (const Point& p : cube.nodes) out << p[0] << " " << p[1] << " " << p[2] + shift << " 0\n";
    }
    out << "Tetrahedra\n" << 2 * cube.tets.size() << "\n";
    for (const Index shift : {1, 1 + cube.node_count()}) {
      for (const Tet& t : cube.tets) {
        for (const Index corner : t) out << corner + shift << " ";
        out << "0\n";
      }
    }
    out << "End\n";
  }
  ~TwoCubes() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("names of systems are told from names of files", "[fem]") {
  REQUIRE(is_generated("generate:diffusion:10"));
  REQUIRE(is_generated("mesh:heart.mesh.gz:elasticity"));
  REQUIRE_FALSE(is_generated("bone.mtx"));
  REQUIRE_FALSE(is_generated("generated.mtx"));
  REQUIRE_FALSE(is_generated(""));
}

TEST_CASE("generated systems have the sizes and the definiteness that their names say", "[fem]") {
  const fem::HostCsr diffusion = generate_matrix(ctx, "generate:diffusion:9");
  REQUIRE(diffusion.rows == 9 * 9 * 9);
  REQUIRE(symmetric_bit_for_bit(diffusion));
  REQUIRE(positive_definite(diffusion));
  const fem::HostCsr elasticity = generate_matrix(ctx, "generate:elasticity:6");
  REQUIRE(elasticity.rows == 3 * 6 * 6 * 6);
  REQUIRE(symmetric_bit_for_bit(elasticity));
  REQUIRE(positive_definite(elasticity));
  REQUIRE(same_bits(generate_matrix(ctx, "generate:grid7:8"), grid7(ctx, 8)));
  REQUIRE(same_bits(generate_matrix(Context<Space::host>(1), "generate:elasticity:6"), elasticity));
}

TEST_CASE("the generated convection is far from symmetric and solvable by BiCGStab", "[fem]") {
  const fem::HostCsr a = generate_matrix(ctx, "generate:convection:14");
  const EigenMatrix matrix = to_eigen(a);
  const EigenMatrix skew = matrix - EigenMatrix(matrix.transpose());
  REQUIRE(skew.coeffs().abs().maxCoeff() > 0.05 * matrix.coeffs().abs().maxCoeff());
  const Eigen::VectorXd b = matrix * Eigen::VectorXd::Random(a.cols);
  Eigen::BiCGSTAB<EigenMatrix> solver(matrix);
  solver.setTolerance(1e-9);
  solver.setMaxIterations(500);
  const Eigen::VectorXd x = solver.solve(b);
  REQUIRE((b - matrix * x).norm() < 1e-8 * b.norm());
}

TEST_CASE("the more its Peclet number is, the less diffusion the generated convection has", "[fem]") {
  const auto of = [](const std::string& peclet) {
    return to_eigen(generate_matrix(ctx, "generate:convection:6" + peclet));
  };
  const EigenMatrix wind = of(":1e300");
  REQUIRE((of("") - of(":50")).norm() == 0);
  double last = (of(":5") - wind).norm();
  for (const std::string peclet : {":50", ":500.5", ":5e3"}) {
    const double rest = (of(peclet) - wind).norm();
    REQUIRE(rest < 0.3 * last);
    last = rest;
  }
  REQUIRE(last > 0);
}

TEST_CASE("every component of a mesh is clamped, refined or not", "[fem]") {
  const TwoCubes file;
  for (const std::string refinements : {"", ":0", ":1"}) {
    const fem::HostCsr diffusion = generate_matrix(ctx, "mesh:" + file.path() + ":diffusion" + refinements);
    REQUIRE(diffusion.rows == (refinements == ":1" ? 2 * 7 * 7 * 7 : 2 * 4 * 4 * 4));
    REQUIRE(positive_definite(diffusion));
    REQUIRE(positive_definite(generate_matrix(ctx, "mesh:" + file.path() + ":elasticity" + refinements)));
    REQUIRE(generate_matrix(ctx, "mesh:" + file.path() + ":convection" + refinements).rows == diffusion.rows);
  }
}

TEST_CASE("wrong names are answered with the form expected", "[fem]") {
  const std::string form =
      "expected generate:KIND:N with KIND diffusion, elasticity, convection or grid7, or generate:convection:N:PE "
      "with "
      "a Peclet number above 0, found '";
  for (const std::string spec :
       {"generate:", "generate:diffusion", "generate:diffusion:", "generate:plasticity:4", "generate:diffusion:4x",
        "generate:diffusion:9999999999", "generate:diffusion:4:4",
        "generate:convection:4:", "generate:convection:4:0", "generate:convection:4:-1", "generate:convection:4:nan",
        "generate:convection:4:inf", "generate:convection:4:1:1", "generate:convection:4x:1"}) {
    REQUIRE(complaint(spec) == form + spec + "'");
  }
  const std::string mesh_form =
      "expected mesh:FILE:KIND[:R] with KIND diffusion, elasticity or convection and R refinements from 0 to 9, "
      "found '";
  for (const std::string spec : {"mesh:", "mesh:a.mesh", "mesh:a.mesh:grid7", "mesh::diffusion",
                                 "mesh:a.mesh:diffusion:10", "mesh:a.mesh:diffusion:-1"}) {
    REQUIRE(complaint(spec) == mesh_form + spec + "'");
  }
  REQUIRE(complaint("generate:diffusion:1") ==
          "expected N from 2 to 711 in generate:KIND:N, found 'generate:diffusion:1'");
  REQUIRE(complaint("generate:grid7:1291") ==
          "expected N from 2 to 1290 in generate:KIND:N, found 'generate:grid7:1291'");
  REQUIRE(complaint("mesh:no such file.mesh:diffusion").find("cannot open no such file.mesh") == 0);
  REQUIRE(complaint("bone.mtx") == "expected generate:KIND:N or mesh:FILE:KIND[:R], found 'bone.mtx'");
}

TEST_CASE("what exceeds the memory of the host is refused before the work begins", "[fem]") {
  const auto before = ctx.memory()->use().allocations;
  try {
    generate_matrix(ctx, "generate:elasticity:711");
    FAIL("accepted");
  } catch (const OutOfMemory& error) {
    REQUIRE(error.wanted_bytes() > 600e9);
    REQUIRE(error.available_bytes() < error.wanted_bytes());
  }
  REQUIRE(ctx.memory()->use().allocations == before);
}
