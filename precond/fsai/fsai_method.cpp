// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of FSAI.
#include <algorithm>

#include "core/threads/parallel.hpp"
#include "precond/build_cost.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/fsai/fsai_pattern.hpp"
#include "precond/longest_rows.hpp"

namespace newel {
namespace {

constexpr int most_fsai_power = 8;  // higher ones reach most of a matrix from every row

// Cholesky factorisations of the rows of A's lower triangle; those of a piece share one.
detail::LocalProblems triangles_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  const auto lower = [&](Index i) {
    const Index* const begin = a.col.data + a.row_begin(i);
    return Span<const Index, Space::host>(begin, std::upper_bound(begin, a.col.data + a.row_begin(i + 1), i) - begin);
  };
  const double mean = 0.5 * (static_cast<double>(a.nnz()) / std::max<Index>(a.rows, 1) + 1);
  const Offset most = detail::most_of_row(detail::short_row_of_fsai, mean, a.rows);
  const auto add_row = [&](Index i, detail::LocalProblems& sum) {
    const auto own = lower(i);
    const auto length = static_cast<double>(std::min<Offset>(own.size, most));
    sum.entries += length;
    if (i + 1 < a.rows) {
      const auto next = lower(i + 1);
      if (detail::may_go_on(i + 1, own.size, next.size) && std::equal(own.data, own.data + own.size, next.data))
        return;
    }
    sum.work += length * length * length;
  };
  const auto join = [](detail::LocalProblems& sum, const detail::LocalProblems& mine) {
    sum.entries += mine.entries;
    sum.work += mine.work;
  };
  return detail::parallel_reduce(ctx, a.rows, detail::LocalProblems{}, add_row, join);
}

detail::LocalProblems usual_triangles(const PrecondBuild& build) {
  const double length = 0.5 * (static_cast<double>(build.nonzeros) / std::max<Index>(build.rows, 1) + 1);
  return detail::usual_problems(build.rows, length, length * length * length / build.values.node_rows);
}

// A setup finds the pattern too, on a device there.
PrecondSeconds fsai_build_seconds(const PrecondBuild& build) {
  constexpr detail::ProblemRates of_thread{45e-9, 0.037e-9}, of_multiprocessor{66e-9, 0.11e-9};
  constexpr double device_seconds = 0.45e-3, device_row = 4.7e-9, entry_alone = 6e-9, entry_shared = 16e-9;
  const bool device = build.machine.device();
  const double entries = 0.5 * static_cast<double>(build.stored);
  const double numeric =
      detail::seconds_of(device ? usual_triangles(build) : triangles_of(*build.host, build.pattern()),
                         device ? of_multiprocessor : of_thread, entries, build.machine);
  const double symbolic = device ? device_seconds + device_row * build.rows
                                 : (entry_alone + entry_shared / build.host->threads()) * entries;
  return {numeric + symbolic, numeric};
}

void check_fsai(const PrecondOptions& options) {
  const int power = options.of<FsaiOptions>().power;
  require_precond_option(power >= 1, "the power of a pattern is at least 1");
  check_pattern_options(options, power > 1);
}

MethodOption power_option() {
  MethodOption option =
      value_option("--fsai-power", "N", "FSAI's G has the pattern of the lower triangle of A^N, default 1",
                   "fsai_power", &FsaiOptions::power);
  option.most = most_fsai_power;
  option.shapes_pattern = true;
  return option;
}

}  // namespace

PrecondMethod fsai_method() {
  PrecondMethod fsai;
  fsai.name = "fsai";
  fsai.summary = "G^T G with a sparse lower triangle G, for symmetric positive definite matrices";
  fsai.options = {power_option(), drop_option()};
  fsai.own_matrices = fsai.takes_pattern = fsai.resident = true;
  fsai.products = 2;
  fsai.entries = [](const PrecondOptions& options, Index rows, Offset nonzeros) {
    return rows + pattern_growth(options.of<FsaiOptions>().power) * static_cast<double>(nonzeros);
  };
  fsai.automatic = AutoPrecond::definite;
  fsai.margin = fsai.margin_on_mesh = 2;  // it saves little over its setup where the model is a little off
  fsai.triangles = true;
  fsai.check = &check_fsai;
  fsai.estimate_bytes = &detail::estimate_fsai_bytes;
  fsai.build_seconds = &fsai_build_seconds;
  fsai.make = precond_columns<FsaiOperator>();
  return fsai;
}

}  // namespace newel
