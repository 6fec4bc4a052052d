// SPDX-License-Identifier: Apache-2.0
/// One system on one rank and on several, in a space: set up, solved, and timed in loops of fixed length.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <newel/core/rank_team.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/distributed/row_bounds.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/registry.hpp>

#include "apps/common/run_clock.hpp"
#include "apps/fem/generated_rows.hpp"
#include "scaling.hpp"

namespace newel::cli {

/// The rows of a system for whichever rank asks: generated apart, or cut out of a matrix that was read.
class ScalingRows {
 public:
  ScalingRows(const Context<Space::host>& host, const std::string& spec) : spec_(spec) {
    if (fem::can_generate_rows(spec)) {
      rows_ = fem::generated_row_count(spec);
      return;
    }
    matrix_ = std::make_shared<InputMatrix>(load_matrix(host, spec));
    require_real(*matrix_, "newel bench");
    require_square(*matrix_);
    rows_ = matrix_->a.rows;
  }

  const std::string& spec() const { return spec_; }
  std::int64_t rows() const { return rows_; }
  std::vector<std::int64_t> bounds(int ranks) const {
    return matrix_ == nullptr ? fem::generated_row_bounds(spec_, ranks)
                              : row_bounds(matrix_->a.row_ptr.cspan(), ranks);
  }
  fem::GeneratedRows rows_of(const Context<Space::host>& ctx, std::int64_t first, std::int64_t end) const {
    if (matrix_ == nullptr) return fem::generate_rows(ctx, spec_, first, end);
    const Csr<double, Space::host>& a = matrix_->a;
    const Offset begin = a.row_ptr[first], count = a.row_ptr[end] - begin;
    fem::GeneratedRows rows;
    rows.row_ptr.clear();
    for (std::int64_t i = first; i <= end; ++i) rows.row_ptr.push_back(a.row_ptr[i] - begin);
    rows.col = Array<std::int64_t, Space::host>(ctx, count);
    std::copy_n(a.col.data() + begin, count, rows.col.data());
    rows.values = HostVector(ctx, count);
    std::copy_n(a.val.data() + begin, count, rows.values.data());
    return rows;
  }
  /// For one rank without ranks.
  InputMatrix whole(const Context<Space::host>& ctx) const { return load_matrix(ctx, spec_); }

 private:
  std::string spec_;
  std::int64_t rows_ = 0;
  std::shared_ptr<const InputMatrix> matrix_;  // null: rows are generated
};

struct ScalingRequest {
  std::string precond = "jacobi", link = "automatic";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  int loop_iterations = 200;
  int repeats = 5;
};

inline SystemOptions scaling_options(const ScalingRequest& request, const std::string& format) {
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = request.precond;
  options.spmv.format = format;
  options.stop.rel_tol = request.tolerance;
  options.stop.max_iterations = request.max_iterations;
  return options;
}

inline bool is_diagonal(const std::string& precond) {
  return canonical_name(precond) == "none" || find_preconditioner(precond).diagonal;
}

/// Whole solves, then loops of k and 2 k iterations with a diagonal preconditioner: an iteration takes the difference
/// of their times over that of their iterations, so start and end of a solve do not count. `longest` makes the
/// longest time of all ranks of this rank's, in seconds.
template <class System, class Longest, class T, Space S>
void time_solves(System& system, Span<const T, S> b, Span<T, S> x, const ScalingRequest& request,
                 const Longest& longest, ScalingLine& line) {
  const auto solve = [&] {
    const SolveReport report = system.solve(b, x, {}, InitialGuess::zero);
    return std::make_pair(longest(report.seconds), report);
  };
  for (int repeat = -1; repeat < request.repeats; ++repeat) {  // the first one loads and captures
    const auto [seconds, report] = solve();
    if (repeat >= 0) line.solve.push_back(seconds);
    line.status = std::string(name_of(report.status));
    line.converged = report.converged();
    line.iterations = report.iterations;
    line.residual = report.relative(report.true_residual);
    line.resident = report.resident;
  }
  if (!is_diagonal(request.precond)) {
    for (const double seconds : line.solve) line.iteration.push_back(seconds / std::max(1, line.iterations));
    return;
  }
  constexpr double never = 1e-300;
  const auto loop = [&](int iterations) {
    StopCriterion stop;
    stop.rel_tol = never;
    stop.max_iterations = iterations;
    system.set_stop_criterion(stop);
    const auto [seconds, report] = solve();
    return std::make_pair(seconds, report.iterations);
  };
  for (int repeat = -1; repeat < request.repeats; ++repeat) {
    const auto [longer, most] = loop(2 * request.loop_iterations);
    const auto [shorter, fewest] = loop(request.loop_iterations);
    if (repeat >= 0 && most > fewest) line.iteration.push_back((longer - shorter) / (most - fewest));
  }
}

template <class System>
void take_info(const System& system, ScalingLine& line) {
  const SystemInfo info = system.info();
  line.format = info.matrix.name;
  line.system_phases = info.setup_seconds;
  line.matrix_phases = info.matrix.setup_seconds;
  line.precond_phases = info.preconditioner.setup_seconds;
}

/// One rank without ranks, in one format.
template <Space S>
ScalingLine measure_one(const Context<Space::host>& host, const Context<S>& ctx, const ScalingRows& rows,
                        const ScalingRequest& request, const std::string& format) {
  ScalingLine line;
  line.link = "none";
  line.linked = format;
  line.precond = request.precond;
  InputMatrix matrix = rows.whole(host);
  line.entries = matrix.a.nnz();
  SystemOptions options = scaling_options(request, format);
  options.spmv.coordinates = matrix.coordinates;
  const std::vector<double> ones(static_cast<std::size_t>(matrix.a.rows), 1.0);
  const auto b = make_array(ctx, ones);
  Array<double, S> x(ctx, b.size());
  const Stopwatch watch;
  const Csr<double, S> a = make_csr(ctx, CsrView<double, Space::host>(matrix.a));
  ctx.synchronize();
  const double transfer = watch.seconds();
  LinearSystem<double, S> system(ctx, CsrView<double, S>(a), options);
  line.setup_seconds = watch.seconds();
  matrix.a = {};
  line.bytes = system.info().bytes;
  take_info(system, line);
  line.system_phases.insert(line.system_phases.begin(), {"transfer", transfer});
  time_solves(
      system, b.cspan(), x.span(), request, [](double seconds) { return seconds; }, line);
  return line;
}

/// This rank's part of a measurement. All ranks call it together.
template <Space S>
ScalingLine measure_rank(const Context<Space::host>& host, const Context<S>& ctx,
                         const std::shared_ptr<Communicator>& ranks, const ScalingRows& rows,
                         const ScalingRequest& request, RankLink link) {
  ScalingLine line;
  line.ranks = ranks->size();
  line.link = request.link;
  line.precond = request.precond;
  const auto longest = [&](double seconds) {
    ranks->max(&seconds, 1);
    return seconds;
  };
  const std::vector<std::int64_t> bounds = rows.bounds(ranks->size());
  const auto r = static_cast<std::size_t>(ranks->rank());
  std::optional<fem::GeneratedRows> own = rows.rows_of(host, bounds[r], bounds[r + 1]);
  // Texts, because a sum of doubles is exact up to 2^53 only.
  for (const std::string& entries : ranks->texts(std::to_string(own->col.size())))
    line.entries += std::stoll(entries);
  SystemOptions options = scaling_options(request, "auto");
  options.spmv.coordinates = own->coordinates;
  longest(0);  // all have their rows
  const Stopwatch watch;
  DistributedSystem<double, S> system = [&] {
    if constexpr (S == Space::device) return DistributedSystem<double, S>(ctx, ranks, own->view(), options, link);
    return DistributedSystem<double, S>(ctx, ranks, own->view(), options);
  }();
  line.setup_seconds = longest(watch.seconds());
  own.reset();
  line.linked = system.link();
  take_info(system, line);
  for (const std::string& bytes : ranks->texts(std::to_string(system.info().bytes))) line.bytes += std::stoull(bytes);
  const std::vector<double> ones(static_cast<std::size_t>(bounds[r + 1] - bounds[r]), 1.0);
  const auto b = make_array(ctx, ones);
  Array<double, S> x(ctx, b.size());
  time_solves(system, b.cspan(), x.span(), request, longest, line);
  return line;
}

}  // namespace newel::cli
