// SPDX-License-Identifier: Apache-2.0
// A clamped bar against beam theory, and the theories against numbers from elsewhere.
#include "tests/beam/beam_support.hpp"

using namespace newel::beam;

namespace {

// The frequencies of the modes that mostly move along z, in Hz.
std::vector<double> bending_along_z(const ElasticBody& body, int modes) {
  const Modes found = modes_of(body, modes);
  const EigenMatrix m = to_eigen(body.mass);
  std::vector<double> hertz;
  for (Eigen::Index k = 0; k < found.omega.size(); ++k) {
    Eigen::VectorXd along_z = found.shapes.col(k);
    for (Eigen::Index row = 0; row < along_z.size(); ++row) {
      if (row % 3 != 2) along_z[row] = 0;
    }
    if (along_z.dot(m * along_z) > 0.8) hertz.push_back(found.omega[k] / (2 * pi));
  }
  return hertz;
}

ElasticBody bar_of(Index cells, Index cells_across, const Cantilever& bar, const Material& material) {
  const Context<Space::host> ctx(2);
  const QuadraticMesh mesh = make_quadratic(ctx, fem::make_beam(ctx, cells + 1, cells_across + 1, cells_across + 1,
                                                                bar.length, 1.5 * bar.thickness, bar.thickness));
  std::vector<unsigned char> clamped;
  for (const fem::Point& at : mesh.nodes) clamped.push_back(at[0] == 0 ? 1 : 0);
  return assemble_body(ctx, mesh, material, clamped);
}

}  // namespace

TEST_CASE("Euler and Bernoulli's frequencies have the wave numbers of every textbook", "[beam]") {
  const Cantilever bar{1, 0.1};
  const Material m{2e11, 0.3, 8000};
  const double wave_numbers[] = {1.8751040687, 4.6940911330, 7.8547574382};
  const std::vector<double> hertz = euler_bernoulli(bar, m, 3);
  for (std::size_t n = 0; n < 3; ++n) {
    const double expected = wave_numbers[n] * wave_numbers[n] / (2 * pi) * std::sqrt(2e11 / 12 / 8000.0) * 0.1;
    CHECK(hertz[n] == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("Timoshenko's frequencies are those of his differential equations", "[beam]") {
  // SciPy: zeros of the determinant of a block of the matrix exponential of the four first-order equations.
  const std::vector<double> slender = timoshenko({1, 0.1}, {2e11, 0.3, 8000}, 3);
  const std::vector<double> thick = timoshenko({0.2, 0.04}, {70e9, 0.33, 2700}, 3);
  const double slender_hertz[] = {80.1437668409, 480.6239791984, 1265.0813427692};
  const double thick_hertz[] = {797.6356839382, 4294.9661814362, 10221.4567289556};
  REQUIRE(slender.size() == 3);
  REQUIRE(thick.size() == 3);
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(slender[n] == Approx(slender_hertz[n]).epsilon(1e-9));
    CHECK(thick[n] == Approx(thick_hertz[n]).epsilon(1e-9));
  }
}

TEST_CASE("the first three bending frequencies of a clamped bar are Timoshenko's within half a percent", "[beam]") {
  // The clamp of a body in space also keeps the cross section from contracting, which no theory of bars knows: a
  // stiffer end, as if the bar were shorter by a part of its thickness.
  const Cantilever bar{0.2, 0.01};
  const Material steel{206e9, 0.3, 7850};
  const std::vector<double> theory = timoshenko(bar, steel, 3);
  std::vector<double> before;
  for (const Index cells : {20, 40}) {
    const std::vector<double> hertz = bending_along_z(bar_of(cells, cells / 10, bar, steel), 6);
    REQUIRE(hertz.size() >= 3);
    for (std::size_t n = 0; n < 3; ++n) {
      UNSCOPED_INFO(cells << " cells: " << hertz[n] << " Hz, theory " << theory[n] << " Hz, "
                          << 100 * (hertz[n] / theory[n] - 1) << " %");
      CHECK(std::fabs(hertz[n] / theory[n] - 1) < (cells == 20 ? 0.02 : 0.005));
      // Finite elements are too stiff, and less so on a finer mesh.
      if (!before.empty()) CHECK(hertz[n] < before[n]);
    }
    before = hertz;
  }
}

TEST_CASE("without contraction the frequencies are Timoshenko's within two thousandths", "[beam]") {
  const Cantilever bar{0.2, 0.01};
  const Material m{206e9, 0, 7850};
  const std::vector<double> theory = timoshenko(bar, m, 3);
  const std::vector<double> hertz = bending_along_z(bar_of(40, 4, bar, m), 6);
  REQUIRE(hertz.size() >= 3);
  for (std::size_t n = 0; n < 3; ++n) {
    UNSCOPED_INFO(hertz[n] << " Hz, theory " << theory[n] << " Hz");
    CHECK(std::fabs(hertz[n] / theory[n] - 1) < 0.002);
  }
}
