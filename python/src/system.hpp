// SPDX-License-Identifier: Apache-2.0
/// System: a LinearSystem of either space and precision behind one interface, as `newel.Solver` holds it.
#pragma once

#include <memory>
#include <optional>

#include <newel/solver/eigenpairs.hpp>

#include "arrays.hpp"
#include "matrix_arrays.hpp"
#include "options.hpp"

namespace newel::python {

/// The operators of a system.
enum class Operand { matrix, preconditioner };

struct EigenQuestion;

/// Spaces and precisions are template arguments in C++ and values in Python: this is where one becomes the other
/// (`SystemIn`). Vectors are what the space takes: NumPy arrays on the host; these or DeviceSpans on a device.
class System {
 public:
  explicit System(bool single) : single_(single) {}
  virtual ~System() = default;
  /// Whether its values are in single precision.
  bool single() const { return single_; }
  virtual Index rows() const = 0;
  /// Whether a call is under way, which others are refused for.
  virtual bool busy() const = 0;
  /// A report, or for several columns a list of them.
  /// `zero`: from x = 0, whatever lies in x.
  virtual nb::object solve(nb::handle b, nb::handle x, Index columns, bool zero, const StopCriterion& stop,
                           nb::handle callback) = 0;
  virtual void refresh(nb::handle values, RefreshScope scope) = 0;
  virtual void operator_changed(RefreshScope scope) = 0;
  virtual void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) = 0;
  virtual void multiply(nb::handle x, nb::handle y) = 0;
  /// y = M x in the caller's numbering, M being the preconditioner of the system.
  virtual void precondition(nb::handle x, nb::handle y) = 0;
  /// Whether A or its preconditioner M is symmetric as far as products with two random vectors show.
  virtual bool is_symmetric(Operand which) = 0;
  /// That of the arrays of a matrix, on the host or, for a system on a device, there.
  virtual Hash pattern_hash(nb::handle arrays) = 0;
  virtual nb::dict info() = 0;
  /// As JSON.
  virtual std::string decision() = 0;
  /// The smallest eigenpairs of its matrix; what became of it.
  virtual nb::dict eigenpairs(const EigenQuestion& question) = 0;

 private:
  bool single_;
};

/// What `System::eigenpairs` is asked. The other systems are of the same kind and on the same device. Vectors lie
/// column after column.
struct EigenQuestion {
  System* mass = nullptr;  ///< of M, with Jacobi's preconditioner; null: the identity
  System& preconditioned;  ///< whose preconditioner is used; it may be the system itself
  nb::handle deflated;     ///< None: none
  nb::handle guesses;      ///< None: random vectors
  nb::handle vectors;      ///< where the eigenvectors are written
  EigenOptions options;
};

/// What a system is made from besides its matrix.
struct SystemRequest {
  nb::dict choices;
  nb::object preconditioner;             ///< a product for PythonOperator, or None
  int threads = 0;                       ///< of the host
  int device = 0;                        ///< of a device: its number
  std::optional<std::uintptr_t> stream;  ///< of a device: the caller's, to work on; none: one of the system's own
  nb::object stream_owner;               ///< of a device: what is kept as long as the stream is used
};

void bind_system(nb::module_& module);

/// Systems whose rows are distributed over ranks.
void bind_rank_system(nb::module_& module);

/// Systems on a device, the arrays that they take, and what Python needs to know of devices. Defined only with CUDA
/// on.
void bind_device(nb::module_& module);
/// Systems whose rows several devices share. Defined only with CUDA on.
void bind_team_system(nb::module_& module);

}  // namespace newel::python
