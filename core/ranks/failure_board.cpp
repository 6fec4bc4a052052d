// SPDX-License-Identifier: Apache-2.0
// Failures of processes, in a page of memory that they share.
#include <newel/core/failure_board.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace newel {
namespace {

constexpr int most_ranks = 16384;  // a byte for each says whether it has left
constexpr std::size_t longest_text = 4000;

enum Progress : int { nothing = 0, being_written = 1, written = 2 };

struct Page {
  char token[64];
  std::atomic<int> progress;
  char text[longest_text + 1];
  std::atomic<char> left[most_ranks];
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<char>::is_always_lock_free,
              "processes share these");

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int k = 0; k < 4; ++k) token += std::to_string(source()) + "-";
  return token;
}

// Of the whole page, or nothing.
class SharedPage {
 public:
  SharedPage() = default;
  ~SharedPage() {
    if (page_ != nullptr) munmap(page_, sizeof(Page));
    if (file_ >= 0) close(file_);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  bool create(const std::string& path) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return file_ >= 0 && ftruncate(file_, sizeof(Page)) == 0 && map();
  }
  bool join(const std::string& path, const std::string& token) {
    file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    return file_ >= 0 && map() && std::strncmp(page_->token, token.c_str(), sizeof(page_->token)) == 0;
  }
  Page& operator*() const { return *page_; }
  Page* operator->() const { return page_; }

  // A lock of this process' own, which ends with it.
  bool hold(int rank) const {
    struct flock lock = lock_of(rank);
    return fcntl(file_, F_OFD_SETLK, &lock) == 0;
  }
  // Whether another process holds that lock.
  bool held(int rank) const {
    struct flock lock = lock_of(rank);
    return fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
  }

 private:
  bool map() {
    void* const at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    page_ = at == MAP_FAILED ? nullptr : static_cast<Page*>(at);
    return page_ != nullptr;
  }
  static struct flock lock_of(int rank) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = rank;
    lock.l_len = 1;
    return lock;
  }

  int file_ = -1;
  Page* page_ = nullptr;
};

std::vector<std::string> told(Communicator& communicator, const std::string& mine) {
  return communicator.all_to_all(std::vector<std::string>(static_cast<std::size_t>(communicator.size()), mine));
}

}  // namespace

struct FailureBoard::State {
  SharedPage page;
  int rank = 0, size = 1;
  bool has_locks = false;
  mutable std::atomic<std::int64_t> next_look{0};  // for processes that have ended
};

std::shared_ptr<FailureBoard> FailureBoard::make(Communicator& communicator) {
  if (communicator.size() > most_ranks) return nullptr;
  auto state = std::make_unique<State>();
  state->rank = communicator.rank();
  state->size = communicator.size();
  std::string path, token;
  bool has_page = false;
  if (state->rank == 0) {
    token = random_token();
    path = "/dev/shm/newel-" + std::to_string(getpid()) + "-" + token;
    has_page = state->page.create(path);
    if (has_page) std::memcpy(state->page->token, token.data(), std::min(token.size(), sizeof(Page::token) - 1));
  }
  const std::string of_first = told(communicator, path + "\n" + token).front();
  if (state->rank != 0) {
    const std::size_t end = of_first.find('\n');
    has_page = state->page.join(of_first.substr(0, end), of_first.substr(end + 1));
  }
  const bool locked = has_page && state->page.hold(state->rank);
  const std::vector<std::string> all = told(communicator, has_page ? (locked ? "locked" : "mapped") : "");
  if (state->rank == 0 && has_page) unlink(path.c_str());
  if (std::find(all.begin(), all.end(), "") != all.end()) return nullptr;
  state->has_locks = std::find(all.begin(), all.end(), "mapped") == all.end();
  return std::shared_ptr<FailureBoard>(new FailureBoard(std::move(state)));
}

FailureBoard::FailureBoard(std::unique_ptr<State> state) : state_(std::move(state)) {}

FailureBoard::~FailureBoard() { state_->page->left[state_->rank] = 1; }

void FailureBoard::fail(int rank, const std::string& why) noexcept {
  Page& page = *state_->page;
  int expected = nothing;
  if (!page.progress.compare_exchange_strong(expected, being_written)) return;
  std::string text;
  try {
    text = "rank " + std::to_string(rank) + ": " + why;
  } catch (...) {  // without memory
  }
  const std::size_t length = std::min(text.size(), longest_text);
  std::memcpy(page.text, text.data(), length);
  page.text[length] = '\0';
  page.progress = written;
}

std::string FailureBoard::failure() const {
  const Page& page = *state_->page;
  if (page.progress == written) return page.text[0] == '\0' ? "another rank has failed" : page.text;
  if (!state_->has_locks) return "";
  constexpr std::int64_t between_looks = 100'000'000;  // ns
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  if (now < state_->next_look) return "";
  state_->next_look = now + between_looks;
  for (int r = 0; r < state_->size; ++r) {
    if (r == state_->rank || page.left[r] != 0 || state_->page.held(r) || page.left[r] != 0) continue;
    const_cast<FailureBoard*>(this)->fail(r, "its process has ended");
    return failure();
  }
  return "";
}

}  // namespace newel
