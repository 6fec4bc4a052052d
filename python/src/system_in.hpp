// SPDX-License-Identifier: Apache-2.0
/// SystemIn: the System of one space and precision. All work is done without the GIL.
#pragma once

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <newel/solver/complex_system.hpp>
#include <newel/solver/failure.hpp>

#include "advice.hpp"
#include "gil.hpp"
#include "interrupts.hpp"
#include "report.hpp"
#include "system.hpp"

namespace newel::python {

/// One thread at a time, which the library asks for and the GIL no longer gives.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true)) {
      throw std::runtime_error(
          "this Solver is in use by another thread, or by the solve that runs this callback; make "
          "one Solver for each thread");
    }
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

/// How the arrays of Python come to a system in space S, and its context: `HostSide`, `DeviceSide`. A `Visit` is the
/// time in which a system works with them, and is made and destroyed with the GIL:
///   input(array)          the values of a vector, to be read
///   output(array, keeps)  where a vector is to be written; with `keeps` it holds its values
///   matrix(arrays)        a MatrixInput
///   finish()              what is left to do when everything has been queued, without the GIL
///   solved()              the same behind a solve, which has waited for the context's stream
template <class V, Space S>
class SideOf;

/// `V` is the type of the values, real or complex.
template <class V, Space S>
class SystemIn final : public System {
  using T = Real<V>;
  static constexpr bool complex = parts_of_value<V> == 2;
  using Held = std::conditional_t<complex, ComplexSystem<T, S>, LinearSystem<T, S>>;
  using Side = SideOf<V, S>;
  using Visit = typename Side::Visit;

 public:
  /// `arrays`: MatrixArrays, or what else a Visit takes for a matrix.
  template <class Arrays>
  SystemIn(const Arrays& arrays, const SystemRequest& request) : SystemIn(request) {
    Visit visit(side_);
    const MatrixInput<V, S> input = visit.matrix(arrays);
    input.check_lengths();
    options_ = system_options(request.choices, static_cast<Index>(input.rows()));
    SystemParts<T, S> parts = parts_of(request, static_cast<Index>(input.rows()));
    [[maybe_unused]] const bool plain = nb::cast<bool>(request.choices["plain"]);
    const WithoutGil released;
    if constexpr (complex) {
      const auto unknowns = plain ? ComplexUnknowns::as_given : ComplexUnknowns::automatic;
      system_ = std::make_unique<Held>(side_.ctx(), input, options_, std::move(parts), unknowns);
    } else {
      system_ = std::make_unique<Held>(side_.ctx(), input, options_, std::move(parts));
    }
  }
  SystemIn(Index n, nb::object product, const SystemRequest& request) : SystemIn(request) {
    const Visit visit(side_);
    options_ = system_options(request.choices, n);
    SystemParts<T, S> parts = parts_of(request, n);
    product_ = std::move(product);
    auto a = std::make_shared<typename Side::Operator>(n, product_);
    const WithoutGil released;
    system_ = std::make_unique<Held>(side_.ctx(), std::move(a), options_, std::move(parts));
  }
  ~SystemIn() override {
    const typename Side::Kept kept;
    system_.reset();
  }

  Index rows() const override { return system_->rows(); }
  bool busy() const override { return busy_; }

  nb::object solve(nb::handle b, nb::handle x, Index columns, bool zero, const StopCriterion& stop,
                   nb::handle callback) override {
    const Turn turn(busy_);
    SolveObserver observer(callback);
    const InitialGuess guess = zero ? InitialGuess::zero : InitialGuess::in_x;
    std::vector<SolveReport> reports;
    std::vector<Explanation> explained;
    {
      Visit visit(side_);
      const Span<const V, S> from = visit.input(b);
      const Span<V, S> to = visit.output(x, !zero);
      const WithoutGil released;
      system_->set_stop_criterion(stop);
      if (columns == 1) {
        reports.push_back(system_->solve(from, to, observer.function(), guess));
      } else {
        reports = system_->solve_columns(from, to, columns, observer.function(), guess);
      }
      explained = explanations(reports, from, stop);
      visit.solved();
    }
    observer.rethrow();
    if (columns == 1) return report_dict(std::move(reports.front()), explained.front());
    nb::list result;
    for (std::size_t c = 0; c < reports.size(); ++c) {
      result.append(report_dict(std::move(reports[c]), explained[c]));
    }
    return result;
  }

  void refresh(nb::handle values, RefreshScope scope) override {
    const Turn turn(busy_);
    Visit visit(side_);
    const Span<const V, S> from = visit.input(values);
    const WithoutGil released;
    system_->refresh(from, scope);
  }

  void operator_changed(RefreshScope scope) override {
    const Turn turn(busy_);
    const Visit visit(side_);
    const WithoutGil released;
    real().in_place().operator_changed(scope);
  }

  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) override {
    const Turn turn(busy_);
    const Visit visit(side_);
    const WithoutGil released;
    system_->move_nodes(std::move(coordinates));
  }

  void multiply(nb::handle x, nb::handle y) override {
    const Turn turn(busy_);
    Visit visit(side_);
    const Span<const V, S> from = visit.input(x);
    const Span<V, S> to = visit.output(y, false);
    const WithoutGil released;
    system_->multiply(from, to);
    visit.finish();
  }

  void precondition(nb::handle x, nb::handle y) override {
    const Turn turn(busy_);
    Visit visit(side_);
    const Span<const V, S> from = visit.input(x);
    const Span<V, S> to = visit.output(y, false);
    const WithoutGil released;
    if constexpr (complex) {
      throw InputError(
          "as_preconditioner: not possible for a complex system; pass the preconditioner's name instead");
    } else {
      precondition(from, to);
    }
    visit.finish();
  }

  bool is_symmetric(Operand which) override {
    const Turn turn(busy_);
    const Visit visit(side_);
    const WithoutGil released;
    if (which == Operand::preconditioner) {
      const LinearOperator<T, S>* const m = real().ordered().preconditioner();
      return m == nullptr || symmetry_fault<T, S>(side_.ctx(), *m, m) != Asymmetric::preconditioner;
    }
    const auto product = [this](const Context<S>&, T, Span<const T, S> x, T, Span<T, S> y) {
      system_->multiply({reinterpret_cast<const V*>(x.data), rows()}, {reinterpret_cast<V*>(y.data), rows()});
    };
    const Index parts = parts_of_value<V> * rows();
    const FunctionOperator<T, S> a(parts, parts, product);
    return symmetry_fault<T, S>(side_.ctx(), a, nullptr) == Asymmetric::none;
  }

  Hash pattern_hash(nb::handle arrays) override {
    const Turn turn(busy_);
    return Visit(side_).pattern_hash(arrays);
  }

  nb::dict info() override {
    const Turn turn(busy_);
    nb::dict facts = system_dict(system_->info());
    if constexpr (complex) facts["real_form"] = nb::str(std::string(name_of(system_->form())).c_str());
    return facts;
  }

  std::string decision() override {
    const Turn turn(busy_);
    return json_of(real().history().decision());
  }

  nb::dict eigenpairs(const EigenQuestion& question) override {
    if constexpr (std::is_same_v<V, double>) {
      const Turn turn(busy_);
      return eigenpairs_of(question);
    } else {
      throw InputError("eigenpairs: expected real matrices in double precision");
    }
  }

 private:
  explicit SystemIn(const SystemRequest& request)
      : System(std::is_same_v<T, float>), side_(request), own_(request.preconditioner) {}

  nb::dict eigenpairs_of(const EigenQuestion& question) {
    auto& preconditioned = dynamic_cast<SystemIn&>(question.preconditioned);
    auto* const mass = dynamic_cast<SystemIn*>(question.mass);
    SolveObserver observer{nb::handle(Py_None)};
    EigenReport report;
    {
      Visit visit(side_);
      EigenProblem<S> problem;
      Span<const double, S> guesses;
      if (!question.deflated.is_none()) problem.deflated = visit.values(question.deflated);
      if (!question.guesses.is_none()) guesses = visit.input(question.guesses);
      const Span<double, S> vectors = visit.output(question.vectors, false);
      const WithoutGil released;
      problem.a = &real().ordered().matrix();
      problem.preconditioner = preconditioned.real().ordered().preconditioner();
      preconditioned.side_.ctx().synchronize();
      if (mass != nullptr) {
        problem.m = &mass->real().ordered().matrix();
        problem.inverse_mass_diagonal = mass->real().ordered().preconditioner()->traits().diagonal;
        mass->side_.ctx().synchronize();
      }
      const ProgressFn look = observer.function();
      const EigenProgress progress = [&](int) { return look({}); };
      report = smallest_eigenpairs<S>(side_.ctx(), problem, question.options, vectors, guesses, progress);
      visit.solved();
    }
    observer.rethrow();
    nb::dict result;
    result["converged"] = report.converged;
    result["iterations"] = report.iterations;
    result["block"] = report.block;
    result["tolerance"] = report.tolerance;
    result["values"] = as_numpy(std::move(report.values));
    result["residuals"] = as_numpy(std::move(report.residuals));
    return result;
  }

  LinearSystem<T, S>& real() {
    if constexpr (complex) {
      return system_->real_system();
    } else {
      return *system_;
    }
  }

  void precondition(Span<const T, S> from, Span<T, S> to) {
    const Context<S>& ctx = side_.ctx();
    const LinearOperator<T, S>* const m = real().ordered().preconditioner();
    if (m == nullptr) return copy<T>(ctx, from, to);
    if (ordered_in_.empty()) ordered_in_ = Array<T, S>(ctx, rows()), ordered_out_ = Array<T, S>(ctx, rows());
    real().ordered().from_user_order(from, ordered_in_);
    m->apply(ctx, T(1), ordered_in_.cspan(), T(0), ordered_out_.span());
    real().ordered().to_user_order(ordered_out_, to);
  }

  SystemParts<T, S> parts_of(const SystemRequest& request, Index n) const {
    SystemParts<T, S> parts;
    if (!request.preconditioner.is_none()) {
      parts.preconditioner = std::make_shared<typename Side::Operator>(n, own_);
    }
    return parts;
  }

  // What is wrong with A and what to try, one for each report. Products of an operator of Python's are not spent on
  // it.
  std::vector<Explanation> explanations(const std::vector<SolveReport>& reports, Span<const V, S> b,
                                        const StopCriterion& stop) {
    std::vector<Explanation> result(reports.size());
    const auto failed = [](const SolveReport& report) { return !report.converged(); };
    if (std::none_of(reports.begin(), reports.end(), failed)) return result;
    SystemFacts unknown;
    unknown.rows = rows();
    unknown.has_entries = false;
    std::vector<SystemFacts> facts(reports.size(), unknown);
    if (!product_.is_valid()) facts = facts_of<T, S>(side_.ctx(), *system_, b, static_cast<Index>(reports.size()));
    SystemOptions options = options_;
    options.stop = stop;
    const std::string preconditioner = system_->info().preconditioner.name;
    for (std::size_t c = 0; c < reports.size(); ++c) {
      if (reports[c].converged()) continue;
      result[c].defect = defect_text(facts[c], advice_words());
      result[c].advice = advice_text({reports[c], options, facts[c], preconditioner, single()}, advice_words());
    }
    return result;
  }

  std::atomic<bool> busy_{false};
  Side side_;
  SystemOptions options_;
  nb::object own_, product_;              // outlive the operators that call them
  Array<T, S> ordered_in_, ordered_out_;  // of `precondition`
  std::unique_ptr<Held> system_;
};

/// A SystemIn of the precision that is wanted, made from the arguments that follow, the last of which is the request.
template <Space S, class... Arguments>
std::unique_ptr<System> new_system(bool single, const Arguments&... arguments) {
  const SystemRequest& request = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
  if (nb::cast<bool>(request.choices["complex"])) {
    if (single) return std::make_unique<SystemIn<std::complex<float>, S>>(arguments...);
    return std::make_unique<SystemIn<std::complex<double>, S>>(arguments...);
  }
  if (single) return std::make_unique<SystemIn<float, S>>(arguments...);
  return std::make_unique<SystemIn<double, S>>(arguments...);
}

}  // namespace newel::python
