// SPDX-License-Identifier: Apache-2.0
/// What the loops of EHYB with pairs walk, in either space. Internal.
#pragma once

#include "spmv/ehyb/ehyb_product.hpp"
#include "spmv/ehyb_symmetric/pair_rounds.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// The arrays of PairRounds in one space, with the values of both blocks of each pair. Number (d, e) of the block of
/// pair k lanes + lane is at (k block^2 + d block + e) lanes + lane.
template <class T>
struct EhybSymmetricView {
  EhybView<T> left;           ///< the entries that are not stored by pairs
  const std::uint16_t* node;  ///< which node of its part a node of `left` is; extra and long rows are the matrix's
  const Index* part_round;
  const Index* round_first;
  const std::uint32_t* nodes;
  const T* upper;
  const T* lower;
  const int* differs;  ///< not 0: a block of `lower` is not the transpose of that of `upper`
  Index longest_own;   ///< rows of the largest part
  int group_warps;     ///< device: of a group, which takes a round at a time
  int groups;          ///< device: which take rounds in turns
  bool apart;          ///< device: parts are so small that slices have sums of their own
  T* sums;             ///< host: `longest_own` for each thread that may work
};

/// The most threads of a part on a device, in double and in single precision, and the pairs of a round that a thread
/// takes, both by rows of a node: as many as the registers hold twice.
inline constexpr int symmetric_threads[2][4] = {{0, 1024, 896, 768}, {0, 1024, 1024, 1024}};
inline constexpr int pairs_of_thread[4] = {0, 4, 2, 1};

/// args.xy is null where `left` has a remainder. `lower` is read only where `differs` says so, with the same bits.
template <class T>
void ehyb_symmetric_product(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a,
                            const ProductArgs<T>& args);
template <class T>
void ehyb_symmetric_product(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a,
                            const ProductArgs<T>& args);

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums ehyb_symmetric_residual(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a,
                                     const ResidualArgs<T>& args);
template <class T>
ResidualSums ehyb_symmetric_residual(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a,
                                     const ResidualArgs<T>& args);

/// Sets `differs` to 1 where a number of `upper` and its opposite in `lower` are not equal, or NaN, else to 0. On the
/// device asynchronous.
template <class T>
void compare_pairs(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a, Offset places, int* differs);
template <class T>
void compare_pairs(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a, Offset places, int* differs);

/// Prepares its launches, once per operator.
template <class T>
void prepare_ehyb_symmetric_residual(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a);
template <class T>
void prepare_ehyb_symmetric_residual(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a);

/// As prepare_ehyb.
template <class T>
void prepare_ehyb_symmetric(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a);
template <class T>
void prepare_ehyb_symmetric(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a);

}  // namespace newel::detail
