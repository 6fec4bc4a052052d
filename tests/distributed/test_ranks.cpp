// SPDX-License-Identifier: Apache-2.0
// Ranks in threads: what they send each other, and what happens where one fails.
#include "tests/catch.hpp"

#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include <newel/core/vector_ops.hpp>

#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;

TEST_CASE("Sums over ranks are added in the order of ranks", "[distributed]") {
  // In another order the sum is 0 or 2.
  const std::vector<double> of_rank = {1, 1e17, -1e17, 1};
  std::vector<double> found(4), most(4);
  const auto thrown = on_ranks(4, [&](const std::shared_ptr<Communicator>& ranks) {
    const auto r = static_cast<std::size_t>(ranks->rank());
    double values[] = {of_rank[r], static_cast<double>(r)};
    ranks->sum(values, 2);
    RANK_CHECK(values[1] == 6);
    found[r] = values[0];
    double largest[] = {of_rank[r], r == 2 ? std::nan("") : 1.0};
    ranks->max(largest, 2);
    most[r] = largest[0];
    RANK_CHECK(std::isnan(largest[1]));
  });
  CHECK(thrown == std::vector<std::string>(4));
  CHECK(found == std::vector<double>(4, ((1 + 1e17) - 1e17) + 1));
  CHECK(most == std::vector<double>(4, 1e17));
}

TEST_CASE("Texts and messages come from the rank that sent them", "[distributed]") {
  const int size = 3;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const int me = ranks->rank();
    RANK_CHECK(ranks->texts("rank " + std::to_string(me)) == std::vector<std::string>{"rank 0", "rank 1", "rank 2"});
    std::vector<std::string> sent;
    for (int r = 0; r < size; ++r) sent.push_back(std::string(static_cast<std::size_t>(10 * me + r), 'x'));
    const std::vector<std::string> received = ranks->all_to_all(sent);
    for (int r = 0; r < size; ++r) RANK_CHECK(received[static_cast<std::size_t>(r)].size() == 10u * r + me);

    // Two numbers to the next rank, one to the one after it, in three rounds.
    double out[3] = {}, in[3] = {};
    const int next = (me + 1) % size, after = (me + 2) % size;
    const auto exchange = ranks->exchange({{next, out, 2 * sizeof(double)}, {after, out + 2, sizeof(double)}},
                                          {{after, in, 2 * sizeof(double)}, {next, in + 2, sizeof(double)}});
    for (int round = 0; round < 3; ++round) {
      for (int k = 0; k < 3; ++k) out[k] = 100 * round + 10 * me + k;
      exchange->start();
      exchange->finish();
      RANK_CHECK(in[0] == 100 * round + 10 * after);
      RANK_CHECK(in[1] == 100 * round + 10 * after + 1);
      RANK_CHECK(in[2] == 100 * round + 10 * next + 2);
    }
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("A rank that fails ends those that wait for it", "[distributed]") {
  const auto thrown = on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    if (ranks->rank() == 1) throw std::runtime_error("no bread");
    double value = 1;
    ranks->sum(&value, 1);
  });
  CHECK(thrown == std::vector<std::string>{"rank 1: no bread", "no bread", "rank 1: no bread"});
}

TEST_CASE("A team runs each rank once, the first on the calling thread", "[distributed]") {
  const RankTeam team(4);
  CHECK(team.size() == 4);
  for (int round = 0; round < 2; ++round) {  // the ranks serve again
    std::vector<std::thread::id> threads(4);
    std::vector<double> sums(4);
    team.run([&](const std::shared_ptr<Communicator>& rank) {
      const auto r = static_cast<std::size_t>(rank->rank());
      threads[r] = std::this_thread::get_id();
      sums[r] = static_cast<double>(r + 1);
      rank->sum(&sums[r], 1);
    });
    CHECK(sums == std::vector<double>(4, 10.0));
    CHECK(threads[0] == std::this_thread::get_id());
    CHECK(std::set<std::thread::id>(threads.begin(), threads.end()).size() == 4);
  }
}

TEST_CASE("A team throws what the rank threw that failed first, with its type", "[distributed]") {
  const RankTeam team(3);
  const auto work = [](const std::shared_ptr<Communicator>& rank) {
    with_other_ranks(*rank, [&] {  // again: a call within a call
      if (rank->rank() == 2) throw ZeroDiagonal(7, 1, 0);
      rank->texts("");
    });
  };
  CHECK_THROWS_AS(team.run(work), ZeroDiagonal);
  const RankTeam another(3);
  const std::vector<std::exception_ptr> failures = another.failures_of(work);
  CHECK_THROWS_AS(std::rethrow_exception(failures[0]), RankFailed);
  CHECK_THROWS_AS(std::rethrow_exception(failures[1]), RankFailed);
  CHECK_THROWS_AS(std::rethrow_exception(failures[2]), ZeroDiagonal);
}

TEST_CASE("Fewer ranks than one are refused", "[distributed]") {
  CHECK_THROWS_AS(thread_ranks(0), InputError);
  CHECK_THROWS_AS(Context<host>(1).with_ranks({}), InputError);
}

TEST_CASE("Primitives of a rank's context sum over all ranks", "[distributed]") {
  const int size = 3, n = 5;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const int me = ranks->rank();
    const Context<host> ctx = Context<host>(1).with_ranks({ranks, std::int64_t{n} * me, std::int64_t{n} * size});
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 1.0 + n * me);  // 1 .. 15 in all
    const Span<const double, host> in(x.data(), n);
    double found = 0;
    dot<double, host>(ctx, in, in, &found);
    RANK_CHECK(found == 15 * 16 * 31 / 6);
    sum<double, host>(ctx, in, &found);
    RANK_CHECK(found == 120);
    const double total = found;
    max_abs<double>(ctx, in, &found);
    RANK_CHECK(found == 15);
    norm2<double, host>(ctx, in, &found);
    RANK_CHECK(found == std::sqrt(1240.0));
    subtract_mean<double, host>(ctx, &total, Span<double, host>(x));
    RANK_CHECK(x.front() == 1.0 + n * me - 8);
  });
  CHECK(thrown == std::vector<std::string>(3));
}
