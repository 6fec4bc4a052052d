// SPDX-License-Identifier: Apache-2.0
// What `newel` prints, advises and reports of small systems whose facts one counts by hand: tables of commands
// (cli_rows.hpp explains them).
#include "tests/catch.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_rows.hpp"
#include "tests/apps/cli_systems.hpp"

namespace {

// The Laplacian on a line with free ends: constants are its null space.
System free_line(int n) {
  System s = line_system(n);
  s.entries.front().value = 1;
  s.entries.back().value = 1;
  return s;
}

}  // namespace

TEST_IN_FOLDER("info counts what one counts by hand on a 4 x 4 matrix", "[cli]") {
  //   2  -1   .   .      row 3: zero on the diagonal, and no other value
  //  -1   2   .   5      row 4: negative; row 2 is not dominant
  //   .   .   0   .
  //   .   .   1  -3
  check_rows(folder, R"(
file A.mtx {general}4 4 9\n1 1 2\n1 2 -1\n2 1 -1\n2 2 1\n2 2 1\n2 4 5\n3 3 0\n4 3 1\n4 4 -3\n
0 newel info A.mtx --report r.json -> symmetry | diagonal | bandwidth | block size | row length | #### | csr
    err is
    out has  in single precision, estimated (host
    /rows is 4
    /cols is 4
    /nonzeros is 8
    /repeated_entries is 1
    /symmetry/pattern is false
    /symmetry/values is false
    /symmetry/max_asymmetry is 5.0
    /diagonal/missing/count is 0
    /diagonal/missing/first_row is null
    /diagonal/zero/count is 1
    /diagonal/zero/first_row is 3
    /diagonal/negative/first_row is 4
    /diagonal/dominant_share is 0.75
    /bandwidth/lower is 1
    /bandwidth/upper is 2
    /block_size is 1
    /row_lengths/shortest is 1
    /row_lengths/longest is 3
    /row_lengths/mean is 2.0
    /formats/0/name is csr
    /values_taken_as_one is false
    /recommended_command is null
file wide.mtx {general}2 3 2\n1 1 1\n2 3 1\n
0 newel info wide.mtx --report r.json
    /symmetry is null
    /recommended_command is null
file nothing.mtx {general}0 0 0\n
0 newel info nothing.mtx --report r.json
    /nonzeros is 0
0 newel info generate:grid7:2 --out G.mtx
    G.mtx has %%MatrixMarket matrix coordinate real general\n8 8 32\n1 1 6\n1 2 -1\n
0 newel info G.mtx --report r.json
    /nonzeros is 32
0 newel info generate:elasticity:4 --report r.json
    /block_size is 3
)");
  CHECK(begins_as_report(file_content(folder.file("r.json")), "newel info"));
}

TEST_IN_FOLDER("info recommends a command, and it solves", "[cli]") {
  folder.write("grid.mtx", grid_system(10).text());
  folder.write("line.mtx", line_system(40).text());
  folder.write("neumann.mtx", free_line(40).text());
  // A saddle point: two rows tie the first and the last unknown of a grid, with nothing on the diagonal.
  System s = grid_system(16);
  for (const int tied : {1, 256}) {
    ++s.n;
    s.entries.push_back({s.n, tied, 1});
    s.entries.push_back({tied, s.n, 1});
  }
  folder.write("saddle.mtx", s.text());
  check_rows(folder, R"(
0 newel info grid.mtx --report r.json
    /symmetry/values is true
    /recommended_command is newel solve grid.mtx --rhs 'A*random'
    /recommended_reason has cg
0 newel solve grid.mtx --rhs 'A*random' --quiet
0 newel info saddle.mtx --report r.json
    /recommended_command is newel solve saddle.mtx --rhs 'A*random'
    /recommended_reason has minres, gmres, bicgstab
2 newel solve saddle.mtx --device host --precond jacobi -> --precond none, then --precond spai --spai-adaptive 0.4
0 newel solve saddle.mtx --device host --precond none --quiet
0 newel info neumann.mtx --report r.json -> rows sum to zero: singular | |a_ij| from 1 to 2
    /rows_sum_to_zero is true
    /min_abs is 1.0
    /recommended_command is newel solve neumann.mtx --rhs 'A*random' --null-space constant
0 newel solve neumann.mtx --null-space constant --quiet
0 newel info line.mtx --report r.json
    out lacks null space
    /rows_sum_to_zero is false
)");
}

TEST_CASE("Advice for a matrix without a solution names the row or the column, and no method", "[cli][advice]") {
  check_rows(TemporaryFolder(), R"(
file b.mtx %%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n
file row.mtx {general}4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 4 0\n
1 newel solve row.mtx b.mtx --device host --threads 1 --report r.json -> row 4 of A (counted from 1) holds no value other than 0
    /status is stagnation
    /reason has row 4 of A (counted from 1) holds no value other than 0, and b is not 0 there
    /advice has row 4
    /advice lacks --
file gap.mtx {general}4 4 3\n1 1 1\n2 2 2\n3 3 3\n
1 newel solve gap.mtx b.mtx --device host --threads 1 --report r.json -> row 4 of A (counted from 1) holds no value other than 0
    /status is stagnation
    /advice has row 4
file c.mtx %%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n0\n
0 newel solve gap.mtx c.mtx --device host --threads 1 --report r.json
    /status is converged
2 newel solve row.mtx b.mtx --device host --precond jacobi -> row 4 holds no value other than 0, so the matrix is singular
    err lacks --precond
file zero.mtx {general}2 2 2\n1 1 0\n2 2 0\n
2 newel solve zero.mtx ones --device host --precond amg -> the matrix holds no value other than 0
    err lacks --precond
0 newel info zero.mtx -> the matrix holds no value other than 0
file column.mtx {general}4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 3 1\n
1 newel solve column.mtx b.mtx --device host --threads 1 --report r.json
    /reason has column 4 of A (counted from 1) holds no value other than 0: A is singular
    /advice has add an equation for that unknown
0 newel info column.mtx --report r.json -> 1 zero (first in column 4) | column 4 holds no value other than 0, so the matrix is singular
    /zero_columns is {"count":1,"first_column":4}
)");
}

TEST_CASE("What a file holds besides values is said: repeated entries, and a pattern without values", "[cli]") {
  check_rows(TemporaryFolder(), R"(
file twice.mtx {general}2 2 5\n1 1 1\n2 2 3\n1 1 1\n2 2 1\n1 1 1\n
0 newel solve twice.mtx --device host --report r.json -> 2 rows, 2 non-zeros, after summing 3 repeated entries\n
    /repeated_entries is 3
    out lacks taken as 1
    /values_taken_as_one is false
file pattern.mtx %%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n2 2\n3 3\n2 1\n
file b.mtx %%MatrixMarket matrix array real general\n3 1\n1\n3\n5\n
0 newel solve pattern.mtx b.mtx --device host --out x.mtx --quiet; sed -n 4p x.mtx | xargs printf %.5f -> 2.00000
0 newel {solve,info} pattern.mtx --report r.json -> a pattern without values: each entry of the file is taken as 1\n
    /values_taken_as_one is true
    out lacks repeated
0 newel info twice.mtx
    out lacks taken as 1
0 newel solve generate:elasticity:5 --device host --report r.json
    /rows is 375
    /matrix is generate:elasticity:5
)");
}

TEST_IN_FOLDER("A solution on a mesh, or on points, is written for ParaView", "[cli][files]") {
  folder.write("A.mtx", grid_system(2).text());
  folder.write("B.mtx", columns_text({{1, 2, 3, 4}, {0, 0, 0, 1}}));
  folder.write("cloud.mtx", columns_text({{0, 1, 0, 1}, {0, 0, 1, 1}}));
  folder.write("plane.mtx", columns_text({{0, 1}, {0, 0}}));
  check_rows(folder, R"(
0 newel solve generate:diffusion:4 ones --quiet --device host --out x.vtu
    x.vtu has NumberOfPoints="64" NumberOfCells="162" | <DataArray type="Float64" Name="x" format
0 newel solve generate:elasticity:4 ones --quiet --device host --out x.vtu
    x.vtu has Name="x" NumberOfComponents="3"
0 newel solve A.mtx B.mtx --coordinates cloud.mtx --quiet --device host --out x.vtu
    x.vtu has NumberOfPoints="4" NumberOfCells="4" | Name="x1" | Name="x2"
0 newel solve A.mtx ones --coordinates plane.mtx --quiet --device host --out x.vtu
    x.vtu has NumberOfPoints="2" | Name="x" NumberOfComponents="3"
)");
}

TEST_IN_FOLDER("What is printed fits a pipe, and what does not apply is a warning on stderr", "[cli]") {
  folder.write("A.mtx", grid_system(12).text());
  check_rows(folder, R"(
0 newel solve A.mtx --device host -> iteration | converged
    out lacks \r | \e
0 test $(newel solve A.mtx --device host | wc -l) -lt 30
0 newel solve A.mtx --quiet
    out is
    err is
0 newel solve A.mtx --device host --restart 20 --left --solver {cg,bicgstab}
    err is newel: warning: --restart has no effect: it applies to --solver gmres and fgmres, and the solver is {}\nnewel: warning: --left has no effect: it applies to --solver gmres with a preconditioner, and the solver is {}\n
0 newel solve A.mtx --device host --restart 20 --left --solver {cg,bicgstab,gmres} --quiet
    err is
0 newel solve A.mtx --device host --restart 20 --left --solver gmres --report r.json
    err is
    /unused_options is []
0 newel solve A.mtx --device host --precond jacobi --precond-pattern A.mtx
    err has --precond-pattern has no effect
0 newel solve A.mtx --device host --restart 20 --parts 3 --precond auto --spai-power 2 --report r.json
    out has --restart has no effect: it applies to --solver gmres and fgmres, and the solver is cg
    out has --parts has no effect: it applies to --format ehyb and ehyb-symmetric, and the format is csr
    /format is csr
    /unused_options/0/option is --restart
    /unused_options/1/option is --spai-power
    /unused_options/2/option is --parts
    /unused_options/3 is absent
0 newel solve A.mtx --device host --report r.json
    /unused_options is []
file skew.mtx {general}2 2 2\n1 2 1\n2 1 -1\n
0 newel solve skew.mtx --device host --precond none --match off --restart 2 --max-iterations 500 --report r.json
    /attempts/1/solver has gmres
    /unused_options is []
0 newel solve A.mtx --deterministic --format csr --device host --report r.json
    /deterministic is true
    /format is csr
0 newel info A.mtx --precond fsai -> density | built in | |A M - I|_F | exact
0 newel solve generate:diffusion:8 --device host --explain -> <- taken | measured
0 newel info generate:diffusion:10 --precond amg --report r.json -> level 1         rows 1,000, entries  | level 2         rows  | operator complexity 1.
    /preconditioner/operator/levels/0/rows is 1000.0
    /preconditioner/operator/levels/2 is absent
0 newel info generate:diffusion:10 --precond fsai --report r.json
    /preconditioner/operator/levels is absent
)");
}
