// SPDX-License-Identifier: Apache-2.0
// Arithmetic on medians.
#include "solve.hpp"

#include <algorithm>

#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

namespace newel::cli {
namespace {

// The least of `bytes(line)` over the measured lines that `takes` takes.
template <class Bytes, class Takes>
std::uint64_t fewest(const BenchSolveSystem& system, std::uint64_t own, Bytes&& bytes, Takes&& takes) {
  for (const BenchSolveLine& line : system.lines) {
    if (line.measured() && takes(line)) own = std::min(own, bytes(line));
  }
  return own;
}

// The least median of `samples` over the measured competitors that `takes` takes.
template <class Takes>
std::optional<double> fastest(const BenchSolveSystem& system, bench::Samples BenchSolveLine::*samples,
                              Takes&& takes) {
  std::optional<double> best;
  for (const BenchSolveLine& line : system.lines) {
    if (!line.competitor || !line.measured() || !takes(line)) continue;
    const double seconds = bench::median(line.*samples);
    if (!best || seconds < *best) best = seconds;
  }
  return best;
}

}  // namespace

FloorModel floor_model(const std::string& solver, const std::string& precond, int cycle) {
  const SolverMethod& method = find_solver(solver);
  const VectorFloor& floor = method.floor;
  const bool none = canonical_name(precond) == "none";
  const bool diagonal = !none && find_preconditioner(precond).diagonal;
  const double vectors = none ? floor.none : diagonal ? floor.diagonal : floor.other;
  return {method.products, vectors + cycle * floor.per_basis_vector};
}

double floor_bytes(const BenchSolveLine& line, const BenchSolveSystem& system) {
  const int cycle = std::min(system.restart, line.end.iterations);
  FloorModel model = floor_model(line.solver, line.precond, cycle);
  if (line.single_basis) model.vectors -= (cycle + 1) / 2.0;
  const std::uint64_t with_a = fewest(
      system, line.facts.product_bytes, [](const BenchSolveLine& l) { return l.facts.product_bytes; },
      [&](const BenchSolveLine& l) { return l.mixed == line.mixed; });
  const std::uint64_t with_m = fewest(
      system, line.facts.precond_bytes, [](const BenchSolveLine& l) { return l.facts.precond_bytes; },
      [&](const BenchSolveLine& l) { return l.mixed == line.mixed && l.precond == line.precond; });
  const std::size_t value_bytes = line.mixed ? sizeof(float) : system.value_bytes();
  return model.products * static_cast<double>(with_a + with_m) +
         model.vectors * static_cast<double>(system.rows) * static_cast<double>(value_bytes);
}

BenchSolveFigures figures_of(const BenchSolveLine& line, const BenchSolveSystem& system,
                             const bench::CopyBandwidth& copy) {
  BenchSolveFigures f;
  f.iteration_seconds = bench::median(line.iteration);
  f.solve_seconds = bench::median(line.solve);
  f.floor_bytes = floor_bytes(line, system);
  f.floor_seconds = f.floor_bytes / copy.bytes_per_second();
  f.share_of_floor = f.floor_seconds / f.iteration_seconds;
  const auto alike = [&](const BenchSolveLine& other) {
    return other.solver == line.solver && other.precond == line.precond && other.end.iterations > 0;
  };
  const auto converged = [](const BenchSolveLine& other) { return other.end.converged(); };
  if (const auto best = fastest(system, &BenchSolveLine::iteration, alike)) {
    f.iteration_speedup = *best / f.iteration_seconds;
  }
  const auto best = fastest(system, &BenchSolveLine::solve, converged);
  if (best && line.end.converged() && !line.wrong()) f.solve_speedup = *best / f.solve_seconds;
  return f;
}

bool any_of_ours_succeeded(const std::vector<BenchSolveSystem>& systems) {
  return std::any_of(systems.begin(), systems.end(), [](const BenchSolveSystem& system) {
    return std::any_of(system.lines.begin(), system.lines.end(), [&](const BenchSolveLine& line) {
      return !line.competitor && line.measured() && (line.end.converged() || system.tolerance == 0);
    });
  });
}

}  // namespace newel::cli
