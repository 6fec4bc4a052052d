// SPDX-License-Identifier: Apache-2.0
// The constants fitted to an H200 whose host has 16 processors; an H100 has the same.
#include "solver/cost/profiles/profiles.hpp"

namespace newel::detail {
namespace {

// Large systems, most in double precision.
constexpr BandwidthShares h200_shares() {
  BandwidthShares fitted;
  fitted.csr = 0.83;       // 0.8 to 0.93
  fitted.cusparse = 0.65;  // 0.5 to 0.75 with its two variants
  fitted.ehyb = 0.92;      // 0.91 to 1.01 in double, 0.79 to 0.97 in single precision
  fitted.bce = 0.75;
  fitted.ell_warp = 0.88;  // 0.75 to 1
  fitted.evc_hyb = 0.76;
  // Elasticity of 0.5 to 3.6 million rows: 0.70 to 0.85 of EHYB's time in double, 0.93 to 1.08 in single precision.
  fitted.ehyb_symmetric = 0.77;
  fitted.ehyb_symmetric_single = 0.6;
  return fitted;
}

constexpr DeviceProductConstants h200_products() {
  DeviceProductConstants fitted;
  fitted.launch_seconds = 2.5e-6;
  fitted.upload_bytes_per_second = 2e10;
  fitted.share = h200_shares();
  fitted.csr_bytes_of_uneven_rows = 0.2;  // meshes, whose neighbours are far apart in x; on an H100 too
  // 25 systems of 0.06 to 41 million entries: 0.7 to 1.4 times what was measured. The host divides what the device
  // coarsens the graph to.
  fitted.ehyb_setup = {1.1e-3, 6.2e-8, 100e3, 1.1e-8, 5e-11};
  // On four meshes, kernels left rows of 3.1 times the mean to the host, but not rows of 2.1 times.
  fitted.pairs = {0.82, 1.5e-10, 2.5};
  fitted.rows = {1e-6, 0.02, 2e-6, 2.5e-6, 40e6, 2, 1.05};
  // A lone warp with eight loads in flight waits about 1.3 microseconds for eight steps and their x. In the time of
  // one step, 160 ns, a multiprocessor's share of the bus moves 5.3 KB, and of the second-level cache 6.5 KB. A
  // dependent load and the start of a warp take four such steps, a shuffle with its addition about 20 ns.
  fitted.warps = {4, 0.125};
  fitted.step_bus_bytes = 5300;
  fitted.step_cache_bytes = 6500;
  return fitted;
}

// Cycles: docs/results/regret_h200.json. Setups: 1.5 to 137 ms for 0.004 to 6.6 million rows (amg_h200.json and
// amg_meshes_h200.json), up to twice as much if nodes are tied.
constexpr DeviceAmgConstants h200_amg() {
  DeviceAmgConstants fitted;
  fitted.single_share = 0.6;
  fitted.single_block_share = 0.35;  // blocks of three rows have a ninth of the columns
  fitted.coarse_levels = 55e-6;
  fitted.coarse_block_levels = 60e-6;
  fitted.coarse_block_node = 0.61e-9;
  fitted.start = 1.7e-3;
  fitted.of_first_row = 1.3e-8;
  fitted.first_rows = 80e3;
  fitted.of_row = 3.8e-9;
  fitted.of_entry = 0.45e-9;
  fitted.of_blocks = 0.85e-3;
  fitted.refresh_share = 0.28;
  // The setup, with the search of what the rows of FSAI see: 4 to 43 ms of 23 systems (amg_meshes_h200.json), most
  // within a third. The refresh: 0.7 to 18 ms of six (regret_h200.json).
  fitted.fsai_start = 2e-3;
  fitted.fsai_operation = 3.5e-12;
  fitted.fsai_refresh_start = 0.6e-3;
  fitted.fsai_refresh_operation = 1.9e-12;
  return fitted;
}

// The systems of docs/results/regret_h200.json.
constexpr DevicePrecondConstants h200_preconds() {
  DevicePrecondConstants fitted;
  fitted.diagonal_entry = 3e-9;
  fitted.fsai = {66e-9, 0.11e-9};
  fitted.spai = {66e-9, 0.063e-9};
  fitted.fsai_start = 0.45e-3;
  fitted.fsai_row = 4.7e-9;
  fitted.spai_start = 1e-3;
  fitted.spai_entry = 18e-9;
  fitted.ilut_row = 0.25e-6;  // not measured: half a microsecond for each of n / 4 levels, twice
  fitted.amg = h200_amg();
  return fitted;
}

constexpr ResidentConstants h200_resident() {
  ResidentConstants fitted;
  fitted.synchronisation_seconds = 1.5e-6;
  fitted.product_start_seconds = 2.5e-6;
  fitted.on_chip_speed = 1.45;
  fitted.blocks_on_chip_speed = 1.6;  // whose columns are few
  fitted.second_level = {1.5, 0.5, 0.65};
  fitted.row_product_start_seconds = 2.3e-6;
  fitted.rows_on_chip_speed = 1;
  fitted.rows_streaming_speed = 0.57;
  fitted.uneven_halo = 1.6;
  fitted.reserved_bytes = 6000;
  return fitted;
}

// docs/results/iterations_h200.json.
constexpr DeviceIterationConstants h200_iterations() {
  DeviceIterationConstants fitted;
  fitted.kernel_seconds = 4.2e-6;
  fitted.sweep_share = 0.85;
  fitted.resident = h200_resident();
  return fitted;
}

constexpr DeviceProfile profile_named(const char* name) {
  DeviceProfile profile;
  profile.name = name;
  profile.machine = {0.87, 0.77e-6};  // a copy: docs/results/device_h200.json
  profile.products = h200_products();
  profile.preconds = h200_preconds();
  profile.iterations = h200_iterations();
  return profile;
}

}  // namespace

constexpr DeviceProfile h200 = profile_named("H200");
// The same chip, whose memory and clocks Machine tells apart: docs/results/regret_h100.json.
constexpr DeviceProfile h100 = profile_named("H100");

}  // namespace newel::detail
