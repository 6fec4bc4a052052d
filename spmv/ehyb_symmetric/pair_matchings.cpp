// SPDX-License-Identifier: Apache-2.0
// Greedy matchings, and the order of the pairs in each.
#include "spmv/ehyb_symmetric/pair_matchings.hpp"

#include <algorithm>
#include <numeric>

#include "spmv/ehyb_symmetric/bank_order.hpp"

namespace newel::detail {
namespace {

// Takes matchings from a graph, the fullest nodes first.
class Matchings {
 public:
  Matchings(const std::vector<NodePair>& pairs, Index nodes)
      : pairs_(pairs), first_(static_cast<std::size_t>(nodes) + 1, 0), left_(nodes, 0), used_(nodes, -1) {
    for (const NodePair& pair : pairs) ++left_[pair.i], ++left_[pair.j];
    std::partial_sum(left_.begin(), left_.end(), first_.begin() + 1);
    tie_.resize(2 * pairs.size());
    last_.assign(first_.begin(), first_.end() - 1);
    for (Index e = 0; e < static_cast<Index>(pairs.size()); ++e) {
      tie_[last_[pairs[e].i]++] = {pairs[e].j, e};
      tie_[last_[pairs[e].j]++] = {pairs[e].i, e};
    }
    taken_.assign(pairs.size(), 0);
  }

  // Numbers of pairs, in the order of their first nodes.
  std::vector<Index> next(Index most) {
    std::vector<Index> round;
    for (const Index node : by_pairs_left()) {
      if (static_cast<Index>(round.size()) == most) break;
      if (used_[node] == rounds_) continue;
      const Index edge = best_of(node);
      if (edge < 0) continue;
      round.push_back(edge);
      used_[pairs_[edge].i] = used_[pairs_[edge].j] = rounds_;
    }
    for (const Index edge : round) {
      taken_[edge] = 1;
      --left_[pairs_[edge].i], --left_[pairs_[edge].j];
    }
    ++rounds_;
    std::sort(round.begin(), round.end());
    return round;
  }

 private:
  struct Tie {
    Index partner, edge;
  };

  // A counting sort, stable, descending.
  std::vector<Index> by_pairs_left() const {
    const Index nodes = static_cast<Index>(left_.size());
    const Index most = *std::max_element(left_.begin(), left_.end());
    std::vector<Index> begin(static_cast<std::size_t>(most) + 2, 0), sorted(nodes);
    for (const Index count : left_) ++begin[most - count + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (Index node = 0; node < nodes; ++node) sorted[begin[most - left_[node]]++] = node;
    return sorted;
  }

  // The pair of a node with the free partner that has the most left; -1 where there is none. Drops what was taken
  // from the node's list.
  Index best_of(Index node) {
    Index best = -1, most = 0, to = first_[node];
    for (Index k = first_[node]; k < last_[node]; ++k) {
      const Tie tie = tie_[k];
      if (taken_[tie.edge] != 0) continue;
      tie_[to++] = tie;
      if (used_[tie.partner] == rounds_ || left_[tie.partner] <= most) continue;
      best = tie.edge;
      most = left_[tie.partner];
    }
    last_[node] = to;
    return best;
  }

  const std::vector<NodePair>& pairs_;
  std::vector<Index> first_, last_;  // of each node's list
  std::vector<Tie> tie_;
  std::vector<Index> left_;  // pairs of a node that are not taken
  std::vector<Index> used_;  // in which round last
  std::vector<char> taken_;
  Index rounds_ = 0;
};

// Puts a round into the order of banks.
class BankOrder {
 public:
  BankOrder(const std::vector<NodePair>& pairs, Index banks) : pairs_(pairs), banks_(banks) {}

  void sort(std::vector<Index>& round) {
    const auto n = static_cast<Index>(round.size());
    room_.resize(static_cast<std::size_t>(bank_order_room(n, banks_)));
    order_.resize(round.size());
    order_by_banks(
        n, banks_, [&](Index k) { return pairs_[round[k]].i % banks_; },
        [&](Index k) { return pairs_[round[k]].j % banks_; }, room_.data(), order_.data());
    for (Index& k : order_) k = round[k];
    round.swap(order_);
  }

 private:
  const std::vector<NodePair>& pairs_;
  Index banks_;
  std::vector<Index> room_, order_;
};

}  // namespace

std::vector<PairRound> matchings_of(const std::vector<NodePair>& pairs, Index nodes, Index most_pairs, Index banks) {
  std::vector<PairRound> rounds;
  if (pairs.empty()) return rounds;
  const auto full = static_cast<std::size_t>(std::min(most_pairs, nodes / 2));
  Matchings matchings(pairs, nodes);
  BankOrder order(pairs, banks);
  for (std::size_t left = pairs.size(); left > 0;) {
    std::vector<Index> taken = matchings.next(most_pairs);
    if (4 * taken.size() < full) break;
    left -= taken.size();
    if (banks > 1) order.sort(taken);
    rounds.emplace_back();
    for (const Index pair : taken) rounds.back().push_back(pairs[pair]);
  }
  return rounds;
}

}  // namespace newel::detail
