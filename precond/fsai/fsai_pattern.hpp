// SPDX-License-Identifier: Apache-2.0
/// What FSAI decides from the pattern: where G has entries, what its local problems read, and which of them are of
/// about the same size. Internal.
#pragma once

#include <vector>

#include <purlin/core/machine.hpp>
#include <purlin/precond/sparsity.hpp>

namespace purlin::detail {

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

/// A pivot is taken for zero where it is not larger than this times its diagonal entry: rounding may have left it.
constexpr double fsai_zero_pivot = 2.220446049250313e-16;

/// Local problems of no more than `largest` unknowns: row_list[begin .. end - 1].
struct FsaiClass {
  Index largest = 0;
  Index begin = 0;
  Index end = 0;
};

/// Rows by the size of their local problem, ascending within a class. The last class has what does not fit into the
/// shared memory of a block.
struct FsaiClasses {
  std::vector<FsaiClass> classes;  ///< as many as `fsai_limits` gives, and one
  Array<Index, Space::host> row_list;
};

/// The largest local problems of the classes in a device's shared memory, ascending.
std::vector<Index> fsai_limits(const Machine& machine);

/// From G's row pointers.
FsaiClasses make_fsai_classes(const Context<Space::host>& ctx, Span<const Offset, Space::host> g_row_ptr,
                              const std::vector<Index>& limits, Offset longest);

/// Doubles that a local problem of m unknowns is solved in: a triangle, and a vector.
constexpr std::int64_t fsai_scratch_length(std::int64_t m) { return m * (m + 1) / 2 + m; }

/// How many local problems of the largest size may be under way where they do not fit into shared memory.
struct FsaiScratch {
  std::int64_t groups = 0;
  std::int64_t length = 0;  ///< doubles of each
};

/// A host works on one row per thread; a device has two blocks per multiprocessor, within a bound of memory.
FsaiScratch fsai_scratch(const Machine& machine, const FsaiClasses& classes, Offset longest);

}  // namespace purlin::detail
