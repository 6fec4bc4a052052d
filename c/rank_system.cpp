// SPDX-License-Identifier: Apache-2.0
// The system whose rows are distributed over ranks.
#include "rank_system.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/rank_team.hpp>
#include <newel/distributed/distributed_system.hpp>

namespace newel::c {
namespace {

constexpr Space host = Space::host;

constexpr const char* on_ranks = "whose rows are distributed over ranks";

[[noreturn]] void refuse(const char* option, const char* of_which) {
  throw InputError(std::string(option) + ": not possible for a system " + of_which);
}

void refuse_on_ranks(const Settings& s) {
  if (s.device || s.devices.size() > 1) refuse("device", on_ranks);
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

template <class T>
class RankSystem final : public System {
 public:
  RankSystem(const Settings& settings, const std::shared_ptr<Communicator>& ranks, const RowPointers& own)
      : ranks_(ranks), ctx_(settings.threads), system_(make(settings, own)) {}

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
  SystemDecision decision() const override {
    throw InputError("decision: not known of a system whose rows are distributed over ranks");
  }

 private:
  DistributedSystem<T> make(const Settings& settings, const RowPointers& own) {
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
      return DistributedSystem<T>(ctx_, ranks_, rows,
                                  settings.options_for(static_cast<Index>(std::min(all_rows, most)), 1));
    });
  }

  std::shared_ptr<Communicator> ranks_;
  Context<host> ctx_;
  std::int64_t values_ = 0;
  DistributedSystem<T> system_;
};

}  // namespace

void refuse_of_whole(const Settings& s, const char* of_which) {
  if (!s.options.spmv.plan_cache.empty()) refuse("plan_cache", of_which);
  if (s.options.decision) refuse("decision", of_which);
}

std::unique_ptr<System> make_rank_system(const Settings& settings, const std::shared_ptr<Communicator>& ranks,
                                         const RowPointers& own) {
  if (settings.single) return std::make_unique<RankSystem<float>>(settings, ranks, own);
  return std::make_unique<RankSystem<double>>(settings, ranks, own);
}

}  // namespace newel::c
