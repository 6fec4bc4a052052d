// SPDX-License-Identifier: Apache-2.0
// The constants fitted to an EPYC with 32 MB of last-level cache. Other hosts differ by a half, in setups too.
#include "solver/cost/profiles/profiles.hpp"

namespace newel::detail {
namespace {

// Seconds of an entry: one thread, matrices of 5 MB as CSR. Shares: matrices that no cache keeps.
constexpr HostProductConstants epyc_products() {
  HostProductConstants fitted;
  fitted.wake_seconds = 0.5e-6;
  fitted.cached_bytes = 12e6;  // a cautious share of the caches, next to other work: the last level may be shared
  fitted.useful_threads = 16;  // phases of a setup are not all parallel
  fitted.csr = {0.8, 2e-9, 2.35e-10, 2.6e-10};
  // Setup: 2 threads, 8 million entries, 5e-8 (diffusion) and 6e-8 (elasticity).
  fitted.ehyb = {0.8, 6e-8, 2.35e-10, 2.4e-10};
  fitted.block_entry_seconds = 1.4e-10;
  fitted.block_entry_seconds_single = 1.0e-10;
  fitted.bce = {0.85, 1.5e-8, 2.6e-10, 2.35e-10};
  fitted.ell_warp = {0.84, 4e-8, 2.45e-10, 2.2e-10};  // 5 % above CSR
  fitted.evc_hyb = {0.78, 1.5e-8, 2.45e-10, 2.2e-10};
  // Two threads, 25 meshes, grids and real matrices of 5 thousand to a million rows.
  fitted.csr_rows = {1e-10, 6e-10, 5e-10, 2.5e-9, 5e3, 6.5e3, 18e3, 38e3};
  // A processor runs its warps one after the other, and its prefetching keeps the bus busy.
  fitted.warps = {1, 0.5};
  return fitted;
}

// One and two threads. A setup of AMG takes 1 to 350 ms for 1,600 to 216,000 rows; for 9 in 10 the model is
// within a quarter.
constexpr HostAmgConstants epyc_amg() {
  HostAmgConstants fitted;
  fitted.single_share = 0.8;
  fitted.single_block_share = 0.35;  // blocks of three rows have a ninth of the columns
  fitted.start = 0.3e-3;
  fitted.row_alone = 0.1e-6;
  fitted.row_shared = 0.1e-6;
  fitted.entry_shared = 90e-9;
  fitted.block_entry_shared = 48e-9;
  fitted.refresh_share = 0.3;
  fitted.block_refresh_share = 0.45;
  fitted.inverse_operation = 4e-10;
  fitted.flat_row = 4e-6;
  fitted.flat_rows = 8e3;
  fitted.fsai_operation = 2e-10;
  fitted.fsai_refresh_share = 0.55;
  fitted.made_operation = 1.4e-10;
  fitted.fsai_iteration = 2;
  fitted.group_iteration = 1.5;
  fitted.block_iteration = 1.4;
  return fitted;
}

// One and two threads.
constexpr HostPrecondConstants epyc_preconds() {
  HostPrecondConstants fitted;
  fitted.useful_threads = 16;
  fitted.diagonal_entry = 3e-9;
  fitted.read_entry = 0.6e-9;
  fitted.fsai = {45e-9, 0.037e-9};
  fitted.spai = {100e-9, 0.13e-9};
  fitted.fsai_entry_alone = 6e-9;
  fitted.fsai_entry_shared = 16e-9;
  // 0.020 to 0.068 on 13 systems with convection of 12,000 to 65,000 rows of 7 to 14 entries; 0.001 to 0.18 on 15
  // real matrices, the median 0.03.
  fitted.ilut_entry = 0.045e-6;
  fitted.ilut_refresh_share = 0.4;
  // 0.018 to 0.034 on 11 systems of flow, elasticity and mixed diffusion of 4,400 to 40,000 rows, one thread.
  fitted.saddle_entry = 0.024e-6;
  fitted.saddle_refresh_entry = 0.012e-6;  // 0.005 to 0.017 on nine of them
  fitted.amg = epyc_amg();
  return fitted;
}

constexpr HostIterationConstants epyc_iterations() {
  HostIterationConstants fitted;
  fitted.sweep_share = 0.85;
  fitted.last_level = {3, 0.75, 1.75};
  fitted.kept_vectors = 5;
  return fitted;
}

// Two threads, the best of 45 measurements.
constexpr HostSpeed epyc_speed() {
  HostSpeed measured;
  measured.copy_bytes = 2.6e10;
  measured.cached_copy_bytes = 6.8e10;
  measured.read_seconds = 1.55e-9;
  measured.csr_entry = 2.31e-10;
  measured.ehyb_entry = 2.3e-10;
  measured.setup_entry = 7.7e-8;
  return measured;
}

constexpr HostProfile profile_of_epyc() {
  HostProfile profile;
  profile.name = "EPYC";
  profile.machine = {1.6e10, 10};
  profile.products = epyc_products();
  profile.preconds = epyc_preconds();
  profile.iterations = epyc_iterations();
  profile.speed = epyc_speed();
  return profile;
}

}  // namespace

constexpr HostProfile epyc = profile_of_epyc();

}  // namespace newel::detail
