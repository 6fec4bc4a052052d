// SPDX-License-Identifier: Apache-2.0
// Rounds of pairs that kernels find: they hold what the host's hold, and are hardly more.
#include "tests/reorder/patterns.hpp"
#include "tests/spmv/ehyb_support.hpp"
#include "tests/spmv/pair_support.hpp"

using detail::PairShape;

namespace {

using HostSplit = detail::SplitPattern<Space::host>;

HostSplit downloaded(const Context<Space::device>& ctx, detail::SplitPattern<Space::device> split) {
  const Context<Space::host> host;
  const auto here = [&](const auto& array) { return make_array(host, to_vector(ctx, array.cspan())); };
  const auto& rounds = split.rounds;
  return {{here(rounds.part_round), here(rounds.round_first), here(rounds.nodes), here(rounds.upper_run),
           here(rounds.lower_run), rounds.pairs, rounds.most_places},
          std::move(split.node),
          here(split.row_ptr),
          here(split.col),
          here(split.position)};
}

// Found twice, from both widths of row pointers, and the same.
HostSplit split_on_device(const HostCsr& a, const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  const Context<Space::device> ctx;
  const auto there = upload_matrix<float>(ctx, a);
  const auto find = [&](const CsrView<float, Space::device>& view) {
    auto split = detail::split_pairs(ctx, Pattern<Space::device>(view), part_begin, block, shape);
    REQUIRE(split);
    return downloaded(ctx, std::move(*split));
  };
  HostSplit one = find(there.narrow());
  const HostSplit two = find(there.wide());
  const auto same = [](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  CHECK(same(one.rounds.nodes, two.rounds.nodes));
  CHECK(same(one.rounds.upper_run, two.rounds.upper_run));
  CHECK(same(one.position, two.position));
  CHECK(one.node == two.node);
  return one;
}

void check_on_device(const HostCsr& a, const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  check_split(a, part_begin, block, shape, split_on_device(a, part_begin, block, shape));
}

}  // namespace

TEST_CASE("Pairs that kernels find take every entry once, in parts and blocks of every kind",
          "[ehyb][pairs][device]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    for (const Index parts : {1, 17}) {
      if (a.rows == 0) continue;
      check_on_device(a, random_bounds(a.rows, parts, 1, 5), 1, {32, 1 + a.rows / (2 * parts), 16});
    }
  }
  for (const int block : {2, 3}) {
    INFO("block " << block);
    const HostCsr a = blown_up(fem_matrix("generate:diffusion:7"), block);
    check_on_device(a, random_bounds(a.rows, 5, block, 6), block, {32, 20, 1});
    check_on_device(a, {0, a.rows}, block, {32, 1000, 8});
  }
}

TEST_CASE("Rounds that kernels find are nearly as full as the host's, and ordered like them",
          "[ehyb][pairs][device]") {
  const HostCsr a = fem_matrix("generate:diffusion:14");
  const std::vector<Index> part_begin = {0, a.rows / 2, a.rows};
  constexpr Index banks = 16;
  const PairShape shape = {32, 512, banks};
  const HostSplit found = split_on_device(a, part_begin, 1, shape);
  const HostSplit host = detail::split_pairs(Context<Space::host>(2), pattern_of(a), part_begin, 1, shape);
  CAPTURE(found.rounds.pairs, found.rounds.round_first.size(), host.rounds.pairs, host.rounds.round_first.size());
  CHECK(static_cast<double>(found.rounds.pairs) > 0.99 * static_cast<double>(host.rounds.pairs));
  CHECK(found.rounds.round_first.size() < host.rounds.round_first.size() + 4);
  CHECK(crowding(found.rounds, 32, banks) < 1.8);
}

TEST_ON_DEVICE("What kernels do not pair is left to the host", "[ehyb][pairs][device]") {
  const auto refused = [&](const HostCsr& a, const std::vector<Index>& part_begin, const PairShape& shape) {
    const auto there = upload_matrix<float>(ctx, a);
    return !detail::split_pairs(ctx, Pattern<Space::device>(there.narrow()), part_begin, 1, shape);
  };
  const HostCsr small = tridiagonal_matrix(6);
  CHECK_FALSE(refused(small, {0, 6}, {32, 100, 1}));
  CHECK(refused(small, {0, 6}, {8, 100, 1}));                           // not a warp's lanes
  CHECK(refused(tridiagonal_matrix(60000), {0, 60000}, {32, 100, 1}));  // more nodes than shared memory holds
}
