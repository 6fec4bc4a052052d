// SPDX-License-Identifier: Apache-2.0
/// The fitted constants that costs of preconditioners read; `constants_of` finds them, `solver/cost/profiles` has
/// their values. Internal.
#pragma once

#include "core/memory/machine_constants.hpp"

namespace newel::detail {

/// Seconds of one host thread, or of a multiprocessor, for each entry of M, and for each multiplication of the local
/// problems.
struct ProblemRates {
  double entry = 0, work = 0;
};

/// AMG on a host: shares and multiples; and seconds of one thread, of a start, or for each row, entry or operation.
struct HostAmgConstants {
  double single_share = 0, single_block_share = 0;  ///< bytes of a cycle in single over those in double
  double start = 0, row_alone = 0;                  ///< seconds of a setup, not shared by threads
  double row_shared = 0, entry_shared = 0, block_entry_shared = 0;  ///< seconds of a setup, shared by threads
  double refresh_share = 0, block_refresh_share = 0;                ///< seconds of a refresh over those of a setup
  double inverse_operation = 0;                                     ///< of the inverse of the coarsest level
  double flat_row = 0, flat_rows = 0;  ///< FSAI's setup for flat tetrahedra: for each row, and most rows
  double fsai_operation = 0;           ///< an operation of FSAI's local problems in a setup
  double fsai_refresh_share = 0;       ///< a refresh of them over their setup
  double made_operation = 0;           ///< an operation of FSAI's local problems in a refresh
  double fsai_iteration = 0;           ///< time of an iteration with FSAI on A's pattern, over one without
  double group_iteration = 0, block_iteration = 0;  ///< the same on groups of rows, and with several rows a node
};

/// AMG on a device: shares; and seconds, of a start, or for each row, entry, node or operation.
struct DeviceAmgConstants {
  double single_share = 0, single_block_share = 0;  ///< as on a host
  double coarse_levels = 0;                         ///< of an application, whatever their size
  double coarse_block_levels = 0;                   ///< the same with rigid body modes, which make blocks of six rows
  double coarse_block_node = 0;                     ///< and for each node
  double start = 0, of_first_row = 0, first_rows = 0, of_row = 0, of_entry = 0;  ///< of a setup
  double of_blocks = 0;                                       ///< the same if nodes have several rows
  double refresh_share = 0;                                   ///< of a setup
  double fsai_start = 0, fsai_operation = 0;                  ///< of FSAI's setup, if it smooths the first level
  double fsai_refresh_start = 0, fsai_refresh_operation = 0;  ///< of its refresh
};

struct HostPrecondConstants {
  double useful_threads = 0;     ///< more threads only wait for the longest problems
  double diagonal_entry = 0;     ///< seconds of a pass over A, for each of its entries
  double read_entry = 0;         ///< seconds to read the pattern, for each of its entries
  ProblemRates fsai, spai;       ///< of a thread
  double fsai_entry_alone = 0;   ///< seconds to find FSAI's pattern, not shared by threads
  double fsai_entry_shared = 0;  ///< the same, shared by threads
  double ilut_entry = 0;         ///< seconds of a setup of ILUT, for each entry of A and of a mean row; of one thread
  double ilut_refresh_share = 0;  ///< seconds of a refresh of ILUT over those of a setup
  /// Seconds of one thread to split a saddle point and scale its blocks, for each entry of A; and of a refresh.
  double saddle_entry = 0, saddle_refresh_entry = 0;
  HostAmgConstants amg;
};

struct DevicePrecondConstants {
  double diagonal_entry = 0;              ///< seconds of a multiprocessor's pass over A, for each of its entries
  ProblemRates fsai, spai;                ///< of a multiprocessor
  double fsai_start = 0, fsai_row = 0;    ///< seconds to find FSAI's pattern
  double spai_start = 0, spai_entry = 0;  ///< seconds to find SPAI's pattern, on the host
  double ilut_row = 0;                    ///< seconds of an application of ILUT, for each row: most wait for others
  DeviceAmgConstants amg;
};

/// What preconditioners save on meshes and other matrices, whatever the machine.
struct PrecondCounts {
  double share = 0;                                           ///< usual iterations over those with the simple one
  double amg_of_mesh = 0, amg_of_any = 0, amg_of_blocks = 0;  ///< iterations with AMG over the root of Jacobi's
  double amg_margin = 0, amg_margin_of_mesh = 0;              ///< least savings of AMG over its setup
  double fsai_margin = 0;                                     ///< least savings of FSAI over its setup
  double ilut_of_any = 0;  ///< iterations with ILUT over the root of those with the simple one
  double ilut_entries =
      0;  ///< a solve with the factors takes as long on a host as a product with so many times A's entries
  double saddle_least = 0, saddle_of_any = 0;  ///< iterations for a saddle point: a constant, and times the root
  double saddle_setup = 0;                     ///< setup for a saddle point over AMG's setup of the whole matrix
  double amg_complexity = 0;                   ///< entries of the matrices of all levels over those of A
  double amg_prolongators = 0;                 ///< entries of the prolongators over those of A
  double of_differences = 0;                   ///< work of local problems over that of rows of equal length
  double few_iterations = 0;                   ///< with so few iterations a stronger one saves little
  double far_more = 0;  ///< if none is worth its cost in so many times the expected iterations, none is considered
};
extern const PrecondCounts precond_counts;

}  // namespace newel::detail
