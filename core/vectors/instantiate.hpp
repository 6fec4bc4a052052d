// SPDX-License-Identifier: Apache-2.0
/// Explicit instantiation of backend-free sources: X(T, space) for both value types and every space compiled in.
/// Included at the bottom of a source, by the library itself only.
#pragma once

#include <newel/config.hpp>

#define NEWEL_FOR_TYPES(X, SPACE) \
  X(double, SPACE)                \
  X(float, SPACE)

#if NEWEL_HAS_CUDA
#define NEWEL_FOR_TYPES_AND_SPACES(X)      \
  NEWEL_FOR_TYPES(X, ::newel::Space::host) \
  NEWEL_FOR_TYPES(X, ::newel::Space::device)
#define NEWEL_FOR_SPACES(X) \
  X(::newel::Space::host)   \
  X(::newel::Space::device)
#else
#define NEWEL_FOR_TYPES_AND_SPACES(X) NEWEL_FOR_TYPES(X, ::newel::Space::host)
#define NEWEL_FOR_SPACES(X) X(::newel::Space::host)
#endif
