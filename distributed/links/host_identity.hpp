// SPDX-License-Identifier: Apache-2.0
/// What tells hosts and devices apart. Internal.
#pragma once

#include <string>

namespace newel::detail {

/// The same for processes of one host.
std::string identity_of_host();

/// The same for threads of one process, and for no two processes of any hosts.
std::string identity_of_process();

/// The same for contexts of one device, in whatever process. Defined only in builds with CUDA.
std::string identity_of_device(int device);

}  // namespace newel::detail
