// SPDX-License-Identifier: Apache-2.0
/// BatchedWork: what a batch keeps in S between solves, the pattern and the memory of its teams. Internal.
#pragma once

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

/// On a device: rows in slices of 32, each padded to its longest row. Entry j of row 32 s + lane is slot
/// slice[s] + 32 j + lane.
struct BlockLayout {
  int rows = 0, slots = 0, threads = 0;
  const int* slice = nullptr;             ///< slices + 1
  const std::uint16_t* column = nullptr;  ///< of a slot
  const int* source = nullptr;            ///< position of its value, -1: padding, whose column is the row
};

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
    return {rows_, static_cast<int>(source_.size()), threads_, slice_.data(), column_.data(), source_.data()};
  }
  /// Memory for the bases of so many blocks.
  T* basis_memory(std::int64_t numbers);

 private:
  Context<Space::device> ctx_;
  int rows_ = 0, threads_ = 32;
  bool fits_ = false;
  Array<int, Space::device> slice_, source_;
  Array<std::uint16_t, Space::device> column_;
  Array<Index, Space::device> transposed_, diagonal_;
  Array<T, Space::device> basis_;
};

}  // namespace newel::detail
