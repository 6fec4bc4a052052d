// SPDX-License-Identifier: Apache-2.0
/// What EHYB's loops walk, in either space. Internal.
#pragma once

#include <newel/core/context.hpp>
#include "core/ranks/peer_dot.hpp"
#include "spmv/ehyb/ehyb_layout.hpp"
#include "spmv/product.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// The most threads of a part's block on a device, by rows of a node. Of three rows 512, whose registers hold twice
/// as many places as those of 1024: up to twice as fast below 100,000 rows, and never slower (H200, double
/// precision).
constexpr int ehyb_most_threads(int block) { return block == 3 ? 512 : 1024; }

/// Entries outside the parts' caches: of rows with few of them, in slices of lanes.
template <class T>
struct EhybExtraRows {
  Index rows;
  Index slices;
  const Index* row;
  const Index* slice_first;
  const Index* column;
  const T* value;
};

/// The same of rows with many, in segments whose sums are added afterwards.
template <class T>
struct EhybLongRows {
  Index rows;
  Index segments;
  const Index* row;
  const Index* segment;  ///< the first of each row
  const Offset* segment_begin;
  const Index* column;
  const T* value;
  T* segment_sum;  ///< one per segment
};

/// Extra and long rows together.
struct EhybRest {
  Index rows;
  const Index* row;    ///< their numbers, ascending
  const Index* place;  ///< of each: its place among the extra rows, or their number + that among the long rows
};

/// What a part reads of x.
template <class T>
struct EhybCaches {
  Index longest;  ///< entries of x
  T* memory;      ///< host: `longest` entries for each of `threads`; null: x itself, no halo
  int threads;    ///< the most that may work
};

/// Where x.y is formed.
struct EhybDots {
  double* of_part;      ///< one per part: its share
  double* of_slice;     ///< device: one per slice, likewise
  const PeerDot* peer;  ///< device: it is formed with other launches and devices; null: with neither
};

/// The arrays of EhybLayout in one space, with the values in their slots.
template <class T>
struct EhybView {
  Index rows;
  int block;
  int lanes;
  int share;  ///< lanes of a node; 1 on the host
  Index parts;
  const EhybPart* part;
  Index beyond_node;  ///< device: the x of halo nodes from this number on is at `beyond`
  const T* beyond;
  const Index* halo_node;
  const Index* slice_first;
  const std::uint16_t* column;
  const T* value;

  EhybExtraRows<T> extra;
  EhybLongRows<T> longs;
  EhybRest rest;
  EhybCaches<T> caches;
  EhybDots dots;

  int block_threads;  ///< device: of a part
  float kept_share;   ///< device: of values and columns, what the second-level cache keeps between products

  bool has_remainder() const { return extra.rows > 0 || longs.rows > 0; }
};

/// The view of parts first .. last - 1, of a layout without a remainder.
template <class T>
EhybView<T> parts_of(EhybView<T> view, Index first, Index last) {
  view.part += first;
  view.parts = last - first;
  view.dots.of_part += first;
  return view;
}

/// args.xy is null where the layout has a remainder.
template <class T>
void ehyb_product(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args);
template <class T>
void ehyb_product(const Context<Space::device>& ctx, const EhybView<T>& a, const ProductArgs<T>& args);

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums ehyb_residual(const Context<Space::host>& ctx, const EhybView<T>& a, const ResidualArgs<T>& args);
template <class T>
ResidualSums ehyb_residual(const Context<Space::device>& ctx, const EhybView<T>& a, const ResidualArgs<T>& args);

/// y += alpha (the extra and the long rows) x, behind the cached entries. Nothing to do where there are none.
template <class T>
void add_ehyb_remainder(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args);
template <class T>
void add_ehyb_remainder(const Context<Space::device>& ctx, const EhybView<T>& a, const ProductArgs<T>& args);

/// Prepares launches, once per operator: a device's blocks must be allowed their shared memory.
template <class T>
void prepare_ehyb(const Context<Space::host>& ctx, const EhybView<T>& a);
template <class T>
void prepare_ehyb(const Context<Space::device>& ctx, const EhybView<T>& a);

}  // namespace newel::detail
