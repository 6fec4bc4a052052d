// SPDX-License-Identifier: Apache-2.0
// Solves with AMG: iterations that do not grow with the mesh, all solvers, and awkward systems.
#include <newel/solver/linear_system.hpp>

#include "apps/fem/assembly.hpp"
#include "apps/fem/mesh.hpp"
#include "tests/catch.hpp"
#include "tests/solver/options.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

SystemOptions amg_system(const std::string& solver = "cg", const std::string& precond = "amg") {
  return system_options(solver, precond, "csr", 1e-8);
}

// Solves A x = b, judges x by the residual computed here, and returns the iterations.
template <class T, Space S>
int solved(const Context<S>& ctx, const HostCsr& a, const SystemOptions& options, const std::vector<T>& b) {
  const auto there = upload_matrix<T>(ctx, a);
  LinearSystem<T, S> system(ctx, there.wide(), options);
  const SolveReport report = checked_solve(ctx, system, a, b, options.stop.rel_tol);
  REQUIRE(report.converged());
  return report.iterations;
}

template <Space S>
int iterations(const Context<S>& ctx, const HostCsr& a, const SystemOptions& options = amg_system()) {
  return solved<double, S>(ctx, a, options, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0));
}

// Of meshes with twice the nodes per side each, a small coarsest level even on the first.
std::vector<int> counts_of(const std::string& kind, const std::vector<int>& sides) {
  const Context<Space::host> ctx;
  std::vector<int> counts;
  for (const int side : sides) {
    const MeshSystem system("generate:" + kind + ":" + std::to_string(side));
    SystemOptions options = amg_system();
    options.precond.of<AmgOptions>().max_coarse = 60;
    options.spmv.coordinates = system.coordinates;
    counts.push_back(iterations(ctx, system.a, options));
  }
  return counts;
}

}  // namespace

TEST_CASE("With AMG the iterations stay bounded as a mesh is refined three times", "[amg]") {
  const std::vector<int> diffusion = counts_of("diffusion", {5, 9, 17, 33});
  const std::vector<int> elasticity = counts_of("elasticity", {4, 7, 13, 25});
  for (const auto* counts : {&diffusion, &elasticity}) {
    INFO(counts->at(0) << ' ' << counts->at(1) << ' ' << counts->at(2) << ' ' << counts->at(3));
    CHECK(counts->at(3) <= 24);
    CHECK(counts->at(3) <= 1.25 * counts->at(2));
    CHECK(counts->at(2) <= 1.25 * counts->at(1) + 1);
  }
}

TEST_ON_HOST("A few flat elements cost AMG hardly an iteration, however often they are refined", "[amg]") {
  std::vector<int> sound, flat;
  for (const bool moved : {false, true}) {
    fem::TetMesh mesh = fem::make_cube(ctx, 6);
    // Two inner nodes nearly onto a neighbour: the stars of nodes are convex, so that no tetrahedron is inverted.
    const auto move = [&](Index node, Index towards) {
      for (int axis = 0; axis < 3; ++axis) {
        double& x = mesh.nodes[node][axis];
        x += 0.9995 * (mesh.nodes[towards][axis] - x);
      }
    };
    if (moved) move(36 * 2 + 6 * 2 + 2, 36 * 2 + 6 * 2 + 3), move(36 * 3 + 6 * 4 + 3, 36 * 4 + 6 * 4 + 3);
    for (int refinement = 0; refinement < 3; ++refinement) {
      if (refinement > 0) mesh = fem::refine(ctx, mesh);
      REQUIRE(fem::first_inverted(ctx, mesh) < 0);
      fem::DiffusionOptions options;
      options.clamped = [](Index, const fem::Point& at) { return at[2] == 0; };
      SystemOptions system = amg_system();
      system.precond.of<AmgOptions>().max_coarse = 60;
      (moved ? flat : sound)
          .push_back(iterations(ctx, host_csr(fem::assemble_diffusion(ctx, mesh, options)), system));
    }
  }
  INFO(sound[1] << ' ' << sound[2] << "; flat " << flat[0] << ' ' << flat[1] << ' ' << flat[2]);
  CHECK(flat[2] <= 1.25 * flat[1] + 1);
  CHECK(flat[2] <= 1.25 * sound[2] + 2);
}

TEST_ON_HOST("Rigid body modes save iterations on an elastic body", "[amg]") {
  const MeshSystem system("generate:elasticity:13");
  SystemOptions options = amg_system();
  const int translations = iterations(ctx, system.a, options);
  options.spmv.coordinates = system.coordinates;
  const int rigid = iterations(ctx, system.a, options);
  CHECK(rigid < 0.8 * translations);
}

TEST_BOTH("A system of an elastic body takes nodes that have moved, in mixed precision too", "[amg]") {
  const MeshSystem system("generate:elasticity:11");
  const auto there = upload_matrix<double>(ctx, system.a);
  const auto b = upload(ctx, std::vector<double>(static_cast<std::size_t>(system.a.rows), 1.0));
  const auto swapped = std::make_shared<NodeCoordinates>(*system.coordinates);  // as far from the truth as can be
  std::reverse(swapped->xyz.begin(), swapped->xyz.end());
  for (std::size_t i = 0; i < swapped->xyz.size(); ++i) swapped->xyz[i] *= i % 2 == 0 ? 1 : 0.3;
  for (const bool mixed : {false, true}) {
    INFO("mixed: " << mixed);
    SystemOptions options = amg_system();
    options.spmv.coordinates = system.coordinates;
    options.precond.of<AmgOptions>().max_coarse = 60;
    options.mixed = mixed;
    LinearSystem<double, S> moving(ctx, there.wide(), options);
    const auto count = [&] {
      auto x = upload(ctx, std::vector<double>(static_cast<std::size_t>(system.a.rows), 0.0));
      const SolveReport report = moving.solve(b.cspan(), x.span());
      REQUIRE(report.converged());
      return report.iterations;
    };
    const int true_place = count();
    moving.move_nodes(swapped);
    CHECK(count() == true_place);  // not before a refresh
    moving.refresh(there.wide().val, RefreshScope::operator_only);
    CHECK(count() == true_place);
    moving.refresh(there.wide().val);
    CHECK(count() > true_place);
    moving.move_nodes(system.coordinates);
    moving.refresh(there.wide().val);
    CHECK(std::abs(count() - true_place) <= 1);
    CHECK_THROWS_AS(moving.move_nodes(nullptr), InputError);
    auto wrong = std::make_shared<NodeCoordinates>(*system.coordinates);
    wrong->dimension = 1;
    CHECK_THROWS_AS(moving.move_nodes(wrong), InputError);
    wrong->dimension = 3;
    wrong->xyz[7] = std::numeric_limits<double>::infinity();
    CHECK(contains(message_of<InputError>([&] { moving.move_nodes(wrong); }), "node 2"));
    CHECK(std::abs(count() - true_place) <= 1);
  }
  LinearSystem<double, S> without(ctx, there.wide(), amg_system());
  CHECK(contains(message_of<InputError>([&] { without.move_nodes(swapped); }), "SpmvOptions::coordinates"));
}

TEST_BOTH("AMG serves CG, BiCGStab and GMRES in every format", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    INFO(solver);
    const int with_amg = iterations(ctx, a, amg_system(solver));
    const int with_jacobi = iterations(ctx, a, amg_system(solver, "jacobi"));
    CHECK(with_amg < 0.6 * with_jacobi);
  }
  const int in_csr = iterations(ctx, a);
  for (const SpmvFormat& format : spmv_formats()) {
    SystemOptions options = amg_system();
    options.spmv.format = format.name;
    INFO(format.name);
    CHECK(std::abs(iterations(ctx, a, options) - in_csr) <= 1);
  }
}

TEST_BOTH("AMG serves convection with BiCGStab and GMRES", "[amg]") {
  const HostCsr a = fem_matrix("generate:convection:14:10");
  for (const std::string solver : {"bicgstab", "gmres"}) {
    INFO(solver);
    CHECK(iterations(ctx, a, amg_system(solver)) < 0.6 * iterations(ctx, a, amg_system(solver, "jacobi")));
  }
}

TEST_BOTH("AMG serves single and mixed precision", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  SystemOptions options = amg_system();
  const int in_double = iterations(ctx, a, options);
  options.mixed = true;
  CHECK(iterations(ctx, a, options) <= in_double + 2);
  options.mixed = false;
  options.stop.rel_tol = 1e-4;
  CHECK(solved<float, S>(ctx, a, options, std::vector<float>(static_cast<std::size_t>(a.rows), 1.0F)) < in_double);
}

TEST_BOTH("AMG serves tiny, diagonal and disconnected systems", "[amg]") {
  // A cycle in single precision inverts to 24 bits: one more iteration.
  CHECK(iterations(ctx, diagonal_matrix(1)) <= 2);
  CHECK(iterations(ctx, diagonal_matrix(500)) <= 2);
  const HostCsr islands =
      pieces(pieces(fem_matrix("generate:diffusion:8"), diagonal_matrix(9)), fem_matrix("generate:diffusion:7"));
  CHECK(iterations(ctx, islands) <= 20);
  // No pair is strongly connected: the smoother alone.
  SystemOptions options = amg_system();
  options.precond.of<AmgOptions>().theta = 1;
  const HostCsr a = fem_matrix("generate:diffusion:8");
  CHECK(iterations(ctx, a, options) < iterations(ctx, a, amg_system("cg", "jacobi")));
  // A hub: one aggregate, whose matrix has one row.
  CHECK(iterations(ctx, arrow_matrix(900)) <= 30);
}

TEST_BOTH("AMG serves a pure Neumann problem", "[amg]") {
  const HostCsr a = neumann_grid(40, 30);
  std::vector<double> b = random_vector<double>(a.rows);
  double mean = 0;
  for (const double value : b) mean += value / a.rows;
  for (double& value : b) value -= mean;
  SystemOptions options = amg_system();
  options.null_space = NullSpace::constant;
  CHECK(solved<double, S>(ctx, a, options, b) <= 20);
}

TEST_BOTH("A time loop refreshes AMG, and iterations stay few", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const auto there = upload_matrix<double>(ctx, a);
  for (const AmgRefresh scope : {AmgRefresh::galerkin, AmgRefresh::full, AmgRefresh::keep}) {
    SystemOptions options = amg_system();
    options.precond.of<AmgOptions>().refresh = scope;
    LinearSystem<double, S> system(ctx, there.wide(), options);
    HostCsr changed = a;
    for (int step = 1; step <= 3; ++step) {
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
          if (a.col[k] == i) changed.val[k] = a.val[k] * (1 + 0.01 * step);
        }
      }
      const auto values = upload(ctx, changed.val);
      system.refresh(values.cspan());
      const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
      const SolveReport report = checked_solve(ctx, system, changed, b);
      REQUIRE(report.converged());
      CHECK(report.iterations <= 20);
    }
  }
}
