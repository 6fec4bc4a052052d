// SPDX-License-Identifier: Apache-2.0
/// What `newel info` says of a matrix beyond its traits: row lengths, dominance, bandwidth, row sums, sizes
/// of entries.
#pragma once

#include <string>
#include <vector>

#include <newel/core/matrix_traits.hpp>

namespace newel::cli {

/// Rows whose length lies in [from, to].
struct LengthBin {
  Offset from = 0;
  Offset to = 0;
  Index rows = 0;
};

struct RowLengths {
  Offset shortest = 0;
  Offset longest = 0;
  double mean = 0;
  Offset median = 0;  ///< half of the rows are no longer than this
  std::vector<LengthBin> histogram;
};

/// How far entries lie from the diagonal.
struct Bandwidth {
  Index lower = 0;  ///< max (i - j) over entries below the diagonal
  Index upper = 0;  ///< max (j - i) over entries above it
};

/// Bins of the histogram: one for each length where there are few; of equal width; in powers of two where the
/// longest row is much longer than the median.
RowLengths row_lengths(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

Bandwidth bandwidth(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// How many rows of a square matrix have |a_ii| >= sum over j != i of |a_ij|.
Index dominant_rows(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// |sum_j a_ij| <= 1e-12 sum_j |a_ij| in every row, and some entry is not 0: A maps constant vectors to zero. A
/// thread reads no further than its first row that does not.
bool rows_sum_to_zero(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// Rows that hold no value other than 0, and rows that hold NaN or infinity.
RowCount zero_rows(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);
RowCount not_finite_rows(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// Columns that hold no value other than 0.
RowCount zero_columns(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// "row 4 holds no value other than 0, so the matrix is singular", or the same of a column, of a zero matrix, of NaN;
/// empty where all are sound. Rows and columns are counted from 1.
std::string defect_of(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

/// Of the entries that are not 0; both 0 where there are none.
struct Magnitudes {
  double smallest = 0;  ///< min |a_ij|
  double largest = 0;   ///< max |a_ij|
};

Magnitudes magnitudes(const Context<Space::host>& ctx, const Csr<double, Space::host>& a);

}  // namespace newel::cli
