// SPDX-License-Identifier: Apache-2.0
/// IterationGraph: how a solver runs its iterations. On the host it calls them; on the device it replays them as CUDA
/// graphs. Internal.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <newel/spmv/operator.hpp>

struct CUgraphExec_st;

namespace newel::detail {

template <Space S>
class IterationGraph;

template <>
class IterationGraph<Space::host> {
 public:
  template <class T>
  void bind(const Context<Space::host>&, const LinearOperator<T, Space::host>&, const LinearOperator<T, Space::host>*,
            Span<T, Space::host>) {}
  void drop() {}

  template <class Iteration>
  void repeat(int count, const Iteration& iteration) {
    for (int k = 0; k < count; ++k) iteration();
  }
  template <class Iteration>
  void range(int first, int count, const Iteration& iteration) {
    for (int j = first; j < first + count; ++j) iteration(j);
  }
};

/// A member of the solver, so that its graphs outlast a solve. Iterations are cut into pieces of 16, 4 and 1: the
/// host looks every 16 or every 4 of them, or after as many as the solve before took, and none of that needs a new
/// capture. A piece is queued kernel by kernel when it first comes by, captured the second time and replayed from
/// then on: what comes once is not worth a capture, and kernels are loaded by then, which a capture does not allow.
/// Iterations whose M `takes_long` are pieces of 1: a solve has few of them, with many kernels each.
///
/// A graph contains addresses. The arguments of `bind` decide whether they are still valid; values that a refresh
/// writes there are seen. What else an iteration refers to is the solver's own and must stay where it is; scalars are
/// baked in.
///
/// Nothing is captured where an operator is not `capturable`, or where the context's stream is a default stream or
/// waits for one: other threads may use that meanwhile, and a capture would make their calls fail. Where the caller
/// is capturing the stream, the iterations become part of that capture. A capture that fails is not tried again.
template <>
class IterationGraph<Space::device> {
 public:
  /// Before the iterations of a solve: with what they work. Drops the graphs where that has changed.
  template <class T>
  void bind(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
            const LinearOperator<T, Space::device>* M, Span<T, Space::device> x) {
    const bool preconditioned = M != nullptr;
    bind(ctx, A.capturable() && (!preconditioned || M->capturable()),
         {A.serial(), preconditioned ? M->serial() : 0, number(preconditioned ? M->traits().diagonal.data : nullptr),
          number(x.data)});
    longest_piece_ = preconditioned && M->traits().takes_long ? 1 : 16;
  }

  /// Drops the graphs: numbers that are part of them have changed.
  void drop() { pieces_.clear(); }

  /// Queues `iteration` `count` times, always the same.
  void repeat(int count, const std::function<void()>& iteration);
  /// Queues iterations first .. first + count - 1, of which each has work of its own.
  void range(int first, int count, const std::function<void(int)>& iteration);

 private:
  using Key = std::array<std::uint64_t, 4>;
  struct Release {
    void operator()(CUgraphExec_st* graph) const noexcept;
  };
  struct Piece {
    int first, count;
    std::unique_ptr<CUgraphExec_st, Release> graph;
  };

  static std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
  void bind(const Context<Space::device>& ctx, bool capturable, const Key& key);
  bool may_replay();
  void run(int first, int count, const std::function<void(int)>& iteration);
  CUgraphExec_st* ready_graph(int first, int count, const std::function<void(int)>& iteration);
  CUgraphExec_st* capture(int first, int count, const std::function<void(int)>& iteration) const;

  std::optional<Context<Space::device>> ctx_;  ///< keeps the scratch that the graphs refer to
  Key key_{};
  bool capturable_ = false;
  int longest_piece_ = 16;
  bool stream_known_ = false;  ///< it has been asked whether a capture on it disturbs others
  std::vector<Piece> pieces_;  ///< those that came by; with a graph from the second time on
};

}  // namespace newel::detail
