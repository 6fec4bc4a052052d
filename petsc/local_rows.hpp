// SPDX-License-Identifier: Apache-2.0
/// The rows of a Mat that a process has, as the arrays that Newel reads. Internal.
#pragma once

#include <vector>

#include <petscmat.h>

#include <newel/core/matrix_input.hpp>
#include <newel/distributed/distributed_system.hpp>

namespace newel::petsc {

/// SeqAIJ and MPIAIJ are read as they are; BAIJ, SBAIJ and nested matrices are converted to AIJ first. All processes
/// of the Mat construct it together. Of one process, the arrays are PETSc's own, which stay borrowed until the
/// destructor; of several, copies with the rows' diagonal and off-diagonal parts merged.
class LocalRows {
 public:
  /// Without `pattern` only the values of a rank are copied. Throws InputError for other types of Mat.
  LocalRows(Mat a, bool pattern);
  ~LocalRows();
  LocalRows(const LocalRows&) = delete;
  LocalRows& operator=(const LocalRows&) = delete;

  /// Whether one process has all rows.
  bool whole() const { return off_diagonal_.mat == nullptr; }
  PetscInt rows() const { return diagonal_.rows; }

  /// Of one process: its arrays, each with the type PetscInt.
  const PetscInt* row_ptr() const { return diagonal_.row_ptr; }
  const PetscInt* col() const { return diagonal_.col; }
  /// Of several: rows with columns of the whole matrix.
  RankRows<double> of_rank() const { return {row_ptr_, col_, val_}; }

  /// In the order of the columns above.
  Span<const double, Space::host> values() const;

 private:
  // The arrays of a SeqAIJ.
  struct Borrowed {
    Mat mat = nullptr;
    PetscInt rows = 0;
    const PetscInt *row_ptr = nullptr, *col = nullptr;
    const PetscScalar* val = nullptr;

    void borrow(Mat from);
    void give_back();
  };

  void release() noexcept;
  void merge(PetscInt first_col, const PetscInt* global_col, bool pattern);

  Mat converted_ = nullptr;
  Borrowed diagonal_, off_diagonal_;
  std::vector<Offset> row_ptr_;
  std::vector<std::int64_t> col_;
  std::vector<double> val_;
};

}  // namespace newel::petsc
