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
  double single_share = 0, single_block_share = 0;  ///< of the bytes of a cycle in double, that one in single moves
  double start = 0, row_alone = 0;                  ///< seconds of a setup, which threads do not share
  double row_shared = 0, entry_shared = 0, block_entry_shared = 0;  ///< seconds of a setup, which they do
  double refresh_share = 0, block_refresh_share = 0;                ///< of a setup, that a refresh takes
  double inverse_operation = 0;                                     ///< where all is inverted at once
  double flat_row = 0, flat_rows = 0;  ///< of FSAI's setup for flat tetrahedra: a row, of so many at most
  double fsai_operation = 0;           ///< of FSAI's local problems in a setup
  double fsai_refresh_share = 0;       ///< of that, a refresh
  double made_operation = 0;           ///< of FSAI's local problems in the refresh of one that was made
  double fsai_iteration = 0;           ///< with FSAI on A's pattern an iteration takes so many times as long
  double group_iteration = 0, block_iteration = 0;  ///< the same on groups of rows, and where nodes have several
};

/// AMG on a device: shares; and seconds, of a start, or for each row, entry, node or operation.
struct DeviceAmgConstants {
  double single_share = 0, single_block_share = 0;  ///< as on a host
  double coarse_levels = 0;                         ///< of an application, however small they are
  double coarse_block_levels = 0;                   ///< the same with rigid body modes, which make blocks of six rows
  double coarse_block_node = 0;                     ///< and for each node
  double start = 0, of_first_row = 0, first_rows = 0, of_row = 0, of_entry = 0;  ///< of a setup
  double of_blocks = 0;                                       ///< and where nodes have several rows
  double refresh_share = 0;                                   ///< of a setup
  double fsai_start = 0, fsai_operation = 0;                  ///< of FSAI's setup, where it smooths the first level
  double fsai_refresh_start = 0, fsai_refresh_operation = 0;  ///< of its refresh
};

struct HostPrecondConstants {
  double useful_threads = 0;      ///< beyond, threads wait for the longest problems
  double diagonal_entry = 0;      ///< seconds of a pass over A, for each of its entries
  double read_entry = 0;          ///< seconds to read the pattern, for each of its entries
  ProblemRates fsai, spai;        ///< of a thread
  double fsai_entry_alone = 0;    ///< seconds to find FSAI's pattern, which threads do not share
  double fsai_entry_shared = 0;   ///< the same, which they do
  double ilut_entry = 0;          ///< seconds of a setup of ILUT, for each entry of A; threads do not share them
  double ilut_refresh_share = 0;  ///< of a setup of ILUT, that a refresh takes
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
  double share = 0;  ///< of the iterations with the simple one, that one takes as a rule
  double amg_of_mesh = 0, amg_of_any = 0, amg_of_blocks = 0;  ///< iterations with AMG over the root of those
  double amg_margin = 0, amg_margin_of_mesh = 0;              ///< what AMG has to save, over its setup
  double fsai_margin = 0;                                     ///< what FSAI has to save
  double ilut_of_any = 0;  ///< iterations with ILUT over the root of those with the simple one
  double ilut_entries =
      0;  ///< entries over those of A whose product takes as long on a host as a solve with its factors
  double amg_complexity = 0;    ///< entries of the matrices of all levels over those of A
  double amg_prolongators = 0;  ///< entries of the prolongators over those of A
  double of_differences = 0;    ///< the work of local problems over that of rows of one length
  double few_iterations = 0;    ///< so many with the simple one leave a stronger one little to save
  double far_more = 0;          ///< times the iterations that are expected: then still none pays, none ever will
};
extern const PrecondCounts precond_counts;

}  // namespace newel::detail
