// SPDX-License-Identifier: Apache-2.0
// Rounds of bounded messages, and bounds of rows.
#include "shares.hpp"

#include <algorithm>

namespace newel::cli {
namespace {

// Of a round, for each rank: those of all ranks together stay below 2^31.
std::size_t bytes_of_round(const Communicator& ranks) {
  constexpr std::size_t of_all = std::size_t{1} << 28;
  return std::max<std::size_t>(of_all / static_cast<std::size_t>(ranks.size()), 1);
}

std::size_t rounds_for(const Communicator& ranks, std::size_t bytes) {
  const std::size_t each = bytes_of_round(ranks);
  return (bytes + each - 1) / each;
}

std::string_view piece(std::string_view all, std::size_t round, std::size_t bytes) {
  return round * bytes < all.size() ? all.substr(round * bytes, bytes) : std::string_view();
}

}  // namespace

std::string from_first(Communicator& ranks, const std::string& text) {
  return ranks.texts(ranks.rank() == 0 ? text : std::string()).front();
}

std::string scatter_bytes(Communicator& ranks, const std::vector<std::string_view>& parts) {
  std::size_t rounds = 0;
  for (const std::string_view part : parts) rounds = std::max(rounds, rounds_for(ranks, part.size()));
  rounds = std::stoull(from_first(ranks, std::to_string(rounds)));
  std::string received;
  std::vector<std::string> sent(static_cast<std::size_t>(ranks.size()));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t r = 0; r < parts.size(); ++r) sent[r] = piece(parts[r], round, bytes_of_round(ranks));
    received += ranks.all_to_all(sent).front();
  }
  return received;
}

std::string gather_bytes(Communicator& ranks, std::string_view mine) {
  std::vector<std::string> of_rank(static_cast<std::size_t>(ranks.size())), sent(of_rank.size());
  std::size_t rounds = 0;
  for (const std::string& text : ranks.texts(std::to_string(rounds_for(ranks, mine.size())))) {
    rounds = std::max<std::size_t>(rounds, std::stoull(text));
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    sent.front() = piece(mine, round, bytes_of_round(ranks));
    const std::vector<std::string> received = ranks.all_to_all(sent);
    for (std::size_t r = 0; r < received.size(); ++r) of_rank[r] += received[r];
  }
  std::string all;
  for (const std::string& part : of_rank) all += part;
  return all;
}

}  // namespace newel::cli
