// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process.
#include <newel/core/communicator.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include <newel/core/rank_groups.hpp>

namespace newel {
namespace {

// Whether a rank has failed, for all ranks and all their groups.
struct Failures {
  std::mutex mutex;
  std::condition_variable changed;  // also when a meeting has taken place
  bool failed = false;
  std::string why;

  std::string reason() const { return why.empty() ? "another rank has failed" : why; }
  void throw_if_failed() const {
    if (failed) throw RankFailed(reason());
  }
};

// What the ranks share. At a meeting each shows an address of its own, and reads what the others show until the
// next meeting.
class Meeting {
 public:
  Meeting(std::size_t size, std::shared_ptr<Failures> failures) : shown_(size), failures_(std::move(failures)) {}

  int size() const { return static_cast<int>(shown_.size()); }
  const std::shared_ptr<Failures>& failures() const { return failures_; }

  // Shows `mine`, and returns when all are there.
  void show(int rank, const void* mine) {
    shown_[static_cast<std::size_t>(rank)] = mine;
    meet();
  }
  template <class Shown>
  const Shown* of(int rank) const {
    return static_cast<const Shown*>(shown_[static_cast<std::size_t>(rank)]);
  }

  void meet() {
    std::unique_lock<std::mutex> lock(failures_->mutex);
    failures_->throw_if_failed();
    const std::uint64_t mine = meetings_;
    if (++here_ == size()) {
      here_ = 0;
      ++meetings_;
      failures_->changed.notify_all();
      return;
    }
    failures_->changed.wait(lock, [&] { return meetings_ != mine || failures_->failed; });
    if (meetings_ == mine) failures_->throw_if_failed();
  }

  std::string failure() const {
    const std::lock_guard<std::mutex> lock(failures_->mutex);
    return failures_->failed ? failures_->reason() : std::string();
  }

  void fail(int rank, const std::string& why) noexcept {
    const std::lock_guard<std::mutex> lock(failures_->mutex);
    if (!failures_->failed) {
      failures_->failed = true;
      try {
        failures_->why = "rank " + std::to_string(rank) + ": " + why;
      } catch (...) {  // without memory the word has to do
      }
    }
    failures_->changed.notify_all();
  }

 private:
  std::vector<const void*> shown_;
  std::shared_ptr<Failures> failures_;
  int here_ = 0;
  std::uint64_t meetings_ = 0;
};

class ThreadExchange final : public RankExchange {
 public:
  ThreadExchange(std::shared_ptr<Meeting> meeting, int rank, std::vector<RankMessage> out,
                 std::vector<RankMessage> in)
      : meeting_(std::move(meeting)), rank_(rank), out_(std::move(out)), in_(std::move(in)) {}

  void start() override {}

  void finish() override {
    meeting_->show(rank_, &out_);
    std::vector<int>& taken = taken_;
    taken.assign(static_cast<std::size_t>(meeting_->size()), 0);
    for (const RankMessage& message : in_) {
      const auto& sent = *meeting_->of<std::vector<RankMessage>>(message.rank);
      int place = taken[static_cast<std::size_t>(message.rank)]++;
      for (const RankMessage& found : sent) {
        if (found.rank != rank_ || place-- > 0) continue;
        if (found.bytes != message.bytes) {
          throw Error("rank " + std::to_string(message.rank) + " sends " + std::to_string(found.bytes) +
                      " bytes, not " + std::to_string(message.bytes));
        }
        std::memcpy(message.data, found.data, message.bytes);
        break;
      }
    }
    meeting_->meet();
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_;
  std::vector<RankMessage> out_, in_;
  std::vector<int> taken_;  // messages of each rank
};

class ThreadRank final : public Communicator, public RankGroups {
 public:
  // `number`: of this rank among all, of which these may be a group.
  ThreadRank(std::shared_ptr<Meeting> meeting, int rank, int number)
      : meeting_(std::move(meeting)), rank_(rank), number_(number) {}

  int rank() const override { return rank_; }
  int size() const override { return meeting_->size(); }

  void all_gather(const double* mine, int count, double* all) override {
    meeting_->show(rank_, mine);
    for (int r = 0; r < size(); ++r) std::copy_n(meeting_->of<double>(r), count, all + std::int64_t{r} * count);
    meeting_->meet();
  }

  std::vector<std::string> all_to_all(const std::vector<std::string>& sent) override {
    meeting_->show(rank_, &sent);
    std::vector<std::string> received;
    for (int r = 0; r < size(); ++r) {
      received.push_back((*meeting_->of<std::vector<std::string>>(r))[static_cast<std::size_t>(rank_)]);
    }
    meeting_->meet();
    return received;
  }

  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in) override {
    return std::make_unique<ThreadExchange>(meeting_, rank_, std::move(out), std::move(in));
  }

  std::shared_ptr<Communicator> group(int number) override {
    std::vector<double> numbers(static_cast<std::size_t>(size()));
    const double own = number;
    all_gather(&own, 1, numbers.data());
    const auto first = static_cast<int>(std::find(numbers.begin(), numbers.end(), own) - numbers.begin());
    const auto before = static_cast<int>(std::count(numbers.begin(), numbers.begin() + rank_, own));
    std::shared_ptr<Meeting> made;
    if (first == rank_) {
      const auto ranks = static_cast<std::size_t>(std::count(numbers.begin(), numbers.end(), own));
      made = std::make_shared<Meeting>(ranks, meeting_->failures());
    }
    meeting_->show(rank_, &made);
    if (first != rank_) made = *meeting_->of<std::shared_ptr<Meeting>>(first);
    meeting_->meet();
    return std::make_shared<ThreadRank>(std::move(made), before, number_);
  }

  void fail(const std::string& why) noexcept override { meeting_->fail(number_, why); }
  std::optional<std::string> failure() const override { return meeting_->failure(); }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_, number_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> thread_ranks(int size) {
  if (size < 1) throw InputError("ranks: at least 1 is needed, not " + std::to_string(size));
  const auto meeting = std::make_shared<Meeting>(static_cast<std::size_t>(size), std::make_shared<Failures>());
  std::vector<std::shared_ptr<Communicator>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(std::make_shared<ThreadRank>(meeting, r, r));
  return ranks;
}

}  // namespace newel
