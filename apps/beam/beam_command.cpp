// SPDX-License-Identifier: Apache-2.0
// Options, parameters, mesh and checkpoint of newel-beam, brought together.
#include <cstdio>
#include <utility>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/names.hpp"
#include "apps/common/option_error.hpp"
#include "apps/common/program.hpp"
#include "apps/transient/resume.hpp"
#include "beam_run.hpp"
#include "shapes.hpp"

namespace newel::beam {
namespace {

constexpr int most_strikes = 64;

const transient::ProgramWords words{
    "newel-beam", "A body that is struck and rings: elastodynamics on quadratic tetrahedra.",
    "a tuning fork, see --body", "s",
    "Examples:\n"
    "  newel-beam --out fork                         the tuning fork; open fork/beam.pvd in ParaView\n"
    "  newel-beam --body bar --duration 0.05 --out bar\n"
    "  newel-beam --strikes 8 --out strikes          struck at eight places: one matrix, eight right-hand sides\n"
    "  newel-beam bracket.msh --mesh-unit mm --params steel.json --out bracket\n"
    "  newel-beam --resume fork                      continue after Ctrl-C or a crash\n"};

void set_defaults(transient::RunOptions& o) {
  o.duration = 0.1;
  o.dt = 4e-5;
  o.system.solver.name = "cg";
  o.system.precond.name = "amg";
  o.system.stop.rel_tol = 1e-8;
}

// Of a resumed run: what may not differ from the run before.
template <class T>
void take_kept(const transient::RunCommand& command, const BeamJob& job, const char* option, const char* key,
               T& value) {
  const cli::Json& header = job.resume->header;
  const auto found = header.find(key);
  const T kept = found != header.end() ? found->get<T>() : value;
  if (command.given(option) && value != kept) {
    throw InputError(job.resume->file + ": the run was made with " + option + ' ' + cli::Json(kept).dump());
  }
  value = kept;
}

void load_mesh(const Context<Space::host>& host, BeamJob& job) {
  const transient::RunOptions& o = job.options;
  if (o.mesh.empty()) {
    Shape shape = make_shape(job.shape);
    job.mesh = made_mesh_input(host, o, std::move(shape.mesh), shape.description, fem::MeshUnit::m, job.start);
    job.probes = std::move(shape.probes);
    job.cantilever = {shape.cantilever};
  } else {
    job.mesh = read_mesh_input(host, o, fem::BodyKind::part, fem::MeshUnit::m, job.start,
                               [&](const std::string& lines) { print_lines(job, lines); });
  }
  require_same_mesh(job, job.mesh);
  job.mesh.around.reset();
}

// A run whose body would lose all its stiffness has no last step.
void check_warming(const BeamJob& job) {
  const double end = job.params.stiffness_factor(job.options.duration);
  if (end > 0) return;
  throw InputError(
      "warming: expected a body that keeps some stiffness to the end of the run, but its modulus would "
      "be " +
      cli::Json(end).dump() + " times that at time 0");
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  BeamJob job;
  job.program = words.name;
  set_defaults(job.options);
  transient::RunCommand command(words, job.options);
  const cli::OptionGroup group(command.app(), "The run");
  group.add("--body", job.shape, cli::one_of(shape_names()), "Built-in body of a run without a mesh, default fork");
  group
      .add("--strikes", job.strikes, "N",
           "Number of strikes that run together, at places from strike.centre to strike.last_centre; default 1")
      ->check(CLI::Range(1, most_strikes));
  if (const auto wanted = command.parse(argc, argv)) {
    cli::print_text(stdout, *wanted);
    return cli::exit_converged;
  }
  job.command_line = command.command_line();
  job.shape = cli::check_choice(job.shape, "--body", shape_names());
  if (command.given("--body") && !job.options.mesh.empty()) {
    throw cli::UsageError("--body: expected no mesh file with it, found " + job.options.mesh);
  }

  job.params = make_shape(job.shape).params;
  transient::ParamTable table = beam_table(job.params);
  if (!job.options.resume.empty()) {
    take_checkpoint(job, command, table);
    take_kept(command, job, "--body", "body", job.shape);
    take_kept(command, job, "--strikes", "strikes", job.strikes);
  } else {
    if (!job.options.mesh.empty()) job.params = BeamParams{};
    if (!job.options.params.empty()) table.read(job.options.params);
  }
  check_warming(job);
  prepare_run(job, table, {{"mesh", job.options.mesh}, {"parameters", job.options.params}});
  const Context<Space::host> host(job.options.threads);
  job.start.end("launch");
  load_mesh(host, job);
  return cli::at_place(job.place, host, [&](const auto& ctx) { return run_beam(host, ctx, job); });
}

}  // namespace newel::beam
