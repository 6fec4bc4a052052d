// SPDX-License-Identifier: Apache-2.0
// Libraries that `newel` loads at run time: found by the system's rules, recognised, and not believed.
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

using newel::cli_testing::Outcome;
using newel::cli_testing::shell;

namespace {

// By `newel` to which the library of that folder comes first.
Outcome run_with(const std::string& folder, const std::string& line) {
  return shell(TemporaryFolder(), "LD_LIBRARY_PATH='" + folder + "':$LD_LIBRARY_PATH " + line);
}

const std::string solve = "newel solve generate:convection:6 --solver direct --device host --rhs ones";

}  // namespace

TEST_CASE("A library that the system finds is loaded, and its wrong x is replaced", "[direct][cli]") {
  const Outcome found = run_with(NEWEL_WRONG_KLU, solve);
  CHECK(found.status == 0);
  CHECK_THAT(found.out, Catch::Contains("converged"));
  CHECK_THAT(found.out, Catch::Contains("factors L U by Eigen for L U by KLU, which left |b - A x| / |b| at"));
  CHECK_THAT(run_with(NEWEL_WRONG_KLU, "newel --version").out, Catch::Contains("direct: L U by KLU, on the host\n"));
}

TEST_CASE("A library of an unknown version is not called, and the package of a known one is named", "[direct][cli]") {
  const Outcome found = run_with(NEWEL_OTHER_KLU, solve);
  CHECK(found.status == 0);
  CHECK_FALSE(contains(found.out, "KLU"));
  CHECK_THAT(run_with(NEWEL_OTHER_KLU, "newel --version").out,
             Catch::Contains("L U by KLU, on the host: not here, package libsuitesparse-dev brings it"));
}
