// SPDX-License-Identifier: Apache-2.0
// What the table of preconditioners says of AMG.
#include <newel/config.hpp>
#include "precond/amg/amg.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <newel/precond/registry.hpp>
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/smooth/smoothing_look.hpp"

namespace newel {
namespace {

constexpr int most_degree = 8;
constexpr int enough_degree = 4;  // a higher one seldom saves what it costs
constexpr int most_width = 64;
constexpr int largest_coarse = 4096;  // inverted densely: 128 MiB

// Entries of all levels' matrices and prolongators over those of A: estimates from meshes in three dimensions.
constexpr double usual_complexity = 1.2;
constexpr double prolongator_share = 0.3;

// A cycle in single precision moves so much of what one in double moves, columns included, of which blocks of three
// rows have a ninth; and its coarse levels take so long on a device, however small they are, and for each node. Rigid
// body modes make blocks of six rows of these levels. Fitted to docs/results/regret_h200.json.
constexpr double single_share = 0.6, single_block_share = 0.35, single_share_on_host = 0.8;
constexpr double coarse_seconds = 55e-6, coarse_block_seconds = 60e-6, block_node_seconds = 0.61e-9;

std::vector<MethodOption> amg_options() {
  return {
      choice_option("--amg-smoother",
                    "Smoother of AMG's levels. auto: chebyshev, or by measures of the matrix spai or fsai",
                    "amg_smoother", {"auto", "chebyshev", "jacobi", "spai", "fsai"}, &AmgOptions::smoother),
      in_range(
          value_option("--amg-degree", "N", "Degree of AMG's smoother, default 2", "amg_degree", &AmgOptions::degree),
          1, most_degree),
      value_option("--amg-theta", "THETA",
                   "Rows with |a_ij| < THETA sqrt(|a_ii a_jj|) share no aggregate of AMG, default 0.02", "amg_theta",
                   &AmgOptions::theta),
      in_range(value_option("--amg-max-coarse", "N",
                            "Rows of AMG's coarsest level, at most; default 256, on a device 1024 where that\n"
                            "level is symmetric positive definite",
                            "amg_max_coarse", &AmgOptions::max_coarse),
               0, largest_coarse),
      in_range(value_option("--amg-max-width", "N", "Aggregates that a row of AMG's prolongators reaches, default 3",
                            "amg_max_width", &AmgOptions::max_width),
               1, most_width),
      choice_option("--amg-near-null",
                    "What AMG's coarse levels represent: rigid body modes (auto: where the coordinates\n"
                    "of an elastic body are known) or constants",
                    "amg_near_null", {"auto", "constant", "rigid"}, &AmgOptions::near_null),
      choice_option("--amg-numbering",
                    "How unknowns of nodes are numbered: node for x y z, x y z, ..., component for\n"
                    "x x ..., y y ..., z z .... auto: as the pattern shows",
                    "amg_numbering", {"auto", "node", "component"}, &AmgOptions::numbering),
      choice_option("--amg-precision",
                    "Precision of AMG's cycle in systems in double. auto: single, where the range and\n"
                    "the contrast of the matrix allow it, else double",
                    "amg_precision", {"auto", "double", "single"}, &AmgOptions::precision),
      choice_option("--amg-refresh", "What new values replace in AMG, default galerkin: all but the prolongators",
                    "amg_refresh", {"galerkin", "full", "keep"}, &AmgOptions::refresh),
  };
}

void check_amg(const PrecondOptions& options) {
  const AmgOptions& amg = options.of<AmgOptions>();
  require_precond_option(amg.theta >= 0 && amg.theta <= 1, "AMG's theta lies between 0 and 1");
  require_precond_option(amg.degree >= 1 && amg.degree <= most_degree,
                         "the degree of AMG's smoother is 1 to " + std::to_string(most_degree));
  require_precond_option(amg.max_coarse >= 0 && amg.max_coarse <= largest_coarse,
                         "AMG's coarsest level has 1 to " + std::to_string(largest_coarse) + " rows");
  require_precond_option(amg.max_width >= 1 && amg.max_width <= most_width,
                         "a row of AMG's prolongators reaches 1 to " + std::to_string(most_width) + " aggregates");
}

double amg_entries(const PrecondOptions& options, Index, Offset nonzeros) {
  const double products = 2.0 * options.of<AmgOptions>().degree + 1;
  return (products * (1 + 2 * (usual_complexity - 1)) + 2 * prolongator_share) * static_cast<double>(nonzeros);
}

// Beyond, threads wait for the longest rows.
double threads_of(const PrecondBuild& build) {
  constexpr int useful_threads = 16;
  return std::clamp(build.host->threads(), 1, useful_threads);
}

// A setup and a refresh of FSAI as the smoother of the first level on a device, where they take a while however few
// operations its local problems have. The setup, with the search of what its rows see, is fitted to 4 to 43 ms of 23
// systems on an H200 (docs/results/amg_meshes_h200.json), most within a third; the refresh to 0.7 to 18 ms of six
// (regret_h200.json).
PrecondSeconds fsai_on_device(double operations) {
  constexpr double start = 2e-3, of_operation = 3.5e-12, refresh_start = 0.6e-3, refresh_operation = 1.9e-12;
  return {start + operations * of_operation, refresh_start + operations * refresh_operation};
}

// FSAI as the smoother of the first level: the seconds of its setup, and what it makes of those of an iteration.
// Where the values are not known, on a host as on meshes of tetrahedra, some of whose elements are flat more often
// than not; what its refresh takes is asked of the one that is made. Where they will be, none, until they are.
PrecondSeconds smoother_seconds(const PrecondBuild& build, std::monostate) {
  if (build.device != nullptr || build.values.later) return {};
  constexpr double of_row = 4e-6, most_rows = 8e3, shortest_row = 6, longest_row = 20;
  const auto rows = static_cast<double>(build.rows), entries = static_cast<double>(build.nonzeros);
  const bool tetrahedra = entries > shortest_row * rows && entries < longest_row * rows;
  return {tetrahedra ? of_row / threads_of(build) * std::min(rows, most_rows) : 0, 0};
}

// By a look at the values.
template <class T>
PrecondSeconds smoother_seconds(const PrecondBuild& build, const CsrView<T, Space::device>& a) {
  if constexpr (NEWEL_HAS_CUDA != 0) {
    const detail::SparseSmoothing smoothing = detail::expected_smoothing(*build.device, a, build.values.node_rows);
    if (smoothing.fsai) return fsai_on_device(smoothing.operations);
  }
  return {};
}
template <class T>
PrecondSeconds smoother_seconds(const PrecondBuild& build, const CsrView<T, Space::host>& a) {
  constexpr double of_operation = 2e-10, refresh_share = 0.55, pattern_share = 2, group_share = 1.5,
                   block_share = 1.4;  // of an iteration
  const detail::SparseSmoothing smoothing = detail::expected_smoothing(*build.host, a, build.values.node_rows);
  if (!smoothing.fsai) return {};
  double seconds = of_operation / threads_of(build) * smoothing.operations;
  if (smoothing.operations == 0) {
    PrecondBuild fsai = build;
    fsai.stored = build.nonzeros + build.rows;
    seconds = find_preconditioner(detail::name_of(AmgSmoother::fsai)).build_seconds(fsai).build;
  }
  const double scalar_share = smoothing.operations == 0 ? pattern_share : group_share;
  return {seconds, refresh_share * seconds, build.values.node_rows > 1 ? block_share : scalar_share};
}

// The setup where the matrix is. On one and two threads of an EPYC 1 to 350 ms for 1,600 to 216,000 rows, of which 9
// in 10 lie within a quarter; on an H200 1.5 to 137 ms for 0.004 to 6.6 million (docs/results/amg_h200.json and
// amg_meshes_h200.json), up to twice as much where nodes are tied.
PrecondSeconds amg_build_seconds(const PrecondBuild& build) {
  constexpr double device_seconds = 1.7e-3, of_first_row = 1.3e-8, first_rows = 80e3, device_row = 3.8e-9,
                   device_entry = 0.45e-9, device_refresh_share = 0.28;
  constexpr double wide_row = 30, device_blocks = 0.85e-3;  // nodes of several rows have as many entries in a row
  constexpr double start = 0.3e-3, row_alone = 0.1e-6, row_shared = 0.1e-6, entry_shared = 90e-9,
                   block_entry_shared = 48e-9, refresh_share = 0.3, block_refresh_share = 0.45;
  constexpr double default_coarse = 256, inverse_operation = 4e-10;  // of what is inverted at once
  const auto rows = static_cast<double>(build.rows), entries = static_cast<double>(build.nonzeros);
  const bool blocks = build.values.node_rows > 1 || entries > wide_row * rows;
  const auto look = [&] {
    return std::visit([&](const auto& a) { return smoother_seconds(build, a); }, build.values.matrix);
  };
  if (build.machine.device()) {
    const double seconds = device_seconds + (entries > wide_row * rows ? device_blocks : 0) +
                           of_first_row * std::min(rows, first_rows) + device_row * rows + device_entry * entries;
    const PrecondSeconds smoother = look();
    return {seconds + smoother.build, device_refresh_share * seconds + smoother.refresh};
  }
  if (rows <= default_coarse) {
    const double seconds = inverse_operation * rows * rows * rows;
    return {seconds, seconds};
  }
  const double threads = threads_of(build);
  const double hierarchy = start + (row_alone + row_shared / threads) * rows +
                           (blocks ? block_entry_shared : entry_shared) / threads * entries;
  const PrecondSeconds smoother = look();
  return {hierarchy + smoother.build, (blocks ? block_refresh_share : refresh_share) * hierarchy + smoother.refresh,
          smoother.iteration_share};
}

// FSAI's local problems, where nothing has looked at the values before.
double amg_more_refresh_seconds(const OperatorInfo& made, const Machine& machine, int host_threads) {
  constexpr double of_thread = 1.4e-10;  // of an EPYC
  const double operations = detail::local_operations_of(made);
  if (!(operations > 0)) return 0;
  return machine.device() ? fsai_on_device(operations).refresh : operations * of_thread / std::max(host_threads, 1);
}

// Of each step of the smoother, coarse levels included: the residual, the correction and x, most of them twice.
double amg_vector_passes(const PrecondOptions& options) {
  constexpr double of_a_step = 6;
  return 2.0 * options.of<AmgOptions>().degree * of_a_step * usual_complexity;
}

// The median over the meshes of docs/results/regret_h200.json, on which 0.4 to 1 sqrt(simple) were taken.
double amg_iterations_on_mesh(double simple) { return std::min(simple, 1 + 0.66 * std::sqrt(simple)); }

// Matrices of other origin take 0.7 to 6 sqrt(simple) there, 1.5 in the mean of logarithms. A solve that finds less
// falls back.
double amg_iterations(double simple) { return std::min(simple, 1 + 1.4 * std::sqrt(simple)); }

// Translations alone take half as many again to twice as many as rigid body modes (docs/results/regret_h200.json).
double amg_iterations_of_blocks(double simple) { return std::min(simple, 1 + 1.6 * std::sqrt(simple)); }

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
  const double of_hierarchy = (usual_complexity + prolongator_share) * static_cast<double>(nonzeros) * sizeof(double);
  return format.estimate_bytes(rows, rows, nonzeros, value_bytes) + static_cast<std::uint64_t>(of_hierarchy) +
         static_cast<std::uint64_t>(nonzeros) * sizeof(std::uint32_t) +
         6 * static_cast<std::uint64_t>(rows) * value_bytes;
}

PrecondMethod amg_method() {
  PrecondMethod amg;
  amg.name = "amg";
  amg.summary = "algebraic multigrid by smoothed aggregation, for diffusion and elasticity on large meshes";
  amg.options = amg_options();
  amg.divides_by_diagonal = amg.own_matrices = amg.takes_coordinates = true;
  amg.products = 4;
  amg.automatic = AutoPrecond::definite;
  amg.iterations = &amg_iterations;
  amg.iterations_on_mesh = &amg_iterations_on_mesh;
  amg.iterations_of_blocks = &amg_iterations_of_blocks;
  amg.margin = 3.5;
  amg.margin_on_mesh = 1.4;
  amg.more_refresh_seconds = &amg_more_refresh_seconds;
  amg.low_share = single_share;
  amg.low_share_on_host = single_share_on_host;
  amg.low_block_share = single_block_share;
  amg.device_start_seconds = coarse_seconds;
  amg.device_block_start_seconds = coarse_block_seconds;
  amg.device_block_node_seconds = block_node_seconds;
  amg.entries = &amg_entries;
  amg.vector_passes = &amg_vector_passes;
  amg.check = &check_amg;
  amg.chose_single = &chose_single;
  amg.forbid_single = &forbid_single;
  amg.estimate_bytes = &detail::estimate_amg_bytes;
  amg.build_seconds = &amg_build_seconds;
  amg.stronger = &higher_degree;
  amg.make = precond_columns<AmgOperator>();
  return amg;
}

}  // namespace newel
