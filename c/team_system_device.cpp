// SPDX-License-Identifier: Apache-2.0
// The system whose rows several devices share, in both precisions, from arrays of the host.
#include <newel/core/cuda_interop.hpp>
#include <newel/distributed/team_system.hpp>

#include "rank_system.hpp"

namespace newel::c {
namespace {

constexpr Space host = Space::host;
constexpr Space device = Space::device;

// Throws for arrays on a device: the library copies parts of them from the host.
void require_on_host(const void* data, const char* what) {
  require(data, what);
  const std::optional<int> where = device_of(data);
  if (!where) return;
  throw InputError(std::string(what) + " is in the memory of device " + std::to_string(*where) +
                   ": a system on several devices takes arrays of the host");
}

struct HostArrays {
  const void* here(const void* data, std::int64_t bytes, const char* what) const {
    if (bytes > 0) require_on_host(data, what);
    return data;
  }
  std::int64_t index_at(const void* data, std::int64_t i, int bits) const {
    return bits == 32 ? static_cast<const std::int32_t*>(data)[i] : static_cast<const std::int64_t*>(data)[i];
  }
};

std::vector<Context<device>> contexts_of(const Settings& settings) {
  std::vector<Context<device>> contexts;
  for (const int number : settings.devices) contexts.emplace_back(number);
  return contexts;
}

template <class T>
class SystemOfTeam final : public System {
 public:
  SystemOfTeam(const Settings& settings, const MatrixPointers& matrix, const MatrixInput<T, host>& input)
      : values_(input.values().size),
        system_(contexts_of(settings), input,
                settings.options_for(static_cast<Index>(input.rows()), matrix.block_size)) {}

  Index rows() const override { return system_.rows(); }
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override {
    throw InputError("coordinates: not possible for a system on several devices");
  }
  void refresh(const void* values, RefreshScope scope) override {
    if (scope != RefreshScope::everything) {
      throw InputError("keep_preconditioner: expected 0 for a system on several devices");
    }
    if (values_ > 0) require_on_host(values, "the array of values");
    system_.refresh({static_cast<const T*>(values), values_});
  }
  std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b, void* x,
                                 const ProgressFn& progress) override {
    const std::int64_t size = std::int64_t{rows()} * columns;
    if (size > 0) require_on_host(b, "b"), require_on_host(x, "x");
    system_.set_stop_criterion(stop);
    return system_.solve_columns({static_cast<const T*>(b), size}, {static_cast<T*>(x), size}, columns, progress,
                                 guess);
  }
  void multiply(const void* x, void* y) override {
    if (rows() > 0) require_on_host(x, "x"), require_on_host(y, "y");
    system_.multiply({static_cast<const T*>(x), rows()}, {static_cast<T*>(y), rows()});
  }
  SystemInfo info() const override { return system_.info(); }
  SystemDecision decision() const override {
    throw InputError("decision: not available for a system on several devices");
  }
  std::string link() const override { return system_.link(); }

 private:
  std::int64_t values_;
  TeamSystem<T, device> system_;
};

template <class T>
std::unique_ptr<System> make(const Settings& settings, const MatrixPointers& matrix) {
  return std::make_unique<SystemOfTeam<T>>(settings, matrix, input_of<T, host>(settings, matrix, HostArrays()));
}

}  // namespace

std::unique_ptr<System> make_team_system(const Settings& settings, const MatrixPointers& matrix) {
  const KeptDevice kept;
  refuse_of_whole(settings, "on several devices");
  refuse_complex(settings, "several devices");
  if (settings.threads != 0) throw InputError("threads: not possible for a system on several devices");
  if (settings.stream != nullptr) throw InputError("stream: not possible for a system on several devices");
  return settings.single ? make<float>(settings, matrix) : make<double>(settings, matrix);
}

}  // namespace newel::c
