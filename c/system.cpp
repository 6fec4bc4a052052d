// SPDX-License-Identifier: Apache-2.0
// The system on the host, for all types of values, and the choice between host and device.
#include "system.hpp"

#include <newel/config.hpp>

namespace newel::c {
namespace {

constexpr Space host = Space::host;

struct HostArrays {
  const void* here(const void* data, std::int64_t, const char*) const { return data; }
  std::int64_t index_at(const void* data, std::int64_t i, int bits) const {
    return bits == 32 ? static_cast<const std::int32_t*>(data)[i] : static_cast<const std::int64_t*>(data)[i];
  }
};

template <class T>
class HostSystem final : public System {
 public:
  HostSystem(const Settings& settings, const MatrixPointers& matrix, const MatrixInput<T, host>& input, bool updates)
      : ctx_(settings.threads),
        values_(input.values().size),
        system_(ctx_, input, settings.options_for(static_cast<Index>(input.rows()), matrix.block_size), updates) {}

  Index rows() const override { return system_->rows(); }
  bool updates() const override { return system_.updates(); }
  bool update(const Settings& settings, const MatrixPointers& matrix, RefreshScope scope) override {
    return system_.update(input_of<T, host>(settings, matrix, HostArrays()), scope);
  }
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    system_->move_nodes(std::move(coordinates));
  }
  void refresh(const void* values, RefreshScope scope) override {
    if (values_ > 0) require(values, "the array of values");
    system_->refresh({static_cast<const T*>(values), values_}, scope);
  }
  std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b, void* x,
                                 const ProgressFn& progress) override {
    const std::int64_t size = std::int64_t{rows()} * columns;
    if (size > 0) require(b, "b"), require(x, "x");
    system_->set_stop_criterion(stop);
    const Span<const T, host> from(static_cast<const T*>(b), size);
    const Span<T, host> to(static_cast<T*>(x), size);
    if (columns == 1) return {system_->solve(from, to, progress, guess)};
    return system_->solve_columns(from, to, columns, progress, guess);
  }
  void multiply(const void* x, void* y) override {
    if (rows() > 0) require(x, "x"), require(y, "y");
    system_->multiply({static_cast<const T*>(x), rows()}, {static_cast<T*>(y), rows()});
  }
  EigenSides eigen_sides() const override {
    if constexpr (std::is_same_v<T, double>) return {{&*system_, &ctx_, nullptr}, {}};
    return {};
  }
  SystemInfo info() const override { return system_->info(); }
  SystemDecision decision() const override { return system_->history().decision(); }

 private:
  Context<host> ctx_;
  std::int64_t values_;
  KeptSystem<T, host> system_;
};

template <class T>
std::unique_ptr<System> make(const Settings& settings, const MatrixPointers& matrix, bool updates) {
  const MatrixInput<T, host> input = input_of<T, host>(settings, matrix, HostArrays());
  return std::make_unique<HostSystem<T>>(settings, matrix, input, updates);
}

}  // namespace

std::unique_ptr<System> make_system(const Settings& settings, const MatrixPointers& matrix, bool updates) {
  if (updates && settings.devices.size() > 1) throw InputError("newel_update_csr: not for several devices");
#if NEWEL_HAS_CUDA
  if (settings.devices.size() > 1) return make_team_system(settings, matrix);
  if (settings.device) return make_device_system(settings, matrix, updates);
#endif
  return with_values(settings, [&](auto value) { return make<decltype(value)>(settings, matrix, updates); });
}

}  // namespace newel::c
