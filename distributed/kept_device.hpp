// SPDX-License-Identifier: Apache-2.0
/// Kept: what a call does to the current device of the calling thread is undone. Internal.
#pragma once

#include <newel/config.hpp>
#include <newel/core/types.hpp>
#if NEWEL_HAS_CUDA
#include <newel/core/cuda_interop.hpp>
#endif

namespace newel::detail {

template <Space S>
struct Kept {
  ~Kept() {}  // which uses the variable
};
#if NEWEL_HAS_CUDA
template <>
struct Kept<Space::device> {
  KeptDevice device;
};
#endif

}  // namespace newel::detail
