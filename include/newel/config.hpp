// SPDX-License-Identifier: Apache-2.0
/// Features of this build of Newel; CMake writes them to `build_config.hpp`. Before CMake has run, for example in an
/// editor: the settings of a build for the host.
#pragma once

#if __has_include(<newel/build_config.hpp>)
#include <newel/build_config.hpp>
#else
#define NEWEL_VERSION "0"
#define NEWEL_HAS_CUDA 0
#define NEWEL_HAS_METIS 0
#define NEWEL_HAS_ZLIB 1
#define NEWEL_HAS_EIGEN 0
#define NEWEL_CUDA_TOOLKIT ""
#define NEWEL_CUDA_ARCHITECTURES ""
#endif
