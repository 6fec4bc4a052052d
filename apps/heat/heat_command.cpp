// SPDX-License-Identifier: Apache-2.0
// Options, parameters, mesh and checkpoint of newel-heat, brought together.
#include "heat_run.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/program.hpp"
#include "apps/transient/resume.hpp"
#include "heat_sink.hpp"

namespace newel::heat {
namespace {

const transient::ProgramWords words{
    "newel-heat", "Heat conduction in a mechanical part: one matrix, thousands of right-hand sides.",
    "a plate with fins on a chip", "s",
    "Examples:\n"
    "  newel-heat --out sink                        the built-in part; open sink/heat.pvd in ParaView\n"
    "  newel-heat bracket.msh --mesh-unit mm --params steel.json --duration 600 --dt 0.5 --out bracket\n"
    "  newel-heat --resume bracket                  continue after Ctrl-C or a crash\n"};

void set_defaults(transient::RunOptions& o) {
  o.duration = 240;
  o.dt = 0.2;
  o.output_every = 10;
  o.system.solver.name = "cg";
}

// Of a resumed run: what may not differ from the run before.
void take_scheme(const transient::RunCommand& command, HeatJob& job) {
  const std::string scheme = job.resume->header.value("scheme", "");
  if (command.given("--scheme") && job.scheme != scheme) {
    throw InputError(job.resume->file + ": the run was made with --scheme " + scheme);
  }
  job.scheme = scheme;
}

void load_mesh(const Context<Space::host>& host, HeatJob& job) {
  const transient::RunOptions& o = job.options;
  job.mesh = o.mesh.empty()
                 ? made_mesh_input(host, o, make_heat_sink(), "a plate with fins", fem::MeshUnit::m, job.start)
                 : read_mesh_input(host, o, fem::BodyKind::part, fem::MeshUnit::m, job.start,
                                   [&](const std::string& lines) { print_lines(job, lines); });
  require_same_mesh(job, job.mesh);
  job.mesh.around.reset();  // the equation is assembled at once
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  HeatJob job;
  job.program = words.name;
  set_defaults(job.options);
  transient::RunCommand command(words, job.options);
  const std::vector<std::string> schemes = {"crank-nicolson", "backward-euler"};
  cli::OptionGroup(command.app(), "The run")
      .add("--scheme", job.scheme, "crank-nicolson|backward-euler", "Time stepping, default " + job.scheme);
  bool no_compare = false;
  cli::OptionGroup(command.app(), "Output")
      .flag("--no-compare", no_compare,
            "Do not measure at the end after how many solves each format and preconditioner pays back");
  if (const auto wanted = command.parse(argc, argv)) {
    cli::print_text(stdout, *wanted);
    return cli::exit_converged;
  }
  job.command_line = command.command_line();
  job.scheme = cli::check_choice(job.scheme, "--scheme", schemes);
  job.compare = !no_compare;

  HeatParams& params = job.params;
  params = heat_sink_params();
  transient::ParamTable table = heat_table(params);
  if (!job.options.resume.empty()) {
    take_checkpoint(job, command, table);
    take_scheme(command, job);
  } else {
    if (!job.options.mesh.empty()) params = HeatParams{};
    if (!job.options.params.empty()) table.read(job.options.params);
  }
  prepare_run(job, table, {{"mesh", job.options.mesh}, {"parameters", job.options.params}});

  const Context<Space::host> host(job.options.threads);
  job.start.end("launch");
  load_mesh(host, job);
  return cli::at_place(job.place, host, [&](const auto& ctx) { return run_heat(host, ctx, job); });
}

}  // namespace newel::heat
