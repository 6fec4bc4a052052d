// SPDX-License-Identifier: Apache-2.0
/// This process' part of a Vec, as a span on the host. Internal.
#pragma once

#include <petscvec.h>

#include "petsc_calls.hpp"
#include "system.hpp"

namespace newel::petsc {

/// Borrows the values of a Vec until the destructor.
class ReadVec {
 public:
  explicit ReadVec(Vec v) : vec_(v) {
    check(VecGetLocalSize(v, &size_));
    check(VecGetArrayRead(v, &values_));
  }
  ~ReadVec() { VecRestoreArrayRead(vec_, &values_); }
  ReadVec(const ReadVec&) = delete;
  ReadVec& operator=(const ReadVec&) = delete;

  ConstHostSpan span() const { return {values_, static_cast<std::int64_t>(size_)}; }

 private:
  Vec vec_;
  PetscInt size_ = 0;
  const PetscScalar* values_ = nullptr;
};

/// The same for values that are read and written.
class WrittenVec {
 public:
  explicit WrittenVec(Vec v) : vec_(v) {
    check(VecGetLocalSize(v, &size_));
    check(VecGetArray(v, &values_));
  }
  ~WrittenVec() { VecRestoreArray(vec_, &values_); }
  WrittenVec(const WrittenVec&) = delete;
  WrittenVec& operator=(const WrittenVec&) = delete;

  HostSpan span() const { return {values_, static_cast<std::int64_t>(size_)}; }

 private:
  Vec vec_;
  PetscInt size_ = 0;
  PetscScalar* values_ = nullptr;
};

}  // namespace newel::petsc
