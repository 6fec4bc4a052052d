// SPDX-License-Identifier: Apache-2.0
// What entries off the diagonal say of a matrix, and what that lets expect of AMG.
#include "solver/cost/couplings.hpp"

#include <algorithm>
#include <array>

#include "tests/solver/problem.hpp"
#include <newel/solver/linear_system.hpp>
#include "solver/cost/matrix_kind.hpp"

namespace {

detail::CouplingTraits traits_of(const HostCsr& a) {
  const Context<Space::host> ctx;
  const Uploaded<double, Space::host> there = upload_matrix<double>(ctx, a);
  return detail::coupling_traits(there.wide());
}

// A line of elements without its ends.
template <std::size_t N>
MapRows line(Index elements, const std::array<std::array<double, N>, N>& of_element) {
  const auto order = static_cast<Index>(N) - 1;
  const Index inner = elements * order - 1;
  MapRows rows(static_cast<std::size_t>(inner));
  for (Index e = 0; e < elements; ++e) {
    for (Index i = 0; i <= order; ++i) {
      for (Index j = 0; j <= order; ++j) {
        const Index row = e * order + i - 1, column = e * order + j - 1;
        if (row < 0 || row >= inner || column < 0 || column >= inner) continue;
        rows[static_cast<std::size_t>(row)][column] +=
            of_element[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
    }
  }
  return rows;
}

// Diffusion on a square of elements, K x M + M x K by those of lines.
HostCsr on_square(const MapRows& stiffness, const MapRows& mass) {
  const auto n = static_cast<Index>(stiffness.size());
  MapRows rows(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const auto add = [&](Index i, Index j, const MapRows& of_i, const MapRows& of_j) {
    for (const auto& [k, along] : of_i[static_cast<std::size_t>(i)]) {
      for (const auto& [l, across] : of_j[static_cast<std::size_t>(j)]) {
        rows[static_cast<std::size_t>(i * n + j)][k * n + l] += along * across;
      }
    }
  };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      add(i, j, stiffness, mass);
      add(i, j, mass, stiffness);
    }
  }
  return from_rows(n * n, rows);
}

HostCsr cubic_squares(Index elements) {
  const std::array<std::array<double, 4>, 4> stiffness = {
      {{148, -189, 54, -13}, {-189, 432, -297, 54}, {54, -297, 432, -189}, {-13, 54, -189, 148}}};
  const std::array<std::array<double, 4>, 4> mass = {
      {{128, 99, -36, 19}, {99, 648, -81, -36}, {-36, -81, 648, 99}, {19, -36, 99, 128}}};
  return on_square(line(elements, stiffness), line(elements, mass));
}

double positive_share(const HostCsr& a) {
  double positive = 0, all = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) continue;
      positive += std::max(a.val[k], 0.0);
      all += std::abs(a.val[k]);
    }
  }
  return positive / all;
}

}  // namespace

TEST_CASE("Couplings say how much is positive off the diagonal, and whether rows are displacements", "[policy]") {
  const detail::CouplingTraits chain = traits_of(tridiagonal_matrix(900));
  CHECK(chain.positive == 0);
  CHECK(chain.node_rows == 1);
  CHECK(chain.scalar());
  const HostCsr cubic = cubic_squares(10);
  CHECK(traits_of(cubic).positive == Approx(positive_share(cubic)));  // few rows: all of them
  CHECK(positive_share(cubic) == Approx(0.18).epsilon(0.1));
  CHECK(traits_of(cubic).scalar());
  const HostCsr large = cubic_squares(40);  // a sample
  CHECK(traits_of(large).positive == Approx(positive_share(large)).epsilon(0.05));
  const detail::CouplingTraits elastic = traits_of(fem_matrix("generate:elasticity:5"));
  CHECK(elastic.node_rows == 3);
  CHECK_FALSE(elastic.scalar());
}

TEST_CASE("AMG is expected to serve diffusion by its values as on a mesh", "[policy]") {
  const PrecondOptions options;
  detail::MatrixKind any, by_values, mesh;
  any.undamped = by_values.undamped = mesh.undamped = true;
  by_values.diffusion = true;
  mesh.origin = MatrixOrigin::mesh;
  for (const std::string name : {"amg", "fsai"}) {
    CHECK(detail::iterations_with(name, by_values) == detail::iterations_with(name, mesh));
    CHECK(detail::margin_of(name, options, by_values) == detail::margin_of(name, options, mesh));
  }
  CHECK(detail::iterations_with("amg", by_values) != detail::iterations_with("amg", any));
  CHECK(detail::margin_of("amg", options, by_values) < detail::margin_of("amg", options, any));
  CHECK(detail::sure_share(by_values, true) == 0);  // the size alone says too little without coordinates
}

TEST_CASE("Solves of cubic elements without coordinates take AMG from the second on", "[policy][amg]") {
  Problem<Space::host> problem(cubic_squares(40));
  SystemOptions options;
  options.deterministic = true;
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), options);
  const SolveReport first = system.solve(problem.b.cspan(), problem.x.span());
  CHECK(first.converged());
  fill<double, Space::host>(problem.ctx, 0, problem.x.span());
  const SolveReport second = system.solve(problem.b.cspan(), problem.x.span());
  INFO(first.changed << " / " << second.changed);
  CHECK(contains(first.changed + second.changed, "preconditioner amg for jacobi"));
  CHECK(second.iterations < 40);
  CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <=
        1.01e-8 * norm_oracle(problem.b_host));
}
