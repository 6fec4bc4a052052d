// SPDX-License-Identifier: Apache-2.0
// What -ksp_view and -pc_view print of a system.
#include "view.hpp"

#include <cstdio>
#include <string>

#include "petsc_calls.hpp"

namespace newel::petsc {
namespace {

bool is_ascii(PetscViewer viewer) {
  PetscBool ascii = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  return ascii == PETSC_TRUE;
}

void line(PetscViewer viewer, const std::string& text) {
  check(PetscViewerASCIIPrintf(viewer, "  %s\n", text.c_str()));
}

std::string with_reason(const std::string& name, const std::string& reason) {
  return reason.empty() ? name : name + " (" + reason + ')';
}

}  // namespace

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

void view_system(PetscViewer viewer, const SystemOfMat& of_mat, bool with_solver) {
  if (!is_ascii(viewer)) return;
  if (!of_mat.made()) return line(viewer, "newel: not set up yet");
  const SystemInfo info = of_mat.system().info();
  if (with_solver) line(viewer, "newel solver: " + with_reason(info.solver, info.solver_reason));
  line(viewer, "newel preconditioner: " + with_reason(info.preconditioner.name, info.preconditioner_reason.text()));
  line(viewer, "newel format: " + with_reason(info.matrix.name, info.format.reason));
  line(viewer, "newel setups: " + std::to_string(of_mat.setups()) +
                   ", with new values: " + std::to_string(of_mat.refreshes()));
}

void view_report(PetscViewer viewer, const SolveReport& report) {
  if (!is_ascii(viewer)) return;
  line(viewer, "newel solve: " + std::string(name_of(report.status)) + " by " + report.solver + " after " +
                   std::to_string(report.iterations) +
                   " iterations, |b - A x| = " + three_digits(report.true_residual) +
                   ", |b| = " + three_digits(report.rhs_norm) + ", " + three_digits(report.seconds) + " s");
  for (const std::string* more : {&report.reason, &report.warning, &report.changed}) {
    if (!more->empty()) line(viewer, "newel: " + *more);
  }
}

void view_guess(PetscViewer viewer, const std::string& rule, int vectors, const GuessReport& report) {
  if (!is_ascii(viewer)) return;
  std::string text = "newel guess: " + rule + ", past solutions: " + std::to_string(vectors);
  if (!report.from.empty()) {
    text += "; the last one was " + report.from + ", |b - A x0| = " + three_digits(report.residual) + " instead of " +
            three_digits(report.given_residual);
  }
  line(viewer, text);
}

}  // namespace newel::petsc
