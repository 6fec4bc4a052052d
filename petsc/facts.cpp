// SPDX-License-Identifier: Apache-2.0
// Block size, near-null vectors and null space of a Mat.
#include "facts.hpp"

#include <cmath>
#include <limits>

#include "petsc_calls.hpp"

namespace newel::petsc {
namespace {

struct SpaceVectors {
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
};

SpaceVectors vectors_of(MatNullSpace space) {
  SpaceVectors v;
  check(MatNullSpaceGetVecs(space, &v.constant, &v.count, &v.vectors));
  return v;
}

// Up to rounding.
bool is_constant(Vec v) {
  PetscReal least = 0, most = 0;
  check(VecMin(v, nullptr, &least));
  check(VecMax(v, nullptr, &most));
  return most - least <= 100 * std::numeric_limits<double>::epsilon() * std::fmax(std::fabs(least), std::fabs(most));
}

// Constants alone are what AMG takes by itself.
std::shared_ptr<const NearNullVectors> near_null_of(MatNullSpace space) {
  if (space == nullptr) return nullptr;
  const SpaceVectors v = vectors_of(space);
  if (v.count == 0) return nullptr;
  PetscInt rows = 0;
  check(VecGetLocalSize(v.vectors[0], &rows));
  auto result = std::make_shared<NearNullVectors>();
  const int constants = v.constant == PETSC_TRUE ? 1 : 0;
  result->count = constants + static_cast<int>(v.count);
  const auto width = static_cast<std::size_t>(result->count);
  result->values.assign(static_cast<std::size_t>(rows) * width, 1.0);
  for (PetscInt c = 0; c < v.count; ++c) {
    const PetscScalar* values = nullptr;
    check(VecGetArrayRead(v.vectors[c], &values));
    for (PetscInt i = 0; i < rows; ++i) {
      result->values[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(c + constants)] = values[i];
    }
    check(VecRestoreArrayRead(v.vectors[c], &values));
  }
  return result;
}

PetscObjectId id_of(MatNullSpace space) {
  PetscObjectId id = 0;
  if (space != nullptr) check(PetscObjectGetId(reinterpret_cast<PetscObject>(space), &id));
  return id;
}

}  // namespace

Facts facts_of(Mat a) {
  Facts facts;
  PetscInt block = 1;
  check(MatGetBlockSize(a, &block));
  if (block > 1) facts.node_rows = static_cast<int>(block);
  MatNullSpace near = nullptr, null = nullptr;
  check(MatGetNearNullSpace(a, &near));
  check(MatGetNullSpace(a, &null));
  facts.near_null = near_null_of(near != nullptr ? near : null);
  if (null == nullptr) return facts;
  const SpaceVectors v = vectors_of(null);
  const bool constant_alone = v.constant == PETSC_TRUE ? v.count == 0 : v.count == 1 && is_constant(v.vectors[0]);
  if (constant_alone) {
    facts.null_space = NullSpace::constant;
  } else if (v.constant == PETSC_TRUE || v.count > 0) {
    facts.other = null;
  }
  return facts;
}

void apply(const Facts& facts, SystemOptions& options) {
  options.null_space = facts.null_space;
  options.spmv.coordinates = facts.coordinates;
  AmgOptions& amg = options.precond.of<AmgOptions>();
  amg.vectors = facts.near_null;
  if (amg.node_rows == 0) amg.node_rows = facts.node_rows;
}

std::array<PetscObjectId, 3> identity_of(Mat a) {
  MatNullSpace near = nullptr, null = nullptr;
  check(MatGetNearNullSpace(a, &near));
  check(MatGetNullSpace(a, &null));
  PetscObjectId id = 0;
  check(PetscObjectGetId(reinterpret_cast<PetscObject>(a), &id));
  return {id, id_of(near), id_of(null)};
}

}  // namespace newel::petsc
