// SPDX-License-Identifier: Apache-2.0
/// System: a LinearSystem of either precision behind one interface, as `purlin.Solver` holds it.
#pragma once

#include <memory>

#include "arrays.hpp"
#include "matrix_arrays.hpp"
#include "options.hpp"

namespace purlin::python {

/// Spaces and precisions are template arguments in C++ and values in Python: this is where one becomes the other. A
/// system in another space is another class that derives from this one, and arrays that lie elsewhere are refused by
/// their types (`Flat`).
class System {
 public:
  virtual ~System() = default;
  virtual Index rows() const = 0;
  virtual bool single() const = 0;
  /// Whether a call is under way, which others are refused for.
  virtual bool busy() const = 0;
  /// A report, or for several columns a list of them.
  virtual nb::object solve(const Flat& b, const nb::object& x, Index columns, const StopCriterion& stop,
                           nb::handle callback) = 0;
  virtual void refresh(const Flat& values, RefreshScope scope) = 0;
  virtual void operator_changed(RefreshScope scope) = 0;
  virtual void multiply(const Flat& x, const nb::object& y) = 0;
  /// y = M x in the caller's numbering, M being the preconditioner of the system.
  virtual void precondition(const Flat& x, const nb::object& y) = 0;
  virtual nb::dict info() = 0;
};

/// What a system is made from besides its matrix.
struct SystemRequest {
  nb::dict choices;
  int threads = 0;
  nb::object preconditioner;  ///< a product for PythonOperator, or None
};

void bind_system(nb::module_& module);

}  // namespace purlin::python
