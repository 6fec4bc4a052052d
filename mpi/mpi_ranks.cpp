// SPDX-License-Identifier: Apache-2.0
// Processes under MPI as ranks.
#include <newel/mpi/mpi_ranks.hpp>

#include <sched.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/failure_board.hpp>
#include <newel/core/rank_groups.hpp>

namespace newel {
namespace {

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

int int_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error("a message of " + std::to_string(bytes) + " bytes: MPI takes 2^31 - 1");
  }
  return static_cast<int>(bytes);
}

// How ranks learn that one of them has failed: by messages on a communicator of their own, which waiting calls look
// for, and on one host by a board, which any thread can read.
class Failures {
 public:
  explicit Failures(MPI_Comm comm) {
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    any_thread_ = provided == MPI_THREAD_MULTIPLE;
  }
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;
  ~Failures() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && why_.empty()) MPI_Comm_free(&comm_);  // with messages under way nothing can be freed
  }
  void set_board(std::shared_ptr<FailureBoard> board) { board_ = std::move(board); }

  // From the thread that calls MPI.
  void look() {
    const std::lock_guard<std::mutex> lock(mutex_);
    find();
    if (!why_.empty()) throw RankFailed(why_);
  }
  void throw_if_known() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!why_.empty()) throw RankFailed(why_);
  }
  bool known() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !why_.empty();
  }
  // From any thread.
  std::optional<std::string> failure() {
    if (board_ == nullptr && !any_thread_) return std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!why_.empty()) return why_;
    if (board_ != nullptr) return board_->failure();
    find();
    return why_;
  }

  void fail(const std::string& why) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!why_.empty()) return;
    if (board_ != nullptr) board_->fail(rank_, why);
    try {
      why_ = "rank " + std::to_string(rank_) + ": " + why;
      const auto& text = *new std::string(why_);  // never freed, because nobody waits for these messages
      for (int r = 0; r < size_; ++r) {
        MPI_Request request;
        if (r != rank_) MPI_Isend(text.data(), int_of(text.size()), MPI_CHAR, r, 0, comm_, &request);
      }
    } catch (...) {
      why_ = "?";
    }
  }

 private:
  void find() {
    if (!why_.empty()) return;
    if (board_ != nullptr) why_ = board_->failure();
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status), "MPI_Iprobe");
    if (there == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string why(static_cast<std::size_t>(length), ' ');
    check(MPI_Recv(why.data(), length, MPI_CHAR, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    if (why_.empty()) why_ = std::move(why);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool any_thread_ = false;  // may call MPI
  std::shared_ptr<FailureBoard> board_;
  mutable std::mutex mutex_;
  std::string why_;  // empty: none has failed, as far as is known
};

// A communicator of the library's own for its calls.
class Channels {
 public:
  // Takes the communicator over. `failures`: of all ranks, which may be more.
  Channels(MPI_Comm calls, std::shared_ptr<Failures> failures) : calls_(calls), failures_(std::move(failures)) {
    MPI_Comm_set_errhandler(calls_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(calls_, &rank_);
    MPI_Comm_size(calls_, &size_);
  }
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;
  ~Channels() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && !failures_->known()) MPI_Comm_free(&calls_);  // calls may be left that are never answered
  }

  MPI_Comm calls() const { return calls_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::shared_ptr<Failures>& failures() const { return failures_; }

  // Returns when all requests are done. Throws RankFailed.
  void wait(std::vector<MPI_Request>& requests) {
    failures_->throw_if_known();
    constexpr int between_looks = 64;
    for (int tries = 1;; ++tries) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done != 0) return;
      if (tries % between_looks != 0) continue;
      failures_->look();
      sched_yield();
    }
  }
  void wait(MPI_Request request) {
    one_.assign(1, request);
    wait(one_);
  }

 private:
  MPI_Comm calls_;
  std::shared_ptr<Failures> failures_;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> one_;
};

MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
  return made;
}

class MpiExchange final : public RankExchange {
 public:
  MpiExchange(std::shared_ptr<Channels> channels, int tag, const std::vector<RankMessage>& out,
              const std::vector<RankMessage>& in)
      : channels_(std::move(channels)) {
    const auto add = [&](const RankMessage& message, auto init, const char* call) {
      MPI_Request request;
      check(init(message.data, int_of(message.bytes), MPI_BYTE, message.rank, tag, channels_->calls(), &request),
            call);
      requests_.push_back(request);
    };
    for (const RankMessage& message : in) add(message, MPI_Recv_init, "MPI_Recv_init");
    receives_ = requests_.size();
    for (const RankMessage& message : out) add(message, MPI_Send_init, "MPI_Send_init");
  }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;
  ~MpiExchange() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    if (under_way_) {  // a rank has failed; nothing may arrive in memory that is about to be freed
      for (std::size_t r = 0; r < receives_; ++r) {
        MPI_Cancel(&requests_[r]);
        MPI_Wait(&requests_[r], MPI_STATUS_IGNORE);
      }
      return;
    }
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void start() override {
    channels_->failures()->throw_if_known();
    if (requests_.empty()) return;  // which Open MPI calls an error
    check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    under_way_ = true;
  }
  void finish() override {
    if (!requests_.empty()) channels_->wait(requests_);
    under_way_ = false;
  }

 private:
  std::shared_ptr<Channels> channels_;
  std::vector<MPI_Request> requests_;  // receives first
  std::size_t receives_ = 0;
  bool under_way_ = false;
};

class MpiRank final : public Communicator, public RankGroups {
 public:
  MpiRank(MPI_Comm calls, std::shared_ptr<Failures> failures)
      : channels_(std::make_shared<Channels>(calls, std::move(failures))) {}

  int rank() const override { return channels_->rank(); }
  int size() const override { return channels_->size(); }

  void all_gather(const double* mine, int count, double* all) override {
    channels_->failures()->throw_if_known();
    if (gathered_ == nullptr) gathered_ = std::make_unique<Gathered>();
    gathered_->mine.assign(mine, mine + count);
    gathered_->all.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(size()));
    MPI_Request request;
    check(MPI_Iallgather(gathered_->mine.data(), count, MPI_DOUBLE, gathered_->all.data(), count, MPI_DOUBLE,
                         channels_->calls(), &request),
          "MPI_Iallgather");
    wait(request, gathered_);
    std::copy(gathered_->all.begin(), gathered_->all.end(), all);
  }

  std::vector<std::string> all_to_all(const std::vector<std::string>& sent) override {
    channels_->failures()->throw_if_known();
    const auto ranks = static_cast<std::size_t>(size());
    auto kept = std::make_unique<Sent>();
    auto& [out_bytes, in_bytes, out_first, in_first, out, in] = *kept;
    for (std::vector<int>* const list : {&out_bytes, &in_bytes, &out_first, &in_first}) list->resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      out_first[r] = int_of(out.size());
      out_bytes[r] = int_of(sent[r].size());
      out += sent[r];
    }
    MPI_Request request;
    check(MPI_Ialltoall(out_bytes.data(), 1, MPI_INT, in_bytes.data(), 1, MPI_INT, channels_->calls(), &request),
          "MPI_Ialltoall");
    wait(request, kept);
    std::size_t total = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      in_first[r] = int_of(total);
      total += static_cast<std::size_t>(in_bytes[r]);
    }
    in.resize(total);
    check(MPI_Ialltoallv(out.data(), out_bytes.data(), out_first.data(), MPI_BYTE, in.data(), in_bytes.data(),
                         in_first.data(), MPI_BYTE, channels_->calls(), &request),
          "MPI_Ialltoallv");
    wait(request, kept);
    std::vector<std::string> received;
    for (std::size_t r = 0; r < ranks; ++r) {
      received.push_back(in.substr(static_cast<std::size_t>(in_first[r]), static_cast<std::size_t>(in_bytes[r])));
    }
    return received;
  }

  // Exchanges have tags of their own, which all ranks count alike.
  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in) override {
    constexpr int most_tags = 32768;  // that MPI promises
    const int tag = exchanges_;
    exchanges_ = (exchanges_ + 1) % most_tags;
    return std::make_unique<MpiExchange>(channels_, tag, out, in);
  }

  std::shared_ptr<Communicator> group(int number) override {
    channels_->failures()->throw_if_known();
    MPI_Comm calls = MPI_COMM_NULL;
    check(MPI_Comm_split(channels_->calls(), number, rank(), &calls), "MPI_Comm_split");
    return std::make_shared<MpiRank>(calls, channels_->failures());
  }

  void fail(const std::string& why) noexcept override { channels_->failures()->fail(why); }
  std::optional<std::string> failure() const override { return channels_->failures()->failure(); }

 private:
  struct Gathered {
    std::vector<double> mine, all;
  };
  struct Sent {
    std::vector<int> out_bytes, in_bytes, out_first, in_first;
    std::string out, in;
  };

  // If a rank has failed, the call never ends, and its buffers are never freed.
  template <class Buffers>
  void wait(MPI_Request request, std::unique_ptr<Buffers>& buffers) {
    try {
      channels_->wait(request);
    } catch (...) {
      static_cast<void>(buffers.release());
      throw;
    }
  }

  std::shared_ptr<Channels> channels_;
  std::unique_ptr<Gathered> gathered_;
  int exchanges_ = 0;
};

}  // namespace

std::shared_ptr<Communicator> mpi_ranks(MPI_Comm comm) {
  const auto failures = std::make_shared<Failures>(comm);
  auto ranks = std::make_shared<MpiRank>(duplicate_of(comm), failures);
  failures->set_board(FailureBoard::make(*ranks));
  return ranks;
}

}  // namespace newel
