// SPDX-License-Identifier: Apache-2.0
/// From what length on a card's threads should share a row: a model of what a product waits for. Internal.
#pragma once

#include <vector>

#include <purlin/core/machine.hpp>
#include <purlin/spmv/forecast.hpp>

namespace purlin::detail {

/// A thread of a kernel.
struct RowWorker {
  int batch;             ///< slots that it has in flight
  int resident_threads;  ///< of a multiprocessor at the same time: more registers for a longer batch, fewer threads
};

/// What a format leaves open. The first of each list, with all rows up to `longest_alone` taken by a thread each, is
/// what it does where nothing is gained by another choice.
struct SharingChoices {
  Index longest_alone = 128;
  std::vector<RowWorker> workers;
  std::vector<Index> thread_slots;  ///< what a thread of a shared row is to have of it
  std::vector<Offset> piece_slots;  ///< longer rows are cut into pieces, whose sums a second launch adds
  Index least_lanes = 1;            ///< threads of a shared row, a power of two
  Index most_lanes = 32;            ///< of a piece
  Index granularity = 1;            ///< shared rows are padded to multiples of so many slots
};

/// The choice, and what the model promises for it.
struct RowSharing {
  Index longest_alone;
  Index thread_slots;
  Offset piece_slots;
  int batch;
  double seconds;
};

/// The threads of a piece: the least power of two from `least` to `most` with which none has more than
/// `thread_slots`.
Index lanes_of_piece(Offset slots, Index thread_slots, Index least, Index most);

/// The seconds of a product: with `bus` for its bytes, `waits` for all batches of all threads shared out among the
/// resident ones, and `longest` for the batches of the thread that has most of them,
///
///     max(bus, waits, longest) + (1 - fill) min(max(bus, waits), longest),
///
/// fill being threads / resident ones, at most 1: a full machine reads for other rows while the longest are waited
/// for, an empty one has them in flight all together and then little else. A row costs one batch more than its slots
/// for the numbers that say where they lie; a shuffle 20 ns; a second launch 2.5 us.
///
/// A batch of 4 to 8 slots is taken for 1 us, since on an H200 (matrices in its second-level cache, double) a thread
/// a row took 0.9 us for each 8 slots of the longest rows (bcsstk33, 16 batches, 14.9 us; brack2, 4 batches, 8.3 us;
/// xenon1, 4 batches, 8.1 us), and 1.4 us for each 4 (bcsstk33, 35 batches, 52 us; rotor_graph, 32 batches, 50 us)
/// with only a part of the multiprocessors at work. Matrices of less than 40 MB are taken to be read at twice the
/// bandwidth of the memory.
///
/// The format's own choice stays unless another promises 5 % less. O(lengths) for each combination of choices.
RowSharing share_rows(const RowLengths& lengths, const Machine& machine, std::size_t value_bytes,
                      const SharingChoices& choices);

}  // namespace purlin::detail
