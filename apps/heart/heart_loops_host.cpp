// SPDX-License-Identifier: Apache-2.0
// The heart's loops on the host.
#include "apps/heart/element_loop_host.hpp"
#include "apps/heart/heart_loops.hpp"

FOR_HEART_LOOPS(HEART_LOOP_HOST)
FOR_HEART_HOST_LOOPS(HEART_LOOP_HOST)
