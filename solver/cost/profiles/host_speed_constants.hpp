// SPDX-License-Identifier: Apache-2.0
/// HostSpeed: what is measured of a host, and how a profile follows from it. Internal.
#pragma once

namespace newel::detail {

struct HostProfile;

/// As `measure_speed` finds it. In bytes and seconds.
struct HostSpeed {
  double copy_bytes = 0;         ///< a second, read and written, by one of the threads that copy at once
  double cached_copy_bytes = 0;  ///< the same, of arrays that the last-level cache keeps
  double read_seconds = 0;       ///< of an irregular read of a vector of 8 MB, by one thread of all
  double csr_entry = 0;          ///< of an entry in a product in CSR, by one thread: a matrix of 5 MB
  double ehyb_entry = 0;         ///< the same in EHYB
  double setup_entry = 0;        ///< of an entry in the setup of EHYB, by one thread

  bool known() const { return setup_entry > 0; }
};

/// When a host is measured.
struct HostMeasurement {
  /// About what it takes, and how many times as long a system has to have iterated, or will be set up, before it.
  static constexpr double seconds = 0.02, times = 10;
};

/// How a measurement is used.
struct HostScaleConstants {
  /// A ratio beyond is taken for a disturbance.
  static constexpr double most_ratio = 8;
  /// The share of an entry's seconds that a product of a matrix in memory waits for irregular reads, on the EPYC.
  static constexpr double irregular_share = 0.13, irregular_share_of_parts = 0.02;
};

/// The profile of a host with the speed `here`, by that of a host with a profile: the seconds of setups grow with
/// those of the measured setup, those of products with those of CSR or EHYB, and bandwidths with that of the copy.
HostProfile scaled_profile(const HostProfile& fitted, const HostSpeed& here);

}  // namespace newel::detail
