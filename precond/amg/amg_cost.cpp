// SPDX-License-Identifier: Apache-2.0
// What AMG costs.
#include <newel/config.hpp>
#include "precond/amg/amg.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include <newel/precond/registry.hpp>
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/smooth/smoothing_look.hpp"
#include "precond/precond_constants.hpp"

namespace newel::detail {
namespace {

const HostAmgConstants& on_host(const PrecondQuestion& question) {
  return constants_of<HostPrecondConstants>(question.machine).amg;
}

const DeviceAmgConstants& on_device(const Machine& machine) {
  return constants_of<DevicePrecondConstants>(machine).amg;
}

// Beyond, threads wait for the longest rows.
double threads_of(const PrecondQuestion& question) {
  const double useful = constants_of<HostPrecondConstants>(question.machine).useful_threads;
  return std::clamp<double>(question.setup->host->threads(), 1, useful);
}

// A setup and a refresh of FSAI as the smoother of the first level on a device, where they take a while however few
// operations its local problems have.
PrecondSeconds fsai_on_device(double operations, const Machine& machine) {
  const DeviceAmgConstants& fitted = on_device(machine);
  return {fitted.fsai_start + operations * fitted.fsai_operation,
          fitted.fsai_refresh_start + operations * fitted.fsai_refresh_operation};
}

// FSAI as the smoother of the first level: the seconds of its setup, and what it makes of those of an iteration.
// Where the values are not known, on a host as on meshes of tetrahedra, some of whose elements are flat more often
// than not; what its refresh takes is asked of the one that is made. Where they will be, none, until they are.
PrecondSeconds smoother_seconds(const PrecondQuestion& question, std::monostate) {
  if (question.setup->device != nullptr || question.setup->values.later) return {};
  constexpr double shortest_row = 6, longest_row = 20;
  const auto rows = static_cast<double>(question.rows), entries = static_cast<double>(question.nonzeros);
  const bool tetrahedra = entries > shortest_row * rows && entries < longest_row * rows;
  const HostAmgConstants& fitted = on_host(question);
  return {tetrahedra ? fitted.flat_row / threads_of(question) * std::min(rows, fitted.flat_rows) : 0, 0};
}

// SPAI as the smoother of the levels on which convection prevails: nodes of the next one are some three times as far
// apart, and so is its share.
PrecondSeconds spai_seconds(const PrecondQuestion& question, double share) {
  constexpr double coarser = 3;
  if (!(coarser * share > most_antisymmetric)) return {};
  const double levels = precond_counts.amg_complexity - (share > most_antisymmetric ? 0 : 1);
  PrecondSetup of_spai = *question.setup;
  of_spai.stored = static_cast<Offset>(levels * static_cast<double>(question.nonzeros));
  PrecondQuestion spai = question;
  spai.setup = &of_spai;
  return find_preconditioner(name_of(AmgSmoother::spai)).cost(spai).setup;
}

// A solver that needs no symmetric M may have a matrix that is not symmetric: FSAI is not its smoother. Empty: it is.
template <class T, Space S>
std::optional<PrecondSeconds> unsymmetric_seconds(const PrecondQuestion& question, const Context<S>& ctx,
                                                  const CsrView<T, S>& a) {
  if (question.options.symmetric) return std::nullopt;
  const double share = expected_antisymmetry(ctx, a, question.setup->values.node_rows);
  return share > 0 ? std::optional(spai_seconds(question, share)) : std::nullopt;
}

// By a look at the values.
template <class T>
PrecondSeconds smoother_seconds(const PrecondQuestion& question, const CsrView<T, Space::device>& a) {
  if constexpr (NEWEL_HAS_CUDA != 0) {
    const PrecondSetup& setup = *question.setup;
    if (const auto seconds = unsymmetric_seconds(question, *setup.device, a)) return *seconds;
    const SparseSmoothing smoothing = expected_smoothing(*setup.device, a, setup.values.node_rows);
    if (smoothing.fsai) return fsai_on_device(smoothing.operations, question.machine);
  }
  return {};
}
template <class T>
PrecondSeconds smoother_seconds(const PrecondQuestion& question, const CsrView<T, Space::host>& a) {
  const HostAmgConstants& fitted = on_host(question);
  const PrecondSetup& setup = *question.setup;
  if (const auto unsymmetric = unsymmetric_seconds(question, *setup.host, a)) return *unsymmetric;
  const SparseSmoothing smoothing = expected_smoothing(*setup.host, a, setup.values.node_rows);
  if (!smoothing.fsai) return {};
  double seconds = fitted.fsai_operation / threads_of(question) * smoothing.operations;
  if (smoothing.operations == 0) {
    PrecondSetup of_fsai = setup;
    of_fsai.stored = question.nonzeros + question.rows;
    PrecondQuestion fsai = question;
    fsai.setup = &of_fsai;
    seconds = find_preconditioner(name_of(AmgSmoother::fsai)).cost(fsai).setup.build;
  }
  const double scalar_share = smoothing.operations == 0 ? fitted.fsai_iteration : fitted.group_iteration;
  return {seconds, fitted.fsai_refresh_share * seconds,
          setup.values.node_rows > 1 ? fitted.block_iteration : scalar_share};
}

constexpr double wide_row = 30;  // nodes of several rows have as many entries in a row

PrecondSeconds setup_on_device(const PrecondQuestion& question, const PrecondSeconds& smoother) {
  const DeviceAmgConstants& fitted = on_device(question.machine);
  const auto rows = static_cast<double>(question.rows), entries = static_cast<double>(question.nonzeros);
  const double seconds = fitted.start + (entries > wide_row * rows ? fitted.of_blocks : 0) +
                         fitted.of_first_row * std::min(rows, fitted.first_rows) + fitted.of_row * rows +
                         fitted.of_entry * entries;
  return {seconds + smoother.build, fitted.refresh_share * seconds + smoother.refresh};
}

// The setup where the matrix is.
PrecondSeconds setup_seconds(const PrecondQuestion& question) {
  constexpr double default_coarse = 256;  // rows that are inverted at once
  const HostAmgConstants& fitted = on_host(question);
  const auto rows = static_cast<double>(question.rows), entries = static_cast<double>(question.nonzeros);
  const KnownValues& values = question.setup->values;
  const auto look = [&] {
    return std::visit([&](const auto& a) { return smoother_seconds(question, a); }, values.matrix);
  };
  if (question.machine.device()) return setup_on_device(question, look());
  if (rows <= default_coarse) {
    const double seconds = fitted.inverse_operation * rows * rows * rows;
    return {seconds, seconds};
  }
  const double threads = threads_of(question);
  const bool blocks = values.node_rows > 1 || entries > wide_row * rows;
  const double hierarchy = fitted.start + (fitted.row_alone + fitted.row_shared / threads) * rows +
                           (blocks ? fitted.block_entry_shared : fitted.entry_shared) / threads * entries;
  const PrecondSeconds smoother = look();
  const double refresh_share = blocks ? fitted.block_refresh_share : fitted.refresh_share;
  return {hierarchy + smoother.build, refresh_share * hierarchy + smoother.refresh, smoother.iteration_share};
}

// FSAI's local problems, where nothing has looked at the values before.
double more_refresh_seconds(const PrecondQuestion& question) {
  const double operations = local_operations_of(*question.made);
  if (!(operations > 0)) return 0;
  if (question.machine.device()) return fsai_on_device(operations, question.machine).refresh;
  return operations * on_host(question).made_operation / std::max(question.host_threads, 1);
}

double amg_on_mesh(double simple) { return std::min(simple, 1 + precond_counts.amg_of_mesh * std::sqrt(simple)); }

// A solve that finds less falls back.
double amg_on_any(double simple) { return std::min(simple, 1 + precond_counts.amg_of_any * std::sqrt(simple)); }

// With translations alone.
double amg_on_blocks(double simple) { return std::min(simple, 1 + precond_counts.amg_of_blocks * std::sqrt(simple)); }

// A cycle, which moves so much less in single precision, and whose coarse levels take a while on a device.
void add_cycle(const PrecondQuestion& question, PrecondCost& cost) {
  const bool blocks = question.block > 1;
  if (!question.machine.device()) {
    const HostAmgConstants& fitted = on_host(question);
    cost.low_share = blocks ? fitted.single_block_share : fitted.single_share;
    return;
  }
  const DeviceAmgConstants& fitted = on_device(question.machine);
  cost.low_share = blocks ? fitted.single_block_share : fitted.single_share;
  cost.start_seconds = blocks ? fitted.coarse_block_levels : fitted.coarse_levels;
  if (blocks) cost.start_seconds += fitted.coarse_block_node * question.rows / question.block;
}

}  // namespace

PrecondCost amg_cost(const PrecondQuestion& question) {
  // Of each step of the smoother, coarse levels included: the residual, the correction and x, most of them twice.
  constexpr double of_a_step = 6;
  const int degree = question.options.of<AmgOptions>().degree;
  const double products = 2.0 * degree + 1, complexity = precond_counts.amg_complexity;
  const bool mesh = question.origin == MatrixOrigin::mesh, blocks = question.origin == MatrixOrigin::blocks;
  PrecondCost cost;
  cost.entries = (products * (1 + 2 * (complexity - 1)) + 2 * precond_counts.amg_prolongators) *
                 static_cast<double>(question.nonzeros);
  cost.vector_passes = 2.0 * degree * of_a_step * complexity;
  add_cycle(question, cost);
  cost.iterations = mesh ? &amg_on_mesh : blocks ? &amg_on_blocks : &amg_on_any;
  cost.margin = mesh ? precond_counts.amg_margin_of_mesh : precond_counts.amg_margin;
  if (question.setup != nullptr) cost.setup = setup_seconds(question);
  if (question.made != nullptr) cost.more_refresh_seconds = more_refresh_seconds(question);
  return cost;
}

}  // namespace newel::detail
