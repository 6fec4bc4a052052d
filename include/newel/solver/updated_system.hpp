// SPDX-License-Identifier: Apache-2.0
/// UpdatedSystem: a system that takes matrices whose patterns differ, and sets up again only what has to be.
#pragma once

#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include <newel/solver/complex_system.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel {

/// For loops whose matrices lose and regain entries, as those of Newton's method if zeros are dropped. `V` is float,
/// double, or a complex type of these. Keeps the pattern in host memory: 4 bytes an entry and 8 a row.
template <class V, Space S>
class UpdatedSystem {
  template <class T>
  struct SystemFor {
    using Type = LinearSystem<T, S>;
  };
  template <class T>
  struct SystemFor<std::complex<T>> {
    using Type = ComplexSystem<T, S>;
  };

 public:
  /// LinearSystem, or ComplexSystem for complex values.
  using System = typename SystemFor<V>::Type;

  /// Sets up the system. Reads the caller's arrays and keeps no reference to them. Throws what the constructor of the
  /// system throws for a MatrixInput.
  UpdatedSystem(const Context<S>& ctx, const MatrixInput<V, S>& a, SystemOptions options = {});

  /// Takes the values of `a`, in any form and order. If it has entries only where the matrix of the last setup has
  /// some, this is a refresh in which missing entries are zeros; `scope` and errors are those of
  /// LinearSystem::refresh. Otherwise, and for another number of rows, everything is set up again with the options of
  /// the constructor, and what earlier solves have taught the system is lost; if that throws, the system is as
  /// before. Returns whether everything was set up again. Allocates, and waits on the stream.
  bool update(const MatrixInput<V, S>& a, RefreshScope scope = RefreshScope::everything);

  /// For solves and reports. After a setup it is another one. To be refreshed by `update` alone.
  System& system() { return *system_; }

 private:
  void set_up(const CsrView<V, S>& a);

  Context<S> ctx_;
  SystemOptions options_;
  std::unique_ptr<System> system_;
  Index rows_ = 0;
  std::vector<Offset> row_ptr_;  // of the matrix of the last setup
  std::vector<Index> col_;
  Array<V, S> values_;  // of that pattern
};

}  // namespace newel
