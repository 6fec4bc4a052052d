// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of AMG.
#include "precond/amg/amg.hpp"
#include "precond/precond_constants.hpp"

namespace newel {
namespace {

constexpr int most_degree = 8;
constexpr int enough_degree = 4;  // a higher one seldom saves what it costs
constexpr int most_width = 64;
constexpr int largest_coarse = 4096;  // inverted densely: 128 MiB

std::vector<MethodOption> amg_options() {
  return {
      choice_option("--amg-smoother",
                    "Smoother of AMG's levels. auto: chebyshev, or spai or fsai if the matrix needs it.\n"
                    "ilut is for convection with hardly any diffusion",
                    "amg_smoother", {"auto", "chebyshev", "jacobi", "spai", "fsai", "ilut"}, &AmgOptions::smoother),
      in_range(
          value_option("--amg-degree", "N", "Degree of AMG's smoother, default 2", "amg_degree", &AmgOptions::degree),
          1, most_degree),
      value_option("--amg-theta", "THETA",
                   "AMG ignores a_ij in aggregation if |a_ij| < THETA sqrt(|a_ii a_jj|), default 0.02", "amg_theta",
                   &AmgOptions::theta),
      in_range(value_option("--amg-max-coarse", "N",
                            "Maximum rows of AMG's coarsest level; default 256, on a device 1024 if that\n"
                            "level is symmetric positive definite",
                            "amg_max_coarse", &AmgOptions::max_coarse),
               0, largest_coarse),
      in_range(value_option("--amg-max-width", "N", "Maximum aggregates in a row of AMG's prolongators, default 3",
                            "amg_max_width", &AmgOptions::max_width),
               1, most_width),
      choice_option("--amg-near-null",
                    "What AMG's coarse levels represent: rigid body modes (auto: if the coordinates\n"
                    "of an elastic body are known) or constants",
                    "amg_near_null", {"auto", "constant", "rigid"}, &AmgOptions::near_null),
      choice_option("--amg-numbering",
                    "How unknowns of nodes are numbered: node for x y z, x y z, ..., component for\n"
                    "x x ..., y y ..., z z .... auto: found from the pattern",
                    "amg_numbering", {"auto", "node", "component"}, &AmgOptions::numbering),
      choice_option("--amg-precision",
                    "Precision of AMG's cycle in systems in double. auto: single, if the range and\n"
                    "the contrast of the matrix allow it, else double",
                    "amg_precision", {"auto", "double", "single"}, &AmgOptions::precision),
      choice_option("--amg-refresh", "What AMG recomputes for new values, default galerkin: all but the prolongators",
                    "amg_refresh", {"galerkin", "full", "keep"}, &AmgOptions::refresh),
  };
}

void check_amg(const PrecondOptions& options) {
  const AmgOptions& amg = options.of<AmgOptions>();
  require_precond_option(amg.theta >= 0 && amg.theta <= 1, "AMG's theta must be between 0 and 1");
  require_precond_option(amg.degree >= 1 && amg.degree <= most_degree,
                         "the degree of AMG's smoother must be 1 to " + std::to_string(most_degree));
  require_precond_option(amg.max_coarse >= 0 && amg.max_coarse <= largest_coarse,
                         "AMG's coarsest level must have 1 to " + std::to_string(largest_coarse) + " rows");
  require_precond_option(amg.max_width >= 1 && amg.max_width <= most_width,
                         "a row of AMG's prolongators must have 1 to " + std::to_string(most_width) + " aggregates");
}

std::vector<SettingChange> higher_degree(const PrecondOptions& options) {
  const AmgOptions& amg = options.of<AmgOptions>();
  if (amg.degree >= enough_degree) return {};
  return {{"preconditioner", "amg", true}, {"amg_degree", std::to_string(enough_degree)}};
}

bool chose_single(const PrecondOptions& options, const OperatorInfo& info) {
  const bool automatic = options.of<AmgOptions>().precision == AmgPrecision::automatic;
  return automatic && info.detail.find(detail::single_remark) != std::string::npos;
}

void forbid_single(PrecondOptions& options) { options.of<AmgOptions>().precision = AmgPrecision::system; }

}  // namespace

// The hierarchy in double for refreshes, with 32 bits of a map for each value, and what the cycle stores of it.
std::uint64_t detail::estimate_amg_bytes(const PrecondOptions&, const SpmvFormat& format, Index rows, Offset nonzeros,
                                         std::size_t value_bytes) {
  const double of_hierarchy = (precond_counts.amg_complexity + precond_counts.amg_prolongators) *
                              static_cast<double>(nonzeros) * sizeof(double);
  return format.estimate_bytes(rows, rows, nonzeros, value_bytes) + static_cast<std::uint64_t>(of_hierarchy) +
         static_cast<std::uint64_t>(nonzeros) * sizeof(std::uint32_t) +
         6 * static_cast<std::uint64_t>(rows) * value_bytes;
}

PrecondMethod amg_method() {
  PrecondMethod amg;
  amg.name = "amg";
  amg.summary = "algebraic multigrid by smoothed aggregation, for diffusion and elasticity on large meshes";
  amg.options = amg_options();
  amg.divides_by_diagonal = amg.takes_coordinates = true;
  amg.matrices = {true, 4};
  amg.automatic = AutoPrecond::elliptic;
  amg.cost = &detail::amg_cost;
  amg.check = &check_amg;
  amg.single = {&chose_single, &forbid_single};
  amg.estimate_bytes = &detail::estimate_amg_bytes;
  amg.stronger = &higher_degree;
  amg.make = precond_columns<AmgOperator>();
  return amg;
}

}  // namespace newel
