// SPDX-License-Identifier: Apache-2.0
/// RowPieces: how rows too long for one worker are cut, and how the sums of their pieces are joined. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/array.hpp>
#include "spmv/product.hpp"

namespace newel::detail {

/// Long rows, cut into pieces of almost equal length. A row of one piece is written by whoever sums it; the sums of
/// the others are kept and added in a second step, in the order of the row, so that its bits do not depend on who was
/// first.
struct RowPieces {
  std::vector<Offset> piece_slot;   ///< pieces + 1: where each begins; row after row without gaps
  std::vector<Index> piece_row;     ///< pieces: the row that this piece is all of, or -1
  std::vector<Index> joined_row;    ///< the rows of several pieces
  std::vector<Index> joined_first;  ///< joined rows + 1: their pieces, which are the last ones

  /// Row after row: those of one piece must come before all others. `slots` > 0.
  void append(Index row, Offset slots, Offset most_slots, Offset granularity) {
    if (piece_slot.empty()) piece_slot.push_back(0);
    const Offset pieces = (slots + most_slots - 1) / most_slots;
    const Offset share = (slots + pieces - 1) / pieces;
    const Offset step = (share + granularity - 1) / granularity * granularity;
    if (pieces > 1) {
      joined_row.push_back(row);
      joined_first.push_back(static_cast<Index>(piece_row.size()));
    }
    const Offset begin = piece_slot.back();
    for (Offset done = step; done < slots; done += step) push(begin + done, pieces > 1 ? -1 : row);
    push(begin + slots, pieces > 1 ? -1 : row);
  }

  /// After the last row.
  void close() {
    if (piece_slot.empty()) piece_slot.push_back(0);
    joined_first.push_back(static_cast<Index>(piece_row.size()));
  }

 private:
  void push(Offset end, Index row) {
    piece_slot.push_back(end);
    piece_row.push_back(row);
  }
};

/// The second step: rows whose pieces left their sums in `sums`.
template <class T>
struct JoinView {
  Index rows = 0;
  const Index* row = nullptr;    ///< rows
  const Index* first = nullptr;  ///< rows + 1
  T* sums = nullptr;             ///< by piece
};

/// Writes the joined rows, one after the other; returns their part of x.y.
template <class T>
double join_rows(const JoinView<T>& join, const ProductArgs<T>& args) {
  double dot = 0;
  for (Index j = 0; j < join.rows; ++j) {
    T sum = 0;
    for (Index piece = join.first[j]; piece < join.first[j + 1]; ++piece) sum += join.sums[piece];
    const Index i = join.row[j];
    args.y[i] = row_result(args, sum, i);
    if (args.xy != nullptr) dot += double(args.x[i]) * double(args.y[i]);
  }
  return dot;
}

}  // namespace newel::detail
