// SPDX-License-Identifier: Apache-2.0
/// RankGroups: what a Communicator can do whose ranks form groups.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

namespace newel {

/// A second base of communicators that can be divided. Those of threads, of newel::mpi and of mpi4py have it.
class RankGroups {
 public:
  virtual ~RankGroups() = default;

  /// A communicator of the ranks that pass the same number, in the order of ranks. All ranks call it together. If a
  /// rank of any group fails, so do the calls of all ranks, with the number that it has here. Throws RankFailed.
  virtual std::shared_ptr<Communicator> group(int number) = 0;
};

/// The group of this rank. Throws Error if the communicator is none of RankGroups.
inline std::shared_ptr<Communicator> group_of(Communicator& communicator, int number) {
  auto* const groups = dynamic_cast<RankGroups*>(&communicator);
  if (groups == nullptr) throw Error("these ranks cannot form groups: see RankGroups");
  return groups->group(number);
}

}  // namespace newel
