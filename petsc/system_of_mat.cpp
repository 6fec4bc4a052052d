// SPDX-License-Identifier: Apache-2.0
// Which work a Mat needs since the last time.
#include "system_of_mat.hpp"

#include <limits>
#include <algorithm>

#include <petsc/private/petscimpl.h>

#include "petsc_calls.hpp"

namespace newel::petsc {

// The processes count the states of their own objects, and have to agree.
SystemOfMat::Work SystemOfMat::work_for(Mat a, const Seen& now) const {
  Work work = Work::nothing;
  if (system_ == nullptr || now.identity != seen_.identity || now.pattern != seen_.pattern || now.key != seen_.key) {
    work = Work::setup;
  } else if (now.values != seen_.values) {
    work = Work::refresh;
  }
  int mine = static_cast<int>(work), most = 0;
  check(MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm_of(a)));
  return static_cast<Work>(most);
}

void SystemOfMat::set_up(Mat a, const Request& request) {
  const LocalRows rows(a, true);
  Facts facts = facts_of(a);
  facts.coordinates = request.coordinates;
  PetscInt all_rows = 0;
  check(MatGetSize(a, &all_rows, nullptr));
  const auto size = static_cast<Index>(std::min<std::int64_t>(all_rows, std::numeric_limits<Index>::max()));
  SystemOptions options = request.settings.options_for(size, std::max(1, facts.node_rows));
  options.precond = request.precond;
  apply(facts, options);
  other_ = facts.other;
  system_ = make_system(comm_of(a), request.settings, options, rows);
  ++setups_;
}

void SystemOfMat::update(Mat a, const Request& request) {
  Seen now;
  now.identity = identity_of(a);
  now.key = request.key;
  check(MatGetNonzeroState(a, &now.pattern));
  check(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &now.values));
  const Work work = work_for(a, now);
  if (work == Work::nothing) return;
  if (work == Work::setup) {
    system_.reset();
    set_up(a, request);
  } else {
    const LocalRows rows(a, false);
    keeping([&](System& system) { system.refresh(rows.values()); });
    ++refreshes_;
  }
  PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &now.values);  // which reading may have raised
  seen_ = std::move(now);
}

}  // namespace newel::petsc
