// SPDX-License-Identifier: Apache-2.0
/// From what length on a device's threads should share a row: a model of what a product waits for. Internal.
#pragma once

#include <vector>

#include <newel/core/machine.hpp>
#include <newel/spmv/cost_model.hpp>

namespace newel::detail {

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
/// for the numbers that say where they lie. Small matrices are taken to be read from the second-level cache.
///
/// With the constants of an H200 the model says of EVC-HYB with rows of up to 128 entries to a thread (double,
/// microseconds; measured in brackets): bcsstk33 17.8 (14.9), c-62 19.7 (17.6), rotor_graph 19.6 (18.8), brack2 8.7
/// (8.3), xenon1 8.1 (8.1), trilinos_vardof 7.9 (6.7), teko_nsjac 8.5 (6.5), NotreDame 11.0 (11.7); and of ship001,
/// whose 4.6 million entries do not leave the waits of a batch what they are, 19.0 (37.3).
///
/// Of the choices within `RowSharingConstants::worth` of the least time that with the longest rows alone, then the
/// first. O(lengths) for each combination of choices.
RowSharing share_rows(const RowLengths& lengths, const Machine& machine, std::size_t value_bytes,
                      const SharingChoices& choices);

}  // namespace newel::detail
