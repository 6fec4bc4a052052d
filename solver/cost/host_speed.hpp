// SPDX-License-Identifier: Apache-2.0
/// The speed of a host that the cost models are not fitted to: measured, kept, and made a profile. Internal.
#pragma once

#include <string>

#include <newel/core/machine.hpp>

namespace newel::detail {

struct HostSpeed;

/// Times a copy from memory and one from the last-level cache and irregular reads with the threads of `ctx`, and a
/// product in CSR and in EHYB and a setup with one thread; the best of a few runs each, in all some 20 ms on an EPYC
/// and 40 ms on a slower host. Uses 40 MB that are not of the context's memory. Zeros if there is not so much.
HostSpeed measure_speed(const Context<Space::host>& ctx);

/// The profile of this host with the threads of `ctx`: what another process has kept in the folder `plan_cache`, if
/// it names one, or what this process has measured; null: nothing is known. It lives as long as the process.
/// `as_unknown`: what this process has measured does not count.
const HostProfile* known_profile(const Context<Space::host>& ctx, const std::string& plan_cache,
                                 bool as_unknown = false);

/// The same, measured and kept if nothing is known. Where memory does not suffice for a measurement, the profile of
/// an EPYC.
const HostProfile* measured_profile(const Context<Space::host>& ctx, const std::string& plan_cache,
                                    bool as_unknown = false);

}  // namespace newel::detail
