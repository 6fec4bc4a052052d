// SPDX-License-Identifier: Apache-2.0
// Arrays to the ranks and back, and the rows of each.
#include "tests/catch.hpp"

#include <numeric>

#include "apps/newel/ranks/shares.hpp"
#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::cli;
using newel::testing::on_ranks;

TEST_CASE("What the first rank scatters is gathered again", "[cli][ranks]") {
  std::vector<double> all(1000);
  std::iota(all.begin(), all.end(), 0.5);
  const std::vector<std::int64_t> bounds = {0, 7, 7, 400, 1000};  // rank 1 has nothing
  const auto thrown = on_ranks(4, [&](const std::shared_ptr<Communicator>& ranks) {
    const bool first = ranks->rank() == 0;
    const auto r = static_cast<std::size_t>(ranks->rank());
    const std::vector<double> own =
        scatter<double>(*ranks, first ? Span<const double, Space::host>(all) : Span<const double, Space::host>(),
                        first ? bounds : std::vector<std::int64_t>());
    RANK_CHECK(own == std::vector<double>(all.begin() + bounds[r], all.begin() + bounds[r + 1]));
    const auto back = values_of<double>(gather_bytes(*ranks, bytes_of(Span<const double, Space::host>(own))));
    RANK_CHECK(back == (first ? all : std::vector<double>()));
    RANK_CHECK(from_first(*ranks, first ? "yes" : "no") == "yes");
  });
  CHECK(thrown == std::vector<std::string>(4));
}

TEST_CASE("A part that is longer than a round arrives whole", "[cli][ranks]") {
  const std::string part(150000000, 'a');  // a round has 2^28 bytes for two ranks
  const auto thrown = on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    const bool first = ranks->rank() == 0;
    const std::string own =
        scatter_bytes(*ranks, first ? std::vector<std::string_view>{"b", part} : std::vector<std::string_view>());
    RANK_CHECK(own == (first ? std::string_view("b") : std::string_view(part)));
    const std::string back = gather_bytes(*ranks, own);
    RANK_CHECK(back.size() == (first ? part.size() + 1 : 0));
    RANK_CHECK(!first || (back.front() == 'b' && back.find_first_not_of('a', 1) == std::string::npos));
  });
  CHECK(thrown == std::vector<std::string>(2));
}
