// SPDX-License-Identifier: Apache-2.0
// What `newel` says of bad input and bad usage, and where: tables of commands (cli_rows.hpp explains them).
#include "tests/catch.hpp"

#include "tests/apps/cli_rows.hpp"
#include "tests/apps/cli_systems.hpp"

TEST_CASE("A malformed file is refused with its name, the line, what was expected and what came", "[cli]") {
  check_rows(TemporaryFolder(), R"(
file 1.mtx {general}2 2 2\n1 1 1.0\n
2 newel {solve,info} 1.mtx -> 1.mtx | expected | found | 2 entries
file 2.mtx {general}2 2 1\n1 1 1.0\n2 2 1.0\n
2 newel {solve,info} 2.mtx -> 2.mtx:4 | expected | found | end of the file
file 3.mtx {general}2 2 2\n1 1 1.0\n3 2 1.0\n
2 newel {solve,info} 3.mtx -> 3.mtx:4 | expected | found '3'
file 4.mtx {general}2 2 2\n1 1 one\n2 2 1.0\n
2 newel {solve,info} 4.mtx -> 4.mtx:3 | expected | number | found | one
file 5.mtx {general}2 2 2\n1 1 nan\n2 2 1.0\n
2 newel {solve,info} 5.mtx -> 5.mtx:3 | expected | found | nan
file 6.mtx {general}2 2 2\n1 1 1e999\n2 2 1.0\n
2 newel {solve,info} 6.mtx -> 6.mtx:3 | expected | found | 1e999
file 7.mtx {general}1000000 1000000 1000000000000\n1 1 1.0\n
2 newel {solve,info} 7.mtx -> 7.mtx | expected | found | 1000000000000 entries
file 8.mtx %%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n
2 newel info 8.mtx -> 8.mtx | expected | found | complex | newel solve
2 touch 9.mtx; newel {solve,info} 9.mtx -> 9.mtx | expected | found | banner
file 10.mtx hello\n
2 newel {solve,info} 10.mtx -> 10.mtx:1 | expected | banner | found | hello
file A.mat MATLAB 5.0 MAT-file, Platform: posix
2 newel {solve,info} A.mat -> python3 -c | io.loadmat('A.mat')
2 mkdir folder; newel solve folder/ -> folder/
2 newel solve absent.mtx -> absent.mtx
2 printf '\x1f\x8b\x08\0\0\0\0\0\0\x03\x53\x55' > cut.mtx.gz; newel info cut.mtx.gz -> cut.mtx.gz
)");
}

TEST_CASE("A matrix that a solve cannot take is refused in words of the file", "[cli]") {
  check_rows(TemporaryFolder(), R"(
file wide.mtx {general}2 3 2\n1 1 1\n2 3 1\n
2 newel solve wide.mtx -> wide.mtx | square | 2 rows | 3 columns
2 newel solve wide.mtx --rhs ones --quiet --out x.mtx --report r.json
    files is wide.mtx
2 newel info wide.mtx --precond fsai -> square
file hole.mtx {general}4 4 3\n1 1 1\n2 2 1\n4 4 1\n
0 newel solve hole.mtx --device host
file zero.mtx {general}3 3 5\n1 1 2\n2 2 0\n2 3 1\n3 2 1\n3 3 2\n
file missing.mtx {general}3 3 4\n1 1 2\n2 3 1\n3 2 1\n3 3 2\n
2 newel solve {zero.mtx,missing.mtx} --device host --precond jacobi -> {} | row 2 | --precond none
0 newel solve {zero.mtx,missing.mtx} --device host
0 newel solve missing.mtx --device host --precond none --quiet
file skew.mtx {general}3 3 5\n1 1 4\n2 2 4\n3 3 4\n2 3 1\n3 2 -1\n
2 newel solve skew.mtx --precond fsai --device host -> skew.mtx | symmetric | 1 in row 2, column 3 | -1 in row 3, column 2 | --precond spai or jacobi
0 newel info skew.mtx --precond fsai --report r.json
    /preconditioner/refusal has row 2, column 3
    /preconditioner/operator is null
file saddle.mtx {general}3 3 5\n1 1 4\n2 2 1\n3 3 1\n2 3 2\n3 2 2\n
2 newel solve saddle.mtx --precond fsai --device host -> saddle.mtx | positive definite | row 3 | --precond spai or jacobi
)");
}

TEST_IN_FOLDER("A wrong command is refused with the option and what was given", "[cli]") {
  folder.write("A.mtx", grid_system(4).text());
  check_rows(folder, R"(
2 newel -> usage
2 newel solv A.mtx -> solv | did you mean solve
2 newel solve -> matrix
2 newel solve A.mtx surplus -> surplus
2 newel solve A.mtx ones more -> unexpected argument 'more'
2 newel solve A.mtx ones --rhs ones -> the right-hand side is given twice
2 newel solve A.mtx --rtol -> --rtol
2 newel solve A.mtx --rtol abc -> --rtol: expected a number, found 'abc'
2 newel solve A.mtx --rtol -1 -> --rtol | -1
2 newel solve A.mtx --rtol nan -> --rtol
2 newel solve A.mtx --max-iterations 1e4 -> --max-iterations: expected a whole number, found '1e4'
2 newel solve A.mtx --max-iterations -1 -> --max-iterations
2 newel solve A.mtx --threads 0 -> --threads
2 newel info A.mtx --threads two -> --threads: expected a whole number, found 'two'
2 newel solve A.mtx --restart 0 -> --restart | 0 | range
2 newel solve A.mtx --time-limit 0 -> --time-limit
2 newel solve A.mtx --rhs random:x -> --rhs | seed
2 newel solve A.mtx --rhs 'A*b' -> --rhs | A*ones
2 newel solve A.mtx --rhs A.mtx -> expected a vector, n x 1 or 1 x n, or vectors
2 newel solve A.mtx absent.mtx -> absent.mtx
2 newel solve A.mtx --basis half -> --basis | half | full | single
2 newel solve A.mtx --solver bicstab -> bicstab | did you mean bicgstab | cg | gmres
2 newel solve A.mtx --precond jacoby -> jacoby | did you mean jacobi | none
2 newel info A.mtx --precond jakobi -> did you mean jacobi
2 newel info A.mtx --precond auto -> auto | jacobi | spai
2 newel solve A.mtx --format crs -> crs | csr
2 newel solve A.mtx --device gpu -> gpu | host | (did you mean cuda?)
2 newel solve A.mtx --precision half -> half | double | single
2 newel solve A.mtx --presision double -> --presision | did you mean --precision
2 newel solve generate:elastic:5 -> generate:
2 newel solve A.mtx --fsai-power 0 -> --fsai-power
2 newel solve A.mtx --spai-power 99 -> --spai-power
2 newel solve A.mtx --spai-side top -> top | left | right
2 newel solve A.mtx --spai-drop -1 -> --spai-drop | not negative
2 newel solve A.mtx --spai-adaptive nan -> --spai-adaptive
2 newel solve A.mtx --precond-format auto -> auto | csr
2 newel solve A.mtx --deterministic --format measure --device host -> measured times
2 newel bench solve A.mtx --tol 1e-8x -> --tol: expected a number, found '1e-8x'
2 newel bench -> usage
2 newel bench spvm A.mtx -> spmv
2 newel bench solv A.mtx -> did you mean solve
2 newel bench regrets A.mtx -> did you mean regret
2 newel bench regret A.mtx --loops 3 -> --loops
2 newel bench {spmv,solve} A.mtx absent.mtx --device host -> absent.mtx
2 newel bench solve A.mtx --rhs absent.mtx --device host -> absent.mtx
3 newel solve A.mtx --device cuda:99 -> cuda:99
)");
  if (NEWEL_HAS_CUDA == 0) check_rows(folder, "3 newel solve A.mtx --device cuda -> without CUDA");
}

TEST_IN_FOLDER("Unknown options and values are answered with what was meant, in every command", "[cli]") {
  folder.write("A.mtx", grid_system(3).text());
  check_rows(folder, R"(
2 newel solve A.mtx --output x.mtx -> unknown option --output (did you mean --out?)
2 newel solve A.mtx -b b.mtx -> unknown option -b (did you mean --rhs?)
2 newel solve A.mtx --tol 1e-3 -> unknown option --tol (did you mean --rtol?)
2 newel solve A.mtx --maxiter=5 -> unknown option --maxiter (did you mean --max-iterations?)
2 newel solve A.mtx maxiter=5 -> unexpected argument 'maxiter=5' (did you mean --max-iterations?)
2 newel solve A.mtx --preconditioner amg -> unknown option --preconditioner (did you mean --precond?)
2 newel solve A.mtx --solver {cgg,pcg} -> (did you mean cg?)
2 newel solve A.mtx --format ehb -> (did you mean ehyb?)
2 newel solve A.mtx --precond spay -> (did you mean spai?)
2 newel solve A.mtx --precision float -> (did you mean single?)
2 newel solve A.mtx --null-space constants -> (did you mean constant?)
2 newel solve A.mtx --frobnicate -> unknown option --frobnicate; see newel solve --help
2 newel info A.mtx --output x -> (did you mean --out?)
2 newel info A.mtx --max-iterations 3 -> unknown option --max-iterations: it belongs to newel solve
2 newel info A.mtx --precond ichol -> (did you mean fsai?)
2 newel bench solve A.mtx --rtol 1e-3 -> (did you mean --tol?)
2 newel bench spmv A.mtx --output r.json -> unknown option --output
)");
}

TEST_IN_FOLDER("Vectors that do not fit the matrix are refused with both sizes", "[cli]") {
  folder.write("A.mtx", grid_system(4).text());
  folder.write("short.mtx", vector_text(rough_vector(15)));
  folder.write("S.mtx", columns_text({3, rough_vector(15)}));
  folder.write("B.mtx", columns_text({3, rough_vector(16)}));
  folder.write("G.mtx", columns_text({2, rough_vector(16)}));
  folder.write("X.mtx", columns_text({{0, 1, 2}, {0, 0, 0}}));
  folder.write("P.mtx", grid_system(3).text());
  check_rows(folder, R"(
2 newel solve A.mtx {--rhs,--guess} short.mtx -> {} | short.mtx | 16 | 15
2 newel solve A.mtx --rhs S.mtx -> expected columns of 16 values, one for each row of the matrix, found 15
2 newel solve A.mtx --rhs B.mtx --guess G.mtx -> expected 3 columns, as in the right-hand side, found 2
2 newel solve A.mtx ones --coordinates X.mtx --out y.vtu -> 16 rows cannot be divided among 3 nodes
2 newel info A.mtx --precond amg --coordinates A.mtx -> A.mtx | points x 1, 2 or 3
2 newel solve A.mtx --device host --precond amg --amg-vectors short.mtx -> short.mtx | 16 rows | 15 x 1
2 newel solve A.mtx --device host --precond spai --precond-pattern P.mtx -> P.mtx | 16 x 16 | 9 x 9
2 newel solve A.mtx --device host --precond saddle --saddle-rows short.mtx -> short.mtx | row numbers from 1 to 16
2 newel solve A.mtx --device host --precond saddle --saddle-mass short.mtx -> short.mtx | square | 15 x 1
2 newel info A.mtx --precond fsai --precond-pattern P.mtx -> P.mtx | 16 x 16
2 newel solve A.mtx --device host --precond-pattern A.mtx --precond spai --spai-power 2 -> replaces | --spai-power
2 newel solve A.mtx --device host --precond-pattern A.mtx --precond fsai --fsai-drop 0.1 -> replaces
)");
}

TEST_IN_FOLDER("Outputs that cannot be written are refused before anything is solved", "[cli]") {
  folder.write("A.mtx", grid_system(6).text());
  folder.write("P.mtx", grid_system(6).text());
  check_rows(folder, R"(
2 newel solve A.mtx ones {--out,--report,--history,--html} absent/file.mtx -> {} absent/file.mtx: cannot be written
2 newel solve A.mtx ones {--report,--history,--html} ./ -> {} | it is a directory
2 newel solve A.mtx ones --out ./ -> --out ./
2 newel solve A.mtx ones {--out,--report,--history,--html} A.mtx -> {} | it is the matrix
2 newel solve A.mtx ones --out o.mtx --report o.mtx -> same file
2 newel solve A.mtx ones --report r --html r -> --report names the same file
2 newel solve A.mtx ones --html absent/r.html --out x.mtx
2 newel solve A.mtx --device host --precond spai --precond-pattern P.mtx --report P.mtx -> pattern
2 newel info A.mtx --report absent/r.json -> --report
2 newel info A.mtx --out A.mtx -> it is the matrix
2 newel solve {A.mtx,generate:grid7:4} --out x.mtx -> --out | --rhs b.mtx | --rhs ones | --rhs A*random
2 newel solve A.mtx ones --out {x,x.vtk,x.npz,x.mat,x.txt,x.vtu.gz,x.gz} -> expected a name that ends in .mtx, .npy, .csv or .petsc, optionally followed by .gz, or in .vtu
2 newel solve A.mtx ones --out x.vtu -> .vtu needs the nodes
2 newel solve generate:grid7:4 ones --out x.vtu -> the nodes of this system are not known
2 newel info A.mtx --out {B,B.npy,B.csv,B.mat} -> ends in .mtx, .npz or .petsc
    files is A.mtx, P.mtx
0 newel solve A.mtx ones --quiet --out /dev/null
0 newel solve A.mtx --quiet
0 touch x.mtx; chmod 640 x.mtx; newel solve A.mtx ones --out x.mtx --quiet; stat -c %a x.mtx -> 640\n
    x.mtx has array real general\n36 1\n
)");
  CHECK(file_content(folder.file("A.mtx")) == grid_system(6).text());
}

TEST_IN_FOLDER("A solve that wants more memory than there is is refused with both figures", "[cli]") {
  // A basis of 300,000 vectors of as many numbers: 720 GB.
  System s;
  s.n = 300000;
  for (int i = 1; i <= s.n; ++i) s.entries.push_back({i, i, 1});
  folder.write("A.mtx", s.text());
  check_rows(folder, "2 newel solve A.mtx --solver gmres --restart 1000000 --device host -> memory | 72 | GB");
}

TEST_IN_FOLDER("A text that cannot be written ends with status 2 and the system's words", "[cli]") {
  folder.write("A.mtx", grid_system(6).text());
  const std::string texts =
      " newel {info A.mtx,--help,--version,solve --help,info --help,bench --help,bench spmv --help,"
      "solve A.mtx --rhs ones --device host} >";
  if (!std::filesystem::exists("/dev/full")) return;
  check_rows(folder, "2" + texts + " /dev/full\n    err is newel: standard output cannot be written: " +
                         "No space left on device\\n\n0" + texts + " text\n2" + texts + "&-");
  // The solution is not lost with the text, and nothing is missing where nothing is printed.
  check_rows(folder, R"(
2 newel solve A.mtx --rhs ones --device host --out x.mtx > /dev/full
    files has x.mtx
0 newel solve A.mtx --rhs ones --device host --quiet > /dev/full
2 newel bench spmv A.mtx --device host --formats csr --repeats 1 > /dev/full -> No space left on device
)");
}

TEST_IN_FOLDER("Standard input is one file, and a reader that goes away is an error", "[cli][streams]") {
  folder.write("A.mtx", grid_system(20).text());
  folder.write("line.mtx", line_system(40000).text());
  check_rows(folder, R"(
2 cat A.mtx | newel solve - --rhs - -> standard input (-) is the matrix already and cannot also be the right-hand side
0 newel info A.mtx --out -
    out has %%MatrixMarket matrix coordinate real general\n400 400 1920\n
    err has 400
2 newel solve generate:diffusion:20 ones --device host --quiet --out - | true -> cannot write standard output: Broken pipe
2 ulimit -f 16; newel solve line.mtx --rhs random --max-iterations 3 --device host --out {x.mtx,x.mtx.gz}
    out has matrix
    err is newel: cannot write {}: File too large\n
    files is A.mtx, line.mtx
)");
}

TEST_CASE("Help and version end in status 0 and say what there is", "[cli]") {
  const std::string version = "\n0 newel --version -> CUDA | " NEWEL_VERSION;
  check_rows(TemporaryFolder(), R"(
0 newel --help -> solve
0 newel solve --help -> --rhs | --guess | --out | --solver | --precond | --format | --device | --precision | --rtol | --atol
    out has --max-iterations | --restart | --left | --threads | --time-limit | --history | --report | --quiet | --null-space
    out has --check-every | --basis | --html | Examples
    out lacks {false}
0 newel {solve,info} --help -> elasticity | diffusion | convection | grid7)" +
                                    version);
}

TEST_CASE("Bad input of the demos ends with 2 and names what is wrong", "[heart][heat][beam][process]") {
  check_rows(TemporaryFolder(), R"(
file tissue.json {"tissue": {"alfa": 0.1}}
file probes.json {"probes": {"nodes": [99999999]}}
file flat.mesh MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n
2 newel-heart --out o --device host --params tissue.json -> unknown name 'tissue.alfa' (did you mean 'tissue.alpha'?)
2 newel-heart --out o --quiet --device host --nodes 600 --params probes.json -> the mesh has no node 99999999
2 newel-heart --out o --quiet --device host --stimulus somewhere -> --stimulus: expected apex, base, endo or X,Y,Z
2 newel-heart --out o --quiet --device host --stimulus apex@-3 -> --stimulus: expected
2 newel-heart --out o --quiet --device host --nodes 600 --stimulus 500,0,0@3 -> reaches no tetrahedron
2 newel-heart --out o --quiet --device host flat.mesh -> tetrahedron 1
2 newel-heart --out o --quiet --device host --fibers tissue.json -> --fibers needs a mesh file
2 newel-heart --out o --quiet --device host --assembly fast -> fast
2 newel-heart --out o --quiet --device host --resume none -> no valid checkpoint
file cold.json {"convection": {"coefficient": -1}}
2 newel-heat --out o --quiet --params cold.json -> 'convection.coefficient': expected a number >= 0, found -1
2 newel-heat --out o --quiet --params none.json -> cannot be read
2 newel-heat --out o --quiet none.mesh -> none.mesh
2 newel-heat --out o --quiet --resume none -> no valid checkpoint to resume from
2 newel-heat --out o --quiet --scheme leapfrog -> leapfrog
2 newel-heat --out o --quiet --dt 0 -> --dt: expected a number > 0
2 newel-heat --out o --quiet --duration 1e30 -> steps
3 newel-heat --out o --quiet --device cuda:99 -> cuda:99
file poisson.json {"material": {"poisson_ratio": 0.5}}
file soft.json {"warming": 1e6}
file far.json {"probes": {"nodes": [99999999]}}
2 newel-beam --out o --quiet --device host --params poisson.json -> 'material.poisson_ratio': expected a number
2 newel-beam --out o --quiet --device host --params soft.json -> warming: expected a body that keeps some stiffness
2 newel-beam --out o --quiet --device host --params far.json -> the mesh has no node 99999999
2 newel-beam --out o --quiet --device host --body drum -> drum
2 newel-beam --out o --quiet --device host --body bar flat.mesh -> --body: expected no mesh file with it
2 newel-beam --out o --quiet --device host --mesh-unit m flat.mesh -> tetrahedron 1
2 newel-beam --out o --quiet --device host --strikes 0 -> --strikes
2 newel-beam --out o --quiet --device host --resume none -> no valid checkpoint
)");
}
