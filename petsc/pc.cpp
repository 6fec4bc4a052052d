// SPDX-License-Identifier: Apache-2.0
// The preconditioner "newel": one application of a preconditioner M of Newel, within any KSP of PETSc.
#include "pc.hpp"

#include <petsc/private/pcimpl.h>

#include "petsc_calls.hpp"
#include "vectors.hpp"
#include "view.hpp"

namespace newel::petsc {
namespace {

PcNewel& data_of(PC pc) { return *static_cast<PcNewel*>(pc->data); }

void update(PC pc) {
  PcNewel& p = data_of(pc);
  const c::Settings& settings = p.options.settings;
  p.of_mat.update(pc->pmat, {settings, settings.options.precond, p.coordinates, p.key()});
}

PetscErrorCode set_up(PC pc) {
  return guarded(pc, "PCSetUp_Newel", [&] {
    if (!data_of(pc).serves_ksp) update(pc);
  });
}

PetscErrorCode apply(PC pc, Vec r, Vec z) {
  return guarded(pc, "PCApply_Newel", [&] {
    PcNewel& p = data_of(pc);
    if (!p.of_mat.made()) update(pc);  // it served a KSP of type newel before
    const ReadVec in(r);
    const WrittenVec out(z);
    p.of_mat.keeping([&](System& system) { system.precondition(in.span(), out.span()); });
  });
}

PetscErrorCode set_from_options(PC pc, PetscOptionItems* items) {
  return guarded(pc, "PCSetFromOptions_Newel",
                 [&] { read_options(items, "pc_newel_", OptionsOf::preconditioner, data_of(pc).options); });
}

// Points of dim coordinates each, for the nodes of this process.
PetscErrorCode set_coordinates(PC pc, PetscInt dim, PetscInt count, PetscReal* xyz) {
  return guarded(pc, "PCSetCoordinates_Newel", [&] {
    auto nodes = std::make_shared<NodeCoordinates>();
    nodes->dimension = static_cast<int>(dim);
    nodes->xyz.assign(xyz, xyz + dim * count);
    data_of(pc).coordinates = std::move(nodes);
    ++data_of(pc).coordinates_set;
  });
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  return guarded(pc, "PCView_Newel", [&] {
    if (!data_of(pc).serves_ksp) view_system(viewer, data_of(pc).of_mat, false);
  });
}

PetscErrorCode reset(PC pc) {
  return guarded(pc, "PCReset_Newel", [&] { data_of(pc).of_mat = {}; });
}

PetscErrorCode destroy(PC pc) {
  return guarded(pc, "PCDestroy_Newel", [&] {
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", nullptr));
    delete static_cast<PcNewel*>(pc->data);
    pc->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_pc(PC pc) {
  return guarded(pc, "PCCreate_Newel", [&] {
    pc->data = new PcNewel;
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->setfromoptions = set_from_options;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", set_coordinates));
  });
}

PcNewel* newel_of(PC pc) {
  PetscBool same = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), "newel", &same));
  return same == PETSC_TRUE ? static_cast<PcNewel*>(pc->data) : nullptr;
}

}  // namespace newel::petsc
