// SPDX-License-Identifier: Apache-2.0
/// The arrays of ELL-WARP as its loops and kernels see them, and the product that both spaces define. Internal.
#pragma once

#include <cstdint>

#include <newel/core/context.hpp>
#include "core/vectors/host_device.hpp"
#include "spmv/product.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// See EllWarpLayout for the arrays.
template <class T>
struct EllWarpView {
  const T* val = nullptr;
  const Index* col = nullptr;
  const Offset* slot_begin = nullptr;
  const Index* row_begin = nullptr;          ///< null: K1's
  const std::uint8_t* reductions = nullptr;  ///< null: K1's
  const Index* row_list = nullptr;           ///< null: position p is row first + p
  Index first = 0;
  Index count = 0;
  Offset shared_warps = 0;
  Offset warps = 0;
  Index shared_rows = 0;
  const Index* shared_row = nullptr;
  const Offset* shared_begin = nullptr;
  T* shared_sum = nullptr;        ///< shared_warps: what each chunk sums to
  double* dot_partial = nullptr;  ///< device: one a block of a product that forms x.y
  const Offset* cuts = nullptr;   ///< host: shares + 1, the warps of each
  int shares = 0;
  bool prefetch = false;  ///< host: x is prefetched; `col` continues for that long
  int block_threads = 0;  ///< device
  int dot_blocks = 0;     ///< device: most blocks of a product that forms x.y

  NEWEL_HD Index row_at(Index position) const { return row_list == nullptr ? first + position : row_list[position]; }
};

/// Threads of a warp, which the loops and kernels are written for.
template <Space S>
constexpr Index ell_warp_lanes = S == Space::host ? 8 : 32;

/// Most threads of a block on a device: the rows of a sort window then read x through one first-level cache.
constexpr int ell_warp_most_block_threads = 512;

/// Most shares of a host product.
constexpr int ell_warp_most_shares = 256;

template <class T>
void ell_warp_product(const Context<Space::host>& ctx, const EllWarpView<T>& view, const ProductArgs<T>& args);
template <class T>
void ell_warp_product(const Context<Space::device>& ctx, const EllWarpView<T>& view, const ProductArgs<T>& args);

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums ell_warp_residual(const Context<Space::host>& ctx, const EllWarpView<T>& a, const ResidualArgs<T>& args);
template <class T>
ResidualSums ell_warp_residual(const Context<Space::device>& ctx, const EllWarpView<T>& a,
                               const ResidualArgs<T>& args);

}  // namespace newel::detail
