// SPDX-License-Identifier: Apache-2.0
// AMG's prolongators against dense algebra.
#include "precond/amg/transfer/prolongator.hpp"

#include <Eigen/Eigenvalues>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

// The aggregates of each node and of what A couples to it.
detail::HostBlockPattern whole_pattern(const Context<host>& ctx, const detail::HostBlockPattern& a,
                                       const detail::Aggregates<host>& aggregates) {
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  for (Index i = 0; i < a.rows; ++i) {
    std::set<Index> reached;
    if (aggregates.of_node[i] >= 0) {
      reached.insert(aggregates.of_node[i]);
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) reached.insert(aggregates.of_node[a.col[k]]);
      reached.erase(-1);
    }
    col.insert(col.end(), reached.begin(), reached.end());
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  return {a.rows, aggregates.count, make_array(ctx, row_ptr), make_array(ctx, col)};
}

struct Parts {
  detail::HostBlockCsr a;
  detail::Aggregates<Space::host> aggregates;
  detail::NearNull<Space::host> near_null;
  detail::Tentative<Space::host> tentative;
  detail::HostBlockCsr p;

  Parts(const Context<host>& ctx, const HostCsr& matrix, int block, detail::NearNull<Space::host> vectors,
        double omega, Index width = 0)
      : a(blocks_of(ctx, matrix, block)), near_null(std::move(vectors)) {
    aggregates = detail::aggregate(ctx, detail::find_strength(ctx, a, 0));
    tentative = detail::make_tentative(ctx, aggregates, block, near_null);
    p.row_block = block;
    p.col_block = near_null.vectors;
    p.pattern = whole_pattern(ctx, a.pattern, aggregates);
    compute(ctx, omega);
    if (width == 0) return;
    p.pattern = detail::smoothed_pattern(ctx, a, {}, omega, aggregates, tentative, width);
    compute(ctx, omega);
  }
  void compute(const Context<host>& ctx, double omega) {
    p.val = Array<double, host>(ctx, p.pattern.blocks() * p.block_size());
    detail::smooth_prolongator(ctx, a, {}, omega, aggregates, tentative, p);
  }
  // Q as a matrix of rows x coarse unknowns.
  EigenDense q() const {
    const int k = near_null.vectors, b = a.row_block;
    EigenDense result = EigenDense::Zero(a.scalar_rows(), aggregates.count * k);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      const Index to = aggregates.of_node[i / b];
      for (int c = 0; c < k && to >= 0; ++c) result(i, to * k + c) = tentative.q[i * k + c];
    }
    return result;
  }
  // The near-null vectors, 0 in nodes left out.
  EigenDense inside() const {
    EigenDense result = eigen_dense(near_null);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      if (aggregates.of_node[i / a.row_block] < 0) result.row(i).setZero();
    }
    return result;
  }
};

}  // namespace

TEST_ON_HOST("AMG's rigid body modes have no strain energy in a floating body", "[amg]") {
  MeshSystem system("generate:elasticity:5");
  // Without the clamped face: the same assembly on the mesh alone.
  const fem::TetMesh cube = fem::make_cube(ctx, 5);
  const auto a = fem::assemble_elasticity(ctx, cube, 1, 0.3);
  NodeCoordinates coordinates;
  for (const fem::Point& p : cube.nodes) coordinates.xyz.insert(coordinates.xyz.end(), p.begin(), p.end());
  const EigenDense modes = eigen_dense(detail::rigid_body_modes(ctx, coordinates));
  EigenDense d = EigenDense::Zero(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d(i, a.col[k]) = a.val[k];
  }
  CHECK(modes.cols() == 6);
  CHECK(largest(d * modes) < 1e-13 * largest(d) * 100);
  CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(modes.transpose() * modes).eigenvalues()(0) > 1);

  NodeCoordinates plane{{0, 0, 2, 0, 2, 1, 5, 3}, 2};
  const EigenDense flat = eigen_dense(detail::rigid_body_modes(ctx, plane));
  REQUIRE(flat.cols() == 3);
  // A small rotation changes no distance to first order: (p_i - p_j) . (u_i - u_j) = 0.
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < i; ++j) {
      double change = 0;
      for (int c = 0; c < 2; ++c) {
        change += (plane.xyz[2 * i + c] - plane.xyz[2 * j + c]) * (flat(2 * i + c, 2) - flat(2 * j + c, 2));
      }
      CHECK(std::fabs(change) < 1e-14);
    }
  }
}

TEST_ON_HOST("AMG's tentative prolongator is orthonormal and reproduces the near-null space", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const Parts parts(ctx, system.a, 3, detail::rigid_body_modes(ctx, *system.coordinates), 0);
  const EigenDense q = parts.q(), r = eigen_dense(parts.tentative.coarse);
  CHECK(largest(q * r - parts.inside()) < 1e-13);
  const EigenDense gram = q.transpose() * q;
  for (Eigen::Index i = 0; i < gram.rows(); ++i) {
    for (Eigen::Index j = 0; j < gram.rows(); ++j) {
      const double expected = i == j && gram(i, i) > 0.5 ? 1 : 0;
      REQUIRE(std::fabs(gram(i, j) - expected) < 1e-12);
    }
  }
  // With omega = 0 nothing is smoothed.
  CHECK(largest(eigen_dense(parts.p) - q) < 1e-15);
}

TEST_ON_HOST("AMG drops near-null vectors that depend on others in their aggregate", "[amg]") {
  // Aggregates of one node each: three rows cannot carry six modes.
  detail::Aggregates<Space::host> single;
  single.count = 2;
  single.of_node = {0, 1};
  const NodeCoordinates coordinates{{0, 0, 0, 1, 2, 3}, 3};
  const detail::NearNull<Space::host> modes = detail::rigid_body_modes(ctx, coordinates);
  const detail::Tentative<Space::host> tentative = detail::make_tentative(ctx, single, 3, modes);
  CHECK(tentative.missing == 6);
  const EigenDense r = eigen_dense(tentative.coarse), b = eigen_dense(modes);
  for (int node = 0; node < 2; ++node) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>> q(tentative.q.data() + 18 * node);
    CHECK(largest(EigenDense(q) * r.middleRows(6 * node, 6) - b.middleRows(3 * node, 3)) < 1e-14);
    for (int c = 3; c < 6; ++c) CHECK(q.col(c).norm() == 0);
  }
}

TEST_ON_HOST("AMG's smoothed prolongator is (I - omega D^-1 A) Q", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const double omega = 0.6;
  const Parts parts(ctx, system.a, 3, detail::rigid_body_modes(ctx, *system.coordinates), omega);
  const EigenDense a = eigen_dense(parts.a), q = parts.q();
  EigenDense expected = q - omega * a.diagonal().cwiseInverse().asDiagonal() * (a * q);
  for (Index i = 0; i < system.a.rows; ++i) {
    if (parts.aggregates.of_node[i / 3] < 0) expected.row(i).setZero();
  }
  CHECK(largest(eigen_dense(parts.p) - expected) < 1e-14);

  // Where A maps the modes to zero, as far from the clamped face, P reproduces them.
  const EigenDense b = parts.inside(), ab = a * b, pr = eigen_dense(parts.p) * eigen_dense(parts.tentative.coarse);
  int reproduced = 0;
  for (Index i = 0; i < system.a.rows; ++i) {
    if (largest(ab.row(i)) > 1e-12) continue;
    REQUIRE(largest(pr.row(i) - b.row(i)) < 1e-12);
    ++reproduced;
  }
  CHECK(reproduced > 300);
}

TEST_ON_HOST("A narrowed prolongator of AMG has no more blocks and the same product with the coarse vectors",
             "[amg]") {
  const MeshSystem system("generate:elasticity:8");
  const detail::NearNull<Space::host> modes = detail::rigid_body_modes(ctx, *system.coordinates);
  const Parts full(ctx, system.a, 3, modes, 0.6), narrow(ctx, system.a, 3, modes, 0.6, 3);
  Offset widest_full = 0, widest = 0;
  for (Index i = 0; i < narrow.p.pattern.rows; ++i) {
    widest_full = std::max(widest_full, full.p.pattern.row_ptr[i + 1] - full.p.pattern.row_ptr[i]);
    widest = std::max(widest, narrow.p.pattern.row_ptr[i + 1] - narrow.p.pattern.row_ptr[i]);
  }
  REQUIRE(widest_full > 3);
  CHECK(widest == 3);
  const EigenDense r = eigen_dense(full.tentative.coarse);
  CHECK(largest(eigen_dense(full.p) * r - eigen_dense(narrow.p) * r) < 1e-12);
}

TEST_ON_HOST("AMG's narrow pattern holds a row's own aggregate and those of its largest blocks", "[amg]") {
  const MeshSystem body("generate:elasticity:7"), heat("generate:diffusion:9");
  const Parts of_body(ctx, body.a, 3, detail::rigid_body_modes(ctx, *body.coordinates), 0.6);
  const Parts of_heat(ctx, heat.a, 1, detail::constant_components(ctx, heat.a.rows, 1), 0.6);
  for (const Parts* parts : {&of_body, &of_heat}) {
    const detail::HostBlockCsr& p = parts->p;
    for (const Index width : {1, 2, 3, 100}) {
      const auto found = detail::smoothed_pattern(ctx, parts->a, {}, 0.6, parts->aggregates, parts->tentative, width);
      REQUIRE(found.rows == p.pattern.rows);
      REQUIRE(found.cols == p.pattern.cols);
      for (Index i = 0; i < found.rows; ++i) {
        std::vector<std::pair<double, Index>> blocks;
        for (Offset k = p.pattern.row_ptr[i]; k < p.pattern.row_ptr[i + 1]; ++k) {
          const Eigen::Map<const Eigen::VectorXd> values(p.block(k), p.block_size());
          const bool own = p.pattern.col[k] == parts->aggregates.of_node[i];
          blocks.emplace_back(own ? -INFINITY : -static_cast<double>(static_cast<float>(values.squaredNorm())),
                              p.pattern.col[k]);
        }
        std::sort(blocks.begin(), blocks.end());
        std::set<Index> expected;
        for (std::size_t k = 0; k < std::min(blocks.size(), static_cast<std::size_t>(width)); ++k) {
          expected.insert(blocks[k].second);
        }
        const std::set<Index> columns(found.col.data() + found.row_ptr[i], found.col.data() + found.row_ptr[i + 1]);
        CHECK(columns == expected);
      }
    }
  }
}

// In every seventh row the weak blocks, if any, come to -0.9 of the diagonal one.
void make_weak_blocks_outweigh(detail::HostBlockCsr& a, const std::vector<unsigned char>& kept) {
  for (Index i = 0; i < a.pattern.rows; i += 7) {
    const Offset begin = a.pattern.row_ptr[i], end = a.pattern.row_ptr[i + 1],
                 own = detail::diagonal_at(a.pattern, i);
    const auto weak = std::count(kept.begin() + begin, kept.begin() + end, 0);
    for (Offset k = begin; k < end; ++k) {
      for (int e = 0; e < a.block_size() && !kept[k]; ++e)
        a.block(k)[e] = -0.9 * a.block(own)[e] / static_cast<double>(weak);
    }
  }
}

TEST_ON_HOST(
    "AMG's prolongator is that of a matrix whose weak blocks are on the diagonal, but where that would vanish",
    "[amg]") {
  const MeshSystem body("generate:elasticity:6"), heat("generate:diffusion:8");
  const double omega = 0.6;
  for (const MeshSystem* system : {&body, &heat}) {
    const int block = system == &body ? 3 : 1;
    detail::HostBlockCsr a = blocks_of(ctx, system->a, block);
    const detail::Strength<Space::host> strength = detail::find_strength(ctx, a, 0.15);
    make_weak_blocks_outweigh(a, strength.kept);
    const detail::Aggregates<Space::host> aggregates = detail::aggregate(ctx, strength);
    const detail::NearNull<Space::host> vectors = detail::constant_components(ctx, system->a.rows, block);
    const detail::Tentative<Space::host> tentative = detail::make_tentative(ctx, aggregates, block, vectors);

    EigenDense filtered = eigen_dense(a);
    int weak_blocks = 0, lumped = 0, left = 0;
    for (Index i = 0; i < a.pattern.rows; ++i) {
      EigenDense weak = EigenDense::Zero(block, block);
      for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
        if (strength.kept[k]) continue;
        auto there = filtered.block(i * block, a.pattern.col[k] * block, block, block);
        weak += there;
        there.setZero();
        ++weak_blocks;
      }
      auto own = filtered.block(i * block, i * block, block, block);
      bool sound = true;
      for (int r = 0; r < block; ++r)
        sound = sound && std::fabs(own(r, r) + weak(r, r)) >= 0.2 * std::fabs(own(r, r));
      if (sound) own += weak;
      ++(sound ? lumped : left);
    }
    CHECK(weak_blocks > 100);
    CHECK(lumped > a.pattern.rows / 2);
    CHECK(left > 10);

    EigenDense q = EigenDense::Zero(a.scalar_rows(), aggregates.count * block);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      const Index to = aggregates.of_node[i / block];
      for (int c = 0; c < block && to >= 0; ++c) q(i, to * block + c) = tentative.q[i * block + c];
    }
    EigenDense expected = q - omega * filtered.diagonal().cwiseInverse().asDiagonal() * (filtered * q);
    for (Index i = 0; i < a.scalar_rows(); ++i) {
      if (aggregates.of_node[i / block] < 0) expected.row(i).setZero();
    }
    detail::HostBlockCsr p;
    p.row_block = p.col_block = block;
    detail::make_prolongator(ctx, a, strength.kept, omega, aggregates, tentative, 1000, p);
    CHECK(largest(eigen_dense(p) - expected) < 1e-13);

    // A refresh on that pattern has the same bits, and so have both on a narrow one.
    for (const Index width : {1000, 2}) {
      detail::make_prolongator(ctx, a, strength.kept, omega, aggregates, tentative, width, p);
      const std::vector<double> made(p.val.begin(), p.val.end());
      std::fill(p.val.begin(), p.val.end(), NAN);
      detail::smooth_prolongator(ctx, a, strength.kept, omega, aggregates, tentative, p);
      CHECK(std::vector<double>(p.val.begin(), p.val.end()) == made);
      const detail::HostBlockPattern pattern =
          detail::smoothed_pattern(ctx, a, strength.kept, omega, aggregates, tentative, width);
      CHECK(std::equal(pattern.col.begin(), pattern.col.end(), p.pattern.col.begin(), p.pattern.col.end()));
    }
  }
}
