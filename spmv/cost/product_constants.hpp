// SPDX-License-Identifier: Apache-2.0
/// The fitted constants that estimates of products read; `constants_of` finds them, `solver/cost/profiles` has their
/// values. Internal.
#pragma once

#include <newel/spmv/cost_model.hpp>
#include "core/memory/machine_constants.hpp"

namespace newel::detail {

/// Of a format on a host. Seconds are those of one thread.
struct HostFormatConstants {
  double bandwidth_share = 0;          ///< of a copy's, that a product reaches
  double setup_seconds_per_entry = 0;  ///< from CSR to a product that can start, for a device too
  double entry_seconds = 0;            ///< of a product from the caches, for each stored slot, in double
  double entry_seconds_single = 0;     ///< the same in single precision

  double seconds(std::size_t value_bytes) const {
    return value_bytes == sizeof(double) ? entry_seconds : entry_seconds_single;
  }
};

/// Of the rows of CSR on a host, in seconds of one thread. What a change of lengths costs grows from the one to the
/// other number of rows of a thread.
struct HostRowConstants {
  double row_seconds = 0;                           ///< of each row
  double step_seconds = 0;                          ///< of a row that ends with a step, beyond `step_rows`
  double uneven_seconds = 0;                        ///< of a row whose length is not guessed, beyond `uneven_rows`
  double triangle_seconds = 0;                      ///< of a row of a triangle, beyond `step_rows`
  double step_rows_from = 0, step_rows_to = 0;      ///< rows of a thread
  double uneven_rows_from = 0, uneven_rows_to = 0;  ///< rows of a thread
};

/// The weights of ELL-WARP's steps: of its model of thresholds.
struct WarpConstants {
  double warp_start = 0;  ///< of a warp, in steps
  double reduction = 0;   ///< of a shuffle and its addition, in steps
};

struct HostProductConstants {
  double wake_seconds = 0;    ///< to start a loop of threads that wait for it awake
  double cached_bytes = 0;    ///< of CSR: smaller matrices stay in the caches between products
  double useful_threads = 0;  ///< of a setup or a product: more threads gain nothing
  HostFormatConstants csr, ehyb, bce, ell_warp, evc_hyb;
  double block_entry_seconds = 0, block_entry_seconds_single = 0;  ///< of EHYB with node blocks
  HostRowConstants csr_rows;
  WarpConstants warps;
};

/// Shares of a device's copy bandwidth that products of large systems reach.
struct BandwidthShares {
  double csr = 0, cusparse = 0, ehyb = 0, bce = 0, ell_warp = 0, evc_hyb = 0;
  double ehyb_symmetric = 0, ehyb_symmetric_single = 0;
};

/// Of EHYB's setup by kernels, in seconds: its start, each of the first vertices, each vertex, each entry.
struct EhybSetupConstants {
  double start = 0, of_first_vertex = 0, first_vertices = 0, of_vertex = 0, of_entry = 0;
};

/// Of ehyb-symmetric on a device.
struct PairConstants {
  double in_pairs = 0;           ///< the share of the entries
  double entry_seconds = 0;      ///< to find the pairs, for each entry of the matrix
  double longest_over_mean = 0;  ///< entries of a row up to which kernels leave nothing to the host
};

/// Of the waits of rows that lanes share: `spmv/cost/row_sharing.hpp` explains them.
struct RowSharingConstants {
  double batch_seconds = 0;                              ///< the wait of a thread for its loads
  double shuffle_batches = 0;                            ///< of a shuffle, in batches
  double launch_seconds = 0, second_launch_seconds = 0;  ///< of the kernels
  double cached_bytes = 0, cached_speed_up = 0;          ///< matrices with less are read so much faster than memory
  double worth = 0;                                      ///< times the least time is no reason to share a row
};

struct DeviceProductConstants {
  double launch_seconds = 0;           ///< from the start of a kernel to the next one's, launched from a stream
  double upload_bytes_per_second = 0;  ///< of the link to the host
  BandwidthShares share;
  double csr_bytes_of_uneven_rows = 0;  ///< additional bytes of rows of different lengths, as a share
  EhybSetupConstants ehyb_setup;
  PairConstants pairs;
  RowSharingConstants rows;
  WarpConstants warps;
  /// Bytes that a multiprocessor's share of memory, and of the second-level cache, moves in a step of a warp.
  double step_bus_bytes = 0, step_cache_bytes = 0;
};

/// Iterations of CG with Jacobi to a digit of 1/e, for each node along an edge: of meshes, whatever the machine.
struct IterationCounts {
  double of_scalars = 0;  ///< one unknown a node
  double of_blocks = 0;   ///< several
};
extern const IterationCounts iteration_counts;

/// The setup, the share of the bandwidth and the seconds of `slots` stored slots at hand, of a format with these
/// constants.
void set_fitted(CostEstimate& cost, const PatternFacts& facts, const Machine& machine, std::size_t value_bytes,
                HostFormatConstants HostProductConstants::*on_host, double BandwidthShares::*on_device, double slots);

}  // namespace newel::detail
