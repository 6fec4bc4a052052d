// SPDX-License-Identifier: Apache-2.0
// The speed of a host, measured and kept.
#include "solver/cost/host_speed.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/spmv/registry.hpp>
#include "core/memory/host_profile.hpp"
#include "solver/cost/profiles/profiles.hpp"
#include "spmv/plan/plan_cache.hpp"

namespace newel::detail {
namespace {

constexpr Space H = Space::host;
constexpr std::size_t vector_bytes = std::size_t{20} << 20;        // more than most last-level caches keep of two
constexpr std::size_t cached_vector_bytes = std::size_t{4} << 20;  // more than second-level caches keep
constexpr std::size_t gathered_bytes = std::size_t{8} << 20, reads = std::size_t{1} << 18;
constexpr int setup_parts = 8;
constexpr Index product_side = 25,
                setup_side = 10;  // of cubes whose matrices have 5 MB, and a quarter of a megabyte, as CSR

// The least seconds of `work`, the first of the runs not counted if there are several.
template <class Work>
double best_seconds(int runs, Work&& work) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run <= 1 || seconds < best) best = seconds;
  }
  return best;
}

double sharing_threads(const Context<H>& ctx) {
  return std::min<double>(ctx.threads(), constants_of<HostMachineConstants>(Machine()).threads_of_socket);
}

// A pass over two vectors, of one thread's share.
double copy_rate(const Context<H>& ctx, Array<double, H>& to, const Array<double, H>& from, std::size_t bytes,
                 int runs) {
  const auto n = static_cast<std::int64_t>(bytes / sizeof(double));
  double* const y = to.data();
  const double* const x = from.data();
  const auto pass = [&] { parallel_for(ctx, n, [=](std::int64_t i) { y[i] = 2 * x[i]; }); };
  return 2 * static_cast<double>(bytes) / best_seconds(runs, pass) / sharing_threads(ctx);
}

// The places are those of a congruence that visits all of them, far apart.
double read_seconds(const Context<H>& ctx, Array<double, H>& to, const Array<double, H>& from, Array<Index, H>& at) {
  constexpr std::uint64_t places = gathered_bytes / sizeof(double), step = 2654435761u;
  const auto n = static_cast<std::int64_t>(reads);
  parallel_for(ctx, n,
               [&](std::int64_t i) { at[i] = static_cast<Index>(static_cast<std::uint64_t>(i) * step % places); });
  double* const y = to.data();
  const double* const x = from.data();
  const Index* const place = at.data();
  const auto pass = [&] { parallel_for(ctx, n, [=](std::int64_t i) { y[i] = x[place[i]]; }); };
  return best_seconds(12, pass) * sharing_threads(ctx) / static_cast<double>(reads);
}

// A node of a cube and its 26 neighbours, as trilinear elements connect them.
Csr<double, H> cube(const Context<H>& ctx, Index side) {
  const auto neighbours = [&](Index i) { return Offset{3} - (i == 0) - (i == side - 1); };
  const Index rows = side * side * side;
  Csr<double, H> a{rows, rows, Array<Offset, H>(ctx, rows + 1), {}, {}};
  a.row_ptr[0] = 0;
  for (Index i = 0; i < rows; ++i) {
    a.row_ptr[i + 1] =
        a.row_ptr[i] + neighbours(i % side) * neighbours(i / side % side) * neighbours(i / (side * side));
  }
  a.col = Array<Index, H>(ctx, a.row_ptr[rows]);
  a.val = Array<double, H>(ctx, a.row_ptr[rows]);
  Offset k = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index x = i % side, y = i / side % side, z = i / (side * side);
    for (Index w = std::max(z - 1, 0); w <= std::min(z + 1, side - 1); ++w) {
      for (Index v = std::max(y - 1, 0); v <= std::min(y + 1, side - 1); ++v) {
        for (Index u = std::max(x - 1, 0); u <= std::min(x + 1, side - 1); ++u, ++k) {
          a.col[k] = (w * side + v) * side + u;
          a.val[k] = a.col[k] == i ? 26 : -1;
        }
      }
    }
  }
  return a;
}

double product_seconds(const Context<H>& ctx, const LinearOperator<double, H>& A) {
  Array<double, H> x(ctx, A.rows()), y(ctx, A.rows());
  std::fill_n(x.data(), x.size(), 1.0);
  return best_seconds(8, [&] { A.apply(ctx, 1, x.cspan(), 0, y.span()); });
}

// In the numbering of the cube, whose parts are slices: the format without the search for its order.
double entry_seconds(const Context<H>& ctx, const Csr<double, H>& a, const char* format) {
  const OperatorPtr<double, H> A = make_spmv<double, H>(ctx, CsrView<double, H>(a), {}, SpmvOptions{format});
  return product_seconds(ctx, *A) / static_cast<double>(a.nnz());
}

// In parts, as a larger matrix has them, so that the search for them counts.
double setup_seconds(const Context<H>& ctx, const Csr<double, H>& a, const char* format) {
  SpmvOptions options{format};
  options.parts = setup_parts;
  const CsrView<double, H> view(a);
  const auto set_up = [&] {
    const RowOrder<H> order = plan_order<double>(ctx, Pattern<H>(view), options);
    const PermutedCsr<double, H> permuted = permute(ctx, view, order);
    static_cast<void>(make_spmv<double, H>(ctx, permuted.view(), order, options));
  };
  return best_seconds(3, set_up) / static_cast<double>(a.nnz());
}

HostSpeed speed_now(const Context<H>& ctx) {
  const Context<H> alone(1);  // whose memory is free again afterwards
  HostSpeed speed;
  {
    const auto n = static_cast<std::int64_t>(vector_bytes / sizeof(double));
    Array<double, H> from(alone, n), to(alone, n);
    parallel_for(ctx, n, [x = from.data(), y = to.data()](std::int64_t i) { x[i] = y[i] = 1; });
    speed.copy_bytes = copy_rate(ctx, to, from, vector_bytes, 4);
    speed.cached_copy_bytes = copy_rate(ctx, to, from, cached_vector_bytes, 12);
    Array<Index, H> at(alone, static_cast<std::int64_t>(reads));
    speed.read_seconds = read_seconds(ctx, to, from, at);
  }
  const Csr<double, H> large = cube(alone, product_side);
  speed.csr_entry = entry_seconds(alone, large, "csr");
  speed.ehyb_entry = entry_seconds(alone, large, "ehyb");
  speed.setup_entry = setup_seconds(alone, cube(alone, setup_side), "ehyb");
  return speed;
}

using Figures = std::vector<std::pair<std::string, double>>;

Figures figures_of(const HostSpeed& speed) {
  return {{"bytes per second of a copy", speed.copy_bytes},  {"the same in a cache", speed.cached_copy_bytes},
          {"seconds of a read", speed.read_seconds},         {"seconds of an entry of CSR", speed.csr_entry},
          {"seconds of an entry of EHYB", speed.ehyb_entry}, {"seconds of its setup", speed.setup_entry}};
}

std::optional<HostSpeed> kept_speed(PlanCache& cache, const PlanKey& key) {
  const std::optional<CachedPlan> found = cache.find(key);
  if (!found || found->figures.size() != figures_of({}).size()) return std::nullopt;
  const Figures& f = found->figures;
  for (const auto& [name, figure] : f) {
    if (!(figure > 0)) return std::nullopt;
  }
  return HostSpeed{f[0].second, f[1].second, f[2].second, f[3].second, f[4].second, f[5].second};
}

PlanKey key_of(const Context<H>& ctx) {
  const Machine machine = machine_of(ctx);
  PlanKey key;
  key.add("speed of a host");
  key.add(processor_name());
  key.add(static_cast<std::uint64_t>(machine.processors));
  key.add(static_cast<std::uint64_t>(machine.cache_bytes));
  key.add(static_cast<std::uint64_t>(machine.shared_cache_bytes));
  return key;
}

// What this process knows. Profiles stay where they are, because machines point to them: one for each speed.
class KnownSpeeds {
 public:
  std::optional<HostSpeed> find(int threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = speeds_.find(threads);
    return at == speeds_.end() ? std::nullopt : std::optional<HostSpeed>(at->second);
  }

  // The first measurement counts, should several threads measure at once.
  HostSpeed keep(int threads, const HostSpeed& speed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return speeds_.emplace(threads, speed).first->second;
  }

  const HostProfile& profile(const HostSpeed& s) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::array<double, 6> key = {s.copy_bytes, s.cached_copy_bytes, s.read_seconds,
                                       s.csr_entry,  s.ehyb_entry,        s.setup_entry};
    const auto at = profiles_.find(key);
    return at != profiles_.end() ? at->second : profiles_.emplace(key, scaled_profile(epyc, s)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<int, HostSpeed> speeds_;  // by threads
  std::map<std::array<double, 6>, HostProfile> profiles_;
};

KnownSpeeds& known_speeds() {
  static KnownSpeeds known;
  return known;
}

std::optional<HostSpeed> known_speed(const Context<H>& ctx, const std::string& plan_cache, bool as_unknown) {
  if (!plan_cache.empty()) {
    PlanCache cache(plan_cache);
    if (const std::optional<HostSpeed> kept = kept_speed(cache, key_of(ctx))) return kept;
  }
  return as_unknown ? std::nullopt : known_speeds().find(ctx.threads());
}

}  // namespace

HostSpeed measure_speed(const Context<Space::host>& ctx) {
  try {
    return speed_now(ctx);
  } catch (const OutOfMemory&) {
    return {};
  }
}

const HostProfile* known_profile(const Context<Space::host>& ctx, const std::string& plan_cache, bool as_unknown) {
  const std::optional<HostSpeed> speed = known_speed(ctx, plan_cache, as_unknown);
  return speed ? &known_speeds().profile(*speed) : nullptr;
}

const HostProfile* measured_profile(const Context<Space::host>& ctx, const std::string& plan_cache, bool as_unknown) {
  if (const std::optional<HostSpeed> kept = known_speed(ctx, plan_cache, as_unknown)) {
    return &known_speeds().profile(*kept);
  }
  HostSpeed speed = measure_speed(ctx);
  if (!speed.known()) return &epyc;
  if (!as_unknown) speed = known_speeds().keep(ctx.threads(), speed);
  if (!plan_cache.empty()) {
    CachedPlan plan;
    plan.figures = figures_of(speed);
    PlanCache(plan_cache).keep(key_of(ctx), plan);
  }
  return &known_speeds().profile(speed);
}

}  // namespace newel::detail
