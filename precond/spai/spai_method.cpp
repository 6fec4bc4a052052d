// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of SPAI and of its diagonal relative.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "precond/build_cost.hpp"
#include "precond/longest_rows.hpp"
#include "precond/spai/spai.hpp"

namespace newel {
namespace {

constexpr int most_spai_power = 8;       // higher ones reach most of a matrix from every row
constexpr double first_growth_to = 0.4;  // what a pattern that is to grow is requested first

// Least-squares problems: the rows that row i's neighbours reach, at most all, and its own entries as columns; long
// rows as far as they are used.
detail::LocalProblems rows_of(const Pattern<Space::host>& a) {
  detail::LocalProblems sum;
  const auto entries = static_cast<double>(a.nnz());
  const double most = static_cast<double>(
      detail::most_of_row(detail::short_row_of_spai, entries / std::max<Index>(a.rows, 1), a.rows));
  const Offset longest = detail::spai_limits(entries, a.rows).longest_row;
  for (Index i = 0; i < a.rows; ++i) {
    const auto own = static_cast<double>(a.row_begin(i + 1) - a.row_begin(i));
    const double length = std::min(own, most);
    double reached = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const Offset reach = a.row_begin(a.col[k] + 1) - a.row_begin(a.col[k]);
      reached += reach <= longest ? static_cast<double>(reach) * (length / own) : 0;
    }
    sum.entries += length;
    sum.work += std::min(reached, static_cast<double>(a.rows)) * length * length;
  }
  return sum;
}

detail::LocalProblems usual_rows(const PrecondQuestion& question) {
  const double length = static_cast<double>(question.nonzeros) / std::max<Index>(question.rows, 1);
  const double reached = std::min<double>(length * length, question.rows);
  return detail::usual_problems(question.rows, length, reached * length * length);
}

// A setup finds the pattern too, of a device's matrix on the host.
PrecondSeconds spai_setup_seconds(const PrecondQuestion& question, double stored) {
  const Machine& machine = question.machine;
  if (!machine.device()) {
    const auto& fitted = detail::constants_of<detail::HostPrecondConstants>(machine);
    const double numeric = detail::seconds_of(rows_of(question.setup->pattern()), fitted.spai, stored, machine);
    return {numeric, numeric};
  }
  const auto& fitted = detail::constants_of<detail::DevicePrecondConstants>(machine);
  const double numeric = detail::seconds_of(usual_rows(question), fitted.spai, stored, machine);
  return {numeric + (fitted.spai_start + fitted.spai_entry * stored), numeric};
}

PrecondCost spai_cost(const PrecondQuestion& question) {
  PrecondCost cost;
  cost.entries = pattern_growth(question.options.of<SpaiOptions>().power) * static_cast<double>(question.nonzeros);
  if (question.setup != nullptr) cost.setup = spai_setup_seconds(question, detail::stored_entries(question, cost));
  return cost;
}

void check_spai(const PrecondOptions& options) {
  const SpaiOptions& own = options.of<SpaiOptions>();
  require_precond_option(own.power >= 1, "the power of a pattern must be at least 1");
  require_precond_option(std::isfinite(own.adaptive) && own.adaptive >= 0,
                         "adaptive must be finite and not negative");
  check_pattern_options(options, own.power > 1 || own.adaptive > 0);
}

PrecondSide side_of(const PrecondOptions& options) { return options.of<SpaiOptions>().side; }

std::vector<SettingChange> growing_further(const PrecondOptions& options) {
  const double now = options.of<SpaiOptions>().adaptive;
  char text[32];
  std::snprintf(text, sizeof text, "%g", now > 0 ? now / 2 : first_growth_to);
  return {{"preconditioner", "spai", true}, {"spai_adaptive", text}};
}

MethodOption side_option() {
  return choice_option("--spai-side", "SPAI makes A M close to the identity (right, the default) or M A (left)",
                       "spai_side", {"right", "left"}, &SpaiOptions::side);
}

MethodOption power_option_of_spai() {
  MethodOption option = value_option("--spai-power", "N", "SPAI's M has the pattern of A^N, default 1", "spai_power",
                                     &SpaiOptions::power);
  option.most = most_spai_power;
  option.shapes_pattern = true;
  return option;
}

MethodOption adaptive_option() {
  MethodOption option = value_option("--spai-adaptive", "EPS",
                                     "Grow SPAI's pattern in columns whose residual exceeds EPS; default: never",
                                     "spai_adaptive", &SpaiOptions::adaptive);
  option.shapes_pattern = true;
  return option;
}

}  // namespace

PrecondMethod spai0_method() {
  PrecondMethod spai0;
  spai0.name = "spai0";
  spai0.summary = "the diagonal matrix closest to the inverse";
  spai0.options = {side_option()};
  spai0.diagonal = true;
  spai0.side = &side_of;
  spai0.estimate_bytes = &detail::estimate_spai0_bytes;
  spai0.make = precond_columns<Spai0Operator>();
  return spai0;
}

PrecondMethod spai_method() {
  PrecondMethod spai;
  spai.name = "spai";
  spai.summary = "the sparse matrix closest to the inverse, for any matrix";
  spai.options = {power_option_of_spai(), side_option(), adaptive_option(), drop_option()};
  spai.matrices = {true, 1};
  spai.takes_pattern = spai.resident = true;
  spai.automatic = AutoPrecond::general;
  spai.check = &check_spai;
  spai.side = &side_of;
  spai.stronger = &growing_further;
  spai.estimate_bytes = &detail::estimate_spai_bytes;
  spai.cost = &spai_cost;
  spai.make = precond_columns<SpaiOperator>();
  return spai;
}

}  // namespace newel
