// SPDX-License-Identifier: Apache-2.0
// Rows, right-hand sides and guesses to the ranks, and solutions back.
#include "solve_on_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <thread>

#include <newel/config.hpp>
#include <newel/distributed/distributed_system.hpp>
#include <newel/distributed/offloaded_system.hpp>
#include <newel/distributed/row_bounds.hpp>
#include <newel/precond/amg/amg_options.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/interrupt.hpp"
#include "apps/common/run_clock.hpp"
#include "apps/newel/input/precision.hpp"
#include "apps/newel/ranks/shares.hpp"

namespace newel::cli {
namespace {

constexpr Space host = Space::host;

// A rank's part of a system. Vectors are column after column.
struct Share {
  std::vector<Offset> row_ptr;
  std::vector<std::int64_t> col;
  std::vector<double> val, b, x;
  Index columns = 1;
  bool guess = false;                    // x has one
  std::vector<std::int64_t> first_rows;  // of all ranks, on the first
  // Of the nodes and rows, for AMG; null: not known.
  std::shared_ptr<const NodeCoordinates> coordinates;
  std::shared_ptr<const NearNullVectors> vectors;
};

// Values of a row, as many as there are, to its rank.
std::vector<double> scatter_rows(Communicator& ranks, const std::vector<double>* all, std::int64_t values_of_row,
                                 std::vector<std::int64_t> bounds) {
  for (std::int64_t& row : bounds) row *= values_of_row;
  return scatter(ranks, all == nullptr ? Span<const double, host>() : Span<const double, host>(*all), bounds);
}

// Whether there is a coordinate for each row, and no rank has a part of a node.
bool fit(const NodeCoordinates* coordinates, const std::vector<std::int64_t>& bounds) {
  return coordinates != nullptr && static_cast<std::int64_t>(coordinates->xyz.size()) == bounds.back() &&
         std::all_of(bounds.begin(), bounds.end(),
                     [&](std::int64_t row) { return row % coordinates->dimension == 0; });
}

// Parts of consecutive columns of a vector with `bounds.back()` rows.
std::vector<double> scatter_columns(Communicator& ranks, Span<const double, host> all, Index columns,
                                    const std::vector<std::int64_t>& bounds) {
  std::vector<double> own;
  const std::int64_t rows = bounds.empty() ? 0 : bounds.back();
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto column = bounds.empty() ? Span<const double, host>() : all.subspan(c * rows, rows);
    const std::vector<double> part = scatter(ranks, column, bounds);
    own.insert(own.end(), part.begin(), part.end());
  }
  return own;
}

// `task`: of the first rank, whose matrix is given back; null on the others.
Share distribute(Communicator& ranks, SolveTask* task) {
  Share own;
  std::array<std::int64_t, 4> facts = {};
  const NodeCoordinates* coordinates = nullptr;
  const NearNullVectors* vectors = nullptr;
  std::vector<std::int64_t> bounds, entries;
  std::vector<std::string_view> pointers;
  if (task != nullptr) {
    const Span<const Offset, host> row_ptr = task->a.row_ptr.cspan();
    bounds = row_bounds(row_ptr, ranks.size());
    if (fit(task->options.spmv.coordinates.get(), bounds)) coordinates = task->options.spmv.coordinates.get();
    vectors = task->options.precond.of<AmgOptions>().vectors.get();
    facts = {task->options.columns, task->x.empty() ? 0 : 1, coordinates == nullptr ? 0 : coordinates->dimension,
             vectors == nullptr ? 0 : vectors->count};
    for (const std::int64_t row : bounds) entries.push_back(row_ptr[row]);
    for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
      pointers.push_back(bytes_of(row_ptr.subspan(bounds[r], bounds[r + 1] - bounds[r] + 1)));
    }
  }
  const std::vector<std::int64_t> sent = values_of<std::int64_t>(
      from_first(ranks, std::string(bytes_of(Span<const std::int64_t, host>(facts.data(), facts.size())))));
  own.columns = static_cast<Index>(sent[0]);
  own.guess = sent[1] != 0;
  own.row_ptr = values_of<Offset>(scatter_bytes(ranks, pointers));
  const Offset first = own.row_ptr.front();
  for (Offset& position : own.row_ptr) position -= first;
  if (sent[2] > 0) {
    own.coordinates = std::make_shared<NodeCoordinates>(
        NodeCoordinates{scatter_rows(ranks, coordinates == nullptr ? nullptr : &coordinates->xyz, 1, bounds),
                        static_cast<int>(sent[2])});
  }
  if (sent[3] > 0) {
    own.vectors = std::make_shared<NearNullVectors>(
        NearNullVectors{static_cast<int>(sent[3]),
                        scatter_rows(ranks, vectors == nullptr ? nullptr : &vectors->values, sent[3], bounds)});
  }
  const bool is_first = task != nullptr;
  const std::vector<Index> col =
      scatter<Index>(ranks, is_first ? task->a.col.cspan() : Span<const Index, host>(), entries);
  own.col.assign(col.begin(), col.end());
  own.val = scatter<double>(ranks, is_first ? task->a.val.cspan() : Span<const double, host>(), entries);
  if (is_first) task->a = {};
  own.first_rows = bounds;
  own.b = scatter_columns(ranks, is_first ? task->b.cspan() : Span<const double, host>(), own.columns, bounds);
  if (own.guess) {
    own.x = scatter_columns(ranks, is_first ? task->x.cspan() : Span<const double, host>(), own.columns, bounds);
  } else {
    own.x.assign(own.b.size(), 0.0);
  }
  return own;
}

template <class T>
std::vector<T> rounded(const Context<host>& ctx, std::vector<double>& from, const char* what) {
  if constexpr (std::is_same_v<T, double>) {
    return std::move(from);
  } else {
    const Array<T, host> values = to_precision<T>(ctx, Span<const double, host>(from), what);
    return {values.begin(), values.end()};
  }
}

struct ShareSolve {
  std::vector<SolveReport> reports;
  std::vector<double> x;
  SetupFacts setup;
  std::uint64_t peak_bytes = 0;
};

// Calls f(system, link, device's name, memory) with the system of all ranks: on the host, or on their GPUs.
template <class T, class F>
void with_system(const MpiProcess& process, bool on_gpus, const Context<host>& ctx, const RankRows<T>& rows,
                 const SystemOptions& options, const F& f) {
  if (!on_gpus) {
    DistributedSystem<T> system(ctx, process.ranks, rows, options);
    return f(system, "", "", ctx.memory().get());
  }
#if NEWEL_HAS_CUDA
  std::optional<Context<Space::device>> gpu;
  if (!process.gpu.shares) gpu.emplace(process.gpu.device);
  OffloadedSystem<T, Space::device> system(gpu, process.ranks, rows, options);
  f(system, system.link(), gpu ? gpu->device_name() : "", gpu ? gpu->memory().get() : nullptr);
#endif
}

// Sets the system up and solves it together with the others. `on_setup` gets what is known then.
template <class T, class OnSetup>
ShareSolve solve_share(const MpiProcess& process, bool on_gpus, const Context<host>& ctx, Share own,
                       SystemOptions options, const OnSetup& on_setup, const ProgressFn& on_progress) {
  ShareSolve result;
  std::vector<T> val = rounded<T>(ctx, own.val, "the matrix"), x = rounded<T>(ctx, own.x, "the guess");
  const std::vector<T> b = rounded<T>(ctx, own.b, "the right-hand side");
  options.columns = own.columns;
  options.spmv.coordinates = own.coordinates;
  options.precond.of<AmgOptions>().vectors = own.vectors;
  const RankRows<T> rows{own.row_ptr, own.col, val};
  with_system<T>(
      process, on_gpus, ctx, rows, options,
      [&](auto& system, const std::string& link, const std::string& device_name, auto* memory) {
        own.row_ptr = {};  // the system has its own
        own.col = {};
        val = {};
        result.setup.system = system.info();
        result.setup.link = link;
        result.setup.device_name = device_name;
        if (on_gpus) result.setup.first_rows = own.first_rows;
        const InterruptScope interrupt;  // before the setup is printed: whoever has read it may stop the solve
        on_setup(result.setup);
        const ProgressFn both = [&](const Progress& progress) {
          return (!on_progress || on_progress(progress)) && !interrupt.requested();
        };
        const InitialGuess guess = own.guess ? InitialGuess::in_x : InitialGuess::zero;
        result.reports = system.solve_columns(b, x, own.columns, both, guess);
        if (memory != nullptr) result.peak_bytes = memory->use().peak_bytes;
      });
  result.x.assign(x.begin(), x.end());
  return result;
}

// The columns of all ranks on the first.
void gather_columns(Communicator& ranks, const std::vector<double>& own, Index columns, Array<double, host>* all) {
  const std::int64_t rows = static_cast<std::int64_t>(own.size()) / std::max<Index>(columns, 1);
  std::int64_t at = 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    const std::string column = gather_bytes(ranks, bytes_of(Span<const double, host>(own.data() + c * rows, rows)));
    if (all == nullptr) continue;
    if (!column.empty()) std::memcpy(all->data() + at, column.data(), column.size());
    at += static_cast<std::int64_t>(column.size() / sizeof(double));
  }
}

double sum_over(Communicator& ranks, double value) {
  ranks.sum(&value, 1);
  return value;
}

void refuse(const std::string& option, const std::string& why) {
  throw UsageError(option + " is not possible on several ranks: " + why);
}

void refuse_on_gpus(const std::string& option, const std::string& why) {
  throw UsageError(option + " is not possible with --gpus: " + why);
}

}  // namespace

void refuse_under_mpi(const SolveOptions& o) {
  if (o.gpus > 0) refuse("--gpus", "each process under MPI takes a GPU of its host: pass --device cuda");
  if (o.device != "auto" && o.device != "host" && o.device != "cuda") {
    refuse("--device " + o.device, "each process under MPI takes a GPU of its host: pass --device cuda");
  }
}

MpiProcess mpi_process(const std::shared_ptr<Communicator>& ranks, const SolveOptions& options) {
  if (options.device == "host") return {ranks, {}};
  if (options.device == "cuda" && NEWEL_HAS_CUDA == 0) static_cast<void>(choose_place("cuda"));  // says why not
  const RankDevice gpu = device_of_rank(*ranks);
  if (options.device == "cuda" && !gpu.all_have) {
    const std::vector<std::string> missing = ranks->texts(gpu.device < 0 ? "missing" : "");
    const auto first = std::find(missing.begin(), missing.end(), "missing") - missing.begin();
    throw NoDevice("--device cuda: no CUDA device is available to rank " + std::to_string(first));
  }
  return {ranks, gpu};
}

Place place_of_gpus(const MpiProcess& process) { return {Space::device, process.gpu.device, process.gpu.devices}; }

bool first_chose_gpus(const MpiProcess& process, const Place& place) {
  return from_first(*process.ranks, place.space == Space::device ? "gpus" : "host") == "gpus";
}

void refuse_on_ranks(const SolveOptions& o) {
  const SystemOptions& s = o.system;
  const auto refuse = o.gpus > 1 ? refuse_on_gpus : cli::refuse;
  if (o.precond_residual) refuse("--precond-residual", "it needs the whole preconditioner");
  if (o.explain) refuse("--explain", "ranks keep no list of what they compared");
  if (!o.precond_files.pattern.empty()) refuse("--precond-pattern", "it is a pattern of the whole matrix");
  if (!s.spmv.plan_cache.empty()) refuse("--plan-cache", "ranks make no plans");
  if (s.spmv.partitioner != Partitioner::automatic)
    refuse("--partitioner", "it belongs to formats of the whole matrix");
  if (s.spmv.parts > 0) refuse("--parts", "it belongs to formats of the whole matrix");
}

int threads_of_rank(Communicator& ranks, const SolveOptions& options) {
  constexpr std::size_t longest_name = 256;
  char name[longest_name] = {};
  gethostname(name, sizeof name - 1);
  const std::vector<std::string> hosts = ranks.texts(name);
  if (options.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr) return options.threads;
  const auto here = static_cast<int>(std::count(hosts.begin(), hosts.end(), std::string(name)));
  const auto allowed = static_cast<int>(std::thread::hardware_concurrency());
  const auto online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, std::min(allowed, online / here));
}

SolveOutcome solve_on_ranks(const MpiProcess& process, const Place& place, const Context<host>& ctx,
                            bool single_precision, SolveTask& task, const SolveObserver& observer) {
  Communicator& ranks = *process.ranks;
  const bool on_gpus = first_chose_gpus(process, place);
  SolveOutcome outcome;
  task.clock.end("start");
  const Stopwatch watch;
  Share own = distribute(ranks, &task);
  const Index columns = own.columns;
  const std::int64_t size = task.b.size();
  task.b = {};
  task.x = {};
  const double transfer_seconds = watch.seconds();
  const auto on_setup = [&](const SetupFacts& setup) {
    outcome.setup = setup;
    outcome.setup.transfer_seconds = transfer_seconds;
    outcome.setup.system.bytes = static_cast<std::uint64_t>(sum_over(ranks, static_cast<double>(setup.system.bytes)));
    task.clock.end("setup");
    observer.on_setup(outcome.setup);
    task.clock.end("report");
  };
  const auto solve =
      single_precision ? &solve_share<float, decltype(on_setup)> : &solve_share<double, decltype(on_setup)>;
  ShareSolve solved = solve(process, on_gpus, ctx, std::move(own), task.options, on_setup, observer.on_progress);
  task.clock.end("solve");
  outcome.reports = std::move(solved.reports);
  SystemFacts unknown;
  unknown.has_entries = false;
  outcome.facts.assign(outcome.reports.size(), unknown);
  task.x = Array<double, host>(ctx, size);
  gather_columns(ranks, solved.x, columns, &task.x);
  outcome.peak_bytes = static_cast<std::uint64_t>(sum_over(ranks, static_cast<double>(solved.peak_bytes)));
  return outcome;
}

bool help_on_ranks(const MpiProcess& process, const SolveOptions& options) {
  Communicator& ranks = *process.ranks;
  const Context<host> ctx(options.threads);
  const bool on_gpus = first_chose_gpus(process, {});
  Share own = distribute(ranks, nullptr);
  const Index columns = own.columns;
  const auto on_setup = [&](const SetupFacts& setup) { sum_over(ranks, static_cast<double>(setup.system.bytes)); };
  const auto solve =
      options.single_precision ? &solve_share<float, decltype(on_setup)> : &solve_share<double, decltype(on_setup)>;
  const ShareSolve solved = solve(process, on_gpus, ctx, std::move(own), options.system, on_setup, ProgressFn());
  gather_columns(ranks, solved.x, columns, nullptr);
  sum_over(ranks, static_cast<double>(solved.peak_bytes));
  return std::all_of(solved.reports.begin(), solved.reports.end(),
                     [](const SolveReport& r) { return r.converged(); });
}

}  // namespace newel::cli
