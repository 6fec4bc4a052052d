// SPDX-License-Identifier: Apache-2.0
// Messages through the methods of an object of Python.
#include "python_ranks.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/failure_board.hpp>
#include <newel/core/rank_groups.hpp>

#include "gil.hpp"

namespace newel::python {
namespace {

// Memory of the library, for the duration of a call or of an exchange.
nb::object view_of(const void* data, std::size_t bytes, int access) {
  auto* const memory = static_cast<char*>(const_cast<void*>(data));
  return nb::steal(PyMemoryView_FromMemory(memory, static_cast<Py_ssize_t>(bytes), access));
}

// The library's RankFailed in place of Python's.
template <class Work>
decltype(auto) with_ranks(Work&& work) {
  try {
    return in_python(std::forward<Work>(work));
  } catch (nb::python_error& error) {
    if (error.matches(rank_failed())) throw RankFailed(nb::str(error.value()).c_str());
    throw PythonFailure(error);
  }
}

class PythonExchange final : public RankExchange {
 public:
  explicit PythonExchange(nb::object exchange) : exchange_(std::move(exchange)) {}
  ~PythonExchange() override {
    const WithGil gil;
    exchange_.reset();
  }
  void start() override {
    const WithGil gil;
    with_ranks([&] { call_method(exchange_, "start"); });
  }
  void finish() override {
    const WithGil gil;
    with_ranks([&] { call_method(exchange_, "finish"); });
  }

 private:
  nb::object exchange_;
};

class PythonRanks final : public Communicator, public RankGroups {
 public:
  explicit PythonRanks(nb::object ranks)
      : rank_(nb::cast<int>(ranks.attr("rank"))),
        size_(nb::cast<int>(ranks.attr("size"))),
        number_(nb::cast<int>(ranks.attr("number"))),
        ranks_(std::move(ranks)) {}
  void set_board(std::shared_ptr<FailureBoard> board) { board_ = std::move(board); }
  ~PythonRanks() override {
    const WithGil gil;
    ranks_.reset();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_gather(const double* mine, int count, double* all) override {
    if (count == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
    const WithGil gil;
    with_ranks([&] {
      ranks_.attr("all_gather")(view_of(mine, bytes, PyBUF_READ),
                                view_of(all, bytes * static_cast<std::size_t>(size_), PyBUF_WRITE));
    });
  }

  std::vector<std::string> all_to_all(const std::vector<std::string>& sent) override {
    const WithGil gil;
    return with_ranks([&] {
      nb::list out;
      for (const std::string& text : sent) out.append(nb::bytes(text.data(), text.size()));
      std::vector<std::string> received;
      for (const nb::handle text : nb::list(ranks_.attr("all_to_all")(out))) {
        const auto bytes = nb::cast<nb::bytes>(text);
        received.emplace_back(bytes.c_str(), bytes.size());
      }
      return received;
    });
  }

  std::unique_ptr<RankExchange> exchange(std::vector<RankMessage> out, std::vector<RankMessage> in) override {
    const WithGil gil;
    return with_ranks([&]() -> std::unique_ptr<RankExchange> {
      return std::make_unique<PythonExchange>(
          ranks_.attr("exchange")(list_of(out, PyBUF_READ), list_of(in, PyBUF_WRITE)));
    });
  }

  std::shared_ptr<Communicator> group(int number) override {
    const WithGil gil;
    return with_ranks([&] {
      auto made = std::make_shared<PythonRanks>(nb::object(ranks_.attr("group")(number)));
      made->set_board(board_);
      return made;
    });
  }

  // Sends nothing, so that it needs no lock.
  std::optional<std::string> failure() const override {
    return board_ == nullptr ? std::nullopt : std::optional<std::string>(board_->failure());
  }
  void fail(const std::string& why) noexcept override {
    if (board_ != nullptr) board_->fail(number_, why);
    const WithGil gil;
    try {
      in_python([&] { ranks_.attr("fail")(nb::str(why.c_str())); });
    } catch (...) {  // the others cannot be reached
      PyErr_Clear();
    }
  }

 private:
  static nb::list list_of(const std::vector<RankMessage>& messages, int access) {
    nb::list list;
    for (const RankMessage& message : messages) {
      if (message.bytes > 0) list.append(nb::make_tuple(message.rank, view_of(message.data, message.bytes, access)));
    }
    return list;
  }

  int rank_, size_;
  int number_;  // of this rank among all, of which these may be a group
  std::shared_ptr<FailureBoard> board_;
  nb::object ranks_;
};

}  // namespace

std::shared_ptr<Communicator> python_ranks(nb::object ranks) {
  auto made = std::make_shared<PythonRanks>(std::move(ranks));
  made->set_board(FailureBoard::make(*made));
  return made;
}

nb::object rank_failed() { return nb::module_::import_("newel._ranks").attr("RankFailed"); }

}  // namespace newel::python
