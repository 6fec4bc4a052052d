// SPDX-License-Identifier: Apache-2.0
// What one solve is expected to take on the host.
#include "tests/spmv/spmv_support.hpp"

#include <newel/solver/host_seconds.hpp>

namespace {

double expected(const HostCsr& a, const SystemOptions& options = {}) {
  const Context<Space::host> ctx(2);
  const auto there = upload_matrix<double>(ctx, a);
  return expected_host_seconds<double>(ctx, there.wide(), options);
}

}  // namespace

TEST_CASE("Seconds on the host grow with rows, columns and digits", "[solver][where]") {
  const HostCsr small = fem_matrix("generate:diffusion:6"), large = fem_matrix("generate:diffusion:24");
  const double seconds = expected(small);
  CHECK(seconds > 0);
  CHECK(seconds < 5e-3);
  // 64 times the rows and four times the iterations, of which the small ones mostly wake threads.
  CHECK(expected(large) > 15 * seconds);
  CHECK(expected(large) < 1000 * seconds);
  SystemOptions options;
  options.columns = 5;
  CHECK(expected(small, options) == Approx(5 * seconds));
  options.columns = 1;
  options.stop.rel_tol = 1e-4;
  CHECK(expected(small, options) < 0.7 * seconds);
  options.stop.rel_tol = 1e-8;
  options.solver.name = "bicgstab";
  CHECK(expected(small, options) > 1.5 * seconds);
  options = {};
  options.spmv.format = "csr:alg1";  // of which the model of the host knows nothing
  CHECK(expected(small, options) > 0);
}
