// SPDX-License-Identifier: Apache-2.0
/// BatchedWork: what a batch keeps in S between solves, the pattern and the memory of its teams. Internal.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/csr.hpp>
#include "solver/batched/batched_problem.hpp"

namespace newel::detail {

/// What the methods of a batch need at most.
struct BatchedNeeds {
  int own_vectors = 0;
  bool has_basis = false;
};

/// For each entry the position of its transposed entry, -1 for none; and for each row that of its diagonal entry.
struct MirrorPositions {
  std::vector<Index> transposed, diagonal;
};
MirrorPositions mirror_positions(const Pattern<Space::host>& a);

/// Whether two values are equal up to rounding.
template <class T>
NEWEL_HD bool same_up_to_rounding(T a, T b, T epsilon) {
  return fabs(a - b) <= 16 * epsilon * (fabs(a) + fabs(b));
}

template <class T, Space S>
class BatchedWork;

/// On the host: the memory of each thread.
template <class T>
class BatchedWork<T, Space::host> {
 public:
  /// The pattern must outlive this object.
  BatchedWork(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern, const BatchedLimits& limits,
              const BatchedNeeds& needs);

  /// Whether the systems are solved together.
  bool fits() const;
  /// Memory for the threads that so many systems occupy.
  void reserve(Index systems);
  /// Marks the systems that are symmetric up to rounding with a positive diagonal, and clears the outcomes.
  void mark_definite(const BatchedProblem<T>& problem, unsigned char* is_definite);

  const Context<Space::host>& context() const { return ctx_; }
  const Pattern<Space::host>& pattern() const { return pattern_; }
  char* memory(int member) { return memory_.data() + static_cast<std::int64_t>(member) * bytes_; }

 private:
  Context<Space::host> ctx_;
  Pattern<Space::host> pattern_;
  std::int64_t bytes_;  ///< of a thread
  Array<char, Space::host> memory_;
  MirrorPositions mirror_;
};

/// On a device: thread t of `threads` has the rows t + k threads, k < rows_of_thread. The rows of a warp are padded
/// to the longest of them: in step j, first[warp] <= j < first[warp + 1], every thread reads an entry of each of its
/// rows. The values of a step lie in chunks of 16 bytes a thread, as many as a thread's rows need (`value_slot`), its
/// columns next to each other.
struct BlockLayout {
  int rows = 0, threads = 0, rows_of_thread = 0, steps = 0;
  const int* first = nullptr;             ///< of the warps + 1
  const std::uint16_t* column = nullptr;  ///< times the bytes of a value; of padding: the row itself
  const int* source = nullptr;            ///< of a slot: position of its value, -1: padding

  NEWEL_HD int padded_rows() const { return threads * rows_of_thread; }
  NEWEL_HD int slots() const { return steps * 32 * rows_of_thread; }
};

/// The slot of row k of a lane in step j, for `chunk` values in 16 bytes.
NEWEL_HD int value_slot(int j, int lane, int k, int rows_of_thread, int chunk) {
  return rows_of_thread < chunk ? (j * 32 + lane) * rows_of_thread + k
                                : ((j * (rows_of_thread / chunk) + k / chunk) * 32 + lane) * chunk + k % chunk;
}

template <class T>
class BatchedWork<T, Space::device> {
 public:
  BatchedWork(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern, const BatchedLimits& limits,
              const BatchedNeeds& needs);

  bool fits() const { return fits_; }
  void reserve(Index) {}
  void mark_definite(const BatchedProblem<T>& problem, unsigned char* is_definite);

  const Context<Space::device>& context() const { return ctx_; }
  BlockLayout layout() const {
    BlockLayout result = shape_;
    result.first = first_.data();
    result.column = column_.data();
    result.source = source_.data();
    return result;
  }
  /// Memory for the bases of so many blocks.
  T* basis_memory(std::int64_t numbers);

 private:
  Context<Space::device> ctx_;
  BlockLayout shape_;
  bool fits_ = false;
  Array<int, Space::device> first_, source_;
  Array<std::uint16_t, Space::device> column_;
  Array<Index, Space::device> transposed_, diagonal_;
  Array<T, Space::device> basis_;
};

}  // namespace newel::detail
