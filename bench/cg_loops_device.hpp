// SPDX-License-Identifier: Apache-2.0
/// Two ways to repeat the kernels of CG with Jacobi on a device: pieces of 16 that the host launches and polls,
/// as IterationGraph does, and a conditional while node. Internal to the measures.
#pragma once

#include <memory>

#include <newel/spmv/operator.hpp>
#include "solver/krylov/steps/cg_steps.hpp"

#include "captured_graph_device.hpp"
#include "while_graph_device.hpp"

namespace newel::bench {

class CgLoops {
 public:
  static constexpr int piece = 16;

  /// For A x = b with the diagonal matrix D, which must outlive it. Runs an iteration, and captures both ways.
  CgLoops(const Context<Space::device>& ctx, const LinearOperator<double, Space::device>& A,
          const LinearOperator<double, Space::device>& D, Span<const double, Space::device> b);

  /// From x = 0, `iterations` of them at tolerance 0; returns |r| as the recurrence has it. Both begin with the same
  /// steps, and end when the host has read the residual.
  double run_pieces(int iterations);
  double run_while(int iterations);

 private:
  void start(int iterations);
  void iterate();
  const detail::MonitorState& poll();

  Context<Space::device> ctx_;
  const LinearOperator<double, Space::device>& A_;
  const LinearOperator<double, Space::device>& D_;
  Span<const double, Space::device> b_;
  Array<double, Space::device> x_, r_, p_, q_;
  Array<detail::CgState, Space::device> state_;
  Pinned<detail::CgState> seen_;
  CapturedGraph pieces_;
  std::unique_ptr<WhileGraph> while_;
};

}  // namespace newel::bench
