// SPDX-License-Identifier: Apache-2.0
/// The arrays of EVC-HYB: short rows as ELL, length by length, long rows as vectorised CSR, and which block of
/// threads has what. Section 2 of the paper.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/core/machine.hpp>
#include <newel/spmv/cost_model.hpp>
#include "spmv/row_pieces.hpp"

namespace newel {

/// The kernel is compiled for blocks of so many threads.
constexpr Index evc_hyb_block_threads = 256;

/// What the layout takes from the machine, and the paper's numbers.
struct EvcHybShape {
  Index warp = 32;          ///< ELL parts end at multiples of so many rows, CSR rows at multiples of so many slots
  Index slice = 32;         ///< rows that lie side by side in an ELL part; divides `warp`
  Index longest_ell = 128;  ///< entries of a row, above which it goes to the CSR part
  Index block_threads = evc_hyb_block_threads;  ///< a power of two
  Index thread_entries = 8;                     ///< what a thread is to have of a CSR row
  Offset reach = 8192;                          ///< slots of a row, above which several blocks share it
  Index most_rows = 4;                          ///< rows of an ELL part that a thread takes at most: 1, 2 or 4
};

EvcHybShape evc_hyb_shape(const Machine& machine);

/// The same, and on a device for rows of these lengths: rows that one thread would be at for longer than the others
/// take together go to the CSR part (`share_rows`), and a thread has no more rows than leave no thread without one.
EvcHybShape evc_hyb_shape(const Machine& machine, const RowLengths& lengths, std::size_t value_bytes);

/// A run of rows that are treated alike: an ELL part (one row length) or rows of the CSR part that are given the same
/// number of threads. Names of the paper in brackets.
struct EvcHybRange {
  Offset first_slot;  ///< [bnz] of an ELL part
  Index first_place;  ///< [rmark] of its rows
  Index first_block;  ///< [gbmark] of its blocks of threads
  Index length;       ///< [clen] slots of a row of an ELL part
  Index share;        ///< ELL: rows a thread (1, 2 or 4); CSR: threads a row [TPR]
};

/// Rows by ascending length. Places count rows in that order.
struct EvcHybLayout {
  Index rows = 0;
  Array<Index, Space::host> row_list;      ///< places: the row; empty where the rows already stand so
  Index split = 0;                         ///< [Isplit] places of the ELL part, a multiple of `warp`
  Index ell_ranges = 0;                    ///< the first ones; the others are of the CSR part
  Array<EvcHybRange, Space::host> range;   ///< ranges + 1, ascending; the last one ends the others
  Array<Offset, Space::host> csr_slot;     ///< [csr.i] rows of the CSR part that one block can take, + 1
  detail::RowPieces pieces;                ///< of the other rows: the last places, slots from csr_slot's end
  Array<Index, Space::host> col;           ///< slots; of a padded one the last column of its row
  Array<Offset, Space::host> slot_source;  ///< slots: position in the CSR, or -1

  Index ranges() const { return static_cast<Index>(range.size()) - 1; }
  Index csr_rows() const { return static_cast<Index>(csr_slot.size()) - 1; }
  Offset slots() const { return slot_source.size(); }
  Offset ell_slots() const { return csr_slot[0]; }            ///< [NNZ_ELL]
  Offset csr_slots() const { return slots() - csr_slot[0]; }  ///< [NNZ_vCSR]
};

/// The rows by ascending length, those of equal length by their first column, then by their number. Radix sort:
/// O(n) per 11 bits of column and length.
Array<Index, Space::host> rows_by_length(const Context<Space::host>& ctx, const Pattern<Space::host>& a);

/// Where `as_they_stand` and the rows already ascend by length, there is no row list; else they are taken by
/// `rows_by_length`. The same layout whatever the number of threads.
EvcHybLayout make_evc_hyb_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                 const EvcHybShape& shape, bool as_they_stand);

}  // namespace newel
