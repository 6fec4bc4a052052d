// SPDX-License-Identifier: Apache-2.0
// EHYB's launches on a device.
#include "tests/catch.hpp"
#include "tests/spmv/spmv_support.hpp"

using namespace purlin;
using namespace purlin::testing;

TEST_CASE("Where several parts share a multiprocessor, each has whole warps, and every row is written",
          "[device][ehyb]") {
  const Context<Space::device> ctx;
  const Index processors = machine_of(ctx).processors;
  for (const Index side_by_side : {2, 3, 4}) {
    INFO(side_by_side << " parts a multiprocessor");
    SpmvOptions options;
    options.format = "ehyb";
    options.parts = side_by_side * processors;
    const auto points = static_cast<int>(std::ceil(std::cbrt(700.0 * options.parts)));
    const HostCsr a = fem_matrix("generate:grid7:" + std::to_string(points));
    const auto there = upload_matrix<double>(ctx, a);
    Product<double, Space::device> product(ctx, there.wide(), options);
    const auto info = product.op().info();
    const auto figure = [&](const std::string& name) {
      for (const auto& [key, value] : info.figures) {
        if (key == name) return value;
      }
      return 0.0;
    };
    CHECK(figure("parts") == options.parts);
    CHECK(figure("threads a part") == 1024 / side_by_side / 32 * 32);
    const auto x = random_vector<double>(a.cols, 5);
    CHECK(first_outside(product.apply(1.0, x).y, expected_product(a, 1.0, x)) == "");
    const Result<double> with_dot = product.apply_dot(x);
    long double bound = 0;
    const DotOracle dot = expected_dot(a, x, 1, &bound);
    CHECK(first_outside(with_dot.y, expected_product(a, 1.0, x)) == "");
    CHECK(std::abs(with_dot.xy - static_cast<double>(dot.value)) <= static_cast<double>(bound));
  }
}
