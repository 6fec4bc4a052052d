// SPDX-License-Identifier: Apache-2.0
// What programs that step through time do alike.
#include "run_job.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/program.hpp"
#include "apps/common/text.hpp"
#include "apps/common/unused_options.hpp"
#include "resume.hpp"

namespace newel::transient {
namespace {

constexpr const char* params_name = "params.json";
constexpr const char* report_name = "report.json";
const std::string params_of = "// Parameters of ";  // first line of params.json, the program behind it

// A format that exists on one side only, or has variants there only, is left to its family on the other.
void bring_format_over(RunJob& job) {
  if (!job.resume || job.resume->header.value("space", "") == name_of(job.place.space)) return;
  std::string& format = job.options.system.spmv.format;
  format = format.substr(0, format.find(':'));
}

// The other program that has left its parameters or its report in the folder; "" where there is none.
std::string other_program_in(const std::string& folder, const std::string& program) {
  std::ifstream params(in_folder(folder, params_name));
  std::string line;
  if (std::getline(params, line) && line.rfind(params_of, 0) == 0) {
    const std::string name = line.substr(params_of.size());
    if (name != program) return name;
  }
  std::ifstream file(in_folder(folder, report_name));
  const cli::Json report = cli::Json::parse(file, nullptr, false);
  if (!report.is_object() || !report.contains("ending")) return "";  // no run's
  const cli::Json name = report.value("program", cli::Json());
  return name.is_string() && name != program ? name.get<std::string>() : "";
}

void require_own_folder(const RunJob& job) {
  if (job.continues_in_place()) return;
  const std::string& folder = job.options.out;
  std::string other = other_program_in(folder, job.program);
  if (other.empty()) other = CheckpointFolder(folder, job.program).other_program();
  if (other.empty()) return;
  throw InputError("--out " + folder + ": the folder holds a run of " + other + "; use another folder for " +
                   job.program);
}

// Once. A folder is read after that, and nobody else writes into it.
void lock_folder(RunJob& job) {
  if (job.folder_lock != nullptr) return;
  job.folder_lock = std::make_shared<FolderLock>(job.options.out, job.program);
  const std::string& remark = job.folder_lock->remark();
  if (!remark.empty() && !job.options.quiet) cli::print_error(remark, job.program.c_str());
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

}  // namespace

bool RunJob::continues_in_place() const { return resume && is_same_folder(options.resume, options.out); }

void take_checkpoint(RunJob& job, const RunCommand& command, ParamTable& table) {
  if (is_same_folder(job.options.resume, job.options.out)) lock_folder(job);
  std::string remark;
  job.resume = CheckpointFolder(job.options.resume, job.program).latest(remark);
  if (!remark.empty()) cli::print_error(remark, job.program.c_str());
  const Checkpoint& kept = *job.resume;
  take_kept_options(kept, command, job.options);
  if (!job.options.quiet) {
    job.options.warnings = cli::unused_option_warnings(
        job.options.given, cli::requested_sequence(job.options.system, job.options.device));
  }
  if (command.given("--params")) {
    table.read(job.options.params);
  } else {
    table.read_text(kept.file, kept.header.value("params", cli::Json::object()).dump());
  }
  if (table.fingerprint() != kept.header.value("params_fingerprint", "")) {
    throw InputError(kept.file + ": the run was made with other parameters");
  }
}

void prepare_run(RunJob& job, const ParamTable& table, const std::vector<cli::NamedFile>& inputs) {
  const RunOptions& options = job.options;
  cli::print_warnings(options.warnings, job.program.c_str());
  job.params_json = table.values();
  job.params_fingerprint = table.fingerprint();
  job.place = cli::choose_place(options.device);
  bring_format_over(job);
  cli::check_available(options.system.spmv.format, options.system.precond.name, job.place.space, false);
  require_own_folder(job);
  prepare_folder(options.out);
  lock_folder(job);
  require_own_folder(job);  // again, now that it stays as it is
  cli::check_outputs({{"--report", options.report}}, inputs);
  job.params_text = params_of + job.program + '\n' + table.text();
}

void begin_folder(RunJob& job) {
  cli::write_text_file("--out", in_folder(job.options.out, params_name), job.params_text);
  remove_abandoned_parts(job.options.out);
  if (job.continues_in_place()) return;
  job.checkpoints_removed = CheckpointFolder(job.options.out, job.program).remove_all();
  if (job.checkpoints_removed == 0) return;
  print_lines(job, cli::labelled("removed", cli::count_of(job.checkpoints_removed, "checkpoint", "checkpoints") +
                                                " of an earlier run in " + job.options.out));
}

void require_same_mesh(const RunJob& job, const MeshInput& mesh) {
  if (!job.resume) return;
  if (job.resume->header.value("mesh_fingerprint", "") == mesh_fingerprint(mesh.mesh.nodes, mesh.mesh.tets)) return;
  throw InputError(job.resume->file + ": the run was made on another mesh than " + mesh.source + " is now");
}

Checkpoint begin_checkpoint(const RunJob& job, const MeshInput& mesh, const SystemInfo& system, Space space,
                            int threads, double time) {
  Checkpoint checkpoint;
  checkpoint.header["version"] = NEWEL_VERSION;
  checkpoint.header["time"] = time;
  checkpoint.header["space"] = name_of(space);
  checkpoint.header["options"] = kept_options(job.options, system, threads);
  checkpoint.header["params"] = job.params_json;
  checkpoint.header["params_fingerprint"] = job.params_fingerprint;
  checkpoint.header["mesh_fingerprint"] = mesh_fingerprint(mesh.mesh.nodes, mesh.mesh.tets);
  return checkpoint;
}

RunReport begin_report(const RunJob& job, const MeshInput& mesh, bool finished, const std::string& failure) {
  RunReport report;
  report.program = job.program;
  report.command_line = job.command_line;
  report.place = job.place;
  report.ending = finished ? "finished" : failure.empty() ? "interrupted" : "failed";
  report.reason = failure;
  report.mesh = mesh.json;
  report.params = job.params_json;
  report.options = &job.options;
  report.beginning.resumed_from = job.resume ? job.resume->file : "";
  report.beginning.checkpoints_removed = job.checkpoints_removed;
  report.peak.process = peak_process_bytes();
  report.beginning.phases = job.start.phases();
  return report;
}

std::string method_text(const RunJob& job, const SystemInfo& system, int threads, const std::string& device_name) {
  const std::string reason = system.format.reason.empty() ? "" : ": " + system.format.reason;
  return cli::labelled("place", job.place.space == Space::host ? cli::count_of(threads, "thread", "threads")
                                                               : job.place.name() + " " + device_name) +
         cli::labelled("system", system.solver + " with " + system.preconditioner.name + ", matrix as " +
                                     system.matrix.name + reason);
}

int end_run(RunJob& job, const RunReport& report, const std::string& more, const std::string& files) {
  const std::string file = job.options.report.empty() ? in_folder(job.options.out, report_name) : job.options.report;
  cli::write_text_file("--report", file, cli::format_json(run_json(report)));
  job.folder_lock.reset();  // while signals are still caught: one that ends the process would leave its file
  print_lines(job, run_text(report) + more + cli::labelled("written", files + ", " + file));
  if (report.ending == "interrupted") {
    print_lines(job, cli::labelled("to continue", job.program + " --resume " + cli::shell_quoted(job.options.out)));
  }
  if (report.ending == "failed") cli::print_error(report.reason, job.program.c_str());
  return report.ending == "finished" ? cli::exit_converged : cli::exit_not_converged;
}

void print_lines(const RunJob& job, const std::string& lines) {
  if (!job.options.quiet) cli::print_text(stdout, lines);
}

std::string in_folder(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace newel::transient
