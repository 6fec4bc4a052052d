// SPDX-License-Identifier: Apache-2.0
// The options of the demos, declared to CLI11, and the mapping of its errors to ours.
#include "run_options.hpp"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/solver/registry.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/option_error.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/place.hpp"
#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"
#include "apps/common/unused_options.hpp"

namespace newel::transient {
namespace {

using cli::option_error;
using cli::OptionGroup;
using cli::text;
using cli::UsageError;

constexpr int most_refinements = 8;

std::string version_text(const std::string& program) {
  std::string result = program + " " NEWEL_VERSION "\n";
  if (NEWEL_HAS_CUDA == 0) return result + "without CUDA\n";
  return result + "CUDA toolkit " NEWEL_CUDA_TOOLKIT ", compiled for architectures " NEWEL_CUDA_ARCHITECTURES "\n";
}

void require_positive(const char* option, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw UsageError(text("%s: expected a number > 0, found %g", option, value));
}

}  // namespace

RunCommand::RunCommand(const ProgramWords& words, RunOptions& options)
    : words_(words), options_(options), app_(words.summary, words.name) {
  constexpr int help_column = 32;
  app_.get_formatter()->column_width(help_column);
  app_.allow_extras();
  app_.footer(
      words.examples +
      "\nExit status: 0 finished, 1 not finished (a solve failed, or Ctrl-C, after which --resume continues), 2 "
      "bad input\nor usage, or a file that cannot be written, 3 device failure. Another Ctrl-C more than a second "
      "later\nends the run at once.");
  precond_.names = cli::preconditioner_choices();
  add_run_options();
  add_method_options();
  add_machine_options();
}

void RunCommand::add_run_options() {
  RunOptions& o = options_;
  const std::string unit = words_.time_unit;
  app_.add_flag("--version", "Version, CUDA toolkit, architectures");
  OptionGroup(app_).add("mesh", o.mesh, " ",
                        "Medit .mesh, Gmsh .msh or legacy VTK of tetrahedra, .gz too; default: " + words_.mesh_help);
  const OptionGroup group(app_, "The run");
  group.add("--refine", o.refine, "N", "Cut every tetrahedron into eight, N times; default 0")
      ->check(CLI::Range(0, most_refinements));
  group.add("--mesh-unit", o.mesh_unit, "auto|mm|cm|m",
            "Unit of the file's coordinates; auto, the default, guesses and reports it");
  group.add("--duration", o.duration, "T", text("Simulated time in %s, default %g", unit.c_str(), o.duration));
  group.add("--dt", o.dt, "DT", text("Time step in %s, default %g", unit.c_str(), o.dt));
  group.add("--params", o.params, "FILE",
            "Parameters of the model: JSON, // comments allowed. OUT/params.json lists all");
  const OptionGroup output(app_, "Output");
  output.add("--out", o.out, "DIR",
             "Output folder, default the current folder, with --resume the folder of that run");
  output.add("--output-every", o.output_every, "T",
             text("A .vtu every T %s, default %g; 0: the last state only", unit.c_str(), o.output_every));
  output.add("--checkpoint-every", o.checkpoint_every, "T",
             text("A checkpoint every T %s, default %g; 0: on Ctrl-C only", unit.c_str(), o.checkpoint_every));
  output.add("--resume", o.resume, "DIR",
             "Continue from the last checkpoint in this folder (the --out of that run), with the options of\nthat "
             "run unless others are given");
  output.add("--report", o.report, "R.json", "The report of the run as JSON; default: report.json in OUT");
  output.flag("--quiet", o.quiet, "Print only errors");
}

void RunCommand::add_method_options() {
  SystemOptions& s = options_.system;
  const char* heading = "The method";
  const OptionGroup group(app_, heading);
  group.add("--solver", s.solver.name, cli::one_of(cli::solver_choices()), "Krylov method, default " + s.solver.name);
  cli::add_method_options(app_, solver_option_list(), s.solver.methods, solver_options_, heading);
  group.add("--tol", s.stop.rel_tol, "TOL", text("%s, default %g", words_.tolerance.c_str(), s.stop.rel_tol));
  group.add("--format", s.spmv.format, cli::one_of(cli::format_choices()),
            "Format of the matrix, default " + s.spmv.format +
                ". auto uses a cost model for the whole run, measure times all");
  cli::add_precond_options(app_, s.precond, precond_, "Preconditioner, default " + s.precond.name,
                           cli::FileOptions::none);
}

void RunCommand::add_machine_options() {
  RunOptions& o = options_;
  const OptionGroup group(app_, "The machine");
  group.add("--device", o.device, "auto|host|cuda[:N]",
            "Where to compute, default auto: cuda if a device is available, else host");
  group.add("--threads", o.threads, "N", "Host threads, default all")->check(CLI::Range(1, cli::most_threads));
  group.flag("--deterministic", o.system.deterministic,
             "Identical bits in every run, also after --resume: no choice depends on timing");
}

std::optional<std::string> RunCommand::parse(int argc, const char* const* argv) {
  text_ = words_.name;
  for (int i = 1; i < argc; ++i) text_ += ' ' + cli::shell_quoted(argv[i]);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app_.help();
  } catch (const CLI::ParseError& error) {
    throw UsageError(option_error(error, app_));
  }
  if (given("--version")) return version_text(words_.name);
  cli::refuse_extras(app_);
  check();
  return std::nullopt;
}

void RunCommand::check() {
  RunOptions& o = options_;
  SystemOptions& s = o.system;
  require_positive("--duration", o.duration);
  require_positive("--dt", o.dt);
  require_positive("--tol", s.stop.rel_tol);
  cli::require_number("--output-every", o.output_every);
  cli::require_number("--checkpoint-every", o.checkpoint_every);
  o.mesh_unit = cli::check_choice(o.mesh_unit, "--mesh-unit", {"auto", "mm", "cm", "m"});
  s.solver.name = cli::check_solver(s.solver.name);
  cli::take_method_options(solver_options_, s.solver.methods);
  cli::check_precond_options(s.precond, precond_);
  s.spmv.format = cli::check_format(s.spmv.format);
  if (o.out.empty()) throw UsageError("--out: expected a folder");
  if (o.resume.empty() && given("--resume")) throw UsageError("--resume: expected the folder of a run");
  if (!o.resume.empty() && !given("--out")) o.out = o.resume;
  o.given = cli::given_options(app_);
  // The checkpoint of a resumed run contains the rest.
  if (o.resume.empty() && !o.quiet) {
    o.warnings = cli::unused_option_warnings(o.given, cli::requested_sequence(s, o.device));
  }
  if (!s.deterministic) return;
  if (s.spmv.format == "measure") throw UsageError("--deterministic: --format measure depends on timing");
}

cli::Json options_json(const RunOptions& o) {
  cli::Json json;
  json["mesh"] = o.mesh.empty() ? cli::Json() : cli::Json(o.mesh);
  json["refine"] = o.refine;
  json["mesh_unit"] = o.mesh_unit;
  json["duration"] = o.duration;
  json["dt"] = o.dt;
  json["output_every"] = o.output_every;
  json["checkpoint_every"] = o.checkpoint_every;
  json["resume"] = o.resume.empty() ? cli::Json() : cli::Json(o.resume);
  json["out"] = o.out;
  json["params"] = o.params.empty() ? cli::Json() : cli::Json(o.params);
  json["format"] = o.system.spmv.format;
  json["solver"] = o.system.solver.name;
  json["solver_options"] = cli::solver_options_json(o.system.solver);
  json["preconditioner"] = o.system.precond.name;
  json["preconditioner_options"] = cli::precond_options_json(o.system.precond, {});
  json["rel_tol"] = o.system.stop.rel_tol;
  json["device"] = o.device;
  json["deterministic"] = o.system.deterministic;
  return json;
}

void prepare_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("--out " + folder + ": the folder cannot be created: " + error.message());
  std::string probe = (fs::path(folder) / ".newel-XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) throw InputError("--out " + folder + ": nothing can be written there: " + std::strerror(errno));
  close(descriptor);
  unlink(probe.c_str());
}

}  // namespace newel::transient
