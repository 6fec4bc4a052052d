// SPDX-License-Identifier: Apache-2.0
// `newel solve` with right-hand sides of several columns.
#include "tests/catch.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

TEST_IN_FOLDER("A right-hand side of several columns gives as many solutions, each with its own report",
               "[cli][columns]") {
  const System s = grid_system(20);
  constexpr int k = 11;
  // Columns without structure, one of zeros, and one that a single iteration solves nearly: they end at different
  // times.
  std::vector<std::vector<double>> b;
  for (int c = 0; c < k; ++c) {
    std::vector<double> column = rough_vector(s.n);
    std::rotate(column.begin(), column.begin() + 17 * c, column.end());
    b.push_back(std::move(column));
  }
  b[4].assign(b[4].size(), 0.0);
  const std::string matrix = folder.write("A.mtx", s.text()), rhs = folder.write("B.mtx", columns_text(b));
  for (const std::string format : {"csr", "ehyb"}) {
    for (const std::string solver : {"cg", "auto", "bicgstab"}) {
      const Outcome outcome = run_newel({"solve", matrix, "--rhs", rhs, "--device", "host", "--rtol", "1e-9",
                                         "--solver", solver, "--format", format, "--out", folder.file("X.mtx"),
                                         "--report", folder.file("r.json"), "--history", folder.file("h.csv")});
      INFO(format << ' ' << solver << '\n' << outcome.out << outcome.err);
      REQUIRE(outcome.status == 0);
      CHECK(contains(outcome.out, "11 of 11 columns converged"));
      const auto x = parse_columns(file_content(folder.file("X.mtx")));
      const Json r = report_in(folder);
      REQUIRE(x.size() == static_cast<std::size_t>(k));
      REQUIRE(r["columns"].size() == static_cast<std::size_t>(k));
      std::size_t lines = 1;
      double worst = 0;
      for (std::size_t c = 0; c < x.size(); ++c) {
        const Json& column = r["columns"][c];
        CHECK(column["column"] == c + 1);
        CHECK(column["status"] == "converged");
        CHECK(column["history"].size() == column["iterations"].get<std::size_t>() + 1);
        lines += column["history"].size();
        worst = std::max(worst, column["true_relative_residual"].get<double>());
        const double found = norm(difference(b[c], product(s, x[c])));
        CHECK(found <= 1.001e-9 * norm(b[c]));
        if (c == 4) continue;
        CHECK(column["rhs_norm"].get<double>() == Approx(norm(b[c])));
        CHECK(column["true_relative_residual"].get<double>() == Approx(found / norm(b[c])).epsilon(1e-4));
      }
      CHECK(r["converged"] == true);
      CHECK(r["true_relative_residual"].get<double>() == worst);
      CHECK(r["columns"][r["worst_column"].get<std::size_t>() - 1]["true_relative_residual"].get<double>() == worst);
      const std::string history = file_content(folder.file("h.csv"));
      CHECK(static_cast<std::size_t>(std::count(history.begin(), history.end(), '\n')) == lines);
      CHECK(history.rfind("column,iteration,residual,relative_residual,solver\n1,0,", 0) == 0);
    }
  }
}

TEST_IN_FOLDER("A row of right-hand sides for a matrix of one row is as many columns", "[cli][columns]") {
  const std::string matrix = folder.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
  const std::string head = "%%MatrixMarket matrix array real general\n";
  const std::string rhs = folder.write("B.mtx", head + "1 3\n2\n-6\n10\n");
  REQUIRE(run_newel({"solve", matrix, "--rhs", rhs, "--quiet", "--device", "host", "--out", folder.file("X.mtx")})
              .status == 0);
  CHECK(parse_columns(file_content(folder.file("X.mtx"))) ==
        std::vector<std::vector<double>>{{0.5}, {-1.5}, {2.5}});
  const std::string upright = folder.write("b.mtx", head + "3 1\n2\n-6\n10\n");
  CHECK(run_newel({"solve", matrix, "--rhs", upright, "--quiet", "--device", "host"}).status == 2);
}

TEST_IN_FOLDER("A column is solved alone as among others, and from its own column of the guess", "[cli][columns]") {
  const System s = grid_system(14);
  std::vector<std::vector<double>> b(3, rough_vector(s.n));
  std::reverse(b[1].begin(), b[1].end());
  std::rotate(b[2].begin(), b[2].begin() + 5, b[2].end());
  const std::string matrix = folder.write("A.mtx", s.text()), rhs = folder.write("B.mtx", columns_text(b));
  REQUIRE(run_newel({"solve", matrix, "--rhs", rhs, "--quiet", "--device", "host", "--format", "csr", "--precond",
                     "jacobi", "--out", folder.file("X.mtx"), "--report", folder.file("r.json")})
              .status == 0);
  const auto x = parse_columns(file_content(folder.file("X.mtx")));
  const Json together = report_in(folder);
  for (std::size_t c = 0; c < 3; ++c) {
    REQUIRE(run_newel({"solve", matrix, "--rhs", folder.write("b.mtx", vector_text(b[c])), "--quiet", "--device",
                       "host", "--format", "csr", "--precond", "jacobi", "--out", folder.file("x.mtx"), "--report",
                       folder.file("one.json")})
                .status == 0);
    const Json alone = report_in(folder, "one.json");
    CHECK_FALSE(alone.contains("columns"));
    CHECK(alone["iterations"] == together["columns"][c]["iterations"]);
    const auto x_alone = parse_array(file_content(folder.file("x.mtx")));
    CHECK(norm(difference(x_alone, x[c])) <= 1e-10 * norm(x_alone));
  }
  // The solution of two columns as their guess: those take no iterations.
  auto guess = x;
  guess[1].assign(guess[1].size(), 0.0);
  REQUIRE(run_newel({"solve", matrix, "--rhs", rhs, "--guess", folder.write("G.mtx", columns_text(guess)), "--quiet",
                     "--device", "host", "--format", "csr", "--precond", "jacobi", "--report", folder.file("r.json")})
              .status == 0);
  const Json r = report_in(folder);
  CHECK(r["columns"][0]["iterations"] == 0);
  CHECK(r["columns"][1]["iterations"] == together["columns"][1]["iterations"]);
  CHECK(r["columns"][2]["iterations"] == 0);
}

TEST_IN_FOLDER("The worst column decides the exit status, and the report names it", "[cli][columns]") {
  const System s = grid_system(20);
  std::vector<std::vector<double>> b(5, std::vector<double>(static_cast<std::size_t>(s.n), 0.0));
  b[3] = rough_vector(s.n);
  const Outcome outcome = run_newel({"solve", folder.write("A.mtx", s.text()), "--rhs",
                                     folder.write("B.mtx", columns_text(b)), "--max-iterations", "3", "--device",
                                     "host", "--report", folder.file("r.json"), "--out", folder.file("X.mtx")});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "4 of 5 columns converged"));
  CHECK(contains(outcome.out, "column 4"));
  CHECK(contains(outcome.out, "--max-iterations 10000: allows more (now 3)"));  // the advice is for that column
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') < 30);
  const Json r = report_in(folder);
  CHECK(r["converged"] == false);
  CHECK(r["status"] == "max_iterations");
  CHECK(r["worst_column"] == 4);
  CHECK(r["columns"][3]["status"] == "max_iterations");
  CHECK(r["columns"][0]["converged"] == true);
  CHECK(parse_columns(file_content(folder.file("X.mtx"))).size() == 5);
}

TEST_IN_FOLDER("Columns in single precision converge, and a pipe gets plain lines", "[cli][columns]") {
  const System s = grid_system(20);
  const std::vector<std::vector<double>> b(6, rough_vector(s.n));
  const Outcome outcome =
      run_well({"solve", folder.write("A.mtx", s.text()), "--rhs", folder.write("B.mtx", columns_text(b)),
                "--precision", "single", "--device", "host", "--out", folder.file("X.mtx")});
  CHECK(contains(outcome.out, "columns at the tolerance"));
  CHECK(contains(outcome.out, "6 columns"));
  CHECK_FALSE(contains(outcome.out, "\r"));
  for (const auto& x : parse_columns(file_content(folder.file("X.mtx")))) CHECK(residual(s, x, b[0]) < 1.5e-5);
}
