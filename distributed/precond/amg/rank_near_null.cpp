// SPDX-License-Identifier: Apache-2.0
// What ranks know of nodes, and what they agree on.
#include "distributed/precond/amg/rank_near_null.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/rank_refusal.hpp"

namespace newel::detail {
namespace {

enum Kind { constants, rigid, given };

// The first values of a rank with rows. Throws InputError, on all ranks, if another rank with rows has others.
template <std::size_t count>
std::array<double, count> agreed(const HostContext& ctx, bool has_rows, const std::array<double, count>& own,
                                 const char* what) {
  Communicator& ranks = *ctx.ranks()->communicator;
  std::array<double, count + 1> mine = {has_rows ? 1.0 : 0.0};
  std::copy(own.begin(), own.end(), mine.begin() + 1);
  std::vector<double> all(mine.size() * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(mine.data(), static_cast<int>(mine.size()), all.data());
  std::array<double, count> found = own;
  int first = -1;
  for (int r = 0; r < ranks.size(); ++r) {
    const double* const of_rank = all.data() + static_cast<std::size_t>(r) * mine.size();
    if (of_rank[0] == 0) continue;
    if (first < 0) {
      std::copy_n(of_rank + 1, count, found.begin());
      first = r;
    } else if (!std::equal(found.begin(), found.end(), of_rank + 1)) {
      throw RefusedAlike(std::string("AMG: ") + what + " of rank " + std::to_string(r) + " are not those of rank " +
                         std::to_string(first));
    }
  }
  return found;
}

}  // namespace

template <Space S>
template <class T>
RankNearNull<S>::RankNearNull(const Context<S>& space, const RankMatrix<T>& a, const AmgOptions& options) {
  const HostContext& ctx = host_context(space);
  const auto rows = static_cast<Index>(a.rows.row_ptr.size - 1);
  AmgOptions own = options;
  if (rows == 0) own.near_null = AmgNearNull::automatic;  // it knows nothing, and is not asked
  const NearNullChoice choice(own, rows == 0 ? nullptr : a.coordinates, rows);
  const auto said = agreed<1>(ctx, rows > 0, {static_cast<double>(choice.node_rows())}, "the rows of a node");
  node_rows = said[0] > 0 ? static_cast<int>(said[0]) : node_rows_on_ranks(space, a);
  const NodeNumbering numbering{node_rows, 0};
  const Kind kind = options.vectors != nullptr ? given : choice.rigid(numbering) ? rigid : constants;
  const double count = options.vectors == nullptr ? 0 : options.vectors->count;
  const auto known = agreed<2>(ctx, rows > 0, {static_cast<double>(kind), count}, "the near-null vectors");
  if (known[0] == rigid && rows == 0) {
    vectors = rigid_body_modes(space, NodeCoordinates{{}, node_rows});  // with the others
  } else if (known[0] == given && rows == 0) {
    vectors.vectors = static_cast<int>(known[1]);
  } else {
    vectors = choice.vectors(space, rows, numbering, name);
  }
  for (const std::string& of_rank : ctx.ranks()->communicator->texts(name)) {
    if (name.empty()) name = of_rank;
  }
}

#define X(T, S) template RankNearNull<S>::RankNearNull(const Context<S>&, const RankMatrix<T>&, const AmgOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
