// SPDX-License-Identifier: Apache-2.0
/// What this build of Purlin holds, which CMake writes to `build_config.hpp`. Before CMake has run, as an editor sees
/// the tree: a build for the host.
#pragma once

#if __has_include(<purlin/build_config.hpp>)
#include <purlin/build_config.hpp>
#else
#define PURLIN_VERSION "0"
#define PURLIN_HAS_CUDA 0
#define PURLIN_HAS_METIS 0
#define PURLIN_HAS_ZLIB 1
#define PURLIN_CUDA_TOOLKIT ""
#define PURLIN_CUDA_ARCHITECTURES ""
#endif
