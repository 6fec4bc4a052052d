// SPDX-License-Identifier: Apache-2.0
/// What `newel info` knows of a matrix, and the two reports made from it.
#pragma once

#include <optional>
#include <string>

#include <newel/core/matrix_traits.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/common/precond_files.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "apps/newel/input/matrix_facts.hpp"

namespace newel::cli {

/// A command to begin with.
struct Recommendation {
  std::string command;  ///< empty where no solve can work
  std::string reason;   ///< why this one, or why none
};

/// A command for the matrix `name` with these traits, square or not. It names what differs from the defaults only,
/// and a right-hand side for a trial. `defect`: why no solve can work, as `defect_of` says.
Recommendation recommend(const std::string& name, Index rows, Index cols, const MatrixTraits& traits,
                         bool rows_sum_to_zero, const std::string& defect);

/// A preconditioner that was built to assess it, on the host, in double, with its matrices as csr by default.
struct PrecondFacts {
  PrecondOptions options;
  PrecondFiles files;
  OperatorInfo info;
  double seconds = 0;
  std::optional<InverseResidual> residual;
  std::string refusal;  ///< why the matrix does not support it; empty where it does
};

PrecondFacts precond_facts(const Context<Space::host>& ctx, const CsrView<double, Space::host>& a,
                           const PrecondOptions& options,
                           std::shared_ptr<const NodeCoordinates> coordinates = nullptr);
std::string precond_facts_text(const PrecondFacts& facts);
Json precond_facts_json(const PrecondFacts& facts);

struct Facts {
  InputMatrix matrix;
  MatrixTraits traits;
  RowLengths lengths;
  Bandwidth band;
  Index dominant = 0;             ///< rows of a square matrix with a dominant diagonal
  bool rows_sum_to_zero = false;  ///< of a square matrix
  RowCount zero_columns;          ///< columns that hold no value other than 0
  Magnitudes magnitudes;
  Index block = 1;
  Offset repeated = 0;  ///< entries of the file that repeat others
  Recommendation advice;
  std::optional<PrecondFacts> precond;  ///< where one was to be built

  bool square() const { return matrix.a.rows == matrix.a.cols; }
};

/// The lines that are printed. Rows are counted from 1, as in the file.
std::string facts_text(const Facts& facts);

/// The report (docs/reports.md). Rows are counted from 1; `symmetry`, `diagonal` and `rows_sum_to_zero` are
/// null unless the matrix is square. `bytes_double` and `bytes_single` of `formats` are estimates from the numbers of
/// rows, columns and non-zeros alone: no format is built. `values_taken_as_one`: the file holds a pattern without
/// values.
Json facts_json(const Facts& facts);

}  // namespace newel::cli
