// SPDX-License-Identifier: Apache-2.0
/// Facts about a matrix that decide which solver, format and preconditioner may be used: symmetry, the diagonal, and
/// blocks of the nodes.
#pragma once

#include <newel/core/csr.hpp>

namespace newel {

/// How many rows have a property, and the first of them (0-based; -1 where there is none).
struct RowCount {
  Index count = 0;   ///< rows that have it
  Index first = -1;  ///< the first of them
};

/// Rows are 0-based. Symmetry and diagonal are formed for square matrices only.
struct MatrixTraits {
  bool square = false;             ///< as many rows as columns
  bool pattern_symmetric = false;  ///< a_ij is stored where a_ji is
  double max_abs = 0;              ///< max |a_ij|
  double max_asymmetry = 0;        ///< max |a_ij - a_ji|, entries that are not stored being 0
  /// max |a_ij - a_ji| / sqrt(m_i m_j), where m_i is the largest |a_ik| of row i; at most 2. It is the same for D A
  /// D, D a diagonal matrix, as long as the largest entries stand on the diagonal.
  double relative_asymmetry = 0;
  RowCount empty_rows;         ///< without any stored entry
  RowCount missing_diagonal;   ///< rows without a stored diagonal entry
  RowCount zero_diagonal;      ///< stored, and 0
  RowCount negative_diagonal;  ///< stored, and below 0
  /// Rows whose entries add up to at most 1e-4 of the one on the diagonal, as those of discrete diffusion and
  /// elasticity do away from their fixed boundaries where no term without derivatives, a time step's mass say, damps
  /// what is constant.
  Index undamped_rows = 0;

  /// Where a row counts among `undamped_rows`.
  static constexpr double undamped = 1e-4;
  /// Differences up to this share of what stands in rows i and j are rounding: many symmetric matrices are stored as
  /// general, with rounding in them.
  static constexpr double rounding = 1e-12;
  /// a_ij and a_ji differ by rounding only, by the scale of rows i and j.
  bool symmetric() const { return square && relative_asymmetry <= rounding; }
  /// No diagonal entry is missing or 0.
  bool full_diagonal() const { return missing_diagonal.count == 0 && zero_diagonal.count == 0; }
  /// All diagonal entries are stored and above 0.
  bool positive_diagonal() const { return full_diagonal() && negative_diagonal.count == 0; }
};

/// Reads the canonical matrix `a` about twice, with one search per entry below the diagonal; on the host once and
/// without a search where it is symmetric to the last bit, which a sum of 64 bits that look random says (wrongly
/// with a chance of 2^-64). On the device waits for the stream.
template <class T>
MatrixTraits matrix_traits(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);
template <class T>
MatrixTraits matrix_traits(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

/// The most unknowns of a node that are looked for.
inline constexpr Index largest_node_block = 12;

/// The dense blocks that a node of finite elements with several unknowns leaves in a pattern: the largest b, up to
/// `largest_block`, such that the pattern consists of full b x b blocks at multiples of b: rows
/// b i .. b i + b - 1 have one pattern, made of aligned runs of b columns. 1 where there is none, and for a pattern
/// without entries. Parallel; O(nnz) at most for each b that divides both sizes, and much less where blocks are
/// absent.
Index node_block_size(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                      Index largest_block = largest_node_block);

}  // namespace newel
