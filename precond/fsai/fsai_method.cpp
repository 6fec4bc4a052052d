// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of FSAI.
#include <algorithm>

#include <newel/core/parallel.hpp>
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
  return parallel_reduce(ctx, a.rows, detail::LocalProblems{}, add_row, join);
}

detail::LocalProblems usual_triangles(const PrecondQuestion& question) {
  const double length = 0.5 * (static_cast<double>(question.nonzeros) / std::max<Index>(question.rows, 1) + 1);
  const double work = length * length * length / question.setup->values.node_rows;
  return detail::usual_problems(question.rows, length, work);
}

// A setup finds the pattern too, on a device there.
PrecondSeconds fsai_setup_seconds(const PrecondQuestion& question, double entries) {
  const Machine& machine = question.machine;
  const auto& on_host = detail::constants_of<detail::HostPrecondConstants>(machine);
  const auto& on_device = detail::constants_of<detail::DevicePrecondConstants>(machine);
  const Context<Space::host>& host = *question.setup->host;
  const double numeric =
      detail::seconds_of(machine.device() ? usual_triangles(question) : triangles_of(host, question.setup->pattern()),
                         machine.device() ? on_device.fsai : on_host.fsai, entries, machine);
  const double symbolic = machine.device()
                              ? on_device.fsai_start + on_device.fsai_row * question.rows
                              : (on_host.fsai_entry_alone + on_host.fsai_entry_shared / host.threads()) * entries;
  return {numeric + symbolic, numeric};
}

PrecondCost fsai_cost(const PrecondQuestion& question) {
  PrecondCost cost;
  cost.entries = question.rows +
                 pattern_growth(question.options.of<FsaiOptions>().power) * static_cast<double>(question.nonzeros);
  cost.margin = detail::precond_counts.fsai_margin;
  if (question.setup != nullptr)
    cost.setup = fsai_setup_seconds(question, 0.5 * detail::stored_entries(question, cost));
  return cost;
}

void check_fsai(const PrecondOptions& options) {
  const int power = options.of<FsaiOptions>().power;
  require_precond_option(power >= 1, "the power of a pattern must be at least 1");
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
  fsai.matrices = {true, 2, true};
  fsai.takes_pattern = fsai.resident = true;
  fsai.automatic = AutoPrecond::definite;
  fsai.check = &check_fsai;
  fsai.estimate_bytes = &detail::estimate_fsai_bytes;
  fsai.cost = &fsai_cost;
  fsai.make = precond_columns<FsaiOperator>();
  return fsai;
}

}  // namespace newel
