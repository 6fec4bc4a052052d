// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of small matrices and harmonic Ritz vectors of cycles, against dense references.
#include "tests/solver/systems.hpp"

#include <Eigen/Dense>
#include <complex>

#include "solver/recycle/harmonic_ritz.hpp"
#include "solver/recycle/small_eigen.hpp"

namespace {

using namespace newel::detail;
using Complex = std::complex<double>;
using Dense = Eigen::MatrixXd;

Dense random_matrix(int rows, int cols, std::uint64_t seed) {
  const std::vector<double> numbers = noise(rows * cols, seed);
  Dense a(rows, cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) a(i, j) = numbers[static_cast<std::size_t>(i * cols + j)];
  }
  return a;
}

SmallMatrix small_of(const Dense& a) {
  SmallMatrix small(static_cast<int>(a.rows()), static_cast<int>(a.cols()));
  for (int i = 0; i < small.rows; ++i) {
    for (int j = 0; j < small.cols; ++j) small(i, j) = a(i, j);
  }
  return small;
}

// The largest distance of a value from the closest of the others, each of which is taken once.
double distance(std::vector<Complex> found, const Eigen::VectorXcd& expected) {
  if (static_cast<Eigen::Index>(found.size()) != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (const Complex& value : expected) {
    const auto closest = std::min_element(found.begin(), found.end(), [&](const Complex& a, const Complex& b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    worst = std::max(worst, std::abs(*closest - value));
    found.erase(closest);
  }
  return worst;
}

void check_values(const Dense& a, double bound) {
  const SmallEigen eigen(small_of(a));
  CAPTURE(a.rows());
  CHECK(distance(eigen.values(), a.eigenvalues()) <= bound);
  for (std::size_t j = 0; j < eigen.values().size(); ++j) {
    const std::vector<Complex> vector = eigen.vector(static_cast<int>(j));
    const Eigen::VectorXcd v = Eigen::Map<const Eigen::VectorXcd>(vector.data(), a.rows());
    CHECK(v.norm() == Approx(1).epsilon(1e-13));
    CHECK((a * v - eigen.values()[j] * v).norm() <= 1e-13 * a.rows() * std::max(a.norm(), 1e-300));
  }
}

/// A cycle on B: p columns of Arnoldi's basis that are kept orthogonal to the images of U.
struct Cycle {
  Dense basis, images;  ///< [U V_p], and B times it
  CycleRelation relation;
};

// By Householder's QR factorisation of the Krylov vectors, which share no code with Gram-Schmidt of the library.
Cycle make_cycle(const Dense& B, const Dense& U, int p) {
  const auto n = B.rows();
  const auto k = U.cols();
  Dense C = Dense::Zero(n, k), R = Dense::Zero(k, k);
  if (k > 0) {
    const Eigen::HouseholderQR<Dense> qr(B * U);
    C = qr.householderQ() * Dense::Identity(n, k);
    R = C.transpose() * B * U;
  }
  const Dense outside = Dense::Identity(n, n) - C * C.transpose();
  Dense V = Dense::Zero(n, p + 1), H = Dense::Zero(p + 1, p);
  V.col(0) = (outside * random_matrix(static_cast<int>(n), 1, 4)).normalized();
  for (int j = 0; j < p; ++j) {
    Dense known(n, j + 2);
    known << V.leftCols(j + 1), outside * B * V.col(j);
    const Eigen::HouseholderQR<Dense> qr(known);
    V.col(j + 1) = (qr.householderQ() * Dense::Identity(n, j + 2)).col(j + 1);
    H.col(j) = V.transpose() * outside * B * V.col(j);
  }
  Cycle cycle{Dense(n, k + p), Dense(), CycleRelation()};
  cycle.basis << U, V.leftCols(p);
  cycle.images = B * cycle.basis;
  CycleRelation& of = cycle.relation;
  of.R = small_of(R);
  of.P = small_of(C.transpose() * B * V.leftCols(p));
  for (int j = 0; j < p; ++j) {  // H to upper triangular form
    const double length = std::hypot(H(j, j), H(j + 1, j)), c = H(j, j) / length, s = H(j + 1, j) / length;
    const Dense above = H.row(j), below = H.row(j + 1);
    H.row(j) = c * above + s * below;
    H.row(j + 1) = c * below - s * above;
    of.cosine.push_back(c);
    of.sine.push_back(s);
  }
  of.triangle = small_of(H.topRows(p));
  Dense products(k + p + 1, k);
  products << C.transpose() * U, V.transpose() * U;
  of.products = small_of(products);
  return cycle;
}

// z of G^T G z = theta G^T [C V]^T [U V] z by the dense matrices themselves: (B W)^T (B W z - theta W z) = 0.
void check_ritz(const Cycle& cycle, int most) {
  const HarmonicRitz ritz = harmonic_ritz(cycle.relation, most, 1e6);
  const int count = ritz.vectors.rows;
  CHECK(count <= most);
  CHECK(count >= most - 1);  // a pair may not fit
  CHECK(static_cast<int>(ritz.values.size()) == count);
  const Dense inverse = (cycle.images.transpose() * cycle.images)
                            .fullPivLu()
                            .solve(cycle.images.transpose() * cycle.basis);  // eigenvalues 1 / theta
  std::vector<double> sizes;
  for (const Complex& value : inverse.eigenvalues()) sizes.push_back(1 / std::abs(value));
  std::sort(sizes.begin(), sizes.end());
  std::vector<double> found;
  for (const Complex& value : ritz.values) found.push_back(std::abs(value));
  std::sort(found.begin(), found.end());
  for (std::size_t j = 0; j < found.size(); ++j) CHECK(found[j] == Approx(sizes[j]).epsilon(1e-9));
  Dense Z(inverse.rows(), count);
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < inverse.rows(); ++i) Z(i, j) = ritz.vectors(j, i);
  }
  CHECK((Z.transpose() * Z - Dense::Identity(count, count)).norm() <= 1e-12);
  CHECK((inverse * Z - Z * (Z.transpose() * inverse * Z)).norm() <=
        1e-9 * inverse.norm());  // they span an invariant space
}

}  // namespace

TEST_CASE("eigenvalues and vectors of small matrices are those of a dense reference", "[solver][recycle]") {
  for (const int n : {1, 2, 3, 4, 7, 20, 66}) {
    const Dense a = random_matrix(n, n, static_cast<std::uint64_t>(n));
    check_values(a, 1e-11 * n);
    check_values(a.triangularView<Eigen::Upper>(), 1e-6 * n);  // far from normal
    check_values(a + a.transpose(), 1e-12 * n);
    check_values(a - a.transpose(), 1e-12 * n);
    check_values(Dense::Zero(n, n), 0);
    check_values(3 * Dense::Identity(n, n), 1e-14);
    Dense graded = a;
    for (int i = 0; i < n; ++i) graded.row(i) *= std::pow(10.0, -8.0 * i / n);
    check_values(graded, 1e-11 * n);
    Dense turned = Dense::Zero(n, n);  // its eigenvalues are on the unit circle, all equally large
    for (int i = 0; i < n; ++i) turned(i, (i + 1) % n) = 1;
    check_values(turned, 1e-12 * n);
  }
}

TEST_CASE("equal eigenvalues have independent vectors", "[solver][recycle]") {
  const Dense P = random_matrix(6, 6, 9) + 3 * Dense::Identity(6, 6);
  Eigen::VectorXd values(6);
  values << 2, 2, 2, 5, 5, 7;
  const SmallEigen eigen(small_of(P * values.asDiagonal() * P.inverse()));
  Eigen::MatrixXcd vectors(6, 6);
  for (int j = 0; j < 6; ++j) {
    const std::vector<Complex> v = eigen.vector(j);
    vectors.col(j) = Eigen::Map<const Eigen::VectorXcd>(v.data(), 6);
  }
  CHECK(vectors.fullPivLu().rank() == 6);
}

TEST_CASE("numbers that are not finite have no eigenvalues", "[solver][recycle]") {
  SmallMatrix a(3, 3);
  a(1, 1) = std::numeric_limits<double>::infinity();
  CHECK(SmallEigen(a).values().empty());
  a(1, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(SmallEigen(a).values().empty());
}

TEST_CASE("harmonic Ritz vectors of a cycle are those of the dense problem", "[solver][recycle]") {
  const Dense B = random_matrix(30, 30, 2) + 2 * Dense::Identity(30, 30);
  check_ritz(make_cycle(B, Dense(30, 0), 12), 5);
  check_ritz(make_cycle(B, random_matrix(30, 4, 8), 9), 6);
  check_ritz(make_cycle(B, random_matrix(30, 1, 8), 1), 2);
}

TEST_CASE("a whole Krylov space gives eigenvectors", "[solver][recycle]") {
  const int n = 14;
  const Dense P = random_matrix(n, n, 3) + 3 * Dense::Identity(n, n);
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values(i) = i < 3 ? 0.001 * (i + 1) : 1 + 0.01 * i;
  const Dense B = P * values.asDiagonal() * P.inverse();
  const Cycle cycle = make_cycle(B, Dense(n, 0), n - 1);
  const HarmonicRitz ritz = harmonic_ritz(cycle.relation, 8, 0.1);
  REQUIRE(ritz.vectors.rows == 3);  // the others are not small
  for (int j = 0; j < 3; ++j) {
    CHECK(ritz.values[static_cast<std::size_t>(j)].real() == Approx(0.001 * (j + 1)).epsilon(1e-2));
    CHECK(ritz.values[static_cast<std::size_t>(j)].imag() == 0);
  }
}

TEST_CASE("a singular relation has no harmonic Ritz vectors", "[solver][recycle]") {
  Cycle cycle = make_cycle(random_matrix(10, 10, 2), Dense(10, 0), 4);
  cycle.relation.triangle(2, 2) = 0;
  CHECK(harmonic_ritz(cycle.relation, 3, 1e6).vectors.rows == 0);
}
