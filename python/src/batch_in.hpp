// SPDX-License-Identifier: Apache-2.0
/// BatchIn: the Batch of one space and precision. All work is done without the GIL.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <newel/solver/batched_system.hpp>

#include "batch.hpp"
#include "gathered_rows.hpp"
#include "system_in.hpp"

namespace newel::python {

/// The options in `choices`.
inline BatchedOptions batched_options(const nb::dict& choices) {
  BatchedOptions options;
  options.solver = nb::cast<std::string>(choices["solver"]);
  options.precond = nb::cast<std::string>(choices["preconditioner"]);
  options.block_rows = nb::cast<int>(choices["block_rows"]);
  options.restart = nb::cast<int>(choices["restart"]);
  options.together = nb::cast<bool>(choices["together"]);
  return options;
}

/// Results as arrays. Statuses, causes (`batch_reason`) and solvers are positions in the lists of names.
inline nb::dict batch_dict(const BatchedReport& report) {
  std::vector<int> status, cause, solver, iterations;
  std::vector<double> rhs_norm, tolerance, initial_residual, true_residual;
  nb::list names;
  std::vector<std::string_view> solvers;
  for (std::size_t s = 0; s < report.systems.size(); ++s) {
    const BatchedResult& result = report.systems[s];
    status.push_back(static_cast<int>(result.status));
    cause.push_back(static_cast<int>(result.cause));
    const auto found = std::find(solvers.begin(), solvers.end(), result.solver);
    solver.push_back(static_cast<int>(found - solvers.begin()));
    if (found == solvers.end()) solvers.push_back(result.solver);
    iterations.push_back(result.iterations);
    rhs_norm.push_back(result.rhs_norm);
    tolerance.push_back(result.tolerance);
    initial_residual.push_back(result.initial_residual);
    true_residual.push_back(result.true_residual);
  }
  for (const std::string_view name : solvers) names.append(nb::str(name.data(), name.size()));
  nb::list statuses;
  for (int code = 0; code <= static_cast<int>(Status::stopped_by_caller); ++code) {
    const std::string_view name = name_of(static_cast<Status>(code));
    statuses.append(nb::str(name.data(), name.size()));
  }
  nb::dict result;
  result["status_codes"] = as_numpy(std::move(status));
  result["statuses"] = statuses;
  result["solver_codes"] = as_numpy(std::move(solver));
  result["solvers"] = names;
  result["iterations"] = as_numpy(std::move(iterations));
  result["rhs_norm"] = as_numpy(std::move(rhs_norm));
  result["tolerance"] = as_numpy(std::move(tolerance));
  result["initial_residual"] = as_numpy(std::move(initial_residual));
  result["true_residual"] = as_numpy(std::move(true_residual));
  result["cause_codes"] = as_numpy(std::move(cause));
  result["together"] = report.together;
  result["seconds"] = report.seconds;
  return result;
}

template <class T, Space S>
class BatchIn final : public Batch {
  using Side = SideOf<T, S>;
  using Visit = typename Side::Visit;

 public:
  BatchIn(const MatrixArrays& pattern, const SystemRequest& request) : side_(request) {
    Visit visit(side_);
    const MatrixInput<T, S> input = visit.matrix(pattern);
    input.check_lengths();
    const std::optional<CsrView<T, S>> csr = as_csr(input);
    if (!csr) throw InputError("the pattern of a batch must be CSR with indices of 32 bits");
    BatchedOptions options = batched_options(request.choices);
    const WithoutGil released;
    system_ = std::make_unique<BatchedSystem<T, S>>(side_.ctx(), Pattern<S>(*csr), std::move(options));
  }
  ~BatchIn() override {
    const typename Side::Kept kept;
    system_.reset();
    order_ = {};
  }

  Index rows() const override { return system_->rows(); }
  Offset nonzeros() const override { return system_->nonzeros(); }
  bool fits() const override { return system_->fits(); }

  void set_limits(double rtol, double atol, int max_iterations) override {
    const Turn turn(busy_);
    system_->set_limits(rtol, atol, max_iterations);
  }

  void set_order(const FlatOf<Index>& positions) override {
    const Turn turn(busy_);
    const Span<const Index, host> from = span_of(positions);
    if (from.size != nonzeros()) {
      throw InputError("expected " + std::to_string(nonzeros()) + " positions, found " + std::to_string(from.size));
    }
    const Visit visit(side_);
    const WithoutGil released;
    order_ = make_array(side_.ctx(), from);
  }

  nb::dict solve(Index systems, nb::handle values, nb::handle b, nb::handle x, bool zero,
                 const FlatOf<Index>* vectors) override {
    const Turn turn(busy_);
    BatchedReport report;
    {
      Visit visit(side_);
      const Span<const T, S> of_matrices = visit.values(values), from = visit.input(b);
      const Span<T, S> to = visit.output(x, !zero);
      const Span<const Index, host> numbers = vectors ? span_of(*vectors) : Span<const Index, host>();
      if (vectors && numbers.size != systems) {
        throw InputError("expected " + std::to_string(systems) + " numbers of vectors, found " +
                         std::to_string(numbers.size));
      }
      const WithoutGil released;
      const Array<T, S> ordered =
          order_.size() > 0 ? gathered(of_matrices, {}, order_.cspan(), nonzeros()) : Array<T, S>();
      const Array<T, S> chosen =
          numbers.size > 0 ? gathered(from, make_array(side_.ctx(), numbers), {}, rows()) : Array<T, S>();
      report = system_->solve(systems, ordered.size() > 0 ? ordered.cspan() : of_matrices,
                              chosen.size() > 0 ? chosen.cspan() : from, to,
                              zero ? InitialGuess::zero : InitialGuess::in_x);
      visit.solved();
    }
    return batch_dict(report);
  }

 private:
  // What gather_rows writes, for all rows that are listed or else all of `from`.
  Array<T, S> gathered(Span<const T, S> from, Span<const Index, S> rows, Span<const Index, S> entries,
                       std::int64_t width) const {
    const std::int64_t count = rows.size > 0 ? rows.size : from.size / width;
    Array<T, S> result(side_.ctx(), count * width);
    gather_rows<T>(side_.ctx(), from, rows, entries, width, result.span());
    return result;
  }

  std::atomic<bool> busy_{false};
  Side side_;
  std::unique_ptr<BatchedSystem<T, S>> system_;
  Array<Index, S> order_;  // a position for each entry; empty if the values come in the pattern's order
};

template <Space S>
std::unique_ptr<Batch> new_batch(bool single, const MatrixArrays& pattern, const SystemRequest& request) {
  if (single) return std::make_unique<BatchIn<float, S>>(pattern, request);
  return std::make_unique<BatchIn<double, S>>(pattern, request);
}

}  // namespace newel::python
