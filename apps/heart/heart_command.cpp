// SPDX-License-Identifier: Apache-2.0
// Options, parameters, mesh and checkpoint of newel-heart, brought together.
#include "heart_job.hpp"

#include <cstdio>
#include <filesystem>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/program.hpp"
#include "apps/transient/resume.hpp"

namespace newel::heart {
namespace {

const transient::ProgramWords words{
    program_name,
    "A beating heart: the electrical wave of each beat, step by step, thousands of solves on one setup.",
    "an idealised left ventricle",
    "ms",
    "Examples:\n"
    "  newel-heart --out beat                       one beat of the ventricle; open beat/heart.pvd in ParaView\n"
    "  newel-heart heart.vtk --stimulus apex@0 --stimulus 12,-4,30@320:3 --duration 800 --out paced\n"
    "  newel-heart --resume paced --duration 1200   continue after the end, Ctrl-C or a crash\n",
    "Solve each step until the error in phi is about TOL"};

// The options of newel-heart's own, as typed.
struct OwnOptions {
  std::int64_t nodes = 15000;
  std::string fibers;
  std::vector<std::string> stimuli;
  std::string assembly = "in-place";
};

void add_own_options(CLI::App& app, OwnOptions& own) {
  const cli::OptionGroup group(app, "The heart");
  group
      .add("--stimulus", own.stimuli, "PLACE[@START[:MS]]",
           "Where and when the tissue is stimulated, any number of times: apex, base, endo or X,Y,Z in mm; from\n"
           "START (ms, default 0) for MS (default 2). Default: apex. Strength and radius: --params")
      ->expected(1);
  app.get_option("--stimulus")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  group.add("--fibers", own.fibers, "FILE",
            "Directions of the fibres: three numbers per line, or a Gmsh or VTK file with vectors, for each\n"
            "node or tetrahedron of the mesh; default: those of the mesh file, else a rule");
  group
      .add("--nodes", own.nodes, "N",
           "Without a mesh: nodes of the ventricle, approximately; default " + std::to_string(own.nodes))
      ->check(CLI::Range(300, 20000000));
  group.add("--assembly", own.assembly, "in-place|reference",
            "Assembly of the matrix: in-place, the default, or reference (the paper's), for comparison");
}

// Of a resumed run: what may not differ from the run before.
void take_own_options(const transient::RunCommand& command, const HeartJob& job, OwnOptions& own) {
  const transient::Checkpoint& kept = *job.resume;
  if (command.given("--nodes") || command.given("--fibers")) {
    throw InputError(kept.file + ": --nodes and --fibers cannot differ from the earlier run");
  }
  own.nodes = kept.header.value("nodes", own.nodes);
  own.fibers = kept.header.value("fibers", own.fibers);
  if (!command.given("--stimulus")) own.stimuli = kept.header.value("stimuli", own.stimuli);
  if (!command.given("--assembly")) own.assembly = kept.header.value("assembly", own.assembly);
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  HeartJob job;
  OwnOptions own;
  set_heart_defaults(job.options);
  transient::RunCommand command(words, job.options);
  add_own_options(command.app(), own);
  if (const auto wanted = command.parse(argc, argv)) {
    cli::print_text(stdout, *wanted);
    return cli::exit_converged;
  }
  job.command_line = command.command_line();
  if (guess_rule(job.options.system.solver.of<GuessOptions>().guess).kind != GuessRule::Kind::given) {
    throw cli::UsageError("--initial-guess: newel-heart extrapolates the voltage itself, expected given");
  }
  if (recycle_rule(job.options.system.solver.of<RecycleOptions>().recycle).keeps()) {
    throw cli::UsageError("--recycle: newel-heart keeps no vectors in its checkpoints, expected 0");
  }

  transient::ParamTable table = heart_table(job.params);
  if (!job.options.resume.empty()) {
    take_checkpoint(job, command, table);
    take_own_options(command, job, own);
  } else if (!job.options.params.empty()) {
    table.read(job.options.params);
  }
  const bool by_default = own.stimuli.empty();
  if (by_default) own.stimuli = {"apex"};
  for (const std::string& stimulus : own.stimuli) {
    job.stimuli.push_back(parse_stimulus(stimulus));
    job.stimuli.back().by_default = by_default;
  }
  own.assembly = cli::check_choice(own.assembly, "--assembly", {"in-place", "reference"});
  job.assembly = own.assembly == "reference" ? AssemblyKind::reference : AssemblyKind::in_place;
  job.kept = {{"nodes", own.nodes}, {"fibers", own.fibers}, {"stimuli", own.stimuli}, {"assembly", own.assembly}};
  prepare_run(job, table, {{"mesh", job.options.mesh}, {"parameters", job.options.params}, {"fibres", own.fibers}});

  const Context<Space::host> host(job.options.threads);
  job.start.end("launch");
  return cli::at_place(job.place, host, [&](const auto& ctx) {
    job.body = make_heart_body(host, ctx, job.options, job.params, own.fibers, own.nodes, job.start,
                               [&](const std::string& lines) { print_lines(job, lines); });
    require_same_mesh(job, job.body.input);
    return run_heart(host, ctx, job);
  });
}

}  // namespace newel::heart
