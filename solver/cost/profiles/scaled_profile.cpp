// SPDX-License-Identifier: Apache-2.0
// The profile of a host that was measured.
#include <algorithm>

#include "solver/cost/profiles/profiles.hpp"

namespace newel::detail {
namespace {

using Scale = HostScaleConstants;

double ratio(double here, double there) { return std::clamp(here / there, 1 / Scale::most_ratio, Scale::most_ratio); }

// Of seconds, and of bytes a second.
struct Ratios {
  double copy, cached_copy, read, csr, ehyb, setup;

  Ratios(const HostSpeed& here, const HostSpeed& there)
      : copy(ratio(here.copy_bytes, there.copy_bytes)),
        cached_copy(ratio(here.cached_copy_bytes, there.cached_copy_bytes)),
        read(ratio(here.read_seconds, there.read_seconds)),
        csr(ratio(here.csr_entry, there.csr_entry)),
        ehyb(ratio(here.ehyb_entry, there.ehyb_entry)),
        setup(ratio(here.setup_entry, there.setup_entry)) {}
};

// A product in memory takes as long as the bytes that it streams, and an irregular share in which it waits for x.
void scale(HostFormatConstants& format, const Ratios& ratios, double of_products, double irregular_share) {
  format.setup_seconds_per_entry *= ratios.setup;
  format.entry_seconds *= of_products;
  format.entry_seconds_single *= of_products;
  format.bandwidth_share /= 1 - irregular_share + irregular_share * ratios.read * ratios.copy;
}

void scale(HostRowConstants& rows, double by) {
  for (double* const seconds :
       {&rows.row_seconds, &rows.step_seconds, &rows.uneven_seconds, &rows.triangle_seconds}) {
    *seconds *= by;
  }
}

void scale(HostProductConstants& products, const Ratios& ratios) {
  for (HostFormatConstants* const format : {&products.csr, &products.bce, &products.ell_warp, &products.evc_hyb}) {
    scale(*format, ratios, ratios.csr, Scale::irregular_share);
  }
  scale(products.ehyb, ratios, ratios.ehyb, Scale::irregular_share_of_parts);
  products.block_entry_seconds *= ratios.ehyb;
  products.block_entry_seconds_single *= ratios.ehyb;
  scale(products.csr_rows, ratios.csr);
}

void scale(HostAmgConstants& amg, double by) {
  for (double* const seconds :
       {&amg.start, &amg.row_alone, &amg.row_shared, &amg.entry_shared, &amg.block_entry_shared,
        &amg.inverse_operation, &amg.flat_row, &amg.fsai_operation, &amg.made_operation}) {
    *seconds *= by;
  }
}

void scale(HostPrecondConstants& preconds, double by) {
  for (double* const seconds :
       {&preconds.diagonal_entry, &preconds.read_entry, &preconds.fsai.entry, &preconds.fsai.work,
        &preconds.spai.entry, &preconds.spai.work, &preconds.fsai_entry_alone, &preconds.fsai_entry_shared,
        &preconds.ilut_entry, &preconds.saddle_entry, &preconds.saddle_refresh_entry}) {
    *seconds *= by;
  }
  scale(preconds.amg, by);
}

}  // namespace

HostProfile scaled_profile(const HostProfile& fitted, const HostSpeed& here) {
  const Ratios ratios(here, fitted.speed);
  HostProfile scaled = fitted;
  scaled.name = "measured";
  scaled.speed = here;
  scaled.machine.thread_bytes_per_second *= ratios.copy;
  scale(scaled.products, ratios);
  scale(scaled.preconds, ratios.setup);
  double& cached = scaled.iterations.last_level.speed;
  cached = std::max(1.0, cached * ratios.cached_copy / ratios.copy);
  return scaled;
}

}  // namespace newel::detail
