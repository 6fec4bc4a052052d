// SPDX-License-Identifier: Apache-2.0
// The System whose rows are distributed over ranks.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include <newel/distributed/distributed_system.hpp>

#include "python_ranks.hpp"
#include "system_in.hpp"

namespace newel::python {
namespace {

// With the rows of all ranks, by which iterations are estimated.
SystemOptions options_of(const nb::dict& choices, std::int64_t rows, Communicator& ranks) {
  auto all_rows = static_cast<double>(rows);
  ranks.sum(&all_rows, 1);
  return system_options(choices, static_cast<Index>(std::min<double>(all_rows, std::numeric_limits<Index>::max())));
}

[[noreturn]] void refuse(const char* what) {
  throw InputError(std::string(what) + " is not possible for a Solver with comm, whose rows are distributed");
}

template <class T>
class RankSystem final : public System {
 public:
  RankSystem(const Flat& row_ptr, const Flat& col, const Flat& val, const nb::dict& choices, int threads,
             std::shared_ptr<Communicator> ranks)
      : options_(options_of(choices, static_cast<std::int64_t>(row_ptr.shape(0)) - 1, *ranks)), ctx_(threads) {
    const RankRows<T> rows{values_of<std::int64_t>(row_ptr), values_of<std::int64_t>(col), values_of<T>(val)};
    const WithoutGil released;
    system_ = std::make_unique<DistributedSystem<T>>(ctx_, std::move(ranks), rows, options_);
  }
  ~RankSystem() override {
    const WithoutGil released;
    system_.reset();
  }

  Index rows() const override { return system_->rows(); }
  bool single() const override { return std::is_same_v<T, float>; }
  bool busy() const override { return busy_; }

  nb::object solve(nb::handle b, nb::handle x, Index columns, bool zero, const StopCriterion& stop,
                   nb::handle callback) override {
    const Turn turn(busy_);
    SolveObserver observer(callback);
    const auto from_array = nb::cast<Flat>(b);
    const auto to_array = nb::cast<WritableOf<T>>(x, false);
    const InitialGuess guess = zero ? InitialGuess::zero : InitialGuess::in_x;
    std::vector<SolveReport> reports;
    {
      const Span<const T, host> from = values_of<T>(from_array);
      const Span<T, host> to = span_of(to_array);
      const WithoutGil released;
      system_->set_stop_criterion(stop);
      reports = system_->solve_columns(from, to, columns, observer.function(), guess);
    }
    observer.rethrow();
    nb::list result;
    for (SolveReport& report : reports) {
      const Explanation explained = explanation(report, stop);
      result.append(report_dict(std::move(report), explained));
    }
    return result;
  }

  void refresh(nb::handle values, RefreshScope scope) override {
    const Turn turn(busy_);
    if (scope != RefreshScope::everything) refuse("keep_preconditioner");
    const auto array = nb::cast<Flat>(values);
    const Span<const T, host> from = values_of<T>(array);
    const WithoutGil released;
    system_->refresh(from);
  }
  void multiply(nb::handle x, nb::handle y) override {
    const Turn turn(busy_);
    const auto from_array = nb::cast<Flat>(x);
    const auto to_array = nb::cast<WritableOf<T>>(y, false);
    const Span<const T, host> from = values_of<T>(from_array);
    const Span<T, host> to = span_of(to_array);
    const WithoutGil released;
    system_->multiply(from, to);
  }
  nb::dict info() override {
    const Turn turn(busy_);
    nb::dict info = system_dict(system_->info());
    info["rows"] = system_->rows();
    info["first_row"] = system_->first_row();
    info["all_rows"] = system_->all_rows();
    return info;
  }

  void operator_changed(RefreshScope) override { refuse("refresh without values"); }
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override { refuse("coordinates"); }
  void precondition(nb::handle, nb::handle) override { refuse("as_preconditioner"); }
  bool matrix_is_symmetric() override { refuse("rmatvec"); }
  bool preconditioner_is_symmetric() override { refuse("rmatvec"); }
  Hash pattern_hash(nb::handle) override { refuse("a hash of the pattern"); }
  std::string decision() override { refuse("decision"); }

 private:
  Explanation explanation(const SolveReport& report, const StopCriterion& stop) const {
    if (report.converged()) return {};
    SystemFacts unknown;
    unknown.rows = rows();
    unknown.has_entries = false;
    SystemOptions options = options_;
    options.stop = stop;
    return {"",
            advice_text({report, options, unknown, system_->info().preconditioner.name, single()}, advice_words())};
  }

  std::atomic<bool> busy_{false};
  SystemOptions options_;
  Context<host> ctx_;
  std::unique_ptr<DistributedSystem<T>> system_;
};

std::unique_ptr<System> system_of_rows(const Flat& row_ptr, const Flat& col, const Flat& val, bool single,
                                       const nb::dict& choices, int threads, nb::object ranks) {
  std::shared_ptr<Communicator> communicator = python_ranks(std::move(ranks));
  if (single)
    return std::make_unique<RankSystem<float>>(row_ptr, col, val, choices, threads, std::move(communicator));
  return std::make_unique<RankSystem<double>>(row_ptr, col, val, choices, threads, std::move(communicator));
}

}  // namespace

void bind_rank_system(nb::module_& module) {
  module.def("system_of_rows", &system_of_rows, nb::arg("row_ptr"), nb::arg("col"), nb::arg("val"), nb::arg("single"),
             nb::arg("choices"), nb::arg("threads"), nb::arg("ranks"));
}

}  // namespace newel::python
