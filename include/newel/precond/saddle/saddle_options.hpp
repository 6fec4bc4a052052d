// SPDX-License-Identifier: Apache-2.0
/// SaddleOptions: the options of the preconditioner for saddle points.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/context.hpp>

namespace newel {

/// How the inverses of the two blocks are put together.
enum class SaddleForm {
  automatic,   ///< `diagonal` if M must be symmetric, as for MINRES; else `triangular`
  diagonal,    ///< one inverse for each block: positive definite if A is symmetric
  triangular,  ///< and the product with the block that couples them, which saves about half of the iterations
};

/// What approximates the Schur complement S of the constraints.
enum class SaddleSchur {
  automatic,  ///< the matrix of the caller if there is one; `product` if it is sparse and the block of the other rows
              ///< is close to its diagonal, as a mass matrix is; else `diagonal`
  diagonal,   ///< the diagonal of `product`
  product,    ///< B diag(A)^-1 B^T - C, inverted by AMG
  commutator,  ///< the least-squares commutator: two inverses of `product` around B diag(A)^-1 A diag(A)^-1 B^T - C
};

/// The preconditioner of the rows that are no constraints.
enum class SaddleBlock {
  automatic,  ///< `amg`; `fsai` if that block is close to its diagonal; `ilut` if it is neither symmetric nor
              ///< elliptic
  amg,        ///< algebraic multigrid
  fsai,       ///< a factorised sparse approximate inverse
  ilu,        ///< incomplete factors by levels of fill
  ilut,       ///< incomplete factors by a drop tolerance
  jacobi,     ///< the inverse of the diagonal
};

/// A square matrix of the caller's on the host, in CSR with 32-bit columns from 0, for example the mass matrix of the
/// pressure. Row i belongs to constraint i, in ascending order of the rows of A. Columns ascend in a row.
struct SchurMatrix {
  Index rows = 0;               ///< as many as constraints
  std::vector<Offset> row_ptr;  ///< rows + 1
  std::vector<Index> col;       ///< row_ptr[rows] columns
  std::vector<double> val;      ///< as many values; the matrix is positive definite
};

/// Options for A = [A11 A12; A21 C], in which C is zero or small: its rows are the constraints.
struct SaddleOptions {
  /// The last rows are the constraints, so many; 0: see `rows`.
  int constraints = 0;
  /// The rows that are constraints, from 0, in the caller's numbering and in any order. Null: rows whose diagonal
  /// entry is missing, zero, negative, or so small that the rows that it is coupled to contradict it.
  std::shared_ptr<const std::vector<Index>> rows = nullptr;
  SaddleForm form = SaddleForm::automatic;     ///< how M is put together
  SaddleSchur schur = SaddleSchur::automatic;  ///< what approximates S
  SaddleBlock block = SaddleBlock::automatic;  ///< what approximates the inverse of A11
  /// Approximates S up to a factor, which is found. Kept in a refresh. Null: see `schur`, which must be automatic if
  /// this is given.
  std::shared_ptr<const SchurMatrix> schur_matrix = nullptr;
};

}  // namespace newel
