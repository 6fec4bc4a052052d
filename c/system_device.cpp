// SPDX-License-Identifier: Apache-2.0
// The system on a device, for all types of values, from pointers into its memory or that of the host.
#include <optional>

#include "device_arrays.hpp"
#include "system.hpp"

namespace newel::c {
namespace {

template <class T>
class DeviceSystem final : public System {
 public:
  DeviceSystem(const Settings& settings, const MatrixPointers& matrix, bool updates)
      : ctx_(context_of(settings)), order_(ctx_), has_own_stream_(settings.stream == nullptr) {
    const Turn turn = begin();
    DeviceArrays arrays(ctx_);
    const MatrixInput<T, device> input = input_of<T, device>(settings, matrix, arrays);
    values_ = input.values().size;
    const SystemOptions options = settings.options_for(static_cast<Index>(input.rows()), matrix.block_size);
    system_.emplace(ctx_, input, options, updates);
  }
  ~DeviceSystem() override {
    const KeptDevice kept;
    system_.reset();
  }

  Index rows() const override { return (*system_)->rows(); }
  bool updates() const override { return system_->updates(); }
  bool update(const Settings& settings, const MatrixPointers& matrix, RefreshScope scope) override {
    const Turn turn = begin();
    DeviceArrays arrays(ctx_);
    return system_->update(input_of<T, device>(settings, matrix, arrays), scope);
  }

  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    const Turn turn = begin();
    (*system_)->move_nodes(std::move(coordinates));
  }

  void refresh(const void* values, RefreshScope scope) override {
    if (values_ > 0) require(values, "the array of values");
    const Turn turn = begin();
    (*system_)->refresh(input(values, values_, new_values_, "the array of values"), scope);
  }

  std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b, void* x,
                                 const ProgressFn& progress) override {
    const std::int64_t size = std::int64_t{rows()} * columns;
    if (size > 0) require(b, "b"), require(x, "x");
    if (size > 0 && b == x) throw InputError("b and x are the same memory");
    const Turn turn = begin();
    (*system_)->set_stop_criterion(stop);
    const Span<const T, device> from = input(b, size, in_, "b");
    const Span<T, device> to = output(x, size, "x");
    const bool uploads = to.data == out_.data() && guess == InitialGuess::in_x;
    if (uploads) copy<T>(ctx_, Span<const T, host>(static_cast<const T*>(x), size), to);
    std::vector<SolveReport> reports;
    if (columns == 1) {
      reports.push_back((*system_)->solve(from, to, progress, guess));
    } else {
      reports = (*system_)->solve_columns(from, to, columns, progress, guess);
    }
    give_back(to, x);
    return reports;
  }

  void multiply(const void* x, void* y) override {
    if (rows() > 0) require(x, "x"), require(y, "y");
    if (rows() > 0 && x == y) throw InputError("x and y are the same memory");
    const Turn turn = begin();
    const Span<const T, device> from = input(x, rows(), in_, "x");
    const Span<T, device> to = output(y, rows(), "y");
    (*system_)->multiply(from, to);
    give_back(to, y);
  }

  EigenSides eigen_sides() const override {
    if constexpr (std::is_same_v<T, double>) return {{}, {&**system_, &ctx_, has_own_stream_ ? &order_ : nullptr}};
    return {};
  }
  SystemInfo info() const override { return (*system_)->info(); }
  SystemDecision decision() const override { return (*system_)->history().decision(); }

 private:
  Turn begin() { return {ctx_, has_own_stream_ ? &order_ : nullptr}; }

  // Room for a vector of the host's that is as long as this one.
  Span<T, device> room(Array<T, device>& buffer, std::int64_t size) {
    if (buffer.size() < size) buffer = Array<T, device>(ctx_, size);
    return {buffer.data(), size};
  }
  Span<const T, device> input(const void* data, std::int64_t size, Array<T, device>& buffer, const char* what) {
    if (is_here(ctx_, data, what)) return {static_cast<const T*>(data), size};
    const Span<T, device> to = room(buffer, size);
    copy<T>(ctx_, Span<const T, host>(static_cast<const T*>(data), size), to);
    return {to.data, size};
  }
  Span<T, device> output(void* data, std::int64_t size, const char* what) {
    return is_here(ctx_, data, what) ? Span<T, device>(static_cast<T*>(data), size) : room(out_, size);
  }
  void give_back(Span<T, device> from, void* data) {
    if (from.data != out_.data()) return;
    copy<T>(ctx_, Span<const T, device>(from.data, from.size), Span<T, host>(static_cast<T*>(data), from.size));
  }

  Context<device> ctx_;
  mutable StreamOrder order_;
  bool has_own_stream_;
  std::int64_t values_ = 0;
  Array<T, device> in_, out_, new_values_;  // of the host's vectors, made when there are some
  std::optional<KeptSystem<T, device>> system_;
};

}  // namespace

std::unique_ptr<System> make_device_system(const Settings& settings, const MatrixPointers& matrix, bool updates) {
  const KeptDevice kept;
  if (settings.threads != 0) {
    throw InputError(
        "threads: a setup on a device takes as many threads of the host as OMP_NUM_THREADS says, or all");
  }
  return with_values(settings, [&](auto value) -> std::unique_ptr<System> {
    return std::make_unique<DeviceSystem<decltype(value)>>(settings, matrix, updates);
  });
}

}  // namespace newel::c
