// SPDX-License-Identifier: Apache-2.0
/// Which fitted constants a host has. Internal.
#pragma once

#include <string>

#include <newel/core/machine.hpp>

namespace newel::detail {

/// The brand string of an x86 processor, without outer spaces, as the system shows it; empty: it has none. Read once
/// in a process, because under a hypervisor reading takes some 50 microseconds.
const std::string& processor_name();

/// The profile that was fitted to a host whose processor has that name; null: there is none. Defined with the
/// profiles, in `solver/cost/profiles`.
const HostProfile* fitted_host_profile(const std::string& processor);

/// Takes the constants of a profile (null: an EPYC's) for a host, and its bandwidth with so many processors.
void set_profile(Machine& host, const HostProfile* profile);

}  // namespace newel::detail
