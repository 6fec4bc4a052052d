// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the device.
#include "apps/heart/element_loop_device.cuh"
#include "apps/heart/heart_loops.hpp"

FOR_HEART_LOOPS(HEART_LOOP_DEVICE)
FOR_HEART_DEVICE_LOOPS(HEART_LOOP_DEVICE)
