// SPDX-License-Identifier: Apache-2.0
// The passes over complex values on the device: one thread an element, which is a row for patterns and their values.
#include "core/csr/complex_steps.hpp"
#include "core/vectors/vector_step_device.cuh"

NEWEL_COMPLEX_STEPS(NEWEL_SWEEP_DEVICE)
