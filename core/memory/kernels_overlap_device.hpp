// SPDX-License-Identifier: Apache-2.0
/// Whether kernels may begin while the work in front of them ends. Internal.
#pragma once

namespace newel::detail {

/// Whether the kernels of this build contain the wait of overlapped_launch_device.cuh on the current device, which
/// code for compute capabilities below 9.0 does not, and the driver can capture such launches, as drivers for
/// CUDA 12.3 and newer can.
bool kernels_may_overlap();

}  // namespace newel::detail
