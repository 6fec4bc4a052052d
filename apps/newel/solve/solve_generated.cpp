// SPDX-License-Identifier: Apache-2.0
// Each rank generates its rows, its part of b and its part of the known solution.
#include "solve_generated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/rank_team.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/distributed/distributed_system.hpp>
#include <newel/distributed/offloaded_system.hpp>

#include "apps/common/interrupt.hpp"
#include "apps/fem/generated_rows.hpp"
#include "apps/newel/input/precision.hpp"
#include "apps/newel/ranks/shares.hpp"
#include "solution_file.hpp"

namespace newel::cli {
namespace {

// Value i of the vector that --rhs names.
double entry_of(const RhsSpec& spec, std::int64_t i) {
  return spec.kind == RhsSpec::Kind::ones ? 1.0 : random_entry(spec.seed, static_cast<std::uint64_t>(i));
}

// This rank's part of b.
HostVector rhs_of(const Context<Space::host>& ctx, const RhsSpec& spec, const fem::GeneratedRows& rows,
                  std::int64_t first) {
  HostVector b(ctx, rows.rows());
  const Span<const double, Space::host> val = rows.val();
  parallel_for(ctx, rows.rows(), [&](std::int64_t i) {
    double sum = 0;
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = rows.row_ptr[row]; k < rows.row_ptr[row + 1] && spec.times_matrix; ++k) {
      sum += val[k] * entry_of(spec, rows.col[k]);
    }
    b[i] = spec.times_matrix ? sum : entry_of(spec, first + i);
  });
  return b;
}

template <class T>
Array<T, Space::host> in_precision(const Context<Space::host>& ctx, Span<const double, Space::host> from,
                                   const char* what) {
  if constexpr (std::is_same_v<T, double>) {
    return make_array(ctx, from);
  } else {
    return to_precision<T>(ctx, from, what);
  }
}

// The sum over all ranks, exact up to 2^64.
std::uint64_t sum_of(Communicator& ranks, std::uint64_t own) {
  std::uint64_t sum = 0;
  for (const std::string& text : ranks.texts(std::to_string(own))) sum += std::stoull(text);
  return sum;
}

// |x - x*| / |x*| of all ranks, scaled by the largest value so that squares neither overflow nor vanish.
std::optional<double> error_of(const Context<Space::host>& ctx, Communicator& ranks, const RhsSpec& spec,
                               Span<const double, Space::host> x, std::int64_t first) {
  const auto exact = [&](std::int64_t i) { return entry_of(spec, first + i); };
  double largest = parallel_max(ctx, x.size, 0.0, [&](std::int64_t i) { return std::abs(exact(i)); });
  ranks.max(&largest, 1);
  if (!spec.times_matrix || largest == 0) return std::nullopt;
  constexpr std::int64_t chunk = 1 << 16;
  const std::int64_t chunks = (x.size + chunk - 1) / chunk;
  std::vector<double> of_chunk(static_cast<std::size_t>(2 * chunks), 0.0);
  parallel_tasks(ctx, chunks, [&](std::int64_t c) {
    double error = 0, length = 0;
    for (std::int64_t i = c * chunk; i < std::min(x.size, (c + 1) * chunk); ++i) {
      const double value = exact(i) / largest, difference = (x[i] - exact(i)) / largest;
      error += difference * difference;
      length += value * value;
    }
    of_chunk[static_cast<std::size_t>(2 * c)] = error;
    of_chunk[static_cast<std::size_t>(2 * c + 1)] = length;
  });
  double squares[2] = {};
  for (std::size_t k = 0; k < of_chunk.size(); ++k) squares[k % 2] += of_chunk[k];
  ranks.sum(squares, 2);
  const double error = std::sqrt(squares[0] / squares[1]);
  return std::isnan(error) ? std::nullopt : std::optional<double>(error);
}

// A rank's part of a solve, whose vectors are in S. `observer` is null on all ranks but the first. One rank of each
// process watches for signals.
template <class T, Space S, class System = DistributedSystem<T, S>>
class OwnRows {
 public:
  using MakeSystem = std::function<System(const RankRows<T>&, const SystemOptions&)>;

  // `make` makes the system of all ranks; the memory of `gpu` is counted, if there is one.
  OwnRows(std::shared_ptr<Communicator> ranks, const Context<Space::host>& ctx, const Context<S>& there,
          const SolveOptions& options, MakeSystem make, std::string device_name, const ContextMemory* memory)
      : ranks_(std::move(ranks)),
        ctx_(ctx),
        there_(there),
        options_(options),
        make_(std::move(make)),
        memory_(memory),
        rhs_(parse_rhs(options.rhs)) {
    setup.device_name = std::move(device_name);
    bounds_ = fem::generated_row_bounds(options.matrix, ranks_->size());
  }

  void run(const GeneratedObserver* observer, RunClock* clock, bool watches) {
    const auto end = [&](const char* phase) {
      if (clock != nullptr) clock->end(phase);
    };
    fem::GeneratedRows rows = fem::generate_rows(ctx_, options_.matrix, first(), bounds_[rank() + 1]);
    const auto entries = static_cast<std::int64_t>(sum_of(*ranks_, static_cast<std::uint64_t>(rows.col.size())));
    if (observer != nullptr) observer->on_rows({bounds_.back(), entries});
    end("read");
    auto b = place(in_precision<T>(ctx_, rhs_of(ctx_, rhs_, rows, first()).cspan(), "the right-hand side"));
    Array<T, S> x(there_, b.size());
    end("rhs");
    set_up(rows);
    rows = {};
    end("setup");
    std::optional<InterruptScope> interrupt;  // on all before the setup is printed: whoever has read it may stop them
    if (watches) interrupt.emplace();
    setup.system.bytes = sum_of(*ranks_, setup.system.bytes);
    if (observer != nullptr) observer->on_setup(setup);
    end("report");
    const ProgressFn on_progress = [&](const Progress& progress) {
      return (observer == nullptr || observer->on_progress(progress)) && !(interrupt && interrupt->requested());
    };
    reports = {system_->solve(b.cspan(), x.span(), on_progress, InitialGuess::zero)};
    interrupt.reset();
    end("solve");
    take(x.cspan());
    peak_bytes = sum_of(*ranks_, memory_ == nullptr ? 0 : memory_->use().peak_bytes);
    system_.reset();
  }

  SetupFacts setup;
  std::vector<SolveReport> reports;
  std::optional<double> error;
  std::vector<double> x;  // of this rank, if --out wants it
  std::uint64_t peak_bytes = 0;

 private:
  std::size_t rank() const { return static_cast<std::size_t>(ranks_->rank()); }
  std::int64_t first() const { return bounds_[rank()]; }
  Array<T, S> place(Array<T, Space::host> values) const {
    if constexpr (S == Space::host) {
      return values;
    } else {
      Array<T, S> there(there_, values.size());
      copy<T>(there_, values.cspan(), there.span());
      there_.synchronize();
      return there;
    }
  }

  void set_up(fem::GeneratedRows& rows) {
    SystemOptions options = options_.system;
    options.columns = 1;
    options.spmv.coordinates = rows.coordinates;
    if constexpr (std::is_same_v<T, double>) {
      system_.emplace(make_(rows.view(), options));
    } else {
      const Array<T, Space::host> val = to_precision<T>(ctx_, rows.val(), "the matrix");
      system_.emplace(make_(RankRows<T>{rows.view().row_ptr, rows.view().col, val.cspan()}, options));
    }
    setup.system = system_->info();
    if constexpr (!std::is_same_v<System, DistributedSystem<T, Space::host>>) {
      setup.link = system_->link();
      setup.first_rows = bounds_;
    }
  }

  void take(Span<const T, S> there) {
    const std::vector<T> own = to_vector(there_, there);
    std::vector<double> values(own.begin(), own.end());
    error = error_of(ctx_, *ranks_, rhs_, Span<const double, Space::host>(values), first());
    if (!options_.out.empty()) x = std::move(values);
  }

  std::shared_ptr<Communicator> ranks_;
  const Context<Space::host>& ctx_;
  const Context<S>& there_;
  const SolveOptions& options_;
  MakeSystem make_;
  const ContextMemory* memory_;
  RhsSpec rhs_;
  std::vector<std::int64_t> bounds_;
  std::optional<System> system_;
};

template <class Rank>
GeneratedOutcome outcome_of(Rank& rank) {
  GeneratedOutcome outcome;
  outcome.solve.setup = std::move(rank.setup);
  outcome.solve.reports = std::move(rank.reports);
  SystemFacts unknown;
  unknown.has_entries = false;
  outcome.solve.facts.assign(outcome.solve.reports.size(), unknown);
  outcome.solve.peak_bytes = rank.peak_bytes;
  outcome.error = rank.error;
  return outcome;
}

#if NEWEL_HAS_CUDA
template <class T>
GeneratedOutcome on_gpus(const Place& place, const Context<Space::host>& ctx, const SolveOptions& options,
                         const GeneratedObserver& observer, RunClock& clock) {
  GeneratedOutcome outcome;
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(place.devices));
  RankTeam(place.devices).run([&](const std::shared_ptr<Communicator>& ranks) {
    const int r = ranks->rank();
    const Context<Space::host> own(std::max(1, ctx.threads() / place.devices));
    const Context<Space::device> gpu(place.device + r);
    gpu.make_current();
    const auto make = [&](const RankRows<T>& rows, const SystemOptions& of_system) {
      return DistributedSystem<T, Space::device>(gpu, ranks, rows, of_system);
    };
    OwnRows<T, Space::device> rank(ranks, own, gpu, options, make, gpu.device_name(), gpu.memory().get());
    rank.run(r == 0 ? &observer : nullptr, r == 0 ? &clock : nullptr, r == 0);
    parts[static_cast<std::size_t>(r)] = std::move(rank.x);
    if (r == 0) outcome = outcome_of(rank);
  });
  std::int64_t size = 0;
  for (const std::vector<double>& part : parts) size += static_cast<std::int64_t>(part.size());
  outcome.x = HostVector(ctx, size);
  double* next = outcome.x.data();
  for (const std::vector<double>& part : parts) next = std::copy(part.begin(), part.end(), next);
  return outcome;
}
#endif

template <class Rank>
GeneratedOutcome gathered_from(Rank& rank, const MpiProcess& process, const Context<Space::host>& ctx) {
  GeneratedOutcome outcome = outcome_of(rank);
  const std::string all = gather_bytes(*process.ranks, bytes_of(Span<const double, Space::host>(rank.x)));
  outcome.x = HostVector(ctx, static_cast<std::int64_t>(all.size() / sizeof(double)));
  if (!all.empty()) std::memcpy(outcome.x.data(), all.data(), all.size());
  return outcome;
}

template <class T>
GeneratedOutcome on_ranks(const MpiProcess& process, [[maybe_unused]] bool on_gpus, const Context<Space::host>& ctx,
                          const SolveOptions& options, const GeneratedObserver* observer, RunClock* clock) {
#if NEWEL_HAS_CUDA
  if (on_gpus) {
    using System = OffloadedSystem<T, Space::device>;
    std::optional<Context<Space::device>> gpu;
    if (!process.gpu.shares) gpu.emplace(process.gpu.device);
    const auto make = [&](const RankRows<T>& rows, const SystemOptions& of_system) {
      return System(gpu, process.ranks, rows, of_system);
    };
    OwnRows<T, Space::host, System> rank(process.ranks, ctx, ctx, options, make, gpu ? gpu->device_name() : "",
                                         gpu ? gpu->memory().get() : nullptr);
    rank.run(observer, clock, true);
    return gathered_from(rank, process, ctx);
  }
#endif
  const auto make = [&](const RankRows<T>& rows, const SystemOptions& of_system) {
    return DistributedSystem<T>(ctx, process.ranks, rows, of_system);
  };
  OwnRows<T, Space::host> rank(process.ranks, ctx, ctx, options, make, "", ctx.memory().get());
  rank.run(observer, clock, true);
  return gathered_from(rank, process, ctx);
}

}  // namespace

bool ranks_generate(const SolveOptions& o, int ranks) {
  const bool has_files = !o.guess.empty() || !o.precond_files.coordinates.empty() ||
                         !o.precond_files.vectors.empty() || !o.precond_files.pattern.empty();
  return ranks > 1 && fem::can_generate_rows(o.matrix) && !has_files && !wants_mesh(o) &&
         parse_rhs(o.rhs).kind != RhsSpec::Kind::file && o.system.null_space == NullSpace::none;
}

std::int64_t generated_rows(const SolveOptions& options) {
  return fem::generated_row_bounds(options.matrix, 1).back();
}

GeneratedOutcome solve_generated_on_gpus([[maybe_unused]] const Place& place,
                                         [[maybe_unused]] const Context<Space::host>& ctx,
                                         [[maybe_unused]] const SolveOptions& options,
                                         [[maybe_unused]] const GeneratedObserver& observer,
                                         [[maybe_unused]] RunClock& clock) {
#if NEWEL_HAS_CUDA
  return options.single_precision ? on_gpus<float>(place, ctx, options, observer, clock)
                                  : on_gpus<double>(place, ctx, options, observer, clock);
#else
  throw NoDevice("this newel was built without CUDA");
#endif
}

GeneratedOutcome solve_generated_on_ranks(const MpiProcess& process, const Place& place,
                                          const Context<Space::host>& ctx, const SolveOptions& options,
                                          const GeneratedObserver& observer, RunClock& clock) {
  const bool on_gpus = first_chose_gpus(process, place);
  return options.single_precision ? on_ranks<float>(process, on_gpus, ctx, options, &observer, &clock)
                                  : on_ranks<double>(process, on_gpus, ctx, options, &observer, &clock);
}

bool help_generated_on_ranks(const MpiProcess& process, const SolveOptions& options) {
  const Context<Space::host> ctx(options.threads);
  const bool on_gpus = first_chose_gpus(process, {});
  const GeneratedOutcome outcome = options.single_precision
                                       ? on_ranks<float>(process, on_gpus, ctx, options, nullptr, nullptr)
                                       : on_ranks<double>(process, on_gpus, ctx, options, nullptr, nullptr);
  return outcome.solve.reports.front().converged();
}

}  // namespace newel::cli
