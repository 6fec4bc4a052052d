// SPDX-License-Identifier: Apache-2.0
/// Properties of a matrix that decide which solver, format and preconditioner may be used: symmetry, diagonal, and
/// node blocks.
#pragma once

#include <newel/core/csr.hpp>

namespace newel {

/// Number of rows with some property, and the first of them (0-based; -1 if there is none).
struct RowCount {
  Index count = 0;   ///< number of rows
  Index first = -1;  ///< the first of them
};

/// Rows are 0-based. Symmetry and diagonal are computed for square matrices only.
struct MatrixTraits {
  Index rows = 0;                  ///< number of rows
  bool square = false;             ///< as many rows as columns
  bool pattern_symmetric = false;  ///< a_ij is stored if and only if a_ji is
  double max_abs = 0;              ///< max |a_ij|
  double least_row_max = 0;        ///< the least of the rows' largest |a_ij|, over rows with an entry other than 0;
                                   ///< 0 if there are none
  double max_asymmetry = 0;        ///< max |a_ij - a_ji|; entries that are not stored count as 0
  /// max |a_ij - a_ji| / sqrt(m_i m_j), where m_i is the largest |a_ik| of row i; at most 2. Invariant under
  /// symmetric diagonal scaling, as long as the largest entries are on the diagonal.
  double relative_asymmetry = 0;
  RowCount empty_rows;         ///< without any stored entry
  RowCount missing_diagonal;   ///< rows without a stored diagonal entry
  RowCount zero_diagonal;      ///< stored and 0
  RowCount negative_diagonal;  ///< stored and negative
  /// Rows whose entries sum to at most 1e-4 of the diagonal entry. Typical of discrete diffusion and elasticity away
  /// from fixed boundaries, if no zeroth-order term (such as the mass of a time step) damps constants.
  Index undamped_rows = 0;

  /// Bound for `undamped_rows`.
  static constexpr double undamped = 1e-4;
  /// Relative asymmetry up to this value counts as rounding: many symmetric matrices are stored as general matrices
  /// with rounding errors.
  static constexpr double rounding = 1e-12;
  /// Whether a_ij and a_ji differ only by rounding, relative to the entries of rows i and j.
  bool symmetric() const { return square && relative_asymmetry <= rounding; }
  /// Whether no diagonal entry is missing or 0.
  bool full_diagonal() const { return missing_diagonal.count == 0 && zero_diagonal.count == 0; }
  /// Whether all diagonal entries are stored and positive.
  bool positive_diagonal() const { return full_diagonal() && negative_diagonal.count == 0; }
  /// Whether at least half of the rows are undamped.
  bool mostly_undamped() const { return undamped_rows >= rows - undamped_rows; }
  /// Whether it looks like diffusion, with or without convection: a positive diagonal, and most rows undamped.
  bool elliptic() const { return square && positive_diagonal() && mostly_undamped(); }
};

/// Reads the canonical matrix `a` about twice, with one search per entry below the diagonal. On the host, a bitwise
/// symmetric matrix is read only once and without searches: a 64-bit hash sum detects it, wrongly with probability
/// 2^-64. On the device waits for the stream.
template <class T>
MatrixTraits matrix_traits(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);
template <class T>
MatrixTraits matrix_traits(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

/// Largest number of unknowns per node that is searched for.
inline constexpr Index largest_node_block = 12;

/// The size of dense node blocks in a pattern, as from finite elements with several unknowns per node: the largest b,
/// up to `largest_block`, such that the pattern consists of full b x b blocks at multiples of b. Then rows b i to
/// b i + b - 1 have the same pattern, made of aligned runs of b columns. 1 if there are no such blocks or no entries.
/// Parallel; at most O(nnz) for each b that divides both sizes, and much less if there are no blocks.
Index node_block_size(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                      Index largest_block = largest_node_block);

}  // namespace newel
