// SPDX-License-Identifier: Apache-2.0
// The system on the host, in both precisions. All work is done without the GIL.
#include "system.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <atomic>
#include <stdexcept>

#include "interrupts.hpp"
#include "python_operator.hpp"
#include "report.hpp"

namespace purlin::python {
namespace {

// One thread at a time, which the library asks for and the GIL no longer gives.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true)) {
      throw std::runtime_error(
          "this Solver is in use, by another thread or by a solve whose callback this is; make "
          "one for each thread");
    }
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

template <class T>
class HostSystem final : public System {
 public:
  using Parts = SystemParts<T, host>;

  HostSystem(const MatrixArrays& arrays, const SystemRequest& request) : HostSystem(request) {
    const MatrixInput<T, host> input = arrays.input<T>();
    input.check_lengths();
    const SystemOptions options = system_options(request.choices, static_cast<Index>(input.rows()));
    Parts parts = parts_of(request, static_cast<Index>(input.rows()));
    const nb::gil_scoped_release released;
    system_ = std::make_unique<LinearSystem<T, host>>(ctx_, input, options, std::move(parts));
  }
  HostSystem(Index n, nb::object product, const SystemRequest& request) : HostSystem(request) {
    const SystemOptions options = system_options(request.choices, n);
    Parts parts = parts_of(request, n);
    product_ = std::move(product);
    auto a = std::make_shared<PythonOperator<T>>(n, product_);
    const nb::gil_scoped_release released;
    system_ = std::make_unique<LinearSystem<T, host>>(ctx_, std::move(a), options, std::move(parts));
  }

  Index rows() const override { return system_->rows(); }
  bool single() const override { return std::is_same_v<T, float>; }
  bool busy() const override { return busy_; }

  nb::object solve(const Flat& b, const nb::object& x, Index columns, const StopCriterion& stop,
                   nb::handle callback) override {
    const Turn turn(busy_);
    const Span<const T, host> from = values_of<T>(b);
    const auto to = nb::cast<WritableOf<T>>(x, false);
    SolveObserver observer(callback);
    std::vector<SolveReport> reports;
    {
      const nb::gil_scoped_release released;
      system_->set_stop_criterion(stop);
      if (columns == 1) {
        reports.push_back(system_->solve(from, span_of(to), observer.function()));
      } else {
        reports = system_->solve_columns(from, span_of(to), columns, observer.function());
      }
    }
    observer.rethrow();
    if (columns == 1) return report_dict(std::move(reports.front()));
    nb::list result;
    for (SolveReport& report : reports) result.append(report_dict(std::move(report)));
    return result;
  }

  void refresh(const Flat& values, RefreshScope scope) override {
    const Turn turn(busy_);
    const Span<const T, host> from = values_of<T>(values);
    const nb::gil_scoped_release released;
    system_->refresh(from, scope);
  }

  void operator_changed(RefreshScope scope) override {
    const Turn turn(busy_);
    const nb::gil_scoped_release released;
    system_->operator_changed(scope);
  }

  void multiply(const Flat& x, const nb::object& y) override {
    const Turn turn(busy_);
    const Span<const T, host> from = values_of<T>(x);
    const auto to = nb::cast<WritableOf<T>>(y, false);
    const nb::gil_scoped_release released;
    system_->multiply(from, span_of(to));
  }

  void precondition(const Flat& x, const nb::object& y) override {
    const Turn turn(busy_);
    const Span<const T, host> from = values_of<T>(x);
    const auto to = nb::cast<WritableOf<T>>(y, false);
    const nb::gil_scoped_release released;
    const LinearOperator<T, host>* const m = system_->ordered_preconditioner();
    if (m == nullptr) return copy<T>(ctx_, from, span_of(to));
    if (in_.empty()) in_ = Array<T, host>(ctx_, rows()), out_ = Array<T, host>(ctx_, rows());
    system_->to_solver_order(from, in_);
    m->apply(ctx_, T(1), in_.cspan(), T(0), out_.span());
    system_->to_user_order(out_, span_of(to));
  }

  nb::dict info() override {
    const Turn turn(busy_);
    return system_dict(system_->info());
  }

 private:
  explicit HostSystem(const SystemRequest& request) : ctx_(request.threads), own_(request.preconditioner) {}

  Parts parts_of(const SystemRequest& request, Index n) const {
    Parts parts;
    if (!request.preconditioner.is_none()) parts.preconditioner = std::make_shared<PythonOperator<T>>(n, own_);
    return parts;
  }

  std::atomic<bool> busy_{false};
  Context<host> ctx_;
  nb::object own_, product_;  // outlive the operators that call them
  Array<T, host> in_, out_;   // of `precondition`
  std::unique_ptr<LinearSystem<T, host>> system_;
};

template <class Double, class Single>
std::unique_ptr<System> in_precision(bool single, Double&& in_double, Single&& in_single) {
  if (single) return in_single();
  return in_double();
}

std::unique_ptr<System> system_of_matrix(const MatrixArrays& arrays, bool single, const nb::dict& choices,
                                         int threads, const nb::object& preconditioner) {
  const SystemRequest request{choices, threads, preconditioner};
  return in_precision(
      single, [&] { return std::make_unique<HostSystem<double>>(arrays, request); },
      [&] { return std::make_unique<HostSystem<float>>(arrays, request); });
}

std::unique_ptr<System> system_of_operator(Index n, const nb::object& product, bool single, const nb::dict& choices,
                                           int threads, const nb::object& preconditioner) {
  const SystemRequest request{choices, threads, preconditioner};
  return in_precision(
      single, [&] { return std::make_unique<HostSystem<double>>(n, product, request); },
      [&] { return std::make_unique<HostSystem<float>>(n, product, request); });
}

RefreshScope scope_of(bool keep_preconditioner) {
  return keep_preconditioner ? RefreshScope::operator_only : RefreshScope::everything;
}

}  // namespace

void bind_system(nb::module_& module) {
  nb::class_<System>(module, "System", "What a Solver holds. Arrays are flat and of the system's precision.")
      .def_prop_ro("rows", &System::rows)
      .def_prop_ro("single", &System::single)
      .def_prop_ro("busy", &System::busy)
      .def(
          "solve",
          [](System& system, const Flat& b, const nb::object& x, Index columns, double rtol, double atol,
             int max_iterations, double time_limit, const nb::object& callback) {
            return system.solve(b, x, columns, stop_criterion(rtol, atol, max_iterations, time_limit), callback);
          },
          nb::arg("b"), nb::arg("x"), nb::arg("columns"), nb::arg("rtol"), nb::arg("atol"), nb::arg("max_iterations"),
          nb::arg("time_limit"), nb::arg("callback").none())
      .def(
          "refresh", [](System& system, const Flat& values, bool keep) { system.refresh(values, scope_of(keep)); },
          nb::arg("values"), nb::arg("keep_preconditioner"))
      .def(
          "operator_changed", [](System& system, bool keep) { system.operator_changed(scope_of(keep)); },
          nb::arg("keep_preconditioner"))
      .def("multiply", &System::multiply, nb::arg("x"), nb::arg("y"))
      .def("precondition", &System::precondition, nb::arg("x"), nb::arg("y"))
      .def("info", &System::info);
  module.def("system_of_matrix", &system_of_matrix, nb::arg("arrays"), nb::arg("single"), nb::arg("choices"),
             nb::arg("threads"), nb::arg("preconditioner").none());
  module.def("system_of_operator", &system_of_operator, nb::arg("n"), nb::arg("product"), nb::arg("single"),
             nb::arg("choices"), nb::arg("threads"), nb::arg("preconditioner").none());
}

}  // namespace purlin::python
