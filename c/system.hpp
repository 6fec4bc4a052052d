// SPDX-License-Identifier: Apache-2.0
/// A LinearSystem of either space and precision behind one interface that takes untyped pointers. Internal.
#pragma once

#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <newel/solver/batched_system.hpp>
#include <newel/solver/complex_system.hpp>
#include <newel/solver/updated_system.hpp>

#include "matrix_pointers.hpp"
#include "settings.hpp"

namespace newel {
class StreamOrder;
}

namespace newel::c {

/// A real system in double precision with what it works on, for eigenpairs of its matrix.
template <Space S>
struct EigenSide {
  const LinearSystem<double, S>* system = nullptr;  ///< null: there is none in this space
  const Context<S>* ctx = nullptr;
  StreamOrder* order = nullptr;  ///< on a device: with the caller's stream, unless that is the context's
};
struct EigenSides {
  EigenSide<Space::host> on_host;
  EigenSide<Space::device> on_device;
};

/// What reports say of a system.
class ReportedSystem {
 public:
  virtual ~ReportedSystem() = default;
  virtual SystemInfo info() const = 0;
  virtual SystemDecision decision() const = 0;
  /// How values travel between the devices that share the rows; empty: none do.
  virtual std::string link() const { return ""; }
};

class System : public ReportedSystem {
 public:
  virtual Index rows() const = 0;
  /// Throws InputError if no solve can have so many columns.
  virtual void require_columns(std::int64_t columns) const {
    if (columns < 1 || columns > std::numeric_limits<Index>::max()) throw InputError("columns: expected at least 1");
  }
  virtual void refresh(const void* values, RefreshScope scope) = 0;
  /// Whether `update` is possible.
  virtual bool updates() const { return false; }
  /// See newel_update_csr; whether everything was set up again. Only if `updates`.
  virtual bool update(const Settings&, const MatrixPointers&, RefreshScope) { return false; }
  virtual void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) = 0;
  virtual std::vector<SolveReport> solve(const StopCriterion& stop, InitialGuess guess, Index columns, const void* b,
                                         void* x, const ProgressFn& progress) = 0;
  virtual void multiply(const void* x, void* y) = 0;
  /// Of a batch: one result for each system. Throws InputError for all others.
  virtual std::vector<BatchedResult> solve_batch(const Settings&, Index, const void*, const void*, void*) {
    throw InputError("the system is no batch: call newel_setup_batch first");
  }
  /// The system itself, if `eigenpairs` can use it.
  virtual EigenSides eigen_sides() const { return {}; }
};

/// The system for values of type V, real or complex.
template <class V, Space S>
struct SystemFor {
  using Type = LinearSystem<V, S>;
};
template <class T, Space S>
struct SystemFor<std::complex<T>, S> {
  using Type = ComplexSystem<T, S>;
};

/// Throws InputError if the settings want complex values; `which` has only real ones.
inline void refuse_complex(const Settings& settings, const char* which) {
  if (settings.complex) {
    throw InputError(
        std::string("values: complex systems are solved by one process, on the host or on one device, ") + "not on " +
        which);
  }
}

/// Calls `f` with a value of the type that the settings name.
template <class F>
auto with_values(const Settings& settings, const F& f) {
  if (settings.complex) return settings.single ? f(std::complex<float>()) : f(std::complex<double>());
  return settings.single ? f(float()) : f(double());
}

/// The system for values of type V, made once or, with `updates`, for matrices whose patterns differ.
template <class V, Space S>
class KeptSystem {
 public:
  using System = typename SystemFor<V, S>::Type;

  KeptSystem(const Context<S>& ctx, const MatrixInput<V, S>& input, SystemOptions options, bool updates) {
    if (updates) {
      updated_ = std::make_unique<UpdatedSystem<V, S>>(ctx, input, std::move(options));
    } else {
      made_ = std::make_unique<System>(ctx, input, std::move(options));
    }
  }
  System& operator*() const { return updated_ != nullptr ? updated_->system() : *made_; }
  System* operator->() const { return &**this; }
  bool updates() const { return updated_ != nullptr; }
  bool update(const MatrixInput<V, S>& input, RefreshScope scope) { return updated_->update(input, scope); }

 private:
  std::unique_ptr<System> made_;
  std::unique_ptr<UpdatedSystem<V, S>> updated_;
};

/// Throws what a LinearSystem throws. Where the settings name devices, what the functions below make. `updates`: for
/// `System::update`, which several devices do not have.
std::unique_ptr<System> make_system(const Settings& settings, const MatrixPointers& matrix, bool updates = false);

/// A system on the device `settings.device`. Defined only with CUDA on.
std::unique_ptr<System> make_device_system(const Settings& settings, const MatrixPointers& matrix, bool updates);

/// A system that `settings.devices` share. Defined only with CUDA on.
std::unique_ptr<System> make_team_system(const Settings& settings, const MatrixPointers& matrix);

}  // namespace newel::c
