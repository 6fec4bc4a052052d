// SPDX-License-Identifier: Apache-2.0
// The options of the demos: what is taken, what is refused and in which words.
#include "tests/catch.hpp"

#include <newel/precond/fsai/fsai_options.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/transient/run_options.hpp"

using namespace newel::transient;

namespace {

struct Parsed {
  RunOptions options;
  double own = 1;
  std::optional<std::string> text;
  std::string line;
};

Parsed parsed(const std::vector<std::string>& words) {
  Parsed p;
  p.options.system.solver.name = "cg";
  RunCommand command({"newel-test", "Tests.", "a cube", "s", "Examples:"}, p.options);
  command.app().add_option("--own", p.own, "of the program");
  std::vector<const char*> argv = {"/somewhere/newel-test"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  p.text = command.parse(static_cast<int>(argv.size()), argv.data());
  p.line = command.command_line();
  return p;
}

std::string refusal(const std::vector<std::string>& words) {
  return message_of<cli::UsageError>([&] { (void)parsed(words); });
}

}  // namespace

TEST_CASE("the options of a run are taken as they are given, and the rest keep their defaults", "[transient]") {
  const Parsed p =
      parsed({"a b.mesh", "--refine", "2",    "--mesh-unit", "mm",       "--duration", "12",    "--dt",
              "0.5",      "--out",    "o",    "--format",    "ELL-WARP", "--precond",  "FSAI",  "--fsai-power",
              "2",        "--tol",    "1e-6", "--threads",   "2",        "--quiet",    "--own", "7"});
  CHECK(!p.text);
  CHECK(p.options.mesh == "a b.mesh");
  CHECK(p.options.refine == 2);
  CHECK(p.options.duration == 12);
  CHECK(p.options.system.spmv.format == "ellwarp");
  CHECK(p.options.system.precond.name == "fsai");
  CHECK(p.options.system.precond.of<FsaiOptions>().power == 2);
  CHECK(p.options.system.stop.rel_tol == 1e-6);
  CHECK(p.options.system.solver.name == "cg");
  CHECK(p.options.quiet);
  CHECK(p.own == 7);
  CHECK(p.line.find("newel-test 'a b.mesh' --refine 2") == 0);
  CHECK(parsed({}).options.mesh.empty());
}

TEST_CASE("a resumed run writes where it wrote, unless told otherwise", "[transient]") {
  CHECK(parsed({"--resume", "d"}).options.out == "d");
  CHECK(parsed({"--resume", "d", "--out", "e"}).options.out == "e");
  CHECK(parsed({}).options.out == ".");
}

TEST_CASE("help and version are text, not work", "[transient]") {
  const std::string help = parsed({"--help"}).text.value();
  for (const char* option : {"--refine", "--mesh-unit", "--resume", "--checkpoint-every", "--fsai-power", "--own"}) {
    CHECK(contains(help, option));
  }
  CHECK(parsed({"--version"}).text.value().find("newel-test ") == 0);
}

TEST_CASE("bad usage is refused in words that help", "[transient]") {
  CHECK(refusal({"--durration", "3"}) == "unknown option --durration (did you mean --duration?)");
  CHECK(refusal({"a.mesh", "b.mesh"}) == "unexpected argument 'b.mesh'");
  CHECK(refusal({"--dt", "0"}) == "--dt: expected a number > 0, found 0");
  CHECK(refusal({"--dt", "nan"}).find("--dt: expected") == 0);
  CHECK(refusal({"--duration", "-1"}).find("--duration: expected") == 0);
  CHECK(refusal({"--dt", "abc"}) == "--dt: expected a number, found 'abc'");
  CHECK(refusal({"--output-every", "-1"}).find("--output-every") == 0);
  CHECK(!refusal({"--mesh-unit", "inch"}).empty());
  CHECK(!refusal({"--format", "elwarp"}).empty());
  CHECK(!refusal({"--precond", "multigrid"}).empty());
  CHECK(!refusal({"--solver", "qmr"}).empty());
  CHECK(!refusal({"--refine", "9"}).empty());
  CHECK(contains(refusal({"--deterministic", "--format", "measure"}), "depends on timing"));
  CHECK(refusal({"--deterministic", "--precond", "auto"}).empty());
}

TEST_CASE("options that cannot have an effect are warned of", "[transient]") {
  const auto warnings = [](const std::vector<std::string>& arguments) { return parsed(arguments).options.warnings; };
  REQUIRE(warnings({"--fsai-power", "2"}).size() == 1);
  CHECK(warnings({"--fsai-power", "2"})[0].find("--fsai-power has no effect") == 0);
  CHECK(warnings({"--fsai-power", "2", "--quiet"}).empty());
  CHECK(warnings({"--fsai-power", "2", "--resume", "d"}).empty());  // the checkpoint says of which preconditioner
  REQUIRE(warnings({"--no-resident", "--device", "host"}).size() == 1);
  CHECK(warnings({"--precond", "fsai", "--fsai-power", "2"}).empty());
  CHECK(warnings({"--initial-guess", "project:4"}).empty());
  CHECK(warnings({"--recycle", "8"}).empty());
}

TEST_CASE("a folder is made, with those above it; one that cannot be is refused", "[transient]") {
  const testing::TemporaryFolder folder;
  prepare_folder(folder.file("a/b/c"));
  CHECK(std::filesystem::is_directory(folder.file("a/b/c")));
  CHECK(std::filesystem::is_empty(folder.file("a/b/c")));
  folder.write("file", "x");
  CHECK_THROWS_AS(prepare_folder(folder.file("file/inside")), InputError);
}
