// SPDX-License-Identifier: Apache-2.0
/// A BatchedSystem of either space and precision as a System, which refuses what only single systems have. Internal.
#pragma once

#include "system.hpp"

namespace newel::c {

/// The pattern of a batch, in host memory; see newel.h.
struct BatchPattern {
  Index rows = 0;
  std::vector<Offset> row_ptr;
  std::vector<Index> col;

  BatchPattern(const Settings& settings, std::int64_t n, int index_bits, const void* row_ptr, const void* col);

  CsrView<double, Space::host> view() const {
    return {rows, rows, Span<const Offset, Space::host>(row_ptr), Span<const Index, Space::host>(col), {}};
  }
};

/// The options of the settings that batches have. Throws InputError for others.
BatchedOptions batched_options(const Settings& settings);

/// Throws what a BatchedSystem throws.
std::unique_ptr<System> make_batch_system(const Settings& settings, const BatchPattern& pattern);
/// The same on `settings.device`. Defined only with CUDA on.
std::unique_ptr<System> make_device_batch_system(const Settings& settings, const BatchPattern& pattern);

/// What both spaces share.
class BatchSystem : public System {
 public:
  explicit BatchSystem(const Settings& settings) { info_.preconditioner.name = batched_options(settings).precond; }

  void refresh(const void*, RefreshScope) override { refuse("newel_refresh"); }
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override { refuse("newel_move_nodes"); }
  std::vector<SolveReport> solve(const StopCriterion&, InitialGuess, Index, const void*, void*,
                                 const ProgressFn&) override {
    refuse("newel_solve");
  }
  void multiply(const void*, void*) override { refuse("newel_multiply"); }
  SystemInfo info() const override { return info_; }
  SystemDecision decision() const override { refuse("the text \"decision\""); }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw InputError(std::string(what) + " is for single systems, and this is a batch: call newel_solve_batch");
  }

  SystemInfo info_;
};

}  // namespace newel::c
