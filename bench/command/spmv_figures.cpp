// SPDX-License-Identifier: Apache-2.0
// Arithmetic on medians.
#include "spmv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spmv/csr/csr.hpp"

#include "apps/common/break_even.hpp"

namespace newel::cli {
namespace {

template <class Takes>
const BenchLine* fastest(const BenchSystem& system, Takes&& takes) {
  const BenchLine* best = nullptr;
  for (const BenchLine& line : system.lines) {
    if (!takes(line) || !line.measured() || line.wrong()) continue;
    if (best == nullptr || bench::median(line.warm) < bench::median(best->warm)) best = &line;
  }
  return best;
}

void compare(BenchFigures& f, const BenchLine& line, const BenchSystem& system) {
  if (const BenchLine* best = best_competitor(system)) f.speedup = bench::median(best->warm) / f.seconds;
  const BenchLine* other = break_even_competitor(system);
  if (other == nullptr || other == &line || line.same_as == other->name) return;
  f.comparable = true;
  f.break_even = cli::break_even(line.setup_seconds(), f.seconds, other->setup_seconds(), bench::median(other->warm));
}

}  // namespace

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

const BenchLine* best_competitor(const BenchSystem& system) {
  return fastest(system, [](const BenchLine& line) { return line.competitor; });
}

const BenchLine* break_even_competitor(const BenchSystem& system) {
  return fastest(system, [](const BenchLine& line) { return line.break_even; });
}

BenchFigures figures_of(const BenchLine& line, const BenchSystem& system, const bench::CopyBandwidth& copy) {
  const auto bytes = static_cast<double>(line.info.bytes_per_product);
  const double operations = 2.0 * static_cast<double>(system.nonzeros);
  const auto roofline_bytes =
      static_cast<double>(csr_product_bytes(system.rows, system.cols, system.nonzeros, system.value_bytes()));
  const double bandwidth = copy.bytes_per_second();
  BenchFigures f;
  f.seconds = bench::median(line.warm);
  f.cold_seconds = bench::median(line.cold);
  f.gflops = 1e-9 * operations / f.seconds;
  f.bytes_per_second = bytes / f.seconds;
  f.share_of_copy = f.bytes_per_second / bandwidth;
  f.share_of_roofline = roofline_bytes / bandwidth / f.seconds;
  if (line.info.stored_slots > 0) {
    f.beta = static_cast<double>(system.nonzeros) / static_cast<double>(line.info.stored_slots);
  }
  f.code_balance = bytes / operations;
  f.p_max_gflops = 1e-9 * bandwidth / f.code_balance;
  f.setup_in_products = line.setup_seconds() / f.seconds;
  f.refresh_seconds = bench::median(line.refresh);
  f.refresh_in_products = f.refresh_seconds / f.seconds;
  compare(f, line, system);
  return f;
}

std::vector<BenchMean> geometric_means(const std::vector<BenchSystem>& systems) {
  std::vector<BenchMean> means;
  std::vector<std::vector<double>> speedups;
  for (const BenchSystem& system : systems) {
    const BenchLine* best = best_competitor(system);
    for (const BenchLine& line : system.lines) {
      const auto same = [&](const BenchMean& mean) {
        return mean.name == line.name && mean.single_precision == system.single_precision;
      };
      auto at = std::find_if(means.begin(), means.end(), same) - means.begin();
      if (at == static_cast<std::ptrdiff_t>(means.size())) {
        means.push_back({line.name, system.single_precision});
        speedups.emplace_back();
      }
      ++means[at].of;
      if (!line.measured() || line.wrong() || best == nullptr) continue;
      speedups[at].push_back(bench::median(best->warm) / bench::median(line.warm));
    }
  }
  for (std::size_t k = 0; k < means.size(); ++k) {
    means[k].systems = static_cast<int>(speedups[k].size());
    means[k].speedup = geometric_mean(speedups[k]);
  }
  std::stable_sort(means.begin(), means.end(),
                   [](const BenchMean& a, const BenchMean& b) { return a.single_precision < b.single_precision; });
  return means;
}

}  // namespace newel::cli
