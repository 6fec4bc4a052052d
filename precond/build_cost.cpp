// SPDX-License-Identifier: Apache-2.0
// Sizes of local problems, and the seconds that they take.
#include <purlin/precond/build_cost.hpp>

#include <algorithm>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/machine.hpp>
#include <purlin/reorder/host_pattern.hpp>

namespace purlin::detail {
namespace {

// Seconds of one host thread: for each entry of M, and for each multiplication of the local problems.
struct Rates {
  double entry, work;
};
constexpr Rates of_fsai{40e-9, 0.3e-9}, of_spai{100e-9, 0.13e-9};
constexpr double of_diagonal = 3e-9;  // for each entry of A

// Beyond, threads wait for the longest problems.
constexpr int useful_threads = 16;

// Of a device: launches, and the patterns that are found on the host. A multiprocessor is as fast as a host's thread.
constexpr double device_seconds = 5e-3;

struct Problems {
  double entries = 0, work = 0;
};

// Cholesky factorisations of the rows of A's lower triangle.
Problems of_triangles(const Pattern<Space::host>& a) {
  Problems sum;
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = a.col.data + a.row_begin(i), end = a.col.data + a.row_begin(i + 1);
    const auto length = static_cast<double>(std::upper_bound(begin, end, i) - begin);
    sum.entries += length;
    sum.work += length * length * length;
  }
  return sum;
}

// Least-squares problems: the rows that row i's neighbours reach, at most all, and its own entries as columns.
Problems of_rows(const Pattern<Space::host>& a) {
  Problems sum;
  for (Index i = 0; i < a.rows; ++i) {
    const auto length = static_cast<double>(a.row_begin(i + 1) - a.row_begin(i));
    double reached = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      reached += static_cast<double>(a.row_begin(a.col[k] + 1) - a.row_begin(a.col[k]));
    }
    sum.entries += length;
    sum.work += std::min(reached, static_cast<double>(a.rows)) * length * length;
  }
  return sum;
}

}  // namespace

template <Space S>
double build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const std::string& name, Offset nonzeros) {
  const bool fsai = name == "fsai";
  const Machine machine = machine_of(ctx);
  const double threads = machine.device() ? machine.processors : std::clamp(machine.processors, 1, useful_threads);
  const double fixed = machine.device() && (fsai || name == "spai") ? device_seconds : 0;
  if (!fsai && name != "spai") return fixed + of_diagonal * static_cast<double>(pattern.nnz()) / threads;
  const HostPattern on_host(ctx, pattern);
  const Problems problems = fsai ? of_triangles(on_host.view()) : of_rows(on_host.view());
  if (problems.entries == 0) return fixed;
  // Powers, thresholds and growth change the lengths of all problems alike.
  const double entries = fsai ? 0.5 * static_cast<double>(nonzeros) : static_cast<double>(nonzeros);
  const double growth = entries / problems.entries;
  const Rates rates = fsai ? of_fsai : of_spai;
  return fixed + (rates.entry * entries + rates.work * problems.work * growth * growth * growth) / threads;
}

#define X(S) template double build_seconds(const Context<S>&, const Pattern<S>&, const std::string&, Offset);
PURLIN_FOR_SPACES(X)
#undef X

}  // namespace purlin::detail
