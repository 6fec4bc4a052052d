// SPDX-License-Identifier: Apache-2.0
/// DeviceRanks: how ranks exchange values that lie on their devices. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <newel/core/communicator.hpp>
#include "core/ranks/peer_sums.hpp"

struct CUstream_st;

namespace newel::detail {

/// One rank's view of the devices of all ranks. Functions queue their work on the stream of this rank's context,
/// whose device is current. All ranks call them in the same order.
class DeviceRanks {
 public:
  /// Doubles that each rank gathers at once, at most.
  static constexpr int most = 256;

  virtual ~DeviceRanks() = default;

  virtual int size() const = 0;  ///< the number of ranks

  /// Memory of this device for `most` sums of this rank, before they are gathered.
  virtual double* sums() = 0;

  /// Queues all[r count + k] = mine[k] of rank r, and returns `all`: memory of this device, always the same, that the
  /// next gathering overwrites. `count` is at most `most`. Throws RankFailed.
  virtual const double* all_gather(const double* mine, int count) = 0;

  /// If a kernel can gather by itself: how. Null: `all_gather` has to be called.
  virtual const PeerSums* peer_sums() const { return nullptr; }

  /// Memory of this device that an exchange may use: that of other arrays may be out of reach of other devices.
  /// Throws OutOfMemory.
  virtual std::shared_ptr<void> memory(std::size_t bytes) = 0;

  /// Memory with zeros on the device of every rank, in the order of ranks, that kernels of all of them may write.
  /// Empty: they cannot, or a device has not enough. All ranks call it together.
  virtual std::vector<std::shared_ptr<void>> shared_memory(std::size_t) { return {}; }

  /// An exchange between memories that `memory` has given, on a stream of this device: work that is queued on it after
  /// `finish` reads what has come. The memory must exist as long as the exchange.
  virtual std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in,
                                                 CUstream_st* stream) = 0;

  /// Whether the functions above may be captured in a graph.
  virtual bool capturable() const = 0;

  /// Whether the start of an exchange only sends, within microseconds: then work that fills the device should come
  /// after it, or the receivers wait for that work.
  virtual bool starts_by_sending() const { return false; }

  /// Throws RankFailed if another rank has failed, as far as is known. What has been queued since then is without
  /// meaning.
  virtual void check() const = 0;

  /// How values travel, for reports.
  virtual std::string name() const = 0;
};

}  // namespace newel::detail
