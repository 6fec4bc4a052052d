// SPDX-License-Identifier: Apache-2.0
/// What `newel info` knows of a matrix, and the two reports made from it.
#pragma once

#include <optional>
#include <string>

#include "apps/common/json_file.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "apps/newel/input/matrix_facts.hpp"
#include "precond_facts.hpp"
#include "recommendation.hpp"

namespace newel::cli {

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
