// SPDX-License-Identifier: Apache-2.0
// Batches on the host, and what both spaces need to make one.
#include "batch_system.hpp"

#include <algorithm>

#include <newel/config.hpp>
#include <newel/core/table.hpp>
#include <newel/precond/block_jacobi/block_jacobi_options.hpp>
#include <newel/solver/gmres.hpp>

namespace newel::c {
namespace {

constexpr Space host = Space::host;

std::int64_t index_at(const void* data, std::int64_t i, int bits) {
  return bits == 32 ? static_cast<const std::int32_t*>(data)[i] : static_cast<const std::int64_t*>(data)[i];
}

template <class T>
class HostBatchSystem final : public BatchSystem {
 public:
  HostBatchSystem(const Settings& settings, const BatchPattern& pattern)
      : BatchSystem(settings),
        ctx_(settings.threads),
        system_(ctx_, Pattern<host>(pattern.view()), batched_options(settings)) {}

  Index rows() const override { return system_.rows(); }
  std::vector<BatchedResult> solve_batch(const Settings& settings, Index systems, const void* values, const void* b,
                                         void* x) override {
    const std::int64_t size = std::int64_t{systems} * rows(), entries = systems * system_.nonzeros();
    if (entries > 0) require(values, "the array of values");
    if (size > 0) require(b, "b"), require(x, "x");
    const StopCriterion& stop = settings.options.stop;
    system_.set_limits(stop.rel_tol, stop.abs_tol, stop.max_iterations);
    return system_
        .solve(systems, {static_cast<const T*>(values), entries}, {static_cast<const T*>(b), size},
               {static_cast<T*>(x), size}, settings.guess)
        .systems;
  }

 private:
  Context<host> ctx_;
  BatchedSystem<T, host> system_;
};

}  // namespace

BatchPattern::BatchPattern(const Settings& settings, std::int64_t n, int index_bits, const void* row_ptr_,
                           const void* col_) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (n < 0 || n > most) throw InputError("the sizes of the matrix are out of range");
  indices<host>(nullptr, 0, index_bits);  // which judges the bits
  require(row_ptr_, "row_ptr");
  rows = static_cast<Index>(n);
  for (std::int64_t i = 0; i <= n; ++i) row_ptr.push_back(index_at(row_ptr_, i, index_bits) - settings.index_base);
  const std::int64_t entries = std::max<std::int64_t>(0, row_ptr.back());
  if (entries > 0) require(col_, "col");
  for (std::int64_t e = 0; e < entries; ++e) {
    const std::int64_t column = index_at(col_, e, index_bits) - settings.index_base;
    col.push_back(static_cast<Index>(std::clamp<std::int64_t>(column, -1, n)));  // others are refused as these are
  }
}

BatchedOptions batched_options(const Settings& settings) {
  const SystemOptions& of = settings.options;
  refuse_complex(settings, "a batch of systems");
  if (of.mixed) throw InputError("precision: a batch of systems has double or single, not mixed");
  if (of.null_space != NullSpace::none) throw InputError("null_space: not possible for a batch of systems");
  if (guess_rule(of.solver.of<GuessOptions>().guess).keeps())
    throw InputError("guess: a batch of systems begins with x or zero");
  if (recycle_rule(of.solver.of<RecycleOptions>().recycle).keeps())
    throw InputError("recycle: a batch of systems keeps no vectors");
  if (settings.half) throw InputError("stored_half: not possible for a batch of systems");
  if (settings.devices.size() > 1) throw InputError("devices: a batch of systems is solved on one device");
  if (canonical_name(of.spmv.format) != "auto") throw InputError("format: a batch of systems has none to choose");
  BatchedOptions options;
  options.solver = of.solver.name;
  if (canonical_name(of.precond.name) != "auto") options.precond = of.precond.name;
  options.block_rows = of.precond.of<BlockJacobiOptions>().rows;
  const int restart = of.solver.of<GmresOptions>().restart;
  if (restart > 0) options.restart = restart;
  return options;
}

std::unique_ptr<System> make_batch_system(const Settings& settings, const BatchPattern& pattern) {
#if NEWEL_HAS_CUDA
  if (settings.device) return make_device_batch_system(settings, pattern);
#endif
  if (settings.single) return std::make_unique<HostBatchSystem<float>>(settings, pattern);
  return std::make_unique<HostBatchSystem<double>>(settings, pattern);
}

}  // namespace newel::c
