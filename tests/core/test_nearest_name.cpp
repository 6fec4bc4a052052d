// SPDX-License-Identifier: Apache-2.0
// What somebody meant who typed another name.
#include "tests/catch.hpp"

#include <newel/core/table.hpp>

using newel::did_you_mean;
using newel::nearest_name;

namespace {

const std::vector<std::string> options = {"--rhs",    "--guess",          "--out",        "--rtol",     "--atol",
                                          "--solver", "--max-iterations", "--time-limit", "--precond",  "--report",
                                          "--device", "--threads",        "--null-space", "--precision"};
const std::vector<std::string> preconditioners = {"auto", "none", "jacobi", "spai0", "spai", "fsai", "amg"};

}  // namespace

TEST_CASE("Options of other programs are known by what they are here", "[names]") {
  CHECK(nearest_name("--output", options) == "--out");
  CHECK(nearest_name("-o", options) == "--out");
  CHECK(nearest_name("-b", options) == "--rhs");
  CHECK(nearest_name("--tol", options) == "--rtol");
  CHECK(nearest_name("--maxiter", options) == "--max-iterations");
  CHECK(nearest_name("--max_iterations", options) == "--max-iterations");
  CHECK(nearest_name("--preconditioner", options) == "--precond");
  CHECK(nearest_name("--pc", options) == "--precond");
  CHECK(nearest_name("--x0", options) == "--guess");
  CHECK(nearest_name("-ksp_type", options) == "--solver");
  CHECK(nearest_name("--nullspace", options) == "--null-space");
}

TEST_CASE("Keywords of SciPy are known by what they are here", "[names]") {
  const std::vector<std::string> keywords = {"A", "b", "x0", "rtol", "atol", "max_iterations", "preconditioner"};
  CHECK(nearest_name("precond", keywords) == "preconditioner");
  CHECK(nearest_name("M", keywords) == "preconditioner");
  CHECK(nearest_name("tol", keywords) == "rtol");
  CHECK(nearest_name("maxiter", keywords) == "max_iterations");
  CHECK(nearest_name("b", keywords) == "b");
  CHECK(nearest_name("rhs", keywords) == "b");
  CHECK(nearest_name("matrix", keywords) == "A");
  CHECK(nearest_name("initial_guess", keywords) == "x0");
  CHECK(nearest_name("start", keywords) == "x0");
  const std::vector<std::string> of_cg = {"A", "b", "x0", "rtol", "atol", "maxiter", "M", "callback"};
  CHECK(nearest_name("max_iterations", of_cg) == "maxiter");
  CHECK(nearest_name("preconditioner", of_cg) == "M");
  CHECK(nearest_name("Pl", of_cg) == "M");
}

TEST_CASE("Names of tables are found by edits, by beginnings and by what others call them", "[names]") {
  CHECK(nearest_name("jacoby", preconditioners) == "jacobi");
  CHECK(nearest_name("ilu", preconditioners) == "spai");
  CHECK(nearest_name("ICHOL", preconditioners) == "fsai");
  CHECK(nearest_name("multigrid", preconditioners) == "amg");
  CHECK(nearest_name("jac", preconditioners) == "jacobi");
  CHECK(nearest_name("cgg", {"cg", "bicgstab", "gmres"}) == "cg");
  CHECK(nearest_name("ehb", {"csr", "ehyb", "ehyb-symmetric"}) == "ehyb");
  CHECK(nearest_name("ell", {"csr", "ehyb", "ellwarp"}) == "ellwarp");
}

TEST_CASE("Nothing is suggested for what is near nothing", "[names]") {
  CHECK(nearest_name("", options).empty());
  CHECK(nearest_name("--", options).empty());
  CHECK(nearest_name("--frobnicate", options).empty());
  CHECK(nearest_name("k", {"A", "b"}).empty());  // one letter for another is no misspelling
  CHECK(nearest_name("cpu", {"cuda"}).empty());
  CHECK(nearest_name("ilu", {"cg", "gmres"}).empty());  // what it is here is not among the names
  CHECK(nearest_name(std::string(100000, 'x'), options).empty());
  CHECK(did_you_mean("xyzzy", options).empty());
  CHECK(did_you_mean("--outt", options) == " (did you mean --out?)");
}
