// SPDX-License-Identifier: Apache-2.0
// The solver "newel": a whole solve, with a preconditioner of Newel's.
#include "ksp.hpp"

#include <petsc/private/kspimpl.h>

#include "pc.hpp"
#include "petsc_calls.hpp"
#include "solve.hpp"
#include "view.hpp"

namespace newel::petsc {
namespace {

KspNewel& data_of(KSP ksp) { return *static_cast<KspNewel*>(ksp->data); }

PetscErrorCode set_up(KSP ksp) {
  return guarded(ksp, "KSPSetUp_Newel", [&] { update_system(ksp, data_of(ksp)); });
}

PetscErrorCode solve(KSP ksp) {
  return guarded(ksp, "KSPSolve_Newel", [&] { solve_system(ksp, data_of(ksp)); });
}

PetscErrorCode set_from_options(KSP ksp, PetscOptionItems* items) {
  return guarded(ksp, "KSPSetFromOptions_Newel",
                 [&] { read_options(items, "ksp_newel_", OptionsOf::solver, data_of(ksp).options); });
}

// During a solve x is in Newel's memory, and the Vec still has the guess.
PetscErrorCode build_solution(KSP ksp, Vec given, Vec* solution) {
  return guarded(ksp, "KSPBuildSolution_Newel", [&] {
    if (data_of(ksp).solving) {
      throw InputError("KSP newel has the solution after a solve only; monitor the residual with -ksp_monitor");
    }
    check(KSPBuildSolutionDefault(ksp, given, solution));
  });
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  return guarded(ksp, "KSPView_Newel", [&] {
    view_system(viewer, data_of(ksp).of_mat, true);
    if (data_of(ksp).report) view_report(viewer, *data_of(ksp).report);
  });
}

PetscErrorCode reset(KSP ksp) {
  return guarded(ksp, "KSPReset_Newel", [&] {
    data_of(ksp).of_mat = {};
    data_of(ksp).report.reset();
  });
}

PetscErrorCode destroy(KSP ksp) {
  return guarded(ksp, "KSPDestroy_Newel", [&] {
    PcNewel* const pc = ksp->pc == nullptr ? nullptr : newel_of(ksp->pc);
    if (pc != nullptr) pc->serves_ksp = false;  // for a KSP of another type
    delete static_cast<KspNewel*>(ksp->data);
    ksp->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_ksp(KSP ksp) {
  return guarded(ksp, "KSPCreate_Newel", [&] {
    ksp->data = new KspNewel;
    ksp->setupnewmatrix = PETSC_TRUE;
    ksp->ops->setup = set_up;
    ksp->ops->solve = solve;
    ksp->ops->setfromoptions = set_from_options;
    ksp->ops->buildsolution = build_solution;
    ksp->ops->buildresidual = KSPBuildResidualDefault;
    ksp->ops->view = view;
    ksp->ops->reset = reset;
    ksp->ops->destroy = destroy;
    // Newel stops by |b - A x|, whatever the side. The side is that of its own preconditioner.
    check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
    check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  });
}

}  // namespace newel::petsc
