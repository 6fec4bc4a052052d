// SPDX-License-Identifier: Apache-2.0
// `newel solve` with complex Matrix Market files.
#include "tests/catch.hpp"

#include <complex>

#include <newel/io/matrix_file.hpp>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/process.hpp"

namespace {

using Complex = std::complex<double>;

// A ring: 4 + shift on the diagonal, -1 to the neighbours, as entries of a general file.
std::string ring(int n, Complex shift, std::vector<std::map<int, Complex>>* rows) {
  std::ostringstream text;
  text.precision(17);
  text << "%%MatrixMarket matrix coordinate complex general\n" << n << ' ' << n << ' ' << 3 * n << '\n';
  rows->assign(static_cast<std::size_t>(n), {});
  for (int i = 0; i < n; ++i) {
    for (const auto& [j, value] :
         {std::pair<int, Complex>{i, 4.0 + shift}, {(i + 1) % n, -1.0}, {(i + n - 1) % n, -1.0}}) {
      (*rows)[static_cast<std::size_t>(i)][j] = value;
      text << i + 1 << ' ' << j + 1 << ' ' << value.real() << ' ' << value.imag() << '\n';
    }
  }
  return text.str();
}

std::vector<Complex> read_back(const std::string& file) {
  const Context<Space::host> ctx;
  const auto x = complex_columns(ctx, read_complex_columns_file(ctx, file));
  return {x.begin(), x.end()};
}

}  // namespace

TEST_IN_FOLDER("newel solve takes complex matrices and vectors, and writes a complex x", "[cli][complex]") {
  const int n = 60;
  for (const Complex shift : {Complex(0, 0.5), Complex(0, 0), Complex(-8, 0.1)}) {
    std::vector<std::map<int, Complex>> rows;
    const std::string matrix = folder.write("A.mtx", ring(n, shift, &rows));
    std::vector<Complex> b;
    for (int i = 0; i < 2 * n; ++i) b.emplace_back(i % 7 - 3.0, i % 5 - 2.0);
    write_columns<Complex>(folder.file("B.mtx"), {b.data(), 2 * n}, 2);
    const Outcome outcome = run_newel({"solve", matrix, "--rhs", folder.file("B.mtx"), "--device", "host", "--rtol",
                                       "1e-9", "--out", folder.file("X.mtx.gz"), "--report", folder.file("r.json")});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.out, "complex"));
    CHECK(contains(outcome.out, shift.imag() == 0 ? "real_parts" : "general"));
    CHECK(contains(outcome.out, "2 of 2 columns converged"));
    const std::vector<Complex> x = read_back(folder.file("X.mtx.gz"));
    REQUIRE(x.size() == static_cast<std::size_t>(2 * n));
    const Json report = report_in(folder);
    for (int c = 0; c < 2; ++c) {
      double residual = 0, norm = 0;
      for (int i = 0; i < n; ++i) {
        Complex r = b[static_cast<std::size_t>(c * n + i)];
        norm += std::norm(r);
        for (const auto& [j, value] : rows[static_cast<std::size_t>(i)])
          r -= value * x[static_cast<std::size_t>(c * n + j)];
        residual += std::norm(r);
      }
      CHECK(std::sqrt(residual) <= 1.001e-9 * std::sqrt(norm));
      CHECK(report["columns"][static_cast<std::size_t>(c)]["rhs_norm"].get<double>() == Approx(std::sqrt(norm)));
      CHECK(report["columns"][static_cast<std::size_t>(c)]["true_relative_residual"].get<double>() ==
            Approx(std::sqrt(residual / norm)).epsilon(1e-3).margin(1e-15));
    }
  }
}

TEST_IN_FOLDER("a complex right-hand side of a real matrix has a complex solution", "[cli][complex]") {
  const std::string matrix =
      folder.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n");
  const std::string rhs = folder.write("b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n2 4\n4 -8\n");
  const Outcome outcome =
      run_newel({"solve", matrix, "--rhs", rhs, "--device", "host", "--out", folder.file("x.mtx")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const std::vector<Complex> x = read_back(folder.file("x.mtx"));
  CHECK(std::abs(x[0] - Complex(1, 2)) < 1e-7);
  CHECK(std::abs(x[1] - Complex(1, -2)) < 1e-7);
  CHECK(run_newel({"solve", matrix, "--guess", rhs}).status == 2);
}

TEST_IN_FOLDER("generated complex right-hand sides know their solution, in both precisions", "[cli][complex]") {
  std::vector<std::map<int, Complex>> rows;
  const std::string matrix = folder.write("A.mtx", ring(40, Complex(0, 1), &rows));
  for (const char* precision : {"double", "single", "mixed"}) {
    for (const char* rhs : {"A*ones", "A*random:3"}) {
      const Outcome outcome = run_newel({"solve", matrix, "--rhs", rhs, "--device", "host", "--precision", precision,
                                         "--report", folder.file("r.json"), "--out", folder.file("x.mtx")});
      INFO(precision << rhs << outcome.out << outcome.err);
      REQUIRE(outcome.status == 0);
      CHECK(report_in(folder)["solution_error"].get<double>() < 1e-4);
      if (rhs == std::string("A*ones")) CHECK(std::abs(read_back(folder.file("x.mtx"))[7] - 1.0) < 1e-4);
    }
  }
  const Outcome more = run_newel({"solve", matrix, "--rhs", "ones", "--device", "host", "--explain", "--precond",
                                  "amg", "--precond-residual", "--guess", folder.file("x.mtx")});
  INFO(more.out << more.err);
  CHECK(more.status == 0);
}

TEST_IN_FOLDER("what complex files cannot do is said in words", "[cli][complex]") {
  std::vector<std::map<int, Complex>> rows;
  const std::string matrix = folder.write("A.mtx", ring(10, Complex(0, 1), &rows));
  const Outcome info = run_newel({"info", matrix});
  CHECK(info.status == 2);
  CHECK(contains(info.err, "newel info takes real matrices, and newel solve takes both"));
  const Outcome bench = run_newel({"bench", "spmv", matrix, "--device", "host", "--repeats", "1"});
  CHECK(bench.status == 2);
  CHECK(contains(bench.out + bench.err, "newel bench"));
  const Outcome csv =
      run_newel({"solve", matrix, "--rhs", "ones", "--device", "host", "--out", folder.file("x.csv")});
  CHECK(csv.status == 2);
  CHECK(contains(csv.err, "expected a name that ends in .mtx or .npy"));
  const std::string wide =
      folder.write("w.mtx", "%%MatrixMarket matrix coordinate complex general\n1 2 1\n1 1 1 1\n");
  CHECK(run_newel({"solve", wide, "--device", "host"}).status == 2);
  const std::string zero =
      folder.write("z.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 1\n2 2 0 0\n");
  const Outcome singular = run_newel({"solve", zero, "--device", "host", "--rhs", "ones"});
  CHECK(singular.status != 0);
  CHECK(contains(singular.out + singular.err, "row 2"));
}
