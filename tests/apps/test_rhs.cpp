// SPDX-License-Identifier: Apache-2.0
// Right-hand sides that no file holds, against loops written here.
#include "tests/catch.hpp"

#include "apps/fem/assembly.hpp"
#include "apps/newel/input/rhs.hpp"

using namespace newel::cli;

namespace {

std::vector<double> values_of(const HostVector& x) { return {x.begin(), x.end()}; }

}  // namespace

TEST_CASE("made right-hand sides are the same for any number of threads", "[cli][rhs]") {
  const Context<Space::host> one(1);
  const fem::HostCsr a = fem::grid7(one, 16);
  for (const char* text : {"random:7", "ones", "A*random:7", "A*ones"}) {
    INFO(text);
    const RhsSpec spec = parse_rhs(text);
    const RightHandSide expected = make_rhs(one, spec, a);
    REQUIRE(expected.b.size() == a.rows);
    CHECK(expected.columns == 1);
    CHECK(expected.solution.has_value() == spec.times_matrix);
    for (const int threads : {2, 7}) {
      const Context<Space::host> ctx(threads);
      const RightHandSide rhs = make_rhs(ctx, spec, a);
      CHECK(values_of(rhs.b) == values_of(expected.b));
      if (spec.times_matrix) CHECK(values_of(*rhs.solution) == values_of(*expected.solution));
    }
  }
}

TEST_CASE("A times a vector is the sum of its rows, and an error is relative to the solution", "[cli][rhs]") {
  const Context<Space::host> ctx(3);
  const fem::HostCsr a = fem::grid7(ctx, 12);
  const HostVector x = random_vector(ctx, 5, a.rows), b = multiply(ctx, a, x.cspan());
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.val[k] * x[a.col[k]];
    REQUIRE(b[i] == sum);
  }
  const HostVector twos = constant_vector(ctx, 5000, 2), nothing = constant_vector(ctx, 5000, 0);
  HostVector near = constant_vector(ctx, 5000, 2);
  near[77] = 2.5;
  CHECK(relative_error(ctx, near.cspan(), twos.cspan()) == Approx(0.5 / (2 * std::sqrt(5000.0))));
  CHECK(std::isnan(relative_error(ctx, twos.cspan(), nothing.cspan())));
}
