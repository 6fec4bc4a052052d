// SPDX-License-Identifier: Apache-2.0
// The files of `newel solve` and `newel info` in all formats: what is taken for b, and what suffixes say.
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <newel/io/matrix_file.hpp>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"
#include "tests/temporary_folder.hpp"

using namespace newel;
using namespace newel::cli_testing;
using namespace newel::testing;

namespace {

std::vector<double> values_in(const std::string& path) {
  const DenseColumns found = read_columns_file(Context<Space::host>(1), path);
  return {found.values.begin(), found.values.end()};
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_newel(arguments);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  return outcome.err;
}

}  // namespace

TEST_CASE("A solution is not written for a right-hand side that nobody asked for", "[cli][files]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(6).text());
  for (const std::string& system : {matrix, std::string("generate:grid7:4")}) {
    const std::string words = refusal_of({"solve", system, "--out", folder.file("u.mtx")});
    for (const char* choice : {"--out", "--rhs b.mtx", "--rhs ones", "--rhs A*random"})
      CHECK(contains(words, choice));
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("u.mtx")));
  CHECK(run_newel({"solve", matrix, "--quiet"}).status == 0);  // a trial that keeps nothing
}

TEST_CASE("What stands behind the matrix is its right-hand side", "[cli][files]") {
  const TemporaryFolder folder;
  const System s = grid_system(8);
  const std::vector<double> b = rough_vector(s.n);
  const std::string matrix = folder.write("A.mtx", s.text()), rhs = folder.write("b.mtx", vector_text(b));
  const std::string out = folder.file("x.mtx");
  REQUIRE(run_newel({"solve", matrix, rhs, "--device", "host", "--out", out}).status == 0);
  CHECK(residual(s, parse_array(file_content(out)), b) <= 1.001e-8);
  CHECK(run_newel({"solve", matrix, "ones", "--out", out, "--quiet"}).status == 0);
  CHECK(contains(refusal_of({"solve", matrix, rhs, "--rhs", "ones"}), "the right-hand side is given twice"));
  CHECK(contains(refusal_of({"solve", matrix, rhs, "more"}), "unexpected argument 'more'"));
  CHECK(contains(refusal_of({"solve", matrix, "--output", out}), "unknown option --output"));
  CHECK(contains(refusal_of({"solve", matrix, folder.file("absent.mtx")}), "absent.mtx"));
}

TEST_CASE("A system is solved from files of every format, and the solution written by its suffix", "[cli][files]") {
  const TemporaryFolder folder;
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
    const Outcome outcome = run_newel({"solve", folder.file(matrix), folder.file(rhs), "--device", "host", "--rtol",
                                       "1e-10", "--out", folder.file(out), "--report", folder.file("r.json")});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(residual(s, values_in(folder.file(out)), b) <= 1.001e-10);
  }
  REQUIRE(run_newel({"solve", text, folder.file("b.npy"), "--guess", folder.file("x.npy"), "--report",
                     folder.file("r.json"), "--quiet"})
              .status == 0);
  CHECK(report_in(folder)["iterations"] == 0);
}

TEST_CASE("A suffix that names no format is refused before the solve", "[cli][files]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(6).text());
  for (const char* name : {"x", "x.vtk", "x.npz", "x.mat", "x.txt", "x.vtu.gz", "x.gz"}) {
    INFO(name);
    CHECK(contains(refusal_of({"solve", matrix, "ones", "--out", folder.file(name)}),
                   "expected a name that ends in .mtx, .npy, .csv or .petsc, with .gz or not, or in .vtu"));
  }
  CHECK(contains(refusal_of({"solve", matrix, "ones", "--out", folder.file("x.vtu")}), ".vtu needs the nodes"));
  for (const char* name : {"B", "B.npy", "B.csv", "B.mat"}) {
    INFO(name);
    CHECK(contains(refusal_of({"info", matrix, "--out", folder.file(name)}), "ends in .mtx, .npz or .petsc"));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(run_newel({"solve", matrix, "ones", "--quiet", "--out", "/dev/null"}).status == 0);
}

TEST_CASE("A solution on a mesh, or on points, is written for ParaView", "[cli][files]") {
  const TemporaryFolder folder;
  const auto solve = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"solve"};
    all.insert(all.end(), more.begin(), more.end());
    for (const char* word : {"--quiet", "--device", "host", "--out"}) all.emplace_back(word);
    all.push_back(folder.file("x.vtu"));
    const Outcome outcome = run_newel(all);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    return file_content(folder.file("x.vtu"));
  };
  const std::string scalar = solve({"generate:diffusion:4", "ones"});
  CHECK(contains(scalar, "NumberOfPoints=\"64\" NumberOfCells=\"162\""));
  CHECK(contains(scalar, "<DataArray type=\"Float64\" Name=\"x\" format"));
  const std::string displacements = solve({"generate:elasticity:4", "ones"});
  CHECK(contains(displacements, "Name=\"x\" NumberOfComponents=\"3\""));

  const std::string matrix = folder.write("A.mtx", grid_system(2).text());
  const auto points = [&](const std::vector<std::vector<double>>& axes) {
    return folder.write("X.mtx", columns_text(axes));
  };
  const std::string loads = folder.write("B.mtx", columns_text({{1, 2, 3, 4}, {0, 0, 0, 1}}));
  const std::string cloud = solve({matrix, loads, "--coordinates", points({{0, 1, 0, 1}, {0, 0, 1, 1}})});
  CHECK(contains(cloud, "NumberOfPoints=\"4\" NumberOfCells=\"4\""));
  CHECK(contains(cloud, "Name=\"x1\""));
  CHECK(contains(cloud, "Name=\"x2\""));
  const std::string plane = solve({matrix, "ones", "--coordinates", points({{0, 1}, {0, 0}})});
  CHECK(contains(plane, "NumberOfPoints=\"2\""));
  CHECK(contains(plane, "Name=\"x\" NumberOfComponents=\"3\""));
  CHECK(contains(refusal_of({"solve", matrix, "ones", "--coordinates", points({{0, 1, 2}, {0, 0, 0}}), "--out",
                             folder.file("y.vtu")}),
                 "4 rows cannot be divided among 3 nodes"));
  CHECK(contains(refusal_of({"solve", "generate:grid7:4", "ones", "--out", folder.file("y.vtu")}),
                 "the nodes of this system are not known"));
}

TEST_CASE("A file of MATLAB is answered with what converts it, in exit status 2", "[cli][files]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("A.mat", "MATLAB 5.0 MAT-file, Platform: posix");
  CHECK(contains(refusal_of({"solve", file}), "io.loadmat('" + file + "')"));
  CHECK(contains(refusal_of({"info", file}), "python3 -c"));
}
