// SPDX-License-Identifier: Apache-2.0
// Every length that occurs is tried as the longest row of one thread.
#include "spmv/cost/row_sharing.hpp"

#include <algorithm>

#include "spmv/cost/product_constants.hpp"

namespace newel::detail {
namespace {

constexpr double start_batches = 1;
// A row that lanes share begins anywhere in a sector of 32 bytes, of the values and of the columns, and writes one of
// y by itself.
constexpr double sector_bytes = 32;

Offset divided_up(Offset n, Offset by) { return (n + by - 1) / by; }

// What rows ask of the machine.
struct Load {
  double bytes = 0;
  double batches = 0;  // of all threads
  double threads = 0;
  double longest = 0;  // batches of one thread
  bool joined = false;

  Load& operator+=(const Load& other) {
    bytes += other.bytes;
    batches += other.batches;
    threads += other.threads;
    longest = std::max(longest, other.longest);
    joined = joined || other.joined;
    return *this;
  }
};

// One combination of choices.
struct Way {
  RowWorker worker;
  Index thread_slots;
  Offset piece_slots;
  const RowSharingConstants& fitted;
};

Load alone(Offset length, double rows, int batch, std::size_t value_bytes) {
  Load load;
  const double batches = start_batches + static_cast<double>(divided_up(length, batch));
  load.bytes = rows * static_cast<double>(length * (value_bytes + sizeof(Index)) + sizeof(Index) + value_bytes);
  load.batches = rows * batches;
  load.threads = rows;
  load.longest = batches;
  return load;
}

Load shared(Offset length, double rows, const Way& way, const SharingChoices& choices, std::size_t value_bytes) {
  Load load;
  const Offset slots = divided_up(length, choices.granularity) * choices.granularity;
  const Offset pieces = divided_up(slots, way.piece_slots), piece = divided_up(slots, std::max<Offset>(pieces, 1));
  const Index lanes = lanes_of_piece(piece, way.thread_slots, choices.least_lanes, choices.most_lanes);
  double batches = start_batches + static_cast<double>(divided_up(divided_up(piece, lanes), way.worker.batch));
  for (Index half = lanes / 2; half > 0; half /= 2) batches += way.fitted.shuffle_batches;
  load.bytes = rows * (static_cast<double>(slots * (value_bytes + sizeof(Index)) + sizeof(Offset) + sizeof(Index)) +
                       sector_bytes + (choices.granularity < lanes ? 2 * sector_bytes : 0));
  load.threads = rows * static_cast<double>(pieces) * lanes;
  load.batches = load.threads * batches;
  load.longest = batches;
  load.joined = pieces > 1;
  return load;
}

double seconds_of(Load load, const Load& more, const Machine& machine, const Way& way) {
  const RowSharingConstants& fitted = way.fitted;
  load += more;
  const double resident = static_cast<double>(machine.processors) * way.worker.resident_threads;
  const double speed = machine.bytes_per_second * (load.bytes < fitted.cached_bytes ? fitted.cached_speed_up : 1);
  const double busy = std::max(load.bytes / speed, load.batches / resident * fitted.batch_seconds);
  const double longest = load.longest * fitted.batch_seconds, fill = std::min(1.0, load.threads / resident);
  const double launches = fitted.launch_seconds + (load.joined ? fitted.second_launch_seconds : 0);
  return launches + std::max(busy, longest) + (1 - fill) * std::min(busy, longest);
}

// Every number of lengths whose rows one thread takes; the format's own first.
void try_way(const RowLengths& lengths, const Machine& machine, std::size_t value_bytes,
             const SharingChoices& choices, const Way& way, std::vector<RowSharing>& found) {
  std::vector<Load> before{Load{}};  // of the rows shorter than each length
  for (const auto& [length, rows] : lengths) {
    before.push_back(before.back());
    if (length <= choices.longest_alone) before.back() += alone(length, rows, way.worker.batch, value_bytes);
  }
  Load behind;
  for (std::size_t k = lengths.size(); k > 0; --k) {
    const auto [length, rows] = lengths[k - 1];
    if (length <= choices.longest_alone) {
      const bool own = k == lengths.size() || lengths[k].first > choices.longest_alone;
      const double seconds = seconds_of(before[k], behind, machine, way);
      const Index longest = own ? choices.longest_alone : length;
      found.push_back({longest, way.thread_slots, way.piece_slots, way.worker.batch, seconds});
    }
    behind += shared(length, rows, way, choices, value_bytes);
  }
}

}  // namespace

Index lanes_of_piece(Offset slots, Index thread_slots, Index least, Index most) {
  Index lanes = least;
  while (lanes < most && Offset{lanes} * thread_slots < slots) lanes *= 2;
  return lanes;
}

RowSharing share_rows(const RowLengths& lengths, const Machine& machine, std::size_t value_bytes,
                      const SharingChoices& choices) {
  const RowSharingConstants& fitted = constants_of<DeviceProductConstants>(machine).rows;
  std::vector<RowSharing> found;
  for (const RowWorker& worker : choices.workers) {
    for (const Index thread_slots : choices.thread_slots) {
      for (const Offset piece_slots : choices.piece_slots) {
        try_way(lengths, machine, value_bytes, choices, {worker, thread_slots, piece_slots, fitted}, found);
      }
    }
  }
  if (found.empty()) {
    return {choices.longest_alone, choices.thread_slots[0], choices.piece_slots[0], choices.workers[0].batch, 0};
  }
  double least = found[0].seconds;
  for (const RowSharing& way : found) least = std::min(least, way.seconds);
  const RowSharing* best = nullptr;
  for (const RowSharing& way : found) {
    if (way.seconds > fitted.worth * least) continue;
    if (best == nullptr || way.longest_alone > best->longest_alone) best = &way;
  }
  return *best;
}

}  // namespace newel::detail
