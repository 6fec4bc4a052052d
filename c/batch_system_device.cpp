// SPDX-License-Identifier: Apache-2.0
// Batches on a device, from pointers into its memory or that of the host.
#include "batch_system.hpp"
#include "device_arrays.hpp"

namespace newel::c {
namespace {

template <class T>
class DeviceBatchSystem final : public BatchSystem {
 public:
  DeviceBatchSystem(const Settings& settings, const BatchPattern& pattern)
      : BatchSystem(settings), ctx_(context_of(settings)), order_(ctx_), has_own_stream_(settings.stream == nullptr) {
    const Turn turn = begin();
    const Array<Offset, device> row_ptr = make_array(ctx_, pattern.row_ptr);
    const Array<Index, device> col = make_array(ctx_, pattern.col);
    const CsrView<T, device> view(pattern.rows, pattern.rows, row_ptr.cspan(), col.cspan(), {});
    system_ = std::make_unique<BatchedSystem<T, device>>(ctx_, Pattern<device>(view), batched_options(settings));
  }
  ~DeviceBatchSystem() override {
    const KeptDevice kept;
    system_.reset();
  }

  Index rows() const override { return system_->rows(); }

  std::vector<BatchedResult> solve_batch(const Settings& settings, Index systems, const void* values, const void* b,
                                         void* x) override {
    const std::int64_t size = std::int64_t{systems} * rows(), entries = systems * system_->nonzeros();
    if (entries > 0) require(values, "the array of values");
    if (size > 0) require(b, "b"), require(x, "x");
    if (size > 0 && b == x) throw InputError("b and x are the same memory");
    const Turn turn = begin();
    DeviceArrays arrays(ctx_);
    const auto input = [&](const void* data, std::int64_t count, const char* what) {
      const void* const here = arrays.here(data, count * std::int64_t{sizeof(T)}, what);
      return Span<const T, device>(static_cast<const T*>(here), count);
    };
    const bool stays = size > 0 && is_here(ctx_, x, "x");
    Array<T, device> copied(ctx_, stays ? 0 : size);
    const Span<T, device> to = stays ? Span<T, device>(static_cast<T*>(x), size) : copied.span();
    const Span<T, host> on_host(static_cast<T*>(x), stays ? 0 : size);
    if (!stays && settings.guess == InitialGuess::in_x) copy<T>(ctx_, Span<const T, host>(on_host), to);
    const StopCriterion& stop = settings.options.stop;
    system_->set_limits(stop.rel_tol, stop.abs_tol, stop.max_iterations);
    const BatchedReport report = system_->solve(systems, input(values, entries, "the array of values"),
                                                input(b, size, "b"), to, settings.guess);
    if (!stays) copy<T>(ctx_, Span<const T, device>(to), on_host);
    return report.systems;
  }

 private:
  Turn begin() { return {ctx_, has_own_stream_ ? &order_ : nullptr}; }

  Context<device> ctx_;
  StreamOrder order_;
  bool has_own_stream_;
  std::unique_ptr<BatchedSystem<T, device>> system_;
};

}  // namespace

std::unique_ptr<System> make_device_batch_system(const Settings& settings, const BatchPattern& pattern) {
  const KeptDevice kept;
  if (settings.single) return std::make_unique<DeviceBatchSystem<float>>(settings, pattern);
  return std::make_unique<DeviceBatchSystem<double>>(settings, pattern);
}

}  // namespace newel::c
