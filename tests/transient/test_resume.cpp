// SPDX-License-Identifier: Apache-2.0
// Options and order through a checkpoint.
#include "tests/solver/systems.hpp"

#include <newel/precond/fsai/fsai_options.hpp>

#include "apps/transient/resume.hpp"

using namespace newel::transient;

namespace {

// The options after a resume from a run that was made with `old`.
RunOptions resumed(const Checkpoint& checkpoint, const std::vector<std::string>& words) {
  RunOptions options;
  RunCommand command({"newel-test", "Tests.", "a cube", "s", ""}, options);
  std::vector<const char*> argv = {"newel-test"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  (void)command.parse(static_cast<int>(argv.size()), argv.data());
  take_kept_options(checkpoint, command, options);
  return options;
}

Checkpoint checkpoint_of(bool deterministic) {
  RunOptions options;
  options.mesh = "part.mesh";
  options.dt = 0.25;
  options.duration = 9;
  options.system.deterministic = deterministic;
  options.system.stop.rel_tol = 1e-9;
  options.system.spmv.format = "auto";
  options.system.precond.of<FsaiOptions>().power = 3;
  SystemInfo info;
  info.matrix.name = "ellwarp:k2rs";
  info.preconditioner.name = "fsai";
  Checkpoint checkpoint;
  checkpoint.header["options"] = kept_options(options, info, 3);
  return checkpoint;
}

}  // namespace

TEST_CASE("a resumed run has the options of the run, with what was chosen by it", "[transient]") {
  const RunOptions o = resumed(checkpoint_of(true), {});
  CHECK(o.mesh == std::filesystem::absolute("part.mesh").string());
  CHECK(o.dt == 0.25);
  CHECK(o.duration == 9);
  CHECK(o.threads == 3);
  CHECK(o.system.deterministic);
  CHECK(o.system.spmv.format == "ellwarp:k2rs");
  CHECK(o.system.precond.name == "fsai");
  CHECK(o.system.precond.of<FsaiOptions>().power == 3);
  CHECK(o.system.stop.rel_tol == 1e-9);
  CHECK(resumed(checkpoint_of(true), {"--format", "auto"}).system.spmv.format == "ellwarp:k2rs");
}

TEST_CASE("what a run is may not change; what it writes and how long it goes may", "[transient]") {
  const RunOptions o = resumed(checkpoint_of(true), {"--duration", "20", "--output-every", "2", "--dt", "0.25"});
  CHECK(o.duration == 20);
  CHECK(o.output_every == 2);
  CHECK_THROWS_AS(resumed(checkpoint_of(false), {"--dt", "0.5"}), InputError);
  CHECK_THROWS_AS(resumed(checkpoint_of(false), {"other.mesh"}), InputError);
  CHECK_THROWS_AS(resumed(checkpoint_of(true), {"--threads", "2"}), InputError);
  CHECK_THROWS_AS(resumed(checkpoint_of(true), {"--format", "csr"}), InputError);
  CHECK(resumed(checkpoint_of(false), {"--format", "csr"}).system.spmv.format == "csr");
  CHECK_THROWS_AS(resumed(checkpoint_of(false), {"--deterministic", "--precond", "jacobi"}), InputError);
}

TEST_CASE("a run that goes on with the same bits leaves the algorithm of csr to them", "[transient]") {
  Checkpoint checkpoint = checkpoint_of(false);
  checkpoint.header["options"]["format"] = "csr:alg1";
  CHECK(resumed(checkpoint, {}).system.spmv.format == "csr:alg1");
  CHECK(resumed(checkpoint, {"--deterministic"}).system.spmv.format == "csr");
}

TEST_CASE("a header without its options, or with options of other types, is refused", "[transient]") {
  CHECK_THROWS_AS(resumed(Checkpoint{}, {}), InputError);
  Checkpoint damaged = checkpoint_of(false);
  damaged.header["options"]["dt"] = "soon";
  CHECK_THROWS_AS(resumed(damaged, {}), InputError);
}

TEST_BOTH("an order and its parts come back through a checkpoint", "[transient]") {
  const testing::Rows a = testing::laplacian(21, 0.2);
  const testing::Arrays<double, S> arrays(ctx, a);
  SystemOptions options = system_options("auto", "auto", "ehyb");
  options.spmv.parts = 3;
  const LinearSystem<double, S> system(ctx, arrays.view(), options);
  Checkpoint checkpoint;
  keep_order(ctx, system.ordered().order(), checkpoint);
  SystemOptions taken;
  take_kept_order(checkpoint, a.size(), taken);
  CHECK(taken.old_of_new == to_vector(ctx, system.ordered().order().old_of_new.cspan()));
  CHECK(taken.part_begin == system.ordered().order().part_begin);

  CHECK_THROWS_AS(take_kept_order(checkpoint, a.size() + 1, taken), InputError);
  checkpoint.integers["order"][0] = a.size();
  CHECK_THROWS_AS(take_kept_order(checkpoint, a.size(), taken), InputError);
  checkpoint.integers["order"][0] = 0;
  checkpoint.integers["parts"].back() = 1;
  CHECK_THROWS_AS(take_kept_order(checkpoint, a.size(), taken), InputError);

  Checkpoint natural;
  keep_order(ctx, RowOrder<S>{}, natural);
  SystemOptions untouched;
  take_kept_order(natural, a.size(), untouched);
  CHECK(untouched.old_of_new.empty());
}

TEST_CASE("the fingerprint of a mesh sees every number", "[transient]") {
  std::vector<std::array<double, 3>> nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<std::array<Index, 4>> tets = {{0, 1, 2, 3}};
  const std::string before = mesh_fingerprint(nodes, tets);
  CHECK(mesh_fingerprint(nodes, tets) == before);
  nodes[3][2] = std::nextafter(1.0, 2.0);
  CHECK(mesh_fingerprint(nodes, tets) != before);
}
