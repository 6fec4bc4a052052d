// SPDX-License-Identifier: Apache-2.0
/// Handover: what ranks that do not solve give to one that does, and get back. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/core/span.hpp>

namespace newel::detail {

/// Consecutive ranks, the first of which solves for all of them. All ranks of the communicator make it, and call its
/// functions, together.
class Handover {
 public:
  /// Throws InputError on all ranks if rank 0 does not solve.
  Handover(const std::shared_ptr<Communicator>& communicator, bool solves);

  bool solves() const { return solves_; }             ///< this rank
  bool needed() const { return solving_ < ranks(); }  ///< a rank does not
  int solving() const { return solving_; }            ///< how many ranks solve
  /// The ranks of which this one gets rows, itself first. Empty if it does not solve.
  const std::vector<int>& members() const { return members_; }

  /// What all members pass, one after the other, to the rank that solves; nothing on the others.
  template <class Value>
  std::vector<Value> to_solving(Span<const Value, Space::host> mine) const {
    std::vector<Value> all;
    const std::vector<std::int64_t> sizes = sizes_of(mine.size);
    std::int64_t total = 0;
    for (const int member : members_) total += sizes[static_cast<std::size_t>(member)];
    all.resize(static_cast<std::size_t>(total));
    move_once(mine.data, all.data(), sizes, sizeof(Value));
    return all;
  }

  /// The number that each rank passes.
  std::vector<std::int64_t> sizes_of(std::int64_t mine) const;
  /// The text of rank 0, which solves.
  std::string from_first(const std::string& text) const;

  /// Repeated moves of `sizes[r]` values of rank r between memory of the members and of the rank that solves.
  class Moves {
   public:
    /// `mine`: this rank's values. `all`: those of all members, on a rank that solves.
    Moves(const Handover& handover, void* mine, void* all, const std::vector<std::int64_t>& sizes,
          std::size_t value_bytes);
    void to_solving() const;    ///< mine to all
    void from_solving() const;  ///< all to mine

   private:
    void* mine_;
    void* all_;
    std::size_t own_bytes_ = 0;
    bool solves_;
    std::unique_ptr<RankExchange> there_, back_;
  };

 private:
  int ranks() const { return communicator_->size(); }
  void move_once(const void* mine, void* all, const std::vector<std::int64_t>& sizes, std::size_t value_bytes) const;

  std::shared_ptr<Communicator> communicator_;
  bool solves_;
  int solving_ = 0;
  int owner_ = 0;  // the rank that solves for this one
  std::vector<int> members_;
};

}  // namespace newel::detail
