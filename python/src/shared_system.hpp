// SPDX-License-Identifier: Apache-2.0
/// SharedSystem: the System whose rows ranks share: processes, also with devices, or the devices of this one.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <newel/distributed/offloaded_system.hpp>
#include <newel/distributed/team_system.hpp>

#include "system_in.hpp"

namespace newel::python {

/// What a report of Python's knows of the ranks.
template <class T>
void add_facts(nb::dict& info, const DistributedSystem<T>& system) {
  info["rows"] = system.rows();
  info["first_row"] = system.first_row();
  info["all_rows"] = system.all_rows();
}
template <class T, Space S>
void add_facts(nb::dict& info, const OffloadedSystem<T, S>& system) {
  info["rows"] = system.rows();
  info["first_row"] = system.first_row();
  info["all_rows"] = system.all_rows();
  info["link"] = system.link();
}
template <class T, Space S>
void add_facts(nb::dict& info, const TeamSystem<T, S>& system) {
  nb::list rows;
  for (std::size_t r = 1; r < system.first_rows().size(); ++r) {
    rows.append(system.first_rows()[r] - system.first_rows()[r - 1]);
  }
  info["rank_rows"] = rows;
  info["link"] = system.link();
}

template <class Held>
inline constexpr bool has_whole_vectors = false;
template <class T, Space S>
inline constexpr bool has_whole_vectors<TeamSystem<T, S>> = true;

/// `Held` is a DistributedSystem or an OffloadedSystem, whose vectors are parts, or a TeamSystem, whose vectors are
/// whole.
template <class T, class Held>
class SharedSystem final : public System {
  static constexpr bool whole = has_whole_vectors<Held>;

 public:
  /// `make` is called without the lock.
  template <class Make>
  SharedSystem(SystemOptions options, const Make& make)
      : System(std::is_same_v<T, float>), options_(std::move(options)) {
    const WithoutGil released;
    system_ = make(options_);
  }
  ~SharedSystem() override {
    const WithoutGil released;
    system_.reset();
  }

  Index rows() const override { return system_->rows(); }
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
    map(x, y, [this](auto from, auto to) { system_->multiply(from, to); });
  }
  void precondition(nb::handle x, nb::handle y) override {
    if constexpr (whole) {
      map(x, y, [this](auto from, auto to) { system_->precondition(from, to); });
    } else {
      refuse("as_preconditioner");
    }
  }
  nb::dict info() override {
    const Turn turn(busy_);
    nb::dict info = system_dict(system_->info());
    add_facts(info, *system_);
    return info;
  }
  bool is_symmetric(Operand which) override {
    return symmetric([this, which](auto from, auto to) {
      which == Operand::matrix ? system_->multiply(from, to) : system_->precondition(from, to);
    });
  }
  Hash pattern_hash(nb::handle arrays) override {
    if constexpr (!whole) refuse("a hash of the pattern");
    return nb::cast<const MatrixArrays&>(arrays).hash();
  }

  void operator_changed(RefreshScope) override { refuse("refresh without values"); }
  void move_nodes(std::shared_ptr<const NodeCoordinates>) override { refuse("coordinates"); }
  std::string decision() override { refuse("decision"); }
  nb::dict eigenpairs(const EigenQuestion&) override { refuse("eigenpairs"); }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw InputError(std::string(what) + " is not possible for a Solver with " +
                     (whole ? "several devices" : "comm") + ", whose rows are distributed");
  }
  template <class F>
  void map(nb::handle x, nb::handle y, const F& f) {
    const Turn turn(busy_);
    const auto from_array = nb::cast<Flat>(x);
    const auto to_array = nb::cast<WritableOf<T>>(y, false);
    const Span<const T, host> from = values_of<T>(from_array);
    const Span<T, host> to = span_of(to_array);
    const WithoutGil released;
    f(from, to);
  }
  template <class F>
  bool symmetric(const F& f) {
    if constexpr (whole) {
      const Turn turn(busy_);
      const WithoutGil released;
      const auto product = [&](const Context<host>&, T, Span<const T, host> x, T, Span<T, host> y) { f(x, y); };
      const FunctionOperator<T, host> a(rows(), rows(), product);
      return symmetry_fault<T, host>(Context<host>(), a, nullptr) == Asymmetric::none;
    } else {
      refuse("rmatvec");
    }
  }
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
  std::unique_ptr<Held> system_;
};

}  // namespace newel::python
