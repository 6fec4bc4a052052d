// SPDX-License-Identifier: Apache-2.0
/// What FSAI decides from the pattern: where G has entries, what its local problems read, and which of them are of
/// about the same size. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/machine.hpp>
#include "core/vectors/host_device.hpp"
#include "precond/sparsity.hpp"

namespace newel::detail {

/// Patterns in the order of the matrix handed in.
struct FsaiPattern {
  SourcedSparsity lower;      ///< A's lower triangle, diagonal last in every row: all that the local problems read
  Sparsity wider;             ///< of G, where that is not `lower`
  bool g_is_lower = true;     ///< power 1, nothing dropped and no pattern given
  SourcedSparsity transpose;  ///< of G

  const Sparsity& g() const { return g_is_lower ? lower.pattern : wider; }
};

/// G takes the lower triangle of A^power; of `thresholded`^power where that is not null. Host, O(what the power
/// takes).
FsaiPattern make_fsai_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                              const Sparsity* thresholded, int power);

/// G takes `given`, a lower triangle with every diagonal entry.
FsaiPattern make_fsai_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Sparsity given);

/// Rows that share a factorisation, at most.
constexpr Index most_of_piece = 12;

/// A pivot is taken for zero where it is not larger than this times its diagonal entry: rounding may have left it.
constexpr double fsai_zero_pivot = 2.220446049250313e-16;

/// Rows last - count + 1 .. last of G, each of which has the columns of the row before and its diagonal: such as the
/// rows of a node. The local problem of `last` begins with those of the others, and so does its Cholesky factor.
struct FsaiPiece {
  Index last = 0;
  Index count = 1;
};

/// Whether row i of G, with `own` entries, may go on with the piece of row i - 1, which has `before`; it does if it
/// begins with the columns of that row. Pieces end at every twelfth row: a dense matrix has enough of them for all
/// threads, and nodes of up to six rows, but five, stay whole. Rows of G end with their diagonal.
NEWEL_HD bool may_go_on(Index i, Offset before, Offset own) { return i % most_of_piece != 0 && own == before + 1; }

/// Whether row i does not go on with the piece of row i - 1.
inline bool begins_piece(Span<const Offset, Space::host> row_ptr, Span<const Index, Space::host> col, Index i) {
  if (i == 0 || !may_go_on(i, row_ptr[i] - row_ptr[i - 1], row_ptr[i + 1] - row_ptr[i])) return true;
  return !std::equal(col.data + row_ptr[i - 1], col.data + row_ptr[i], col.data + row_ptr[i]);
}

/// Local problems of no more than `largest` unknowns: pieces[begin .. end - 1].
struct FsaiClass {
  Index largest = 0;
  Index begin = 0;
  Index end = 0;
};

/// Pieces by the size of their local problem. The last class has what does not fit into the shared memory of a block.
template <Space S>
struct FsaiClasses {
  std::vector<FsaiClass> classes;  ///< as many as `fsai_limits` gives, and one
  Array<FsaiPiece, S> pieces;
};

/// The largest local problems of the classes in a device's shared memory, ascending: at most `most_limits`.
std::vector<Index> fsai_limits(const Machine& machine);
constexpr std::size_t most_limits = 7;

/// Classes from how many pieces each has.
std::vector<FsaiClass> make_fsai_classes(const std::vector<Index>& limits, Offset longest,
                                         const std::vector<Index>& counts);

/// Doubles that a local problem of m unknowns is solved in: a triangle, and a vector; on a host one more.
constexpr std::int64_t fsai_scratch_length(std::int64_t m) { return m * (m + 1) / 2 + m; }

/// How many local problems of the largest size may be under way where they do not fit into shared memory.
struct FsaiScratch {
  std::int64_t groups = 0;
  std::int64_t length = 0;  ///< doubles of each
};

/// A host works on one row per thread; a device has two blocks per multiprocessor, within a bound of memory.
FsaiScratch fsai_scratch(const Machine& machine, const std::vector<FsaiClass>& classes, Offset longest);

}  // namespace newel::detail
