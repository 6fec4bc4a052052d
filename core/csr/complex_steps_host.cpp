// SPDX-License-Identifier: Apache-2.0
// The passes over complex values on the host.
#include "core/csr/complex_steps.hpp"
#include "core/vectors/vector_step_host.hpp"

NEWEL_COMPLEX_STEPS(NEWEL_SWEEP_HOST)
