// SPDX-License-Identifier: Apache-2.0
/// Whether test cases for several devices can run.
#pragma once

#include <vector>

namespace newel::testing {

/// Whether a test case has to be skipped because there are fewer devices, or no NCCL. It then says so and is counted,
/// like those without data. The first line of each test case that needs them: if (skipped_without_devices(2)) return;
/// Tools that check memory run the kernels of all devices one after the other: kernels of two devices that wait for
/// each other would wait for ever there. NEWEL_TEST_ONE_KERNEL skips these.
bool skipped_without_devices(int devices);
bool skipped_without_nccl();

/// How many devices a test case for several uses, one number after the other: two, and all if there are more.
std::vector<int> numbers_of_devices();

}  // namespace newel::testing
