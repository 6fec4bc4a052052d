// SPDX-License-Identifier: Apache-2.0
// The files of `newel solve` and `newel info` in all formats: what is taken for b, and what suffixes say.
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <newel/io/matrix_file.hpp>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

namespace {

std::vector<double> values_in(const std::string& path) {
  const DenseColumns found = read_columns_file(Context<Space::host>(1), path);
  return {found.values.begin(), found.values.end()};
}

}  // namespace

TEST_IN_FOLDER("What stands behind the matrix is its right-hand side", "[cli][files]") {
  const System s = grid_system(8);
  const std::vector<double> b = rough_vector(s.n);
  const std::string matrix = folder.write("A.mtx", s.text()), rhs = folder.write("b.mtx", vector_text(b));
  const std::string out = folder.file("x.mtx");
  REQUIRE(run_newel({"solve", matrix, rhs, "--device", "host", "--out", out}).status == 0);
  CHECK(residual(s, parse_array(file_content(out)), b) <= 1.001e-8);
  CHECK(run_newel({"solve", matrix, "ones", "--out", out, "--quiet"}).status == 0);
}

TEST_IN_FOLDER("A system is solved from files of every format, and the solution written by its suffix",
               "[cli][files]") {
  const System s = grid_system(9);
  const std::vector<double> b = rough_vector(s.n);
  const std::string text = folder.write("A.mtx", s.text());
  folder.write("b.mtx", vector_text(b));
  for (const char* name : {"A.npz", "A.petsc", "A.npz.gz"}) {
    REQUIRE(run_newel({"info", text, "--out", folder.file(name)}).status == 0);
  }
  for (const char* name : {"b.npy", "b.petsc", "b.csv"}) {
    write_columns_file<double>(folder.file(name), {b.data(), static_cast<std::int64_t>(b.size())}, 1);
  }
  const std::vector<std::array<const char*, 3>> runs = {{"A.npz", "b.npy", "x.npy"},
                                                        {"A.petsc", "b.petsc", "x.petsc"},
                                                        {"A.npz.gz", "b.csv", "x.csv"},
                                                        {"A.mtx", "b.npy", "x.npy.gz"},
                                                        {"A.mtx", "b.csv", "x.mtx.gz"}};
  for (const auto& [matrix, rhs, out] : runs) {
    INFO(matrix << ' ' << rhs << ' ' << out);
    const Outcome outcome = run_well({"solve", folder.file(matrix), folder.file(rhs), "--device", "host", "--rtol",
                                      "1e-10", "--out", folder.file(out), "--report", folder.file("r.json")});
    CHECK(residual(s, values_in(folder.file(out)), b) <= 1.001e-10);
  }
  REQUIRE(run_newel({"solve", text, folder.file("b.npy"), "--guess", folder.file("x.npy"), "--report",
                     folder.file("r.json"), "--quiet"})
              .status == 0);
  CHECK(report_in(folder)["iterations"] == 0);
}
