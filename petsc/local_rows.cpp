// SPDX-License-Identifier: Apache-2.0
// The rows of a Mat that a process has.
#include "local_rows.hpp"

#include <string>

#include "petsc_calls.hpp"

namespace newel::petsc {
namespace {

bool is_of(Mat a, const char* type) {
  PetscBool same = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), type, &same));
  return same == PETSC_TRUE;
}

// Types that PETSc converts to AIJ on any number of processes.
bool is_convertible(Mat a) {
  for (const char* type : {MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, MATNEST}) {
    if (is_of(a, type)) return true;
  }
  return false;
}

[[noreturn]] void refuse_type(Mat a) {
  MatType type = nullptr;
  check(MatGetType(a, &type));
  throw InputError("newel needs the entries of the matrix, in a Mat of type aij, baij, sbaij or nest, not " +
                   std::string(type));
}

}  // namespace

void LocalRows::Borrowed::borrow(Mat from) {
  PetscBool done = PETSC_FALSE;
  check(MatGetRowIJ(from, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  if (done != PETSC_TRUE) throw Error("MatGetRowIJ gave no rows");
  mat = from;
  check(MatSeqAIJGetArrayRead(from, &val));
}

void LocalRows::Borrowed::give_back() {
  if (mat == nullptr) return;
  PetscBool done = PETSC_FALSE;
  PetscInt n = rows;
  if (val != nullptr) MatSeqAIJRestoreArrayRead(mat, &val);
  MatRestoreRowIJ(mat, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_ptr, &col, &done);
}

LocalRows::LocalRows(Mat a, bool pattern) {
  try {
    if (is_convertible(a)) {
      check(MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, &converted_));
      a = converted_;
    }
    PetscMPIInt processes = 1;
    check(MPI_Comm_size(comm_of(a), &processes));
    Mat diagonal = a, off_diagonal = nullptr;
    const PetscInt* global_col = nullptr;
    if (is_of(a, MATMPIAIJ)) {
      check(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, &global_col));
    } else if (!is_of(a, MATSEQAIJ)) {
      refuse_type(a);
    }
    diagonal_.borrow(diagonal);
    if (processes == 1) return;
    off_diagonal_.borrow(off_diagonal);
    PetscInt first_col = 0;
    check(MatGetOwnershipRangeColumn(a, &first_col, nullptr));
    merge(first_col, global_col, pattern);
  } catch (...) {
    release();
    throw;
  }
}

LocalRows::~LocalRows() { release(); }

void LocalRows::release() noexcept {
  diagonal_.give_back();
  off_diagonal_.give_back();
  diagonal_ = off_diagonal_ = {};
  MatDestroy(&converted_);
}

// In each row: entries of other processes before this one's columns, this one's, those after them.
void LocalRows::merge(PetscInt first_col, const PetscInt* global_col, bool pattern) {
  const Borrowed &d = diagonal_, &o = off_diagonal_;
  const auto add = [&](std::int64_t col, double val) {
    if (pattern) col_.push_back(col);
    val_.push_back(val);
  };
  const auto entries = static_cast<std::size_t>(d.row_ptr[d.rows]) + static_cast<std::size_t>(o.row_ptr[o.rows]);
  if (pattern) col_.reserve(entries), row_ptr_.assign(1, 0);
  val_.reserve(entries);
  for (PetscInt i = 0; i < d.rows; ++i) {
    PetscInt k = o.row_ptr[i];
    const PetscInt end = o.row_ptr[i + 1];
    for (; k < end && global_col[o.col[k]] < first_col; ++k) add(global_col[o.col[k]], o.val[k]);
    for (PetscInt e = d.row_ptr[i]; e < d.row_ptr[i + 1]; ++e) add(first_col + d.col[e], d.val[e]);
    for (; k < end; ++k) add(global_col[o.col[k]], o.val[k]);
    if (pattern) row_ptr_.push_back(static_cast<Offset>(val_.size()));
  }
}

Span<const double, Space::host> LocalRows::values() const {
  if (!whole()) return val_;
  return {diagonal_.val, static_cast<std::int64_t>(diagonal_.row_ptr[diagonal_.rows])};
}

}  // namespace newel::petsc
