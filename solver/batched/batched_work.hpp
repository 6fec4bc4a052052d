// SPDX-License-Identifier: Apache-2.0
/// BatchedWork: what a batch keeps in S between solves, the pattern and the memory of its teams. Internal.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/csr.hpp>
#include "solver/batched/batched_problem.hpp"
#include "solver/batched/block_layout.hpp"

namespace newel::detail {

/// What the methods of a batch need at most.
struct BatchedNeeds {
  int own_vectors = 0;
  bool has_basis = false;
  bool holds_entries = false;  ///< threads of a device hold the first entries of their rows in registers
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

/// The outcomes of systems, in S, and the host's view of them.
template <Space S>
class BatchedOutcomes;

template <>
class BatchedOutcomes<Space::host> {
 public:
  /// For so many systems; keeps none of those before.
  void reserve(const Context<Space::host>& ctx, Index systems) {
    if (kept_.size() < systems) kept_ = Array<BatchedOutcome, Space::host>(ctx, systems);
  }
  BatchedOutcome* in_space() { return kept_.data(); }
  BatchedOutcome* reported() { return nullptr; }
  Span<const BatchedOutcome, Space::host> read(const Context<Space::host>&, Index systems) const {
    return kept_.cspan().subspan(0, systems);
  }

 private:
  Array<BatchedOutcome, Space::host> kept_;
};

/// Kernels also write the outcomes into page-locked memory, if there is any: a copy after them would take longer.
template <>
class BatchedOutcomes<Space::device> {
 public:
  void reserve(const Context<Space::device>& ctx, Index systems);
  BatchedOutcome* in_space() { return kept_.data(); }
  BatchedOutcome* reported() { return locked_.get(); }
  /// Waits for the stream.
  Span<const BatchedOutcome, Space::host> read(const Context<Space::device>& ctx, Index systems);

 private:
  struct Free {
    void operator()(BatchedOutcome* memory) const;
  };

  Array<BatchedOutcome, Space::device> kept_;
  std::unique_ptr<BatchedOutcome[], Free> locked_;
  std::vector<BatchedOutcome> copied_;  ///< without page-locked memory
};

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
  const BatchedFsaiPattern& fsai() const { return fsai_; }
  /// Of a thread below `members`: a loop takes no more threads than there is memory for.
  char* memory(int member) { return memory_.data() + static_cast<std::int64_t>(member) * bytes_; }
  int members() const { return members_; }

 private:
  Context<Space::host> ctx_;
  Pattern<Space::host> pattern_;
  BatchedFsaiPattern fsai_;  ///< empty unless M is FSAI
  std::int64_t bytes_;       ///< of a thread
  Array<char, Space::host> memory_;
  int members_ = 0;  ///< threads for which it is
  MirrorPositions mirror_;
};

/// The plan of M in a device's memory; empty if M is of blocks.
class BlockPlan {
 public:
  BlockPlan() = default;
  /// For blocks of so many threads. The pattern has fewer than 65,535 entries if M is of incomplete factors.
  BlockPlan(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern, BatchedInverse inverse,
            int threads);

  BlockSchedule view() const;

 private:
  template <class V>
  using Kept = Array<V, Space::device>;

  void keep(const Context<Space::device>& ctx, const IluSchedule& ilu, int threads);
  void keep(const Context<Space::device>& ctx, const BatchedFsaiPattern& fsai);

  BlockSchedule numbers_;  ///< without pointers
  Kept<std::uint16_t> column_;
  Kept<int> step_level_, lower_level_, upper_level_;
  Kept<FactorStep> step_;
  Kept<FactorPair> pair_;
  Kept<SolveRow> lower_, upper_;
  Kept<int> row_first_, local_first_, local_, transposed_first_;
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
  ThreadLayout layout() const;
  BlockSchedule schedule() const { return plan_.view(); }
  /// Memory for the bases of so many blocks.
  T* basis_memory(std::int64_t numbers);

 private:
  Context<Space::device> ctx_;
  ThreadLayout shape_;
  BlockPlan plan_;
  bool fits_ = false;
  Array<int, Space::device> first_, source_;
  Array<std::uint16_t, Space::device> column_;
  Array<Index, Space::device> transposed_, diagonal_;
  Array<T, Space::device> basis_;
};

}  // namespace newel::detail
