// SPDX-License-Identifier: Apache-2.0
// Parts of consecutive ranks to one of them, and back.
#include "distributed/offload/handover.hpp"

#include <algorithm>
#include <cstring>

namespace newel::detail {
namespace {

// No message is longer than MPI takes.
void add_pieces(std::vector<RankMessage>& messages, int rank, void* data, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += most) {
    messages.push_back({rank, static_cast<char*>(data) + at, std::min(most, bytes - at)});
  }
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

Handover::Handover(const std::shared_ptr<Communicator>& communicator, bool solves)
    : communicator_(communicator), solves_(solves) {
  std::vector<double> all(static_cast<std::size_t>(ranks()));
  const double own = solves ? 1 : 0;
  communicator->all_gather(&own, 1, all.data());
  if (all.front() == 0) throw InputError("rank 0 has no context to solve in, and no rank before it");
  for (int r = 0; r < ranks(); ++r) {
    const bool solves_there = all[static_cast<std::size_t>(r)] != 0;
    solving_ += solves_there ? 1 : 0;
    if (solves_there && r <= communicator->rank()) owner_ = r;
  }
  if (!solves) return;
  for (int r = owner_; r < ranks() && (r == owner_ || all[static_cast<std::size_t>(r)] == 0); ++r) {
    members_.push_back(r);
  }
}

std::vector<std::int64_t> Handover::sizes_of(std::int64_t mine) const {
  std::vector<std::int64_t> sizes;
  for (const std::string& text : communicator_->texts(std::to_string(mine))) sizes.push_back(std::stoll(text));
  return sizes;
}

std::string Handover::from_first(const std::string& text) const {
  return communicator_->texts(communicator_->rank() == 0 ? text : std::string()).front();
}

void Handover::move_once(const void* mine, void* all, const std::vector<std::int64_t>& sizes,
                         std::size_t value_bytes) const {
  const Moves moves(*this, const_cast<void*>(mine), all, sizes, value_bytes);
  moves.to_solving();
}

Handover::Moves::Moves(const Handover& handover, void* mine, void* all, const std::vector<std::int64_t>& sizes,
                       std::size_t value_bytes)
    : mine_(mine), all_(all), solves_(handover.solves_) {
  const auto bytes_of = [&](int rank) {
    return static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]) * value_bytes;
  };
  own_bytes_ = bytes_of(handover.communicator_->rank());
  std::vector<RankMessage> at_member, at_solving;
  if (!solves_) add_pieces(at_member, handover.owner_, mine, own_bytes_);
  std::size_t at = own_bytes_;
  for (std::size_t m = 1; m < handover.members_.size(); ++m) {
    const int member = handover.members_[m];
    add_pieces(at_solving, member, static_cast<char*>(all) + at, bytes_of(member));
    at += bytes_of(member);
  }
  there_ = handover.communicator_->exchange(at_member, at_solving);
  back_ = handover.communicator_->exchange(at_solving, at_member);
}

void Handover::Moves::to_solving() const {
  there_->start();
  if (solves_) copy_bytes(all_, mine_, own_bytes_);
  there_->finish();
}

void Handover::Moves::from_solving() const {
  back_->start();
  if (solves_) copy_bytes(mine_, all_, own_bytes_);
  back_->finish();
}

}  // namespace newel::detail
