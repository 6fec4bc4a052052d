// SPDX-License-Identifier: Apache-2.0
// Groups of ranks, and how ranks in processes learn of failures.
#include <newel/core/failure_board.hpp>
#include <newel/core/rank_groups.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

// Two processes that send each other texts through pipes.
class PipeRank final : public Communicator {
 public:
  PipeRank(int rank, int in, int out) : rank_(rank), in_(in), out_(out) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void all_gather(const double*, int, double*) override { throw Error("not needed here"); }
  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage>, std::vector<RankMessage>) override {
    return nullptr;
  }
  void fail(const std::string&) noexcept override {}
  std::vector<std::string> all_to_all(const std::vector<std::string>& sent) override {
    const std::string& text = sent[static_cast<std::size_t>(1 - rank_)];
    const std::size_t size = text.size();
    if (write(out_, &size, sizeof(size)) < 0 || write(out_, text.data(), size) < 0) throw Error("write");
    std::size_t coming = 0;
    if (read(in_, &coming, sizeof(coming)) < 0) throw Error("read");
    std::string received(coming, ' ');
    if (coming > 0 && read(in_, received.data(), coming) < 0) throw Error("read");
    std::vector<std::string> all = {sent[static_cast<std::size_t>(rank_)], received};
    if (rank_ == 1) std::swap(all[0], all[1]);
    return all;
  }

 private:
  int rank_, in_, out_;
};

// What the board of the parent says within 5 s, after the child has made its own and called `act`.
std::string said_of_child(void (*act)(FailureBoard&)) {
  int down[2], up[2];
  REQUIRE(pipe(down) == 0);
  REQUIRE(pipe(up) == 0);
  const pid_t child = fork();
  if (child == 0) {
    PipeRank ranks(1, down[0], up[1]);
    auto board = FailureBoard::make(ranks);
    if (board != nullptr) act(*board);
    board.reset();
    _exit(0);
  }
  PipeRank ranks(0, up[0], down[1]);
  const std::shared_ptr<FailureBoard> board = FailureBoard::make(ranks);
  REQUIRE(board != nullptr);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  std::string said;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (said.empty() && std::chrono::steady_clock::now() < end) {
    said = board->failure();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const int file : {down[0], down[1], up[0], up[1]}) close(file);
  return said;
}

}  // namespace

TEST_CASE("A group has the ranks with its number, in their order", "[core][ranks]") {
  const auto thrown = on_ranks(7, [](const std::shared_ptr<Communicator>& ranks) {
    const int number = ranks->rank() % 3;
    const std::shared_ptr<Communicator> group = group_of(*ranks, number);
    RANK_CHECK(group->size() == (number == 0 ? 3 : 2));
    RANK_CHECK(group->rank() == ranks->rank() / 3);
    double sum = ranks->rank();
    group->sum(&sum, 1);
    RANK_CHECK(sum == (number == 0 ? 9 : number == 1 ? 5 : 7));
    const std::shared_ptr<Communicator> alone = group_of(*group, ranks->rank());
    RANK_CHECK(alone->size() == 1);
    double all = 1;
    ranks->sum(&all, 1);
    RANK_CHECK(all == 7);
  });
  CHECK(thrown == std::vector<std::string>(7));
}

TEST_CASE("A failure in a group ends the calls of all ranks, with the number among all", "[core][ranks]") {
  const auto thrown = on_ranks(4, [](const std::shared_ptr<Communicator>& ranks) {
    const std::shared_ptr<Communicator> group = group_of(*ranks, ranks->rank() / 2);
    if (ranks->rank() == 3) {
      group->fail("out of order");
      throw std::runtime_error("out of order");
    }
    double value = 0;
    (ranks->rank() == 2 ? *group : *ranks).sum(&value, 1);
  });
  for (std::size_t r = 0; r < 3; ++r) CHECK(thrown[r] == "rank 3: out of order");
}

TEST_CASE("A board shows what another process has said", "[core][ranks]") {
  CHECK(said_of_child([](FailureBoard& board) { board.fail(1, "a matrix of lead"); }) == "rank 1: a matrix of lead");
  const std::string longest(10000, 'x');
  CHECK(said_of_child([](FailureBoard& board) { board.fail(1, std::string(10000, 'x')); }) ==
        ("rank 1: " + longest).substr(0, 4000));
}

TEST_CASE("A board shows that another process was killed, but not that it has left", "[core][ranks]") {
  CHECK(said_of_child([](FailureBoard&) { raise(SIGKILL); }) == "rank 1: its process has ended");
  CHECK(said_of_child([](FailureBoard&) {}) == "");
}

TEST_CASE("The first failure of a board counts", "[core][ranks]") {
  const auto thrown = on_ranks(3, [](const std::shared_ptr<Communicator>& ranks) {
    const std::shared_ptr<FailureBoard> board = FailureBoard::make(*ranks);
    RANK_CHECK(board != nullptr && board->failure().empty());
    ranks->texts("");
    if (ranks->rank() == 1) board->fail(1, "first");
    ranks->texts("");
    board->fail(ranks->rank(), "later");
    ranks->texts("");
    RANK_CHECK(board->failure() == "rank 1: first");
  });
  CHECK(thrown == std::vector<std::string>(3));
}
