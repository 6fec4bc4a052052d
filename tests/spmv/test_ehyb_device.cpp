// SPDX-License-Identifier: Apache-2.0
// EHYB's launches on a device.
#include "tests/spmv/spmv_support.hpp"

TEST_ON_DEVICE("Where several parts share a multiprocessor, each has whole warps, and every row is written",
               "[device][ehyb]") {
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

TEST_CASE("A product reads the x that the kernel in front of it has written, and one behind it the y that it writes",
          "[device][ehyb]") {
  // Products that begin while the work in front of them ends: a power method, queued at once and step by step.
  const Context<Space::device> ctx;
  for (const std::string& spec : {std::string("generate:elasticity:9"), std::string("generate:diffusion:14")}) {
    const HostCsr a = fem_matrix(spec);
    const auto there = upload_matrix<double>(ctx, a);
    for (const std::string& format : {std::string("ehyb"), std::string("ehyb-symmetric")}) {
      INFO(spec << ", " << format);
      SpmvOptions options;
      options.format = format;
      Product<double, Space::device> product(ctx, there.wide(), options);
      const auto steps = [&](bool wait) {
        Array<double, Space::device> x = make_array(ctx, random_vector<double>(a.cols, 8));
        Array<double, Space::device> y(ctx, a.rows), z(ctx, a.rows);
        for (int step = 0; step < 40; ++step) {
          product.op().apply(ctx, 0.1, x.cspan(), 0.0, y.span());
          if (wait) ctx.synchronize();
          product.op().apply(ctx, 0.1, y.cspan(), 0.0, z.span());  // a product behind a product
          if (wait) ctx.synchronize();
          axpy<double>(ctx, 0.5, z.cspan(), x.span());
          if (wait) ctx.synchronize();
          product.op().apply(ctx, 0.01, z.cspan(), 0.25, x.span());  // reads and writes x behind what wrote it
          if (wait) ctx.synchronize();
        }
        return to_vector(ctx, x.cspan());
      };
      const std::vector<double> queued = steps(false), waited = steps(true);
      CHECK(queued == waited);
      CHECK(std::all_of(queued.begin(), queued.end(), [](double v) { return std::isfinite(v); }));
    }
  }
}
