// SPDX-License-Identifier: Apache-2.0
/// Explicit instantiation of backend-free sources: X(T, space) for both value types and every space compiled in.
/// Included at the bottom of a source, by the library itself only.
#pragma once

#include <purlin/config.hpp>

#define PURLIN_FOR_TYPES(X, SPACE) \
  X(double, SPACE)                 \
  X(float, SPACE)

#if PURLIN_HAS_CUDA
#define PURLIN_FOR_TYPES_AND_SPACES(X)       \
  PURLIN_FOR_TYPES(X, ::purlin::Space::host) \
  PURLIN_FOR_TYPES(X, ::purlin::Space::device)
#define PURLIN_FOR_SPACES(X) \
  X(::purlin::Space::host)   \
  X(::purlin::Space::device)
#else
#define PURLIN_FOR_TYPES_AND_SPACES(X) PURLIN_FOR_TYPES(X, ::purlin::Space::host)
#define PURLIN_FOR_SPACES(X) X(::purlin::Space::host)
#endif
