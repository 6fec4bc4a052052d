// SPDX-License-Identifier: Apache-2.0
/// Between PETSc's error codes and exceptions. Internal.
#pragma once

#include <exception>
#include <new>

#include <petscsys.h>

#include <newel/core/error.hpp>

namespace newel::petsc {

/// A PETSc call has failed, and PETSc knows why.
class PetscFailure : public std::exception {
 public:
  explicit PetscFailure(PetscErrorCode code) : code_(code) {}
  const char* what() const noexcept override { return "a call of PETSc failed"; }
  PetscErrorCode code() const { return code_; }

 private:
  PetscErrorCode code_;
};

/// PETSC_SUCCESS, which is a number before PETSc 3.19 and an enumerator from then on.
inline constexpr auto success = static_cast<PetscErrorCode>(0);

/// For PETSc's functions in our own code: throws PetscFailure unless they succeed.
inline void check(PetscErrorCode code) {
  if (code != success) throw PetscFailure(code);
}

template <class Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(object));
}

/// For functions that PETSc calls: runs `work`, and makes what it throws an error of PETSc with its message.
template <class Object, class Work>
PetscErrorCode guarded(Object object, const char* function, Work&& work) noexcept {
  const auto failed = [&](PetscErrorCode code, PetscErrorType type, const char* words) {
    return PetscError(comm_of(object), __LINE__, function, __FILE__, code, type, "%s", words);
  };
  try {
    work();
    return success;
  } catch (const PetscFailure& failure) {
    return failed(failure.code(), PETSC_ERROR_REPEAT, " ");
  } catch (const InputError& e) {
    return failed(PETSC_ERR_ARG_WRONG, PETSC_ERROR_INITIAL, e.what());
  } catch (const OutOfMemory& e) {
    return failed(PETSC_ERR_MEM, PETSC_ERROR_INITIAL, e.what());
  } catch (const std::bad_alloc&) {
    return failed(PETSC_ERR_MEM, PETSC_ERROR_INITIAL, "out of memory");
  } catch (const std::exception& e) {
    return failed(PETSC_ERR_LIB, PETSC_ERROR_INITIAL, e.what());
  } catch (...) {
    return failed(PETSC_ERR_LIB, PETSC_ERROR_INITIAL, "an exception of an unknown type");
  }
}

}  // namespace newel::petsc
