// SPDX-License-Identifier: Apache-2.0
// The system whose rows are distributed over ranks.
#include "rank_system.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include <newel/config.hpp>
#include <newel/core/rank_team.hpp>
#include <newel/distributed/offloaded_system.hpp>
#include <newel/distributed/rank_device.hpp>

namespace newel::c {
namespace {

constexpr Space host = Space::host;

constexpr const char* on_ranks = "whose rows are distributed over ranks";

[[noreturn]] void refuse(const char* option, const char* of_which) {
  throw InputError(std::string(option) + ": not possible for a system " + of_which);
}

void refuse_on_ranks(const Settings& s) {
  if (s.devices.size() > 1) refuse("devices", on_ranks);
  if (s.device.value_or(0) != 0) {
    throw InputError("device: expected host or cuda for a system " + std::string(on_ranks) +
                     ": each rank takes a GPU of its host");
  }
  if (s.device && s.stream != nullptr) refuse("stream", on_ranks);
  if (s.device && s.threads != 0) throw InputError("threads: expected 0 with the device cuda");
  if (s.half) refuse("stored_half", on_ranks);
  refuse_of_whole(s, on_ranks);
}

// Indices as 64 bits that count from 0; `kept` holds them if they are not so already.
Span<const std::int64_t, host> from_zero(const void* data, std::int64_t size, const Settings& settings, int bits,
                                         std::vector<std::int64_t>& kept) {
  if (bits == 64 && settings.index_base == 0) return {static_cast<const std::int64_t*>(data), size};
  kept.resize(static_cast<std::size_t>(size));
  const auto copy = [&](const auto* from) {
    std::transform(from, from + size, kept.begin(), [&](auto i) { return std::int64_t{i} - settings.index_base; });
  };
  if (bits == 32)
    copy(static_cast<const std::int32_t*>(data));
  else
    copy(static_cast<const std::int64_t*>(data));
  return {kept.data(), size};
}

// The system on the host's threads of each rank.
template <class T>
DistributedSystem<T> made_on_host(const Settings& settings, const std::shared_ptr<Communicator>& ranks,
                                  const RankRows<T>& rows, SystemOptions options) {
  return DistributedSystem<T>(Context<host>(settings.threads), ranks, rows, std::move(options));
}

#if NEWEL_HAS_CUDA
// The system on the GPUs that the ranks take.
template <class T>
OffloadedSystem<T, Space::device> made_on_gpus(const Settings&, const std::shared_ptr<Communicator>& ranks,
                                               const RankRows<T>& rows, SystemOptions options) {
  const RankDevice own = device_of_rank(*ranks);
  if (!own.all_have) throw DeviceError("device: a rank sees no CUDA device");
  std::optional<Context<Space::device>> gpu;
  if (!own.shares) gpu.emplace(own.device);
  return OffloadedSystem<T, Space::device>(gpu, ranks, rows, std::move(options));
}
#endif

// `make` is one of these two.
template <class T, auto make>
class RankSystem final : public System {
  using Held = std::invoke_result_t<decltype(make), const Settings&, const std::shared_ptr<Communicator>&,
                                    const RankRows<T>&, SystemOptions>;

 public:
  RankSystem(const Settings& settings, const std::shared_ptr<Communicator>& ranks, const RowPointers& own)
      : ranks_(ranks), system_(made(settings, own)) {}

  Index rows() const override { return system_.rows(); }
  void require_columns(std::int64_t columns) const override {
    with_other_ranks(*ranks_, [&] { System::require_columns(columns); });
  }
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override {
    throw InputError("coordinates: not possible for a system whose rows are distributed over ranks");
  }
  void refresh(const void* values, RefreshScope scope) override {
    with_other_ranks(*ranks_, [&] {
      if (scope != RefreshScope::everything) {
        throw InputError("keep_preconditioner: expected 0 for a system whose rows are distributed over ranks");
      }
      if (values_ > 0) require(values, "the array of values");
      system_.refresh({static_cast<const T*>(values), values_});
    });
  }
  std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b, void* x,
                                 const ProgressFn& progress) override {
    return with_other_ranks(*ranks_, [&] {
      const std::int64_t size = std::int64_t{rows()} * columns;
      if (size > 0) require(b, "b"), require(x, "x");
      system_.set_stop_criterion(stop);
      return system_.solve_columns({static_cast<const T*>(b), size}, {static_cast<T*>(x), size}, columns, progress,
                                   guess);
    });
  }
  void multiply(const void* x, void* y) override {
    with_other_ranks(*ranks_, [&] {
      if (rows() > 0) require(x, "x"), require(y, "y");
      system_.multiply({static_cast<const T*>(x), rows()}, {static_cast<T*>(y), rows()});
    });
  }
  SystemInfo info() const override { return system_.info(); }
  std::string link() const override { return system_.link(); }
  SystemDecision decision() const override {
    throw InputError("decision: not available for a system whose rows are distributed over ranks");
  }

 private:
  Held made(const Settings& settings, const RowPointers& own) {
    return with_other_ranks(*ranks_, [&] {
      refuse_on_ranks(settings);
      if (own.rows < 0 || own.rows > std::numeric_limits<Index>::max()) throw InputError("rows: out of range");
      if (own.index_bits != 32 && own.index_bits != 64) {
        throw InputError("index_bits: expected 32 or 64, found " + std::to_string(own.index_bits));
      }
      require(own.row_ptr, "row_ptr");
      std::vector<std::int64_t> kept_row_ptr, kept_col;
      RankRows<T> rows;
      rows.row_ptr = from_zero(own.row_ptr, own.rows + 1, settings, own.index_bits, kept_row_ptr);
      values_ = std::max<std::int64_t>(rows.row_ptr[own.rows], 0);
      if (values_ > 0) require(own.col, "col"), require(own.val, "val");
      rows.col = from_zero(own.col, values_, settings, own.index_bits, kept_col);
      rows.val = {static_cast<const T*>(own.val), values_};
      double all_rows = static_cast<double>(own.rows);
      ranks_->sum(&all_rows, 1);
      const double most = std::numeric_limits<Index>::max();
      return make(settings, ranks_, rows, settings.options_for(static_cast<Index>(std::min(all_rows, most)), 1));
    });
  }

  std::shared_ptr<Communicator> ranks_;
  std::int64_t values_ = 0;
  Held system_;
};

}  // namespace

void refuse_of_whole(const Settings& s, const char* of_which) {
  if (!s.options.spmv.plan_cache.empty()) refuse("plan_cache", of_which);
  if (s.options.decision) refuse("decision", of_which);
}

std::unique_ptr<System> make_rank_system(const Settings& settings, const std::shared_ptr<Communicator>& ranks,
                                         const RowPointers& own) {
  refuse_complex(settings, "ranks");
#if NEWEL_HAS_CUDA
  if (settings.device) {
    if (settings.single) return std::make_unique<RankSystem<float, made_on_gpus<float>>>(settings, ranks, own);
    return std::make_unique<RankSystem<double, made_on_gpus<double>>>(settings, ranks, own);
  }
#endif
  if (settings.single) return std::make_unique<RankSystem<float, made_on_host<float>>>(settings, ranks, own);
  return std::make_unique<RankSystem<double, made_on_host<double>>>(settings, ranks, own);
}

}  // namespace newel::c
